"""Standard output: its width and whether it takes colours, and lines that go there, or to a pager."""

from __future__ import annotations

import os
import sys

from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.screen.table import RULE, TextTable

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
