"""Build a document from a file: its items, the types of its nodes, and the skipped items with reasons.

A reader adds a theory item by item. Everything that a plan can store is imported, also cycles, several causes and
edges that point down; the gate reports them later. Items that it cannot store are skipped, counted and explained. An
ambiguous file is rejected as a whole, and so is one that exceeds a limit, as soon as it does.

A node without a type gets one from its label, else from its place in the graph:

    … → ACTIVITY → OUTPUT → OUTCOME → GOAL      counted back from the last nodes, along the longest path

A cycle counts as one node. A node without edges becomes an activity, because an edge from an activity may lead to any
type. Known types do not influence the others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.document import (
    ITEMS_MAX,
    DocumentAssumption,
    DocumentEdge,
    DocumentIndicator,
    DocumentMeasurement,
    DocumentNode,
    TheoryDocument,
)
from groundplan.purpose.graph.cycles import find_components
from groundplan.purpose.graph.graph import Graph
from groundplan.purpose.model import (
    REF_CHARS_MAX,
    SENTENCE_BYTES_MAX,
    TEXT_BYTES_MAX,
    TITLE_CHARS_MAX,
    WORD_CHARS_MAX,
    Confidence,
    EdgeType,
    NodeType,
    RiskLevel,
)

FILE_BYTES_MAX = 64 << 20
SKIPPED_MAX = 100 * ITEMS_MAX  # with more skipped items the import is useless
# Commas and brackets in a JSON file: one per value, and all values are in memory before the first is read.
PIECES_MAX = 5_000_000
EXAMPLES_MAX = 5
ELLIPSIS = "…"

# Characters that a store cannot keep, or that are invisible.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class UnreadableFile(Invalid):
    """The file does not have the given format, or is too irregular to import."""

    code = "unreadable_file"

    def __init__(self, why: str, **details: Any) -> None:
        super().__init__(f"{why}; nothing was imported", code=self.code, **details)


def too_many(items: str, limit: int) -> UnreadableFile:
    """Return the error for a file that exceeds a limit."""
    return UnreadableFile(f"there are more than {limit} {items} in it", limit=limit)


class SkippedItem(Struct):
    """Items of a file that were skipped or changed: their kind, the reason, their number, and the first examples."""

    what: str
    why: str
    count: int
    examples: list[str]


class ReadDocument(Struct):
    """The document read from a file, and the skipped items."""

    document: TheoryDocument
    skipped: list[SkippedItem]


class DocumentBuilder:
    """A builder that collects a theory while a file is read. Nodes keep their names from the file; keys come later."""

    def __init__(self) -> None:
        self._nodes: dict[str, DocumentNode] = {}
        self._edges: dict[tuple[str, str, EdgeType], DocumentEdge] = {}
        self._assumptions: dict[str, DocumentAssumption] = {}
        self._indicators: dict[str, DocumentIndicator] = {}
        self._measurements: list[DocumentMeasurement] = []
        self._skipped: dict[tuple[str, str], SkippedItem] = {}
        self._skips_left = SKIPPED_MAX

    def add_node(
        self,
        ref: str,
        node_type: NodeType,
        title: str,
        *,
        description: str | None = None,
        narrative: str | None = None,
        owner: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Add a node. A title that is too long is shortened, and the full title goes before the description."""
        self._name(ref, "node", self._nodes)
        line = normalize_line(title)
        if len(line) > TITLE_CHARS_MAX:
            self.skip("title", f"longer than {TITLE_CHARS_MAX} characters; the full title is in the description", line)
            description = line if not description else f"{line}\n\n{description}"
            line = line[: TITLE_CHARS_MAX - 1].rstrip() + ELLIPSIS
        self._nodes[ref] = DocumentNode(
            ref,
            node_type,
            line,
            self.clean_text(description, TEXT_BYTES_MAX, "description", ref),
            self.clean_text(narrative, TEXT_BYTES_MAX, "narrative", ref),
            self.clean_word(owner, "owner", ref),
            metadata or None,
        )

    def add_edge(
        self,
        source: str,
        target: str,
        edge_type: EdgeType = EdgeType.CONTRIBUTES_TO,
        *,
        mechanism: str | None = None,
        confidence: Confidence | None = None,
    ) -> bool:
        """Add an edge between nodes that were added before. Return False if it was not added."""
        label = f"{source} -> {target}"
        for end in (source, target):
            if end not in self._nodes:
                self.skip("edge", "its source or target is not among the nodes", label)
                return False
        if source == target:
            self.skip("edge", "it leads from a node to itself", label)
            return False
        if (source, target, edge_type) in self._edges:
            self.skip("edge", "it exists already", label)
            return False
        if len(self._edges) >= ITEMS_MAX:
            raise too_many("edges", ITEMS_MAX)
        cleaned = self.clean_text(mechanism, SENTENCE_BYTES_MAX, "mechanism", label)
        self._edges[source, target, edge_type] = DocumentEdge(source, target, edge_type, cleaned, confidence)
        return True

    def add_assumption(
        self,
        ref: str,
        text: str,
        *,
        node: str | None = None,
        edge: tuple[str, str, EdgeType] | None = None,
        risk_level: RiskLevel | None = None,
        owner: str | None = None,
        review_by: str | None = None,
    ) -> None:
        """Add an assumption on a node or an edge that was added before."""
        self._name(ref, "assumption", self._assumptions)
        if node not in self._nodes if edge is None else edge not in self._edges:
            self.skip("assumption", "its node or edge was not imported", ref)
            return
        cleaned = self.clean_text(text, SENTENCE_BYTES_MAX, "assumption", ref)
        if cleaned is None:
            self.skip("assumption", "its text is empty", ref)
            return
        assumption = DocumentAssumption(ref, cleaned, risk_level=risk_level, owner=self.clean_word(owner, "owner", ref))
        assumption.review_by = review_by
        if edge is None:
            assumption.node = node
        else:
            assumption.source, assumption.target, assumption.edge_type = edge
        self._assumptions[ref] = assumption

    def add_indicator(self, ref: str, node: str, name: str, **fields: Any) -> None:
        """Add an indicator on a node that was added before. `unit`, `frequency` and `owner` are single lines."""
        self._name(ref, "indicator", self._indicators)
        line = normalize_line(name)
        if node not in self._nodes:
            self.skip("indicator", "its node was not imported", ref)
            return
        if not line:
            self.skip("indicator", "it has no name", ref)
            return
        for word in ("unit", "frequency", "owner"):
            fields[word] = self.clean_word(fields.get(word), word, ref)
        fields["method"] = self.clean_text(fields.get("method"), SENTENCE_BYTES_MAX, "method", ref)
        if len(line) > TITLE_CHARS_MAX:
            self.skip("name of an indicator", f"longer than {TITLE_CHARS_MAX} characters; shortened", line)
            line = line[: TITLE_CHARS_MAX - 1].rstrip() + ELLIPSIS
        self._indicators[ref] = DocumentIndicator(ref, node, line, **fields)

    def add_measurement(self, indicator: str, value: float, as_of: str, *, note: str | None = None) -> None:
        """Add a measurement of an indicator that was added before."""
        if indicator not in self._indicators:
            self.skip("measurement", "its indicator was not imported", indicator)
            return
        if len(self._measurements) >= ITEMS_MAX:
            raise too_many("measurements", ITEMS_MAX)
        cleaned = self.clean_text(note, SENTENCE_BYTES_MAX, "note of a measurement", indicator)
        self._measurements.append(DocumentMeasurement(indicator, value, as_of, cleaned))

    def skip(self, thing: str, why: str, example: str) -> None:
        """Record that an item was skipped or changed."""
        self._skips_left -= 1
        if self._skips_left < 0:
            raise too_many("items that cannot be imported", SKIPPED_MAX)
        skipped = self._skipped.setdefault((thing, why), SkippedItem(thing, why, 0, []))
        skipped.count += 1
        if len(skipped.examples) < EXAMPLES_MAX:
            skipped.examples.append(quote_text(example)[1:-1])

    def clean_text(self, raw: str | None, bytes_max: int, thing: str, ref: str) -> str | None:
        """Return a text that can be stored, shortened if it is too long; None if it is blank."""
        if raw is None:
            return None
        cleaned = remove_unstorable(raw)
        if not cleaned.strip():
            return None
        if len(cleaned.encode()) > bytes_max:
            self.skip(thing, f"longer than {bytes_max} bytes; shortened", ref)
            cleaned = cleaned.encode()[: bytes_max - len(ELLIPSIS.encode())].decode(errors="ignore") + ELLIPSIS
        return cleaned

    def clean_word(self, raw: str | None, thing: str, ref: str) -> str | None:
        """Return a name or a unit that can be stored, shortened if it is too long."""
        line = normalize_line(raw or "")
        if len(line) > WORD_CHARS_MAX:
            self.skip(thing, f"longer than {WORD_CHARS_MAX} characters; shortened", ref)
            line = line[: WORD_CHARS_MAX - 1].rstrip() + ELLIPSIS
        return line or None

    def build(self) -> ReadDocument:
        """Return the document."""
        if not self._nodes:
            raise UnreadableFile("it contains nothing that can become a node")
        document = TheoryDocument(
            list(self._nodes.values()),
            list(self._edges.values()),
            list(self._assumptions.values()),
            list(self._indicators.values()),
            measurements=self._measurements,
        )
        return ReadDocument(document, list(self._skipped.values()))

    def _name(self, ref: str, kind: str, existing: dict[str, Any]) -> None:
        if not ref or len(ref) > REF_CHARS_MAX or _UNSTORABLE.search(ref):
            raise UnreadableFile(f"{quote_text(ref)} cannot be the name of a {kind}")
        if ref in existing:
            raise UnreadableFile(f"two items are called {quote_text(ref)}; names must be unique", name=ref)
        if len(existing) >= ITEMS_MAX:
            raise too_many(f"{kind}s", ITEMS_MAX)


def remove_unstorable(raw: str) -> str:
    """Remove characters that no store accepts."""
    return _UNSTORABLE.sub("", raw)


def normalize_line(raw: str) -> str:
    """Return text on one line in NFC. White space is folded only if the text has several lines."""
    line = remove_unstorable(raw).strip()
    if len(line.splitlines()) > 1:
        line = " ".join(line.split())
    if line.isascii():
        return line
    return unicodedata.normalize("NFC", line)


def decode_text(raw: bytes) -> str:
    """Decode the text of a file: UTF-8, or UTF-16 with a byte order mark."""
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"it is not {'UTF-16' if encoding == 'utf-16' else 'UTF-8'} at byte {error.start}; save it as UTF-8",
            offset_bytes=error.start,
        ) from None


def decode_json(raw: bytes) -> Any:
    """Decode a file of strict JSON."""
    content = decode_text(raw).encode()
    if sum(map(content.count, (b",", b"[", b"{", b"]", b"}"))) > PIECES_MAX:
        raise too_many("commas and brackets", PIECES_MAX)
    try:
        return decode(content, bytes_max=FILE_BYTES_MAX)
    except Invalid as error:
        raise UnreadableFile(error.message.replace("the request", "it", 1), **error.details) from None


_TYPES_BY_DISTANCE = (NodeType.GOAL, NodeType.OUTCOME, NodeType.OUTPUT, NodeType.ACTIVITY)
_WORDS = {
    "goal": NodeType.GOAL,
    "goals": NodeType.GOAL,
    "impact": NodeType.GOAL,
    "impacts": NodeType.GOAL,
    "outcome": NodeType.OUTCOME,
    "outcomes": NodeType.OUTCOME,
    "result": NodeType.OUTCOME,
    "results": NodeType.OUTCOME,
    "output": NodeType.OUTPUT,
    "outputs": NodeType.OUTPUT,
    "deliverable": NodeType.OUTPUT,
    "deliverables": NodeType.OUTPUT,
    "activity": NodeType.ACTIVITY,
    "activities": NodeType.ACTIVITY,
    "input": NodeType.ACTIVITY,
    "inputs": NodeType.ACTIVITY,
}
_WORD = re.compile(r"[a-z]+")


def parse_node_type(label: str) -> NodeType | None:
    """Return the node type of a label such as `GOAL`, `Outcomes` or `Long-term results`; None if it is unclear."""
    types = {_WORDS[word] for word in _WORD.findall(label.casefold()) if word in _WORDS}
    return types.pop() if len(types) == 1 else None


def orient_ends(source: str, target: str, edge_type: EdgeType) -> tuple[str, str]:
    """Return the cause and the effect of an edge as long as the types of its ends are unknown."""
    return (target, source) if edge_type is EdgeType.DEPENDS_ON else (source, target)


def infer_node_types(
    builder: DocumentBuilder, declared_types: Mapping[str, NodeType | None], causal: Iterable[tuple[str, str]]
) -> dict[str, NodeType]:
    """Return the type of every node, by name. Inferred types are recorded among the skipped items.

    Edges to missing nodes and self edges are ignored.
    """
    untyped = [ref for ref, node_type in declared_types.items() if node_type is None]
    inferred = _infer_by_distance(declared_types, causal) if untyped else {}
    for ref in untyped:
        builder.skip("type", "not given; inferred from the position of the node", ref)
    return {ref: inferred[ref] if node_type is None else node_type for ref, node_type in declared_types.items()}


def _infer_by_distance(refs: Iterable[str], causal: Iterable[tuple[str, str]]) -> dict[str, NodeType]:
    """Infer types by the longest path to a node without effects. Each edge is visited once."""
    numbers = {ref: number for number, ref in enumerate(refs)}
    ends = [(numbers[source], numbers[target]) for source, target in causal if source in numbers and target in numbers]
    ends = [(source, target) for source, target in ends if source != target]
    out: list[list[int]] = [[] for _ in numbers]
    is_touched = [False] * len(numbers)
    for edge, (source, target) in enumerate(ends):
        out[source].append(edge)
        is_touched[source] = is_touched[target] = True
    sources, targets = [source for source, _ in ends], [target for _, target in ends]
    component = find_components(Graph([*numbers], numbers, sources, targets, out, []))
    members: list[list[int]] = [[] for _ in range(max(component, default=-1) + 1)]
    for number, part in enumerate(component):
        members[part].append(number)
    # Components are numbered in reverse topological order, so successors have smaller numbers.
    steps = [0] * len(members)
    for here, inside in enumerate(members):
        for edge in (edge for number in inside for edge in out[number]):
            there = component[targets[edge]]
            if there != here:
                steps[here] = max(steps[here], steps[there] + 1)
    return {
        ref: _TYPES_BY_DISTANCE[min(steps[component[number]], len(_TYPES_BY_DISTANCE) - 1)]
        if is_touched[number]
        else NodeType.ACTIVITY
        for ref, number in numbers.items()
    }
