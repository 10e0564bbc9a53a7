"""Brace expansion: `*.{ts,tsx}` becomes `*.ts` and `*.tsx`. It is the first step of parsing a pattern.

The text is read once, from left to right. Each open brace has the expansions of its finished branches and those of its
current branch. Neither may exceed the limit, so a text whose expansion would explode is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from groundplan.knowledge.paths import malformed
from groundplan.knowledge.paths.malformed import ALTERNATIVES_MAX, EXPANDED_CHARS_MAX
from groundplan.knowledge.paths.segment import read_character, read_class

SIGN = re.compile(r"([{},])")


def expand_braces(text: str) -> list[str]:
    """Return the distinct patterns without special braces that a pattern expands to, in order."""
    outer: list[tuple[list[str], list[str]]] = []  # the state before each open brace
    finished: list[str] = []
    branch = [""]
    for piece in _split_pieces(text):
        if piece == "{":
            outer.append((finished, branch))
            finished, branch = [], [""]
        elif piece == "," and outer:
            finished, branch = _append_branch(finished, branch), [""]
        elif piece == "}" and outer:
            # Braces without a comma are literal text. Their content may still contain expanded braces.
            group = _append_branch(finished, branch) if finished else [f"{{{inner}}}" for inner in branch]
            finished, before = outer.pop()
            if len(before) * len(group) > ALTERNATIVES_MAX:
                raise malformed.too_many()
            branch = [left + right for left in before for right in group]
        else:
            branch = [begun + piece for begun in branch]
    if outer:
        raise malformed.unclosed_braces()
    if sum(map(len, branch)) > EXPANDED_CHARS_MAX:
        raise malformed.too_long()
    return list(dict.fromkeys(branch))


def _append_branch(finished: list[str], branch: list[str]) -> list[str]:
    if len(finished) + len(branch) > ALTERNATIVES_MAX:
        raise malformed.too_many()
    return finished + branch


def _split_pieces(text: str) -> Iterable[str]:
    """Split a text at the braces and commas that may be special."""
    if "[" not in text and "\\" not in text:
        return SIGN.split(text)
    return _split_escaped_pieces(text)


def _split_escaped_pieces(text: str) -> Iterator[str]:
    """Split a text into characters, with each class and each escape as one piece."""
    at = 0
    while at < len(text):
        begin = at
        match text[at]:
            case "[":
                _, at = read_class(text, at)
            case "\\":
                _, at = read_character(text, at)
            case _:
                at += 1
        yield text[begin:at]
