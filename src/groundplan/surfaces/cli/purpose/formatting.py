"""Words, lines and tables that the drawings of a theory of change share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from groundplan.surfaces.cli.failures import escape_control_chars
from groundplan.surfaces.cli.terminal import console

ARROW = " -> "
REFS_SHOWN_MAX = 12
# How what is good, doubtful and bad looks where there are colours.
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
    """A number of things."""
    several = "activities" if one == "activity" else f"{one}s"
    return f"{count} {one if count == 1 else several}"


def humanize(name: str) -> str:
    """A word of the wire as people say it."""
    return name.replace("_", " ")


def format_refs(refs: Sequence[str]) -> str:
    """Names of what is meant, as far as there is room; without any it is the whole."""
    if not refs:
        return "the check as a whole"
    return join_names(refs)


def join_names(names: Sequence[str]) -> str:
    """Names, as far as there is room for them."""
    more = len(names) - REFS_SHOWN_MAX
    listed = ", ".join(names[:REFS_SHOWN_MAX])
    return f"{listed} and {more} more" if more > 0 else listed


def print_lines(lines: Iterable[Text]) -> None:
    """Lines with styles, as long as they are."""
    output = console()
    for line in lines:
        output.print(line, soft_wrap=True)


def draw_styled_table(titles: Sequence[str], rows: Sequence[Sequence[Text]], *, whole: Collection[str] = ()) -> None:
    """A table of which some columns are folded only where there is no other way."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for place, title in enumerate(titles):
        width = max(len(title), *(row[place].cell_len for row in rows)) if title in whole and rows else None
        table.add_column(Text(title), overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def to_text(text: str) -> Text:
    """A text without a style."""
    return Text(escape_control_chars(text))
