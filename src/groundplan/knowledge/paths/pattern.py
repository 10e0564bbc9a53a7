r"""Patterns of paths: what they mean, and which texts are none.

    *   any characters within a name, `?` one of them     [a-c] [!a] [^a]   one character of those, or of the others
    **  as a whole segment: any directories, or none      {a,b}             either, `/` included
    \   the next character as it is                       anything else     itself

Also: a path that equals the text of a pattern matches it, so `app/[id]/page.tsx` finds the file of that name.
"""

from __future__ import annotations

from functools import lru_cache

from groundplan.knowledge.paths import malformed
from groundplan.knowledge.paths.automaton import Automaton
from groundplan.knowledge.paths.braces import expand_braces
from groundplan.knowledge.paths.malformed import ALTERNATIVES_MAX, MalformedPattern
from groundplan.knowledge.paths.names import is_drive, split_path
from groundplan.knowledge.paths.route import PatternRoute
from groundplan.knowledge.paths.segment import parse_segment

__all__ = ["ALTERNATIVES_MAX", "PATTERN_CHARS_MAX", "MalformedPattern", "Pattern", "parse_pattern"]

PATTERN_CHARS_MAX = 512
AUTOMATA_CACHED_MAX = 128  # the usual one takes a kilobyte, the largest a few hundred


class Pattern:
    """A text that was understood."""

    __slots__ = ("alternatives", "routes", "text")

    def __init__(self, text: str, alternatives: tuple[str, ...], routes: tuple[PatternRoute, ...]) -> None:
        self.text = text
        self.alternatives = alternatives  # patterns without special braces that together mean the same
        self.routes = routes  # for those of them that are more than the text itself

    def matches(self, path: str) -> bool:
        """Whether a path, normalised, is one of those that are meant."""
        if path == self.text:
            return True
        names = split_path(path)
        return names is not None and self.matches_names(path, names)

    def matches_names(self, path: str, names: list[str]) -> bool:
        """The same for a path that is known to differ from the text, and its names."""
        is_near = False
        for route in self.routes:
            if path.startswith(route.head):
                if not route.is_quick:
                    is_near = is_near or all(needle in path for needle in route.needles)
                elif route.accepts(names):
                    return True
        return is_near and _build_automaton(self).accepts(names)


def parse_pattern(text: str) -> Pattern:
    """The pattern that a text is.

    Raises:
        MalformedPattern: it is none; the error says what to write instead.
    """
    text = _normalize_pattern(text)
    alternatives = tuple(expand_braces(text)) if "{" in text else (text,)
    routes = []
    for alternative in alternatives:
        names = alternative.split("/")
        segments = [parse_segment(name) for name in names]
        if "" in segments or "." in segments or ".." in segments:
            raise malformed.segment(segments, alternative, text)
        if segments != names or alternative != text:
            routes.append(PatternRoute(segments))
    return Pattern(text, alternatives, tuple(routes))


def _normalize_pattern(text: str) -> str:
    """A text that leads down from the root, as far as its beginning and its end tell."""
    while text.startswith("./"):
        text = text[2:]
    if not text:
        raise malformed.empty()
    if not text.isprintable() and min(text) < " ":
        raise malformed.more_than_a_line()
    if text[0] == "!":
        raise malformed.negation()
    if text[0] == "/":
        raise malformed.absolute(text, "/")
    if text[1:2] == ":" and is_drive(drive := text.partition("/")[0]):
        raise malformed.absolute(text, drive)
    if text[-1] == "/":
        raise malformed.bare_directory(text)
    return text


@lru_cache(AUTOMATA_CACHED_MAX)
def _build_automaton(pattern: Pattern) -> Automaton:
    return Automaton(route.row for route in pattern.routes if not route.is_quick)
