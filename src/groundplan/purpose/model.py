"""A theory of change as data: what the gates, comparisons and pictures work on, free of rows and requests.

    ACTIVITY → OUTPUT → OUTCOME → GOAL      always drawn from cause to effect
                 assumptions              on nodes and on edges
                 indicators               on nodes

Everything is named by stable keys, which survive from version to version; row ids do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct


class NodeType(StrEnum):
    """What a purpose node is."""

    GOAL = "GOAL"
    OUTCOME = "OUTCOME"
    OUTPUT = "OUTPUT"
    ACTIVITY = "ACTIVITY"


# How far up the chain of effects a node is.
LEVELS = {NodeType.ACTIVITY: 0, NodeType.OUTPUT: 1, NodeType.OUTCOME: 2, NodeType.GOAL: 3}


class EdgeType(StrEnum):
    """How a cause is connected with its effect."""

    CONTRIBUTES_TO = "CONTRIBUTES_TO"
    CAUSES = "CAUSES"
    DEPENDS_ON = "DEPENDS_ON"
    FEEDBACK = "FEEDBACK"  # goes back in the chain; no cause in the sense of any rule


class Confidence(StrEnum):
    """How sure we are that an edge holds."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class RiskLevel(StrEnum):
    """What it would mean if an assumption did not hold."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"


class AssumptionStatus(StrEnum):
    """What the latest review of an assumption found."""

    UNTESTED = "untested"
    HOLDING = "holding"
    AT_RISK = "at_risk"
    REFUTED = "refuted"


class IndicatorDirection(StrEnum):
    """Which way an indicator should move."""

    INCREASE = "increase"
    DECREASE = "decrease"


class Profile(StrEnum):
    """How strictly a version is looked at."""

    STANDARD = "standard"
    STRICT = "strict"
    LIGHT = "light"


class VersionStatus(StrEnum):
    """Whether a version may still change."""

    DRAFT = "DRAFT"
    PUBLISHED = "PUBLISHED"


# What keys begin with, in the order in which things are listed.
PREFIXES = {NodeType.GOAL: "G", NodeType.OUTCOME: "OC", NodeType.OUTPUT: "OP", NodeType.ACTIVITY: "AC"}
ASSUMPTION_PREFIX = "AS"
INDICATOR_PREFIX = "IN"
_RANKS = {prefix: rank for rank, prefix in enumerate((*PREFIXES.values(), ASSUMPTION_PREFIX, INDICATOR_PREFIX))}


class EdgeName(NamedTuple):
    """What an edge is called: its ends by key, and its type."""

    source: str
    target: str
    edge_type: EdgeType

    def __str__(self) -> str:
        """`AC1->OP2`, and `AC1->OP2/CAUSES` where it is no contribution."""
        suffix = "" if self.edge_type is EdgeType.CONTRIBUTES_TO else f"/{self.edge_type}"
        return f"{self.source}->{self.target}{suffix}"


class PurposeNode(Struct):
    """Something that is done, made, changed or reached."""

    id: str
    key: str
    node_type: NodeType
    title: str
    description: str | None = None
    narrative: str | None = None
    owner: str | None = None
    metadata: dict[str, Any] = {}


class PurposeEdge(Struct):
    """One thing leads to another."""

    id: str
    source: str
    target: str
    edge_type: EdgeType = EdgeType.CONTRIBUTES_TO
    mechanism: str | None = None
    confidence: Confidence | None = None

    @property
    def name(self) -> EdgeName:
        return EdgeName(self.source, self.target, self.edge_type)

    @property
    def is_causal(self) -> bool:
        """Whether the rules about causes and effects are about it."""
        return self.edge_type is not EdgeType.FEEDBACK


class Assumption(Struct):
    """What must hold for a node or an edge to hold: it has one of the two."""

    id: str
    key: str
    node: str | None
    edge: EdgeName | None
    assumption_text: str
    risk_level: RiskLevel | None = None
    owner: str | None = None
    review_by: str | None = None


class Indicator(Struct):
    """How one sees that a node comes about."""

    id: str
    key: str
    node: str
    name: str
    unit: str | None = None
    direction: IndicatorDirection | None = None
    baseline: float | None = None
    baseline_verified: bool | None = None
    target: float | None = None
    method: str | None = None
    frequency: str | None = None
    owner: str | None = None


class Content(NamedTuple):
    """Everything in one version, each sort in the order of its keys."""

    nodes: dict[str, PurposeNode]
    edges: list[PurposeEdge]
    assumptions: dict[str, Assumption]
    indicators: dict[str, Indicator]

    @property
    def causal_edges(self) -> list[PurposeEdge]:
        return [edge for edge in self.edges if edge.is_causal]

    def of_type(self, node_type: NodeType) -> list[PurposeNode]:
        """The nodes of one type."""
        return [node for node in self.nodes.values() if node.node_type is node_type]


def build_content(
    nodes: Iterable[PurposeNode],
    edges: Iterable[PurposeEdge],
    assumptions: Iterable[Assumption],
    indicators: Iterable[Indicator],
) -> Content:
    """Content in its order, whatever order it came in."""
    return Content(
        {node.key: node for node in sorted(nodes, key=lambda one: key_order(one.key))},
        sorted(edges, key=lambda one: edge_order(one.name)),
        {one.key: one for one in sorted(assumptions, key=lambda one: key_order(one.key))},
        {one.key: one for one in sorted(indicators, key=lambda one: key_order(one.key))},
    )


def key_order(key: str) -> tuple[int, int, str]:
    """Where a key stands in a list: goals first, and `OC10` behind `OC9`."""
    prefix = key.rstrip("0123456789")
    number = key[len(prefix) :]
    return _RANKS.get(prefix, len(_RANKS)), int(number) if number else 0, key


def edge_order(name: EdgeName) -> tuple[tuple[int, int, str], tuple[int, int, str], str]:
    """Where an edge stands in a list."""
    return key_order(name.source), key_order(name.target), name.edge_type


def sort_keys(keys: Iterable[str]) -> list[str]:
    """Keys in the order of lists."""
    return sorted(keys, key=key_order)
