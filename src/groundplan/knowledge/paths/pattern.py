r"""Path patterns: their syntax, parsing and matching.

    *   any characters within a name, `?` one of them     [a-c] [!a] [^a]   one character of those, or of the others
    **  as a whole segment: any directories, or none      {a,b}             either, `/` included
    \   the next character as it is                       anything else     itself

A path that equals the text of a pattern also matches it, so `app/[id]/page.tsx` finds the file of that name.
"""

from __future__ import annotations

from functools import lru_cache

from groundplan.knowledge.paths import malformed
from groundplan.knowledge.paths.automaton import Automaton
from groundplan.knowledge.paths.braces import expand_braces
from groundplan.knowledge.paths.malformed import ALTERNATIVES_MAX, MalformedPattern
from groundplan.knowledge.paths.names import is_drive, split_path
from groundplan.knowledge.paths.route import PatternRoute
from groundplan.knowledge.paths.segment import can_match_a_name, parse_segment

__all__ = ["ALTERNATIVES_MAX", "PATTERN_CHARS_MAX", "MalformedPattern", "Pattern", "parse_pattern"]

PATTERN_CHARS_MAX = 512
AUTOMATA_CACHED_MAX = 128  # a typical one takes a kilobyte, the largest a few hundred


class Pattern:
    """A parsed pattern."""

    __slots__ = ("alternatives", "routes", "text")

    def __init__(self, text: str, alternatives: tuple[str, ...], routes: tuple[PatternRoute, ...]) -> None:
        self.text = text
        self.alternatives = alternatives  # the expanded braces: patterns that together mean the same
        self.routes = routes  # of the alternatives that match more than the literal text

    def matches(self, path: str) -> bool:
        """Return whether the pattern matches a normalized path."""
        if path == self.text:
            return True
        names = split_path(path)
        return names is not None and self.matches_names(path, names)

    def matches_names(self, path: str, names: list[str]) -> bool:
        """Return whether the pattern matches a path that differs from its text, given with its names."""
        needs_automaton = False
        for route in self.routes:
            if path.startswith(route.head):
                if not route.is_quick:
                    needs_automaton = needs_automaton or all(needle in path for needle in route.literals)
                elif route.accepts(names):
                    return True
        return needs_automaton and _build_automaton(self).accepts(names)

    def can_match_below(self, folder: str) -> bool:
        """Return whether the pattern can match a path below a normalized folder."""
        names = split_path(folder)
        return names is not None and self.can_match_below_names(f"{folder}/", names)

    def can_match_below_names(self, prefix: str, names: list[str]) -> bool:
        """Return whether the pattern can match a path that begins with `prefix`, a folder given with its names."""
        if self.text.startswith(prefix):  # its text is a path that it matches
            return True
        return any(
            route.head.startswith(prefix) or (prefix.startswith(route.head) and route.can_match_below(names))
            for route in self.routes
        )


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern."""
    text = _normalize_pattern(text)
    alternatives = tuple(expand_braces(text)) if "{" in text else (text,)
    routes = []
    for alternative in alternatives:
        names = alternative.split("/")
        segments = [parse_segment(name) for name in names]
        if "" in segments or "." in segments or ".." in segments:
            raise malformed.segment(segments, alternative, text)
        if (segments != names or alternative != text) and all(map(can_match_a_name, segments)):
            routes.append(PatternRoute(segments))
    return Pattern(text, alternatives, tuple(routes))


def _normalize_pattern(text: str) -> str:
    """Return the text without leading `./`, or raise MalformedPattern if its beginning or end is wrong."""
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
