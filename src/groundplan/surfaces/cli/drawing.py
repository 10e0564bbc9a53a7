"""Views: the terminal output of an answer, declared as blocks.

    View        prints its blocks from top to bottom, then what the answer leaves out and its next page
    "text"      one line; fields of the answer stand in braces, as in "Deleted {deleted}."
    GAP         a blank line, unless nothing comes before or after it
    Lines       the lines of a text or the items of a list, below a title
    Fields      names and values side by side
    Rows        a table
    ForEach     the same blocks for every item of a list
    When        blocks for answers that meet a condition, and others for those that do not
    TypeSwitch  the blocks for the class of the answer

The columns of a table and the names of fields stand in one text, as in "id, title, changed: modified_at"; what stands
after a colon is the field, if it is not called like its heading. ("changed", source) declares one with another source.
A function of the answer that returns a line or yields lines is a block too. A part without a value is left out with
its title, and a field that an answer does not have is empty, so that one view can serve answers of several classes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from groundplan.surfaces.cli.screen.output import GAP as GAP  # views take these from here
from groundplan.surfaces.cli.screen.output import Part as Part
from groundplan.surfaces.cli.screen.output import TextTable
from groundplan.surfaces.cli.screen.output import print_parts as print_parts
from groundplan.surfaces.cli.screen.text import StyledText, escape_control_chars
from groundplan.surfaces.cli.terminal import INDENT, format_time, format_value, to_one_line

TIME_FIELDS = ("at", "as_of", "timestamp")  # and every field that ends in _at
PROJECT_OPTION = "--project PROJECT"  # in a command that comes next
_PLACEHOLDER = r"\{([\w.]+)\}"

Block = str | None | Callable[[Any], Iterable[Part] | StyledText]
# The name of a field, with dots for inner ones, a text with fields in braces, or a function.
Source = str | Callable[[Any], Any]
# Fields separated by commas, each with its heading before a colon if it has another one; or a heading and its source.
Columns = str | tuple[str, Source]


class View:
    """Blocks that print an answer, and below them what it leaves out and its next page."""

    def __init__(self, *blocks: Block, footer: Iterable[Block] | None = None) -> None:
        self.blocks = (*blocks, *(FOOTER if footer is None else footer))

    def __call__(self, answer: Any, project: str = "") -> None:
        """Print an answer. Commands in it name the project of the request, so that they can be copied."""
        print_parts(self.list_parts(answer, project))

    def list_parts(self, answer: Any, project: str = "") -> Iterator[Part]:
        """Yield the parts of an answer."""
        parts = expand(self.blocks, answer)
        return (_name_project(part, project) for part in parts) if project else parts


def _name_project(part: Part, project: str) -> Part:
    text = part.plain if isinstance(part, StyledText) else part
    if not isinstance(text, str) or PROJECT_OPTION not in text:
        return part
    from shlex import quote  # few answers name a command

    named = text.replace(PROJECT_OPTION, f"--project {quote(project)}")
    return StyledText(named) if isinstance(part, StyledText) else named


class Lines:
    """The lines of a text or of the items of a list, indented below the title if there is one."""

    def __init__(self, source: Source, line: Source | None = None, *, title: str = "", indent: str = "") -> None:
        self.source, self.line, self.title = source, line, title
        self.indent = INDENT if title else indent

    def __call__(self, answer: Any) -> Iterator[Part]:
        lines = [line for item in list_items(read(answer, self.source)) for line in self._format(item)]
        if lines and self.title:
            yield from (GAP, fill(self.title, answer))
        yield from indent(lines, self.indent)

    def _format(self, item: Any) -> Iterable[str | StyledText]:
        if self.line is None:
            return [item]
        lines = read(item, self.line)
        return [lines] if isinstance(lines, str | StyledText) else lines


class Fields:
    """Names and values side by side. A function without a name yields pairs of names and values."""

    def __init__(self, *fields: Columns | Callable[[Any], Iterable[tuple[str, Any]]], indent: str = "") -> None:
        self.fields, self.indent = fields, indent

    def __call__(self, answer: Any) -> Iterator[Part]:
        rows = [
            [StyledText(f"{self.indent}{escape_control_chars(name)}", "bold"), to_text(value)]
            for name, value in self._list_pairs(answer)
            if not is_empty(value)
        ]
        if rows:
            yield TextTable(rows, whole=(0,))

    def _list_pairs(self, answer: Any) -> Iterator[tuple[str, Any]]:
        for field in self.fields:
            if callable(field):
                yield from field(answer)
            else:
                yield from ((name, read_cell(answer, source)) for name, source in list_columns(field))


class Rows:
    """A table with a row for each item. The columns in `whole` keep their width, because ids are there to be copied."""

    def __init__(
        self, source: Source, *columns: Columns, title: str = "", empty: str = "", whole: Collection[str] = ()
    ) -> None:
        self.source, self.columns = source, [one for column in columns for one in list_columns(column)]
        self.title, self.empty, self.whole = title, empty, whole

    def __call__(self, answer: Any) -> Iterator[Part]:
        items = list_items(read(answer, self.source))
        rows = [[to_text(read_cell(item, source)) for _, source in self.columns] for item in items]
        if rows:
            if self.title:
                yield from (GAP, fill(self.title, answer), GAP)
            headings = [heading for heading, _ in self.columns]
            whole = [index for index, heading in enumerate(headings) if heading in self.whole]
            yield TextTable(rows, headings, whole=whole)
        elif self.empty:
            yield fill(self.empty, answer)


class ForEach:
    """The same blocks for every item of a list, with a blank line between two items."""

    def __init__(self, source: Source, *blocks: Block) -> None:
        self.source, self.blocks = source, blocks

    def __call__(self, answer: Any) -> Iterator[Part]:
        for item in list_items(read(answer, self.source)):
            yield GAP
            yield from expand(self.blocks, item)


class When:
    """Blocks for answers in which the source is true, or the blocks of `otherwise`."""

    def __init__(self, source: Source, *blocks: Block, otherwise: Iterable[Block] = ()) -> None:
        self.source, self.blocks, self.otherwise = source, blocks, otherwise

    def __call__(self, answer: Any) -> Iterator[Part]:
        return expand(self.blocks if read(answer, self.source) else self.otherwise, answer)


class TypeSwitch:
    """The blocks for the class of the answer, by its name, so that a view loads no operation."""

    def __init__(self, by_class: Mapping[str, Iterable[Block]]) -> None:
        self.by_class = by_class

    def __call__(self, answer: Any) -> Iterator[Part]:
        return expand(self.by_class[type(answer).__name__], answer)


def format_left_out(left_out: Mapping[str, int]) -> str:
    """Return the number of missing entries of each part."""
    return ", ".join(f"{count} {re.sub('[._]', ' ', name)}" for name, count in left_out.items())


def note_left_out(answer: Any) -> Iterator[Part]:
    """Yield what the answer leaves out, if anything."""
    if left_out := read(answer, "left_out"):
        yield from (GAP, f"Not shown: {format_left_out(left_out)}")


def note_no_results(answer: Any) -> Iterator[Part]:
    """Yield that a page has no items, and whether there are some before it."""
    if not answer.items:
        yield f"No more results after {answer.offset}; {answer.count} in total." if answer.count else "Nothing found."


def note_next_page(answer: Any) -> Iterator[Part]:
    """Yield the option for the next page, and the size of this one where the answer has a total."""
    for name in ("offset", "cursor"):
        if not is_empty(value := read(answer, f"next_{name}")):
            shown, count = len(list_items(read(answer, "items"))), read(answer, "count")
            yield from (GAP, f"{f'{shown} of {count}. ' if count else ''}Next page: add --{name} {value}")


WARNINGS = Lines("warnings", title="Warnings:")
FOOTER = (note_left_out, note_next_page)


def expand(blocks: Iterable[Block], answer: Any) -> Iterator[Part]:
    """Yield the parts of blocks for an answer."""
    for block in blocks:
        if callable(block):
            parts = block(answer)
            yield from [parts] if isinstance(parts, str | StyledText) else parts
        else:
            yield GAP if block is GAP else fill(block, answer)


def read(item: Any, source: Source) -> Any:
    """Return what a source names in an item."""
    if callable(source):
        return source(item)
    if "{" in source:
        return fill(source, item)
    for name in source.split("."):
        item = item.get(name, UNSET) if isinstance(item, Mapping) else getattr(item, name, UNSET)
    return item


def read_cell(item: Any, source: Source) -> Any:
    """Return the value of a cell. The text of a field with line breaks is put on one line, and a time is shortened."""
    value = read(item, source)
    if callable(source) or not isinstance(value, str):
        return value
    if source.endswith("_at") or source.rpartition(".")[2] in TIME_FIELDS:
        return format_time(value)
    return to_one_line(value) if len(value.splitlines()) > 1 else value


def fill(template: str, item: Any) -> str:
    """Return a text with the fields in braces replaced by their values."""
    return re.sub(_PLACEHOLDER, lambda found: format_value(read_cell(item, found[1])), template)


def list_items(value: Any) -> list[Any]:
    """Return the lines of a text, the items of a list, or the value itself if it is not empty."""
    if is_empty(value):
        return []
    if isinstance(value, str):
        return value.splitlines()
    return list(value) if isinstance(value, Iterable) and not isinstance(value, Mapping) else [value]


def is_empty(value: Any) -> bool:
    """Return whether there is nothing to print. Zero and false are values."""
    return value is None or value is UNSET or (isinstance(value, str | Collection) and not len(value))


def indent(lines: Iterable[Part], prefix: str = INDENT) -> Iterator[Part]:
    """Yield lines with a prefix."""
    for line in lines:
        yield line if not prefix or line is GAP else StyledText.assemble(prefix, to_text(line))


def list_columns(columns: Columns) -> Iterator[tuple[str, Source]]:
    """Yield the headings and sources of columns."""
    if isinstance(columns, tuple):
        yield columns
        return
    for column in columns.split(", "):
        heading, _, field = column.rpartition(": ")
        yield heading or field.replace("_", " "), field


def to_text(value: Any) -> StyledText:
    """Return a value as text, with control characters escaped."""
    return value if isinstance(value, StyledText) else StyledText(format_value(value))
