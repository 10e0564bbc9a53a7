"""Theories for tests in a short notation.

    theory("AC1 -> OP1 -> OC1 -> G1", "AC2 -> OP1", "G1->OC1/FEEDBACK", "OP9")

A line is a chain of contributions, the name of one edge of any type, or a lone key. The letters of a key give the type
of the node. Fields are given by key or edge name; for an assumption or an indicator, its subject is enough:

    theory("AC1 -> OP1", edges={"AC1->OP1": {"confidence": "low"}}, assumptions={"AS1": "AC1->OP1"})
    theory("AC1 -> OP1", indicators={"IN1": {"on": "OP1", "baseline": 3}})
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from groundplan.purpose.model import (
    PREFIXES,
    Assumption,
    AssumptionStatus,
    Confidence,
    Content,
    EdgeName,
    EdgeType,
    Indicator,
    NodeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    build_content,
)
from groundplan.purpose.observing.records import Decision, Measurement, Observations, Review, Waiver

NOTHING_OBSERVED = Observations([], [], [], [])
TODAY = "2026-11-15"
NOW = f"{TODAY}T12:00:00.000Z"

Fields = Mapping[str, Mapping[str, Any]]
PlacedFields = Mapping[str, str | Mapping[str, Any]]

_TYPES = {prefix: node_type for node_type, prefix in PREFIXES.items()}


def theory(
    *lines: str,
    nodes: Fields | None = None,
    edges: Fields | None = None,
    assumptions: PlacedFields | None = None,
    indicators: PlacedFields | None = None,
) -> Content:
    """Return the content of a theory; an edge that is drawn twice exists twice."""
    names: list[EdgeName] = []
    keys: dict[str, None] = {}
    for line in lines:
        chain = [word.strip() for word in line.split(" -> ")]
        if len(chain) == 1 and "->" in line:
            names.append(edge_name(line))
            keys.update(dict.fromkeys(names[-1][:2]))
        else:
            names += [edge_name(f"{one}->{other}") for one, other in pairwise(chain)]
            keys.update(dict.fromkeys(chain))
    return build_content(
        [node(key, **(nodes or {}).get(key, {})) for key in keys],
        [edge(name, **(edges or {}).get(str(name), {})) for name in names],
        [assumption(key, **_as_fields(fields)) for key, fields in (assumptions or {}).items()],
        [indicator(key, **_as_fields(fields)) for key, fields in (indicators or {}).items()],
    )


def whole_theory() -> Content:
    """Return a small theory that passes both gates in every profile, as far as content decides."""
    planned: dict[str, Any] = {"baseline": 1, "baseline_verified": True, "target": 2}
    planned |= {"method": "survey", "frequency": "yearly", "owner": "ada"}
    chain = ("AC1->OP1", "OP1->OC1", "OC1->G1")
    return theory(
        "AC1 -> OP1 -> OC1 -> G1",
        nodes={key: {"description": "what it is", "owner": "ada"} for key in ("AC1", "OP1", "OC1", "G1")},
        edges={name: {"mechanism": "this is how", "confidence": "high"} for name in chain},
        assumptions={
            "AS1": {"on": "OC1", "risk_level": "HIGH", "owner": "ada", "review_by": "2027-01-01"},
            "AS2": "OP1->OC1",
        },
        indicators={"IN1": {"on": "OC1", **planned}, "IN2": {"on": "G1", **planned}},
    )


def edge_name(text: str) -> EdgeName:
    """Return an edge's name as refs spell it."""
    ends, _, edge_type = text.partition("/")
    source, target = ends.split("->")
    return EdgeName(source, target, EdgeType(edge_type or EdgeType.CONTRIBUTES_TO))


def node(key: str, *, node_type: str | None = None, title: str | None = None, **fields: Any) -> PurposeNode:
    kind = NodeType(node_type) if node_type else _TYPES[key.rstrip("0123456789")]
    return PurposeNode(_id(key), key, kind, f"what {key} is" if title is None else title, **fields)


def edge(name: EdgeName, *, confidence: str | None = None, **fields: Any) -> PurposeEdge:
    return PurposeEdge(_id(str(name)), *name, confidence=Confidence(confidence) if confidence else None, **fields)


def assumption(
    key: str, *, on: str, risk_level: str | None = None, text: str = "it holds", **fields: Any
) -> Assumption:
    is_on_edge = "->" in on
    return Assumption(
        _id(key),
        key,
        None if is_on_edge else on,
        edge_name(on) if is_on_edge else None,
        text,
        RiskLevel(risk_level) if risk_level else None,
        **fields,
    )


def indicator(key: str, *, on: str, name: str = "how many", **fields: Any) -> Indicator:
    return Indicator(_id(key), key, on, name, **fields)


def make_observations(
    *,
    measured: Mapping[str, str] | None = None,
    reviewed: Mapping[str, str] | None = None,
    waived: Mapping[str, list[str]] | None = None,
    decided: list[str] | None = None,
    rev: int = 1,
    at: str = NOW,
    due: str = TODAY,
) -> Observations:
    """Return observations: indicators by day, assumptions by status, codes by refs, and keys with a decision."""
    by = (at, "ada")
    return Observations(
        [
            Measurement(rev, n, key, 1, as_of, None, None, *by)
            for n, (key, as_of) in enumerate((measured or {}).items())
        ],
        [
            Review(rev, n, key, AssumptionStatus(status), "seen", None, *by)
            for n, (key, status) in enumerate((reviewed or {}).items())
        ],
        [Waiver(rev, n, code, refs, "known", "ada", due, *by) for n, (code, refs) in enumerate((waived or {}).items())],
        [
            Decision(rev, n, "go on", "for now", [key], None, None, None, None, None, *by)
            for n, key in enumerate(decided or [])
        ],
    )


def join_observations(*records: Observations) -> Observations:
    """Return several observations joined."""
    return Observations(*([one for record in records for one in record[sort]] for sort in range(4)))  # type: ignore[arg-type]  # each sort stays itself


def _as_fields(fields: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"on": fields} if isinstance(fields, str) else dict(fields)


def _id(text: str) -> str:
    return str(uuid5(NAMESPACE_URL, text))
