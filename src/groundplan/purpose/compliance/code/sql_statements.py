"""Split SQL into statements, and decide what of their string literals is code.

Text is not: what a comment of a table or a log entry says is replaced by spaces. Four kinds of literals stay: SQL that
is run, which gives statements of its own; JSON with structure; a literal in the place of a name; and plain words, such
as a status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.purpose.compliance.code.finding import PARENT, TOC_NAME
from groundplan.purpose.compliance.code.units import CodeSource, Unit, blank, read_source
from groundplan.purpose.compliance.metadata_structure import MetadataStructure, find_structure

BEFORE_CHARS_MAX = 240  # of the text before a literal, to see what it is

_FLAGS = re.IGNORECASE | re.ASCII
_SQL = re.compile(
    r"\A[\s\"'`]*(?:SELECT\b(?=.*\bFROM\b)|WITH\s+(?:RECURSIVE\s+)?[\"`\w]+\s*(?:\([^()]*\)\s*)?AS\b)"
    r"|\b(?:CREATE\s+(?:TABLE|UNIQUE|INDEX|POLICY|OR|VIEW|TRIGGER|FUNCTION)|ALTER\s+TABLE|INSERT\s+INTO"
    r"|UPDATE\s+(?:ONLY\s+)?\S+(?:\s+(?:AS\s+)?\w+)?\s+SET|DELETE\s+FROM|DROP\s+TRIGGER)\b",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN_WORDS = re.compile(r"[\w -]{0,60}", re.ASCII)
_NAME = re.compile(r"[^\s']*")
_BEFORE_NAME = re.compile(
    r"(?:\b(?:TABLE|EXISTS|INTO|UPDATE|FROM|JOIN|ADD|COLUMN|ON|REFERENCES)|->>?|#>>?|\?[|&]?"
    r"|\bjsonb?_\w+\s*\([^()]{0,200})\s*\Z",
    _FLAGS,
)
_IN_LIST = re.compile(r"[(,]\s*\Z")
_TYPE = re.compile(r"\s+(?!AS\b)[a-z]", _FLAGS)  # what follows the name of a column where a table is defined
_DOUBLED = re.compile(r"''([^']*)''")  # a literal inside a literal
_JSON_LINK = re.compile(rf'"(?:{PARENT.pattern})"\s*:', _FLAGS)  # also in JSON that is put together from parts
_JSON = re.compile(r"'(\s*[{\[](?:[^']|'')*)'")


def is_sql(text: str) -> bool:
    """Return whether a string of source code, or a literal, contains a statement."""
    return _SQL.search(text) is not None


def split_statements(text: str, start: int = 0) -> Iterator[Unit]:
    """Yield the statements of SQL. Those in the body of a function, and those in a literal, are statements too."""
    source = read_source(text, "sql")
    hidden: list[tuple[int, int]] = []
    for first, end, is_closed in _find_literals(source):
        content = source.text[first:end]
        if not is_closed or (is_sql(content) and TOC_NAME.search(content)):
            yield from _split(read_source(_DOUBLED.sub(r" '\1' ", content), "sql"), start + first)
        elif _is_code(source.text, first, end):
            continue
        hidden.append((first, end))
    yield from _split(CodeSource(blank(source.text, 0, hidden), source.tokens), start)


def find_json_structures(text: str) -> Iterator[tuple[int, int, MetadataStructure]]:
    """Yield the offsets of the JSON literals of a statement that hold structure, and this structure."""
    for found in _JSON.finditer(text):
        structure = _read_structure(found[1])
        if structure.links or structure.trees:
            yield found.start(), found.end(), structure


def _split(source: CodeSource, start: int) -> Iterator[Unit]:
    text, first = source.text, 0
    for end in [*(token.start for token in source.tokens if token.kind == "end"), len(text)]:
        if first < end and not text[first:end].isspace():
            yield Unit(start + first, text[first:end])
        first = end + 1


def _find_literals(source: CodeSource) -> Iterator[tuple[int, int, bool]]:
    """Yield where the content of each literal begins and ends, and whether it is closed.

    Two strings without anything between them are one literal with a quote in it.
    """
    strings = [(source.text.index("'", one.start), one.end) for one in source.strings()]
    first: int | None = None
    for (start, end), following in zip_longest(strings, strings[1:]):
        first = start if first is None else first
        if following is None or following[0] != end:
            is_closed = end - start > 1 and source.text[end - 1] == "'"
            yield first + 1, end - is_closed, is_closed
            first = None


def _is_code(text: str, first: int, end: int) -> bool:
    """Return whether the content of a literal stays: plain words, a name, or JSON with structure."""
    content = text[first:end]
    if not (PARENT.search(content) or TOC_NAME.search(content)):
        return bool(_PLAIN_WORDS.fullmatch(content)) or _has_structure(content)
    before = text[max(0, first - 1 - BEFORE_CHARS_MAX) : first - 1]
    is_column = _IN_LIST.search(before) and _TYPE.match(text, end + 1)
    is_name = _NAME.fullmatch(content) and (is_column or _BEFORE_NAME.search(before))
    return bool(is_name or _JSON_LINK.search(content)) or _has_structure(content)


def _has_structure(content: str) -> bool:
    return content.lstrip()[:1] in ("{", "[") and any(_read_structure(content))


def _read_structure(content: str) -> MetadataStructure:
    try:
        return find_structure(decode(content.replace("''", "'").encode()))
    except (Invalid, UnicodeEncodeError):  # not JSON: an array, or a text in brackets
        return MetadataStructure([], [])
