"""Text, line and table helpers for the terminal output of the purpose slice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from groundplan.surfaces.cli.failures import escape_control_chars
from groundplan.surfaces.cli.terminal import console

ARROW = " -> "
REFS_SHOWN_MAX = 12
# The colours of bands, results and statuses.
STYLES = {
    "green": "green",
    "amber": "yellow",
    "red": "red",
    "passed": "green",
    "waived": "yellow",
    "failed": "red",
    "not_applicable": "dim",
    "holding": "green",
    "at_risk": "yellow",
    "refuted": "red",
    "untested": "dim",
}


def pluralize(count: int, one: str) -> str:
    """Return a count with its noun in singular or plural."""
    several = "activities" if one == "activity" else f"{one}s"
    return f"{count} {one if count == 1 else several}"


def humanize(name: str) -> str:
    """Return a wire name with spaces instead of underscores."""
    return name.replace("_", " ")


def format_refs(refs: Sequence[str]) -> str:
    """Return the first refs, or a text that says that the whole check is meant."""
    if not refs:
        return "the check as a whole"
    return join_names(refs)


def join_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the rest."""
    more = len(names) - REFS_SHOWN_MAX
    listed = ", ".join(names[:REFS_SHOWN_MAX])
    return f"{listed} and {more} more" if more > 0 else listed


def print_lines(lines: Iterable[Text]) -> None:
    """Print styled lines without wrapping them."""
    output = console()
    for line in lines:
        output.print(line, soft_wrap=True)


def draw_styled_table(titles: Sequence[str], rows: Sequence[Sequence[Text]], *, whole: Collection[str] = ()) -> None:
    """Print a styled table. The columns named in `whole` keep their full width."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for index, title in enumerate(titles):
        width = max(len(title), *(row[index].cell_len for row in rows)) if title in whole and rows else None
        table.add_column(Text(title), overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def to_text(text: str) -> Text:
    """Return a text without a style, with control characters escaped."""
    return Text(escape_control_chars(text))
