"""The theory of change as data for gates, comparisons and pictures, independent of rows and requests.

    ACTIVITY → OUTPUT → OUTCOME → GOAL      edges lead from cause to effect
                 assumptions              on nodes and on edges
                 indicators               on nodes

An edge is drawn from its cause to its effect, but for DEPENDS_ON: its source depends on its target. Between two levels
the lower one is the cause, whichever way it is drawn; so some edges are turned round before they are followed.

Items are identified by stable keys, which stay the same in all versions; row ids do not. Equal content always gives
equal canonical JSON, and so an equal hash.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from groundplan.kernel.input_gate.text_limits import MaxBytes, NormalizedName, NotBlank


class NodeType(StrEnum):
    """The type of a purpose node."""

    GOAL = "GOAL"
    OUTCOME = "OUTCOME"
    OUTPUT = "OUTPUT"
    ACTIVITY = "ACTIVITY"


# The position of each type in the chain of effects.
LEVELS = {NodeType.ACTIVITY: 0, NodeType.OUTPUT: 1, NodeType.OUTCOME: 2, NodeType.GOAL: 3}


NEEDED_BY = "NEEDED_BY"  # what depends on a cause is its effect


class EdgeType(StrEnum):
    """The type of the relation between a cause and its effect."""

    CONTRIBUTES_TO = "CONTRIBUTES_TO"
    CAUSES = "CAUSES"
    DEPENDS_ON = "DEPENDS_ON"  # the source depends on the target
    FEEDBACK = "FEEDBACK"  # leads back in the chain; not causal for any rule

    @property
    def is_causal(self) -> bool:
        """True if the rules about causes and effects apply to edges of this type."""
        return self is not EdgeType.FEEDBACK

    @property
    def relation(self) -> str:
        """The relation of the cause of such an edge to its effect."""
        return NEEDED_BY if self is EdgeType.DEPENDS_ON else self.value


class Confidence(StrEnum):
    """The confidence that an edge holds."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class RiskLevel(StrEnum):
    """The impact if an assumption does not hold."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"


class AssumptionStatus(StrEnum):
    """The result of the latest review of an assumption."""

    UNTESTED = "untested"
    HOLDING = "holding"
    AT_RISK = "at_risk"
    REFUTED = "refuted"


class IndicatorDirection(StrEnum):
    """The direction in which an indicator should move."""

    INCREASE = "increase"
    DECREASE = "decrease"


class Profile(StrEnum):
    """The strictness of the gates for a version."""

    STANDARD = "standard"
    STRICT = "strict"
    LIGHT = "light"


class VersionStatus(StrEnum):
    """The status of a version. A draft can change, and a published version cannot."""

    DRAFT = "DRAFT"
    PUBLISHED = "PUBLISHED"


# The prefixes of keys, in list order.
PREFIXES = {NodeType.GOAL: "G", NodeType.OUTCOME: "OC", NodeType.OUTPUT: "OP", NodeType.ACTIVITY: "AC"}
ASSUMPTION_PREFIX = "AS"
INDICATOR_PREFIX = "IN"
_RANKS = {prefix: rank for rank, prefix in enumerate((*PREFIXES.values(), ASSUMPTION_PREFIX, INDICATOR_PREFIX))}


class EdgeName(NamedTuple):
    """The name of an edge: the keys of its ends, and its type."""

    source: str
    target: str
    edge_type: EdgeType

    @property
    def is_self_edge(self) -> bool:
        """True if the edge leads from a node to itself."""
        return self.source == self.target

    def __str__(self) -> str:
        """Return `AC1->OP2`, or `AC1->OP2/CAUSES` if the type is not CONTRIBUTES_TO."""
        suffix = "" if self.edge_type is EdgeType.CONTRIBUTES_TO else f"/{self.edge_type}"
        return f"{self.source}->{self.target}{suffix}"


def orient_edge(name: EdgeName, source_type: NodeType, target_type: NodeType) -> EdgeName:
    """Return the name of an edge with its cause as the source and its effect as the target."""
    depends = name.edge_type is EdgeType.DEPENDS_ON and LEVELS[source_type] >= LEVELS[target_type]
    return EdgeName(name.target, name.source, name.edge_type) if depends else name


def parse_edge_name(ref: str) -> EdgeName | None:
    """Parse an edge name, `AC1->OP2` or `AC1->OP2/CAUSES`; return None for any other text."""
    name, slash, type_ = ref.partition("/")
    source, arrow, target = name.partition("->")
    if not arrow or (slash and type_ not in EdgeType.__members__):
        return None
    return EdgeName(source, target, EdgeType(type_ or EdgeType.CONTRIBUTES_TO))


class PurposeNode(Struct):
    """A goal, outcome, output or activity."""

    id: str
    key: str
    node_type: NodeType
    title: str
    description: str | None = None
    narrative: str | None = None
    owner: str | None = None
    metadata: dict[str, Any] = {}


class PurposeEdge(Struct):
    """A directed relation between two nodes."""

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
        return self.edge_type.is_causal


class Assumption(Struct):
    """A condition for a node or an edge to hold. Exactly one of `node` and `edge` is set."""

    id: str
    key: str
    node: str | None
    edge: EdgeName | None
    assumption_text: str
    risk_level: RiskLevel | None = None
    owner: str | None = None
    review_by: str | None = None


class Indicator(Struct):
    """A measure of whether a node is achieved."""

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
    """The content of one version. Each kind of item is in key order."""

    nodes: dict[str, PurposeNode]
    edges: list[PurposeEdge]
    assumptions: dict[str, Assumption]
    indicators: dict[str, Indicator]
    turned: frozenset[EdgeName] = frozenset()  # the edges whose source is their effect

    @property
    def causal_edges(self) -> list[PurposeEdge]:
        return [edge for edge in self.edges if edge.is_causal]

    def orient(self, name: EdgeName) -> EdgeName:
        """Return the name of an edge with its cause as the source and its effect as the target."""
        return EdgeName(name.target, name.source, name.edge_type) if name in self.turned else name

    def list_nodes_of_type(self, node_type: NodeType) -> list[PurposeNode]:
        """Return the nodes of one type."""
        return [node for node in self.nodes.values() if node.node_type is node_type]


Shape = TypeVar("Shape", bound=Struct)


def convert_row(row: Any, shape: type[Shape], **given: Any) -> Shape:
    """Return a row as another class, with the common fields and the given ones."""
    fields = {name: getattr(row, name) for name in shape.__struct_fields__ if name not in given and hasattr(row, name)}
    return shape(**fields, **given)


def build_content(
    nodes: Iterable[PurposeNode],
    edges: Iterable[PurposeEdge],
    assumptions: Iterable[Assumption],
    indicators: Iterable[Indicator],
) -> Content:
    """Build content, sorted by key."""
    by_key = {node.key: node for node in nodes}
    ranks = {key: key_order(key) for key in by_key}  # each once: a plan has more ends of edges than nodes

    def rank_edge(edge: PurposeEdge) -> tuple[tuple[int, int, str], tuple[int, int, str], str]:
        source, target = edge.source, edge.target
        return ranks.get(source) or key_order(source), ranks.get(target) or key_order(target), edge.edge_type

    listed = sorted(edges, key=rank_edge)
    return Content(
        {key: by_key[key] for key in sorted(by_key, key=ranks.__getitem__)},
        listed,
        {item.key: item for item in sorted(assumptions, key=lambda item: key_order(item.key))},
        {item.key: item for item in sorted(indicators, key=lambda item: key_order(item.key))},
        frozenset(edge.name for edge in listed if _is_turned(edge, by_key)),
    )


def _is_turned(edge: PurposeEdge, nodes: Mapping[str, PurposeNode]) -> bool:
    """Return True if the source of an edge is its effect. An edge with an end outside the version stays as it is."""
    if edge.edge_type is not EdgeType.DEPENDS_ON or edge.source not in nodes or edge.target not in nodes:
        return False
    return orient_edge(edge.name, nodes[edge.source].node_type, nodes[edge.target].node_type) != edge.name


def fold_title(title: str) -> str:
    """Return a title or name for comparison: without differences of case, whitespace or Unicode form."""
    return unicodedata.normalize("NFKC", " ".join(unicodedata.normalize("NFKC", title).split()).casefold())


def key_order(key: str) -> tuple[int, int, str]:
    """Return the sort key of a key: goals come first, and `OC10` comes after `OC9`."""
    prefix = key.rstrip("0123456789")
    number = key[len(prefix) :]
    return _RANKS.get(prefix, len(_RANKS)), int(number) if number else 0, key


def edge_order(name: EdgeName) -> tuple[tuple[int, int, str], tuple[int, int, str], str]:
    """Return the sort key of an edge name."""
    return key_order(name.source), key_order(name.target), name.edge_type


def sort_keys(keys: Iterable[str]) -> list[str]:
    """Sort keys in list order."""
    return sorted(keys, key=key_order)


TITLE_CHARS_MAX = 500
WORD_CHARS_MAX = 255
TEXT_BYTES_MAX = 16_384
SENTENCE_BYTES_MAX = 4_096
REF_CHARS_MAX = 128
POINTER_CHARS_MAX = 1_024  # pointer to a fact that a waiver names
LIST_BYTES_MAX = 16_384  # a list of refs as stored JSON
BATCH_MAX = 1_000

Title = Annotated[str, NormalizedName(TITLE_CHARS_MAX)]
Word = Annotated[str, NormalizedName(WORD_CHARS_MAX)]
Text = Annotated[str, MaxBytes(TEXT_BYTES_MAX)]
Sentence = Annotated[str, NotBlank(), MaxBytes(SENTENCE_BYTES_MAX)]
Ref = Annotated[str, Meta(min_length=1, max_length=REF_CHARS_MAX)]
FactRefs = Annotated[list[Annotated[str, Meta(min_length=1, max_length=POINTER_CHARS_MAX)]], Meta(max_length=100)]


CONTENT_FORMAT = 1
EXACT_INT_MAX = 2**53  # above it every float is whole


def encode_canonical(content: Content) -> bytes:
    """Return content as JSON without row ids: items and names sorted, no white space, and whole numbers as integers."""
    return msgspec.json.encode(_to_builtins(content), order="sorted")


def compute_content_hash(content: Content) -> str:
    """Return the SHA-256 of the canonical JSON."""
    from hashlib import sha256  # loads megabytes of OpenSSL, needed only to publish or check

    return sha256(encode_canonical(content)).hexdigest()


def _to_builtins(content: Content) -> dict[str, Any]:
    return {
        "format": CONTENT_FORMAT,
        "nodes": [normalize_numbers(_drop_row_id(node)) for node in content.nodes.values()],
        "edges": [normalize_numbers(_drop_row_id(edge)) for edge in content.edges],
        "assumptions": [normalize_numbers(_drop_row_id(assumption)) for assumption in content.assumptions.values()],
        "indicators": [normalize_numbers(_drop_row_id(indicator)) for indicator in content.indicators.values()],
    }


def _drop_row_id(row: Any) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(row)
    del fields["id"]
    return fields


def normalize_number(value: float) -> float:
    """Return a whole number as an int: 5000, not 5000.0."""
    return int(value) if value.is_integer() and abs(value) < EXACT_INT_MAX else value


def normalize_numbers(value: Any) -> Any:
    """Return nested dicts and lists with all whole numbers as ints."""
    if isinstance(value, float):
        return normalize_number(value)
    if isinstance(value, dict):
        return {name: normalize_numbers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [normalize_numbers(inner) for inner in value]
    return value
