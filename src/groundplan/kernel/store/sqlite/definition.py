"""What the text of a CREATE statement says of its table, for a connection that may not ask by PRAGMA."""

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
_OF_THE_TABLE = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}
_OF_THE_COLUMN = _OF_THE_TABLE | {"NOT", "NULL", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS"}


class Token(NamedTuple):
    """A piece of SQL: a word of the language in capitals, and what it names."""

    word: str  # empty for what is quoted, and for signs
    name: str


class Definition(NamedTuple):
    """What a table consists of: columns with their types, unique keys, and references with the table they lead to."""

    columns: dict[str, str]
    keys: list[list[str]]
    references: list[tuple[list[str], str]]


def defined_table(text: str) -> Definition:
    """The definition in a CREATE TABLE."""
    found = Definition({}, [], [])
    for part in _parts(_inside(list(_tokens(text)))):
        rest = part[2:] if part[0].word == "CONSTRAINT" else part
        if rest[0].word not in _OF_THE_TABLE:
            _column(part, found)
        elif rest[0].word in ("PRIMARY", "UNIQUE"):
            found.keys.append(_names(rest))
        elif rest[0].word == "FOREIGN":
            found.references.append((_names(rest), _referenced(rest)))
    return found


def unique_index(text: str) -> list[str] | None:
    """The columns of a CREATE UNIQUE INDEX; None where it is no such index, or one of some rows only."""
    tokens = list(_tokens(text))
    words = [token.word for token in tokens]
    if "UNIQUE" not in words[:2] or "WHERE" in words:
        return None
    return _names(tokens)


def _column(part: list[Token], found: Definition) -> None:
    name, words = part[0].name, [token.word for token in part[1:]]
    end = next((at for at, word in enumerate(words) if word in _OF_THE_COLUMN), len(words))
    found.columns[name] = " ".join(word for word in words[:end] if word)
    if "UNIQUE" in words or "PRIMARY" in words:
        found.keys.append([name])
    if "REFERENCES" in words:
        found.references.append(([name], _referenced(part)))


def _referenced(part: list[Token]) -> str:
    at = next(at for at, token in enumerate(part) if token.word == "REFERENCES")
    return part[at + 1].name


def _names(part: list[Token]) -> list[str]:
    """The columns in the first list of a part."""
    return [one[0].name for one in _parts(_inside(part))]


def _inside(tokens: list[Token]) -> list[Token]:
    """What stands in the first pair of brackets."""
    depth, found = 0, []
    for token in tokens:
        depth -= token.name == ")" and not token.word
        if depth:
            found.append(token)
        elif found:
            break
        depth += token.name == "(" and not token.word
    return found


def _parts(tokens: list[Token]) -> Iterator[list[Token]]:
    """What stands between the commas that are in no brackets."""
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


def _tokens(text: str) -> Iterator[Token]:
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
