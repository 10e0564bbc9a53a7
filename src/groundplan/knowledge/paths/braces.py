"""Braces are written out before anything else: `*.{ts,tsx}` stands for `*.ts` and `*.tsx`.

The text is read once, from left to right. For each brace that is open there is what its finished branches stand for,
and what the branch at hand stands for. Neither may grow beyond the limit, so a text that would explode is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from groundplan.knowledge.paths import malformed
from groundplan.knowledge.paths.malformed import ALTERNATIVES_MAX, EXPANDED_CHARS_MAX
from groundplan.knowledge.paths.segment import read_character, read_class

SIGN = re.compile(r"([{},])")


def expand_braces(text: str) -> list[str]:
    """What a pattern stands for: patterns in which no brace is special any more, in order, each once.

    Raises:
        MalformedPattern: a brace, a class or an escape is not whole, or there are too many alternatives.
    """
    outer: list[tuple[list[str], list[str]]] = []  # what is kept of the text before each open brace
    finished: list[str] = []
    branch = [""]
    for piece in _pieces(text):
        if piece == "{":
            outer.append((finished, branch))
            finished, branch = [], [""]
        elif piece == "," and outer:
            finished, branch = _append_branch(finished, branch), [""]
        elif piece == "}" and outer:
            # Without a comma braces are text. What they enclose may still have been written out.
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


def _pieces(text: str) -> Iterable[str]:
    """The braces and commas that may be special, and what stands between them."""
    if "[" not in text and "\\" not in text:
        return SIGN.split(text)
    return _split_escaped_pieces(text)


def _split_escaped_pieces(text: str) -> Iterator[str]:
    """The same, with each class and each escape as one piece."""
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
