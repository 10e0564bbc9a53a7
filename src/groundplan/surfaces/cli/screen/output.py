"""Standard output: its width and colours, tables, parts with gaps between them, and the pager."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from groundplan.surfaces.cli.screen.text import StyledText, escape_control_chars

GAP_COLUMNS = 2  # between two columns
NARROWEST = 10  # a column is not made narrower than this, which holds a date
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
        if sum(widths) + GAP_COLUMNS * (len(widths) - 1) > columns:
            yield from self._stack(columns)
            return
        if self.headings:
            yield from _lay_out_row([StyledText(heading, "bold") for heading in self.headings], widths)
            yield StyledText(RULE * min(sum(widths) + GAP_COLUMNS * (len(widths) - 1), columns))
        for row in self.rows:
            yield from _lay_out_row(row, widths)

    def _stack(self, columns: int) -> Iterator[StyledText]:
        """Yield the cells of each row below each other, for a terminal that is too narrow."""
        for row in self.rows:
            if self.headings:
                yield from () if row is self.rows[0] else (StyledText(RULE * columns),)
                named = zip(self.headings, row, strict=True)
                margin, cells = "", [StyledText(f"{name}: ", "bold").append_text(cell) for name, cell in named]
            else:
                name, *cells = row
                yield name
                margin = " " * (name.cell_len - len(name.plain.lstrip()) + GAP_COLUMNS)
            yield from (
                StyledText.assemble(margin, line) for cell in cells for line in cell.wrap(columns - len(margin))
            )

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


# In a file or a pipe nothing is wrapped, so that a line stays one line for grep.
UNWRAPPED_COLUMNS = 10_000
COLUMNS_DEFAULT, LINES_DEFAULT = 80, 24
COLUMNS_MIN = 20


class Output:
    """Standard output as it is now."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty()
        size = _read_size() if self.is_terminal else os.terminal_size((UNWRAPPED_COLUMNS, LINES_DEFAULT))
        self.columns, self.lines = size
        self.colours = self.is_terminal and takes_colours()
        self.takes_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")

    def print(self, part: str | StyledText | TextTable = "") -> None:
        """Print a line, which is not wrapped, or a table."""
        lines = part.lay_out(self.columns) if isinstance(part, TextTable) else [part]
        for line in lines:
            text = line if isinstance(line, str) else line.render(colours=self.colours)
            _write(text if self.takes_unicode else _to_ascii(text))


def takes_colours() -> bool:
    """Return whether the user wants colours on a terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")


_collected: list[str] | None = None  # lines that are kept for a pager


class collect_lines:  # noqa: N801 - used like a function; contextlib takes long to import
    """A context manager that keeps what is printed, instead of printing it."""

    def __enter__(self) -> list[str]:
        global _collected  # noqa: PLW0603 - there is one standard output
        self._before = _collected
        _collected = lines = list[str]()
        return lines

    def __exit__(self, *_: object) -> None:
        global _collected  # noqa: PLW0603 - there is one standard output
        _collected = self._before


def _write(line: str) -> None:
    if _collected is not None:
        _collected.append(line)
        return
    sys.stdout.write(f"{line}\n")


def _to_ascii(text: str) -> str:
    return text.replace(RULE, "-").replace("…", "...").encode("ascii", "backslashreplace").decode("ascii")


def _read_size() -> os.terminal_size:
    """Return the size of the terminal; COLUMNS and LINES override it, as for other programs."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    columns = _read_number("COLUMNS") or found.columns or COLUMNS_DEFAULT
    lines = _read_number("LINES") or found.lines or LINES_DEFAULT
    return os.terminal_size((max(columns, COLUMNS_MIN), lines))


def _read_number(variable: str) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


GAP = None  # a blank line, unless nothing comes before or after it

Part = str | StyledText | TextTable | None


def print_parts(parts: Iterable[Part]) -> None:
    """Print lines and tables. Lines are not wrapped."""
    output = Output()
    has_output = needs_gap = False
    for part in parts:
        if part is GAP:
            needs_gap = has_output
            continue
        if needs_gap:
            output.print()
        output.print(StyledText(escape_control_chars(part)) if isinstance(part, str) else part)
        has_output, needs_gap = True, False


PAGER_VARIABLE = "PAGER"
PAGER_DEFAULT = "less"
LESS_OPTIONS = "FRX"  # end at once if it fits, show colours, leave the text on the screen
NO_PAGERS = ("", "cat")


def print_paged(draw: Callable[[], None], *, wanted: bool = True) -> None:
    """Draw to standard output, through the pager if that is a terminal and the output is longer than it."""
    output = Output()
    if not (wanted and output.is_terminal and sys.stdin.isatty()):
        draw()
        return
    with collect_lines() as lines:
        draw()
    text = join_lines(lines)
    pager = [] if fits_screen(text, output) else choose_pager(os.environ)
    if not pager or not _show(pager, text):
        sys.stdout.write(text)


def join_lines(lines: Iterable[str]) -> str:
    """Return collected lines as they are printed."""
    return "".join(f"{line}\n" for line in lines)


def fits_screen(text: str, output: Output) -> bool:
    """Return whether a text and the next prompt fit on the terminal."""
    return text.count("\n") < output.lines


def choose_pager(environment: Mapping[str, str]) -> Sequence[str]:
    """Return the command of the pager; empty if the user wants none or the terminal cannot move its cursor."""
    if environment.get("TERM", "dumb") == "dumb":
        return []
    given = environment.get(PAGER_VARIABLE, PAGER_DEFAULT)
    if given.strip() in NO_PAGERS:
        return []
    import shlex  # here, because most output is short

    try:
        return shlex.split(given)
    except ValueError:  # a quotation mark without its partner
        return []


def _show(pager: Sequence[str], text: str) -> bool:
    """Return whether the pager could be started."""
    import subprocess

    environment = {"LESS": LESS_OPTIONS, **os.environ}
    sys.stdout.flush()
    try:
        # No shell: the variable names a program and its options.
        shown = subprocess.Popen(pager, stdin=subprocess.PIPE, env=environment)  # noqa: S603 - the user's own pager
    except OSError:
        return False
    try:
        shown.communicate(text.encode("utf-8", "backslashreplace"))
    except KeyboardInterrupt:  # the pager handles it, and ends when the user leaves it
        shown.wait()
    return True
