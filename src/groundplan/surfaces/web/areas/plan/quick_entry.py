"""Quick entry: a batch of edits of the draft from lines of text or rows of a spreadsheet.

    Train committees > 78 committees trained > OC2     a chain: each leads to the next
    output: Fee model agreed                           a type before a title
    Outcomes:                                          a line of its own: the type of the lines below
    output ⇥ Fee model agreed ⇥ Committees pay; G1     a row: type, title, what it leads to

Without a type, the first item of a line is an activity, and what it leads to is one step further: output, outcome,
goal. The same title is the same item, also one of the draft: case, spaces and the form of letters make no difference. A
key, such as OC2, is an item of the draft.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import UNSET

from groundplan.kernel.errors import Invalid
from groundplan.purpose.model import LEVELS, PREFIXES, EdgeType, NodeType, fold_title
from groundplan.purpose.open import PurposeEdgeView, PurposeNodeView

STEPS = sorted(LEVELS, key=LEVELS.__getitem__)
PLURALS = {"activities": NodeType.ACTIVITY, "outputs": NodeType.OUTPUT, "outcomes": NodeType.OUTCOME}
WORDS = {
    **{type_.lower(): type_ for type_ in NodeType},
    **{prefix.lower(): type_ for type_, prefix in PREFIXES.items()},
    **PLURALS,
    "goals": NodeType.GOAL,
}
REF = "line "
_TYPED = re.compile(r"\s*([A-Za-z]+)\s*:\s*(.*)$", re.DOTALL)
_KEY = re.compile(rf"({'|'.join(sorted(PREFIXES.values(), key=len, reverse=True))})[0-9]+")
_TYPE_OF_PREFIX = {prefix: type_ for type_, prefix in PREFIXES.items()}
_LEADS_TO = (UNSET, EdgeType.CONTRIBUTES_TO, EdgeType.CAUSES)
HEADER = "type"  # the first cell of a row that names columns


class InvalidLine(Invalid):
    """A line of a quick entry cannot be read."""

    code = "invalid_line"

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}", line=line)


class _Operation(NamedTuple):
    line: int
    fields: dict[str, Any]


class DraftItems:
    """The nodes of a draft by title, and its links that a quick entry could add again."""

    def __init__(self, nodes: Iterable[PurposeNodeView] = (), edges: Iterable[PurposeEdgeView] = ()) -> None:
        self.nodes: dict[str, list[PurposeNodeView]] = {}
        for node in nodes:
            self.nodes.setdefault(fold_title(node.title), []).append(node)
        self.links = {(edge.source, edge.target) for edge in edges if edge.edge_type in _LEADS_TO}


NO_ITEMS = DraftItems()


class _Batch:
    """The operations of a quick entry, and the items that they add."""

    def __init__(self, draft: DraftItems) -> None:
        self.operations: list[_Operation] = []
        self._draft = draft
        self._refs: dict[str, tuple[str, NodeType]] = {}  # by title
        self._links = set(draft.links)

    def find(self, line: int, title: str, node_type: NodeType | None) -> tuple[str, NodeType] | None:
        """Return the ref and the type of an item of this entry or of the draft, by title; or by a key of the draft."""
        known = self._refs.get(fold_title(title))
        if known is not None:
            return known
        if (key := _KEY.fullmatch(title)) is not None:
            return title, _TYPE_OF_PREFIX[key[1]]
        titled = self._draft.nodes.get(fold_title(title), [])
        if len(titled) > 1:
            titled = [node for node in titled if node.node_type is node_type] or titled
        if len(titled) > 1:
            raise InvalidLine(
                line, f"“{title}” is the title of {' and '.join(node.key for node in titled)}; write a key"
            )
        return (titled[0].key, titled[0].node_type) if titled else None

    def add(self, line: int, title: str, node_type: NodeType) -> str:
        ref = f"{REF}{line}.{len(self._refs)}"
        self._refs[fold_title(title)] = ref, node_type
        fields = {"op": "add_node", "ref": ref, "node_type": node_type.value, "title": title}
        self.operations.append(_Operation(line, fields))
        return ref

    def connect(self, line: int, source: str, target: str) -> None:
        if (source, target) not in self._links:
            self._links.add((source, target))
            self.operations.append(_Operation(line, {"op": "add_edge", "source": source, "target": target}))


def read_plan_lines(text: str, draft: DraftItems = NO_ITEMS) -> list[dict[str, Any]]:
    """Return the operations that add the items and links of some lines, but for those that the draft has already."""
    operations = [operation.fields for operation in _read(text, draft)]
    if text.strip() and not operations:
        raise InvalidLine(1, "the draft has all of this already")
    return operations


def find_plan_line(text: str, field: str, draft: DraftItems = NO_ITEMS) -> int | None:
    """Return the line of the operation with a refused field, such as `operations.3.target`."""
    at = re.match(r"operations\.(\d+)", field)
    try:
        operations = _read(text, draft)
    except InvalidLine as error:
        return int(error.details["line"])
    return operations[int(at[1])].line if at is not None and int(at[1]) < len(operations) else None


def _read(text: str, draft: DraftItems) -> list[_Operation]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    batch = _Batch(draft)
    if any("\t" in line for _, line in lines):
        _read_rows(lines, batch)
    else:
        _read_chains(lines, batch)
    return batch.operations


def _read_chains(lines: list[tuple[int, str]], batch: _Batch) -> None:
    heading = NodeType.ACTIVITY
    for number, line in lines:
        typed = _TYPED.match(line)
        if typed is not None and not typed[2].strip() and typed[1].lower() in WORDS:
            heading = WORDS[typed[1].lower()]
            continue
        before: tuple[str, NodeType] | None = None
        for part in line.lstrip(" -*•").split(">"):
            if not part.strip():
                raise InvalidLine(number, "a title is missing beside “>”")
            here = _read_item(number, part, batch, heading if before is None else _get_next(before[1]))
            if before is not None:
                batch.connect(number, before[0], here[0])
            before = here


def _read_item(number: int, part: str, batch: _Batch, default_type: NodeType) -> tuple[str, NodeType]:
    typed = _TYPED.match(part)
    node_type = WORDS.get(typed[1].lower()) if typed is not None else None
    title = (typed[2] if typed is not None and node_type is not None else part).strip()
    if not title:
        raise InvalidLine(number, "a title is missing after the type")
    known = batch.find(number, title, node_type)
    if known is None:
        node_type = node_type or default_type
        return batch.add(number, title, node_type), node_type
    if node_type is not None and node_type is not known[1]:
        raise InvalidLine(
            number, f"“{title}” is {known[1].lower()} already, and {node_type.lower()} here; say one of them"
        )
    return known


def _read_rows(lines: list[tuple[int, str]], batch: _Batch) -> None:
    rows = [(number, [cell.strip() for cell in line.split("\t")]) for number, line in lines]
    if rows and rows[0][1][0].lower() == HEADER:
        rows = rows[1:]
    leading: list[tuple[int, str, str]] = []
    for number, cells in rows:
        node_type = WORDS.get(cells[0].lower().rstrip(":"))
        if node_type is None:
            raise InvalidLine(number, f"“{cells[0]}” is no type; write activity, output, outcome or goal first")
        if len(cells) < 2 or not cells[1]:
            raise InvalidLine(number, "the second column has no title")
        known = batch.find(number, cells[1], node_type)
        if known is not None and known[1] is not node_type:
            raise InvalidLine(number, f"“{cells[1]}” is {known[1].lower()} already; choose one type")
        ref = batch.add(number, cells[1], node_type) if known is None else known[0]
        leading += [(number, ref, part.strip()) for cell in cells[2:] for part in cell.split(";") if part.strip()]
    for number, source, title in leading:
        target = batch.find(number, title, None)
        if target is None:
            raise InvalidLine(number, f"“{title}” is neither a title in these rows or in the draft nor a key of it")
        batch.connect(number, source, target[0])


def _get_next(node_type: NodeType) -> NodeType:
    """Return the type that comes after a type on the way to a goal."""
    return STEPS[min(LEVELS[node_type] + 1, len(STEPS) - 1)]
