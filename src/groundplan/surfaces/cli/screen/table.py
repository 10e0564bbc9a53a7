"""A table: columns as wide as their texts need, narrowed and wrapped to the width of the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from groundplan.surfaces.cli.screen.styled_text import StyledText

GAP_COLUMNS = 2  # between two columns
NARROWEST = 8  # a column is not made narrower than this
RULE = "─"


class TextTable:
    """Rows of cells below headings. The columns in `whole`, by index, are never narrowed."""

    def __init__(
        self, rows: Sequence[Sequence[StyledText]], headings: Sequence[str] = (), *, whole: Collection[int] = ()
    ) -> None:
        self.rows, self.headings, self.whole = rows, headings, whole

    def lay_out(self, columns: int) -> Iterator[StyledText]:
        """Yield the lines of the table at a width."""
        widths = self._choose_widths(columns)
        if self.headings:
            yield from _lay_out_row([StyledText(heading, "bold") for heading in self.headings], widths)
            yield StyledText(RULE * min(sum(widths) + GAP_COLUMNS * (len(widths) - 1), columns))
        for row in self.rows:
            yield from _lay_out_row(row, widths)

    def _choose_widths(self, columns: int) -> list[int]:
        cells = [*self.rows, [StyledText(heading) for heading in self.headings]] if self.headings else list(self.rows)
        widths = [
            max((line.cell_len for row in cells for line in row[index].split_lines()), default=0)
            for index in range(len(cells[0]) if cells else 0)
        ]
        over = sum(widths) + GAP_COLUMNS * (len(widths) - 1) - columns
        flexible = [index for index in range(len(widths)) if index not in self.whole]
        while over > 0 and flexible:
            widest = max(flexible, key=lambda index: widths[index])
            next_widest = max((widths[index] for index in flexible if index != widest), default=0)
            narrowed = max(min(next_widest, widths[widest] - 1), widths[widest] - over, NARROWEST)
            if narrowed >= widths[widest]:
                break
            over -= widths[widest] - narrowed
            widths[widest] = narrowed
        return widths


def _lay_out_row(row: Sequence[StyledText], widths: Sequence[int]) -> Iterator[StyledText]:
    wrapped = [cell.wrap(width) for cell, width in zip(row, widths, strict=True)]
    for index in range(max(map(len, wrapped))):
        parts = [lines[index] if index < len(lines) else StyledText() for lines in wrapped]
        yield join_columns(parts, widths)


def join_columns(parts: Sequence[StyledText], widths: Sequence[int]) -> StyledText:
    """Return parts side by side, each at its place, without blanks at the end."""
    line, missing = StyledText(), 0
    for part, width in zip(parts, widths, strict=True):
        if part.plain:
            line.append(" " * missing).append_text(part)
            missing = 0
        missing += width - part.cell_len + GAP_COLUMNS
    return line
