"""Parse CREATE statements, for connections that may not use PRAGMA to inspect a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+ | --[^\n]* | /\*.*?\*/)
      | (?P<quoted>"(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\])
      | (?P<text>'(?:[^']|'')*')
      | (?P<word>[^\W\d]\w*)
      | (?P<other>[\d.]+ | .)""",
    re.VERBOSE | re.DOTALL,
)
_TABLE_CONSTRAINTS = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}
_COLUMN_CONSTRAINTS = _TABLE_CONSTRAINTS | {"NOT", "NULL", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS"}


class Token(NamedTuple):
    """A token of SQL: the word in upper case, and its text."""

    word: str  # empty for quoted names and punctuation
    name: str


class TableDefinition(NamedTuple):
    """A table: columns with types, unique keys, and foreign keys with the referenced table."""

    columns: dict[str, str]
    keys: list[list[str]]
    references: list[tuple[list[str], str]]


def parse_create_table(text: str) -> TableDefinition:
    """Parse a CREATE TABLE statement."""
    found = TableDefinition({}, [], [])
    for part in _split_at_commas(_take_first_brackets(list(_tokenize(text)))):
        rest = part[2:] if part[0].word == "CONSTRAINT" else part
        if rest[0].word not in _TABLE_CONSTRAINTS:
            _parse_column(part, found)
        elif rest[0].word in ("PRIMARY", "UNIQUE"):
            found.keys.append(_read_column_names(rest))
        elif rest[0].word == "FOREIGN":
            found.references.append((_read_column_names(rest), _find_referenced_table(rest)))
    return found


def parse_unique_index(text: str) -> list[str] | None:
    """Return the columns of a CREATE UNIQUE INDEX; None if the index is not unique or is partial."""
    tokens = list(_tokenize(text))
    words = [token.word for token in tokens]
    if "UNIQUE" not in words[:2] or "WHERE" in words:
        return None
    return _read_column_names(tokens)


def _parse_column(part: list[Token], definition: TableDefinition) -> None:
    name, words = part[0].name, [token.word for token in part[1:]]
    end = next((index for index, word in enumerate(words) if word in _COLUMN_CONSTRAINTS), len(words))
    definition.columns[name] = " ".join(word for word in words[:end] if word)
    if "UNIQUE" in words or "PRIMARY" in words:
        definition.keys.append([name])
    if "REFERENCES" in words:
        definition.references.append(([name], _find_referenced_table(part)))


def _find_referenced_table(part: list[Token]) -> str:
    index = next(index for index, token in enumerate(part) if token.word == "REFERENCES")
    return part[index + 1].name


def _read_column_names(part: list[Token]) -> list[str]:
    """Return the columns in the first brackets of a part."""
    return [column[0].name for column in _split_at_commas(_take_first_brackets(part))]


def _take_first_brackets(tokens: list[Token]) -> list[Token]:
    """Return the tokens in the first pair of brackets."""
    depth, found = 0, []
    for token in tokens:
        depth -= token.name == ")" and not token.word
        if depth:
            found.append(token)
        elif found:
            break
        depth += token.name == "(" and not token.word
    return found


def _split_at_commas(tokens: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens between commas that are not in brackets."""
    depth = 0
    part: list[Token] = []
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.name, 0)
        if token.name == "," and not depth:
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _tokenize(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        if match["word"]:
            yield Token(match["word"].upper(), match["word"])
        elif match["quoted"]:
            mark = match["quoted"][-1]
            yield Token("", match["quoted"][1:-1].replace(mark * 2, mark))
        elif match["text"]:
            yield Token("", match["text"])
        elif match["other"]:
            yield Token("", match["other"])
