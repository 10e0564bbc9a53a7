"""The document of facts: the types of an export and of an import."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from groundplan.context.schemas import (
    ArtifactWrite,
    ConstraintWrite,
    InputWrite,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivInputV1,
    PcivRunV1,
    PcivSourceV1,
    SourceWrite,
)


class ContextExport(Struct, rename="camel"):
    """The facts of one run as a document that another scope or store can import."""

    format: int
    scope_id: str
    context_version_id: str
    run: PcivRunV1
    sources_by_id: dict[str, PcivSourceV1]
    inputs_by_pointer: dict[str, PcivInputV1]
    constraints: list[PcivConstraintV1]
    artifacts_by_type: dict[str, list[PcivArtifactV1]]


class ContextDocument(Struct, rename="camel", forbid_unknown_fields=True):
    """A document to import: an export or a complete view. Fields about the old run are ignored."""

    sources_by_id: dict[str, SourceWrite]
    inputs_by_pointer: dict[str, InputWrite]
    constraints: list[ConstraintWrite]
    artifacts_by_type: dict[str, list[ArtifactWrite]]
    format: Literal[1] = 1
    scope_id: Any = None
    context_version_id: Any = None
    run: Any = None
    missing: Any = None
    warnings: Any = None
    rev: Any = None
    suggestions: list[Any] | None = None
    displaced: Any = None
    left_out: Any = field(name="left_out", default=None)
    next_cursor: Any = field(name="next_cursor", default=None)
