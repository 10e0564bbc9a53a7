"""The native format: the content of one version as JSON. Export and import keep every byte.

    {"format": 1, "profile": "standard", "nodes": […], "edges": […], "assumptions": […], "indicators": […],
     "waivers": […]}

It does not record its origin, so equal theories give equal files in every project and on every engine. Fields without
a value are left out; an empty text is a value and stays.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import (
    TITLE_CHARS_MAX,
    Confidence,
    EdgeType,
    FactRefs,
    IndicatorDirection,
    NodeType,
    Profile,
    Ref,
    RiskLevel,
    Sentence,
    Text,
    Title,
    Word,
    convert_row,
    normalize_numbers,
)

FORMAT = 1
INDENT_CHARS = 2
ITEMS_MAX = 10_000  # of one kind in one file; more would hold the project lock for too long

_ITEMS_LIMIT = Meta(max_length=ITEMS_MAX)


class DocumentNode(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A purpose node. In files of other programs the key may be any name, and the title may be empty."""

    key: Ref
    node_type: NodeType
    title: Annotated[str, Meta(max_length=TITLE_CHARS_MAX)]
    description: Text | None = None
    narrative: Text | None = None
    owner: Word | None = None
    metadata: dict[str, Any] | None = None


class DocumentEdge(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """An edge. Source and target are keys."""

    source: Ref
    target: Ref
    edge_type: EdgeType = EdgeType.CONTRIBUTES_TO
    mechanism: Sentence | None = None
    confidence: Confidence | None = None


class DocumentAssumption(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """An assumption on a node, or on the edge from `source` to `target`."""

    key: Ref
    assumption_text: Sentence
    node: Ref | None = None
    source: Ref | None = None
    target: Ref | None = None
    edge_type: EdgeType | None = None
    risk_level: RiskLevel | None = None
    owner: Word | None = None
    review_by: str | None = None


class DocumentIndicator(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """An indicator on a node."""

    key: Ref
    node: Ref
    name: Title
    unit: Word | None = None
    direction: IndicatorDirection | None = None
    baseline: float | None = None
    baseline_verified: bool | None = None
    target: float | None = None
    method: Sentence | None = None
    frequency: Word | None = None
    owner: Word | None = None


class DocumentMeasurement(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A measurement of an indicator on a day."""

    indicator: Ref
    value: float
    as_of: str
    note: Sentence | None = None


class DocumentWaiver(Struct, forbid_unknown_fields=True):
    """A waiver of a check until a day."""

    code: Ref
    refs: FactRefs
    reason: Sentence
    owner: Word
    due: str


class TheoryDocument(Struct, forbid_unknown_fields=True):
    """A theory as a file."""

    nodes: Annotated[list[DocumentNode], _ITEMS_LIMIT]
    edges: Annotated[list[DocumentEdge], _ITEMS_LIMIT] = []
    assumptions: Annotated[list[DocumentAssumption], _ITEMS_LIMIT] = []
    indicators: Annotated[list[DocumentIndicator], _ITEMS_LIMIT] = []
    waivers: Annotated[list[DocumentWaiver], _ITEMS_LIMIT] = []
    profile: Profile | None = None  # by default that of the latest published version
    format: Literal[1] = 1
    measurements: Annotated[list[DocumentMeasurement], _ITEMS_LIMIT] = []  # of files of other programs; never exported


def build_document(theory: Theory) -> TheoryDocument:
    """Convert a theory to a document."""
    content = theory.content
    return TheoryDocument(
        [convert_row(node, DocumentNode, metadata=node.metadata or None) for node in content.nodes.values()],
        [convert_row(edge, DocumentEdge) for edge in content.edges],
        [
            convert_row(
                assumption, DocumentAssumption, **({} if assumption.edge is None else assumption.edge._asdict())
            )
            for assumption in content.assumptions.values()
        ],
        [convert_row(indicator, DocumentIndicator) for indicator in content.indicators.values()],
        [convert_row(waiver, DocumentWaiver) for waiver in theory.waivers],
        theory.profile,
    )


def write_json(theory: Theory) -> str:
    """Write a theory as a native file."""
    document = build_document(theory)
    plain = {
        "format": FORMAT,
        "profile": document.profile,
        **{
            kind: [_to_ordered_fields(item) for item in getattr(document, kind)]
            for kind in ("nodes", "edges", "assumptions", "indicators", "waivers")
        },
    }
    return msgspec.json.format(msgspec.json.encode(plain), indent=INDENT_CHARS).decode() + "\n"


def _to_ordered_fields(item: Struct) -> dict[str, Any]:
    """Return the fields in the order of the struct, with nested values sorted by name."""
    fields: dict[str, Any] = msgspec.to_builtins(item)
    return {name: normalize_numbers(_sort_fields(value)) for name, value in fields.items()}


def _sort_fields(value: Any) -> Any:
    return msgspec.to_builtins(value, order="sorted") if isinstance(value, dict) else value
