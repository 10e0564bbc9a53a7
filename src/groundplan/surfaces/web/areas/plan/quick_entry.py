"""Quick entry: a batch of edits of the draft from lines of text or rows of a spreadsheet.

    Train committees > 78 committees trained > OC2     a chain: each leads to the next
    output: Fee model agreed                           a type before a title
    Outcomes:                                          a line of its own: the type of the lines below
    output ⇥ Fee model agreed ⇥ Committees pay; G1     a row: type, title, what it leads to

Without a type, the first item of a line is an activity, and what it leads to is one step further: output, outcome,
goal. The same title is the same item. A key, such as OC2, is an item of the draft.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from groundplan.kernel.errors import Invalid
from groundplan.purpose.model import LEVELS, PREFIXES, NodeType

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
HEADER = "type"  # the first cell of a row that names columns


class InvalidLine(Invalid):
    """A line of a quick entry cannot be read."""

    code = "invalid_line"

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}", line=line)


class _Operation(NamedTuple):
    line: int
    fields: dict[str, Any]


class _Batch:
    """The operations of a quick entry, and the items that they add."""

    def __init__(self) -> None:
        self.operations: list[_Operation] = []
        self._refs: dict[str, tuple[str, NodeType]] = {}  # by title
        self._edges: set[tuple[str, str]] = set()

    def find(self, title: str) -> tuple[str, NodeType] | None:
        """Return the ref and the type of an item: of this entry by its title, or of the draft by its key."""
        known = self._refs.get(_fold(title))
        if known is None and (key := _KEY.fullmatch(title)) is not None:
            return title, _TYPE_OF_PREFIX[key[1]]
        return known

    def add(self, line: int, title: str, node_type: NodeType) -> str:
        ref = f"{REF}{line}.{len(self._refs)}"
        self._refs[_fold(title)] = ref, node_type
        fields = {"op": "add_node", "ref": ref, "node_type": node_type.value, "title": title}
        self.operations.append(_Operation(line, fields))
        return ref

    def connect(self, line: int, source: str, target: str) -> None:
        if (source, target) not in self._edges:
            self._edges.add((source, target))
            self.operations.append(_Operation(line, {"op": "add_edge", "source": source, "target": target}))


def read_plan_lines(text: str) -> list[dict[str, Any]]:
    """Return the operations that add the items and links of some lines."""
    return [operation.fields for operation in _read(text)]


def find_plan_line(text: str, field: str) -> int | None:
    """Return the line of the operation with a refused field, such as `operations.3.target`."""
    at = re.match(r"operations\.(\d+)", field)
    try:
        operations = _read(text)
    except InvalidLine as error:
        return int(error.details["line"])
    return operations[int(at[1])].line if at is not None and int(at[1]) < len(operations) else None


def _read(text: str) -> list[_Operation]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    batch = _Batch()
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
    known = batch.find(title)
    if known is None:
        node_type = node_type or default_type
        return batch.add(number, title, node_type), node_type
    if node_type is not None and node_type is not known[1]:
        raise InvalidLine(
            number, f"“{title}” is {known[1].lower()} above, and {node_type.lower()} here; say one of them"
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
        known = batch.find(cells[1])
        if known is not None and known[1] is not node_type:
            raise InvalidLine(number, f"“{cells[1]}” is {known[1].lower()} already; choose one type")
        ref = batch.add(number, cells[1], node_type) if known is None else known[0]
        leading += [(number, ref, part.strip()) for cell in cells[2:] for part in cell.split(";") if part.strip()]
    for number, source, title in leading:
        target = batch.find(title)
        if target is None:
            raise InvalidLine(number, f"“{title}” is neither a title in these rows nor a key of the draft")
        batch.connect(number, source, target[0])


def _get_next(node_type: NodeType) -> NodeType:
    """Return the type that comes after a type on the way to a goal."""
    return STEPS[min(LEVELS[node_type] + 1, len(STEPS) - 1)]


def _fold(title: str) -> str:
    return " ".join(title.split()).casefold()
