"""Read which versions a SQL statement reaches: the statuses that its conditions admit, and the status that it sets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from groundplan.purpose.model import VersionStatus

DRAFT, PUBLISHED = VersionStatus.DRAFT, VersionStatus.PUBLISHED
STATUSES: frozenset[str] = frozenset(VersionStatus)
NOT_CHARS_MAX = 40  # of the text before a bracket, to see whether it is negated

_FLAGS = re.IGNORECASE | re.ASCII
_CONDITION = re.compile(
    r"\bstatus\b[\"`\])]*(?:\s*::\s*\w+)?\s*(?P<sign><>|!=|==?|NOT\s+IN|IN|IS\s+DISTINCT\s+FROM|IS\s+NOT|IS)"
    r"\s*(?:(?:ANY|ALL)\s*)?\(?\s*(?:ARRAY\s*)?\[?\s*(?P<values>'[^']*'(?:\s*,\s*'[^']*')*)"
    r"|(?P<value>'[^']*')\s*(?P<mirrored><>|!=|==?)\s*[\"`\w.]*\bstatus\b"
    r"|\bpublished_at\b[\"`]?\s+IS\s+(?P<is_set>NOT\s+)?NULL\b",
    _FLAGS,
)
_NEGATIVE = re.compile(r"<>|!=|NOT|DISTINCT", re.IGNORECASE)
_DRAFT = re.compile(r"'DRAFT'", _FLAGS)
_WORD = re.compile(r"'(\w+)'", re.ASCII)
_OR = re.compile(r"[\s)]*\bOR\b[\s(\"`\w.]*", _FLAGS)
_OR_CHARS_MAX = 80  # between two conditions; more than a bracket and the name of a table is another condition
_NOT = re.compile(r"\bNOT(?:\s+(?:EXISTS|IN))?\s*\Z", _FLAGS)
_BRACKET = re.compile(r"'[^']*'?|(?P<open>\()|(?P<close>\))")
_CLAUSE = re.compile(
    r"'[^']*'?|(?P<open>\()|(?P<close>\))|\b(?:(?P<set>SET)|(?P<end>FROM|WHERE|RETURNING|UPDATE))\b", _FLAGS
)
_ASSIGNED = re.compile(r"\bstatus[\"`]?\s*=\s*'(DRAFT|PUBLISHED)'", _FLAGS)


class Assignments(NamedTuple):
    """What stands between SET and the conditions of an UPDATE, and the status that is set there."""

    start: int
    end: int
    status: str | None


class ReachedVersions(NamedTuple):
    """The versions that a statement reaches, as far as its text shows."""

    only_drafts: bool  # a condition admits drafts alone
    published: bool  # a condition admits published versions, and none admits drafts alone
    mentions_draft: bool  # in a condition, possibly in one that is not understood
    assignments: list[Assignments]

    def find_assigned_status(self, first: int, end: int) -> str | None:
        """Return the status that is set in a part of the statement."""
        index = bisect_right(self.assignments, first, key=lambda one: one.start)
        found = self.assignments[index] if index < len(self.assignments) else None
        return found.status if found and found.start < end else None


def read_reached_versions(text: str) -> ReachedVersions:
    """Return the versions that a statement reaches. What a SET assigns is not a condition."""
    assignments = list(_find_assignments(text))
    starts = [one.start for one in assignments]

    def is_condition(found: re.Match[str]) -> bool:
        index = bisect_right(starts, found.start()) - 1
        return index < 0 or found.start() >= assignments[index].end

    admitted = list(_list_admitted(text, filter(is_condition, _CONDITION.finditer(text))))
    only_drafts = frozenset({DRAFT}) in admitted
    published = not only_drafts and any(PUBLISHED in one for one in admitted)
    return ReachedVersions(only_drafts, published, any(map(is_condition, _DRAFT.finditer(text))), assignments)


def _find_assignments(text: str) -> Iterator[Assignments]:
    depth = opened = 0
    start: int | None = None
    for found in _CLAUSE.finditer(text):
        if found["open"]:
            depth += 1
        elif found["close"]:
            depth -= 1
        if start is not None and (depth < opened or (found["end"] and depth == opened)):
            yield _build_assignments(text, start, found.start())
            start = None
        if found["set"] and start is None:
            start, opened = found.end(), depth
    if start is not None:
        yield _build_assignments(text, start, len(text))


def _build_assignments(text: str, start: int, end: int) -> Assignments:
    status = _ASSIGNED.search(text, start, end)
    return Assignments(start, end, status[1].upper() if status else None)


def _list_admitted(text: str, conditions: Iterable[re.Match[str]]) -> Iterator[frozenset[str]]:
    """Yield the statuses that each condition admits; conditions with an OR between them are one."""
    brackets, negations = _find_negations(text)
    union: frozenset[str] = frozenset()
    end = 0
    for found in conditions:
        admitted = _admit(found)
        if not admitted:
            continue
        if negations[bisect_right(brackets, found.start())]:
            admitted = STATUSES - admitted
        between = text[end : found.start()] if found.start() - end <= _OR_CHARS_MAX else ""
        if union and not _OR.fullmatch(between):
            yield union
            union = frozenset()
        union, end = union | admitted, found.end()
    if union:
        yield union


def _admit(found: re.Match[str]) -> frozenset[str]:
    """Return the statuses that a condition by itself admits; none if it is about another one."""
    if found["values"] is None and found["value"] is None:
        return frozenset({PUBLISHED if found["is_set"] else DRAFT})
    values = {word.upper() for word in _WORD.findall(found["values"] or found["value"])}
    is_negative = _NEGATIVE.search(found["sign"] or found["mirrored"])
    return (STATUSES - values if is_negative else STATUSES & values) if STATUSES & values else frozenset()


def _find_negations(text: str) -> tuple[list[int], list[bool]]:
    """Return where brackets open and close, and before the first and after each whether a condition is negated."""
    brackets: list[int] = []
    negations = [False]
    outer: list[bool] = []
    for found in _BRACKET.finditer(text):
        if found["open"]:
            outer.append(negations[-1])
            is_not = _NOT.search(text, max(0, found.start() - NOT_CHARS_MAX), found.start()) is not None
            negations.append(negations[-1] != is_not)
            brackets.append(found.start())
        elif found["close"]:
            negations.append(outer.pop() if outer else False)
            brackets.append(found.start())
    return brackets, negations
