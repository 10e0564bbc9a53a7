"""The outline of a checklist: which heading or box is below which, and the text below each.

Indentation makes children, and where there is none, numbers do: `2.1` is below `2` at the same level. Only headings
with boxes below them count.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from groundplan.exchange.checklists.boxes import CheckBox, measure_indent, parse_box
from groundplan.front_matter.errors import UnreadableFrontMatter
from groundplan.front_matter.split import split_text
from groundplan.markdown_lines import iter_lines, parse_heading


@dataclass(slots=True, eq=False)
class OutlineEntry:
    """A heading, or a box, with the lines of text below it."""

    line: int
    title: str
    parent: OutlineEntry | None
    level: int = 0  # of a heading
    box: CheckBox | None = None
    has_boxes: bool = False
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text below the entry, without its indentation."""
        return textwrap.dedent("\n".join(self.lines)).strip("\n")

    def iter_above(self) -> Iterator[OutlineEntry]:
        """Yield the entries above this one, nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


def read_outline(text: str) -> list[OutlineEntry]:
    """Return the boxes of a text and the headings above them, in the order of their lines."""
    try:
        parts = split_text(text)
    except UnreadableFrontMatter:
        first_line, body = 1, text
    else:
        first_line, body = parts.body_line, parts.body
    reader = _OutlineReader()
    for number, (line, is_code) in enumerate(iter_lines(body), first_line):
        if not is_code and (heading := parse_heading(line)) is not None:
            reader.add_heading(number, *heading)
        elif not is_code and (box := parse_box(line)) is not None:
            reader.add_box(number, box)
        else:
            reader.add_line(line, is_code=is_code)
    return [entry for entry in reader.entries if entry.box is not None or entry.has_boxes]


class _OutlineReader:
    """The entries so far, and those that the next line can be below."""

    def __init__(self) -> None:
        self.entries: list[OutlineEntry] = []
        self._headings: list[OutlineEntry] = []  # from the top to the current one
        self._boxes: list[tuple[CheckBox, OutlineEntry]] = []  # those around the current line, below the heading
        self._numbers: dict[tuple[int, ...], OutlineEntry] = {}  # the last box with each number, below the heading

    def add_heading(self, line: int, level: int, title: str) -> None:
        while self._headings and self._headings[-1].level >= level:
            self._headings.pop()
        entry = OutlineEntry(line, title, self._heading, level=level)
        self._headings.append(entry)
        self.entries.append(entry)
        self._boxes.clear()
        self._numbers.clear()

    def add_box(self, line: int, box: CheckBox) -> None:
        self._leave_boxes(box.indent)
        parent = self._boxes[-1][1] if self._boxes else self._find_by_number(box) or self._heading
        entry = OutlineEntry(line, box.text, parent, box=box)
        for above in entry.iter_above():
            if above.has_boxes:
                break
            above.has_boxes = True
        self.entries.append(entry)
        self._boxes.append((box, entry))
        if box.number:
            self._numbers[box.number] = entry

    def add_line(self, line: str, *, is_code: bool) -> None:
        if line.strip() and not is_code:
            self._leave_boxes(measure_indent(line))
        owner = self._boxes[-1][1] if self._boxes else self._heading
        if owner is not None:
            owner.lines.append(line)

    @property
    def _heading(self) -> OutlineEntry | None:
        return self._headings[-1] if self._headings else None

    def _leave_boxes(self, indent: int) -> None:
        """Leave the boxes that a line with this indentation is not below."""
        while self._boxes and self._boxes[-1][0].indent >= indent:
            self._boxes.pop()

    def _find_by_number(self, box: CheckBox) -> OutlineEntry | None:
        """Return the last box whose number the number of this one continues, the longest first."""
        number = box.number
        return next(
            (found for end in range(len(number) - 1, 0, -1) if (found := self._numbers.get(number[:end]))), None
        )
