"""Split SQL into statements, and hide the string literals that no statement runs.

Only three kinds of literals are text: the values of an INSERT, what COMMENT ON says, and the message of a RAISE. Any
other literal may be SQL or a name when the statement runs, so it stays visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from operator import itemgetter

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.purpose.compliance.code.finding import PARENT, TOC_NAME
from groundplan.purpose.compliance.code.units import CodeSource, Unit, blank, read_source
from groundplan.purpose.compliance.metadata_structure import MetadataStructure, find_structure

_FLAGS = re.IGNORECASE | re.ASCII
_SQL = re.compile(
    r"\A[\s\"'`]*(?:SELECT\b(?=.*\bFROM\b)|WITH\s+(?:RECURSIVE\s+)?[\"`\w]+\s*(?:\([^()]*\)\s*)?AS\b)"
    r"|\b(?:CREATE\s+(?:TABLE|UNIQUE|INDEX|POLICY|OR|VIEW|TRIGGER|FUNCTION)|ALTER\s+TABLE|INSERT\s+INTO"
    r"|UPDATE\s+(?:ONLY\s+)?\S+(?:\s+(?:AS\s+)?\w+)?\s+SET|DELETE\s+FROM|DROP\s+TRIGGER)\b",
    re.IGNORECASE | re.DOTALL,
)
_EVENT = re.compile(r"(?P<bracket>[()])|(?P<end>;)|(?P<into>\bINSERT\s+INTO\b)|(?P<raise>\bRAISE\b\s*\(?)|\w+", _FLAGS)
_DOUBLED = re.compile(r"''([^']*)''")  # a literal inside a literal
_JSON_LINK = re.compile(rf'"(?:{PARENT.pattern})"\s*:', _FLAGS)  # also in JSON that is put together from parts
_JSON = re.compile(r"'(\s*[{\[](?:[^']|'')*)'")


def is_sql(text: str) -> bool:
    """Return whether a string of source code, or a literal, contains a statement."""
    return _SQL.search(text) is not None


def split_statements(text: str, start: int = 0) -> Iterator[Unit]:
    """Yield the statements of SQL. Those in the body of a function, and those in a literal, are statements too."""
    source = read_source(text, "sql")
    literals = list(_find_literals(source))
    texts = _find_texts(source, [first for first, _, _ in literals])
    hidden: list[tuple[int, int]] = []
    for first, end, is_closed in literals:
        content = source.text[first:end]
        if is_closed and first in texts:
            if not (_JSON_LINK.search(content) or _has_structure(content)):
                hidden.append((first, end))
        elif not is_closed or (is_sql(content) and TOC_NAME.search(content)):
            yield from _split(read_source(_DOUBLED.sub(r" '\1' ", content), "sql"), start + first)
            hidden += _find_gaps(content, first)
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


def _find_texts(source: CodeSource, literals: list[int]) -> set[int]:
    """Return which of the literals, by their offsets, are text that no statement runs."""
    quoted = ((one.start, one.end) for one in source.tokens if one.kind in ("string", "name"))
    events: list[tuple[int, re.Match[str] | None]] = [(first, None) for first in literals]
    events += ((found.start(), found) for found in _EVENT.finditer(blank(source.text, 0, quoted)))
    texts: set[int] = set()
    depth = base = 0
    statement = ""  # INSERT, COMMENT or RAISE, at the depth `base`
    text_depth: int | None = None  # of the brackets in which literals are text
    for at, found in sorted(events, key=itemgetter(0)):
        if found is None:
            texts |= {at} if depth == text_depth else set()
            continue
        word = found[0].upper()
        if found["bracket"]:
            depth += 1 if word == "(" else -1
        if found["end"] or depth < base:
            depth, base, statement, text_depth = (0 if found["end"] else depth), 0, "", None
        elif found["into"] or word == "COMMENT":
            base, statement, text_depth = depth, "INSERT" if found["into"] else word, None
        elif found["raise"]:
            base, statement = depth, "RAISE"
            depth += word.endswith("(")
            text_depth = depth
        elif depth == base and not found["bracket"]:
            if statement == "INSERT":  # another word ends the list of values
                text_depth = depth + 1 if word == "VALUES" else None
            elif statement == "COMMENT" and word == "IS":
                text_depth = depth
    return texts


def _find_gaps(content: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a literal around its toc_* names: the statement around it still names these tables."""
    first = 0
    for found in TOC_NAME.finditer(content):
        yield start + first, start + found.start()
        first = found.end()
    yield start + first, start + len(content)


def _has_structure(content: str) -> bool:
    return content.lstrip()[:1] in ("{", "[") and any(_read_structure(content))


def _read_structure(content: str) -> MetadataStructure:
    try:
        return find_structure(decode(content.replace("''", "'").encode()))
    except (Invalid, UnicodeEncodeError):  # not JSON: an array, or a text in brackets
        return MetadataStructure([], [])
