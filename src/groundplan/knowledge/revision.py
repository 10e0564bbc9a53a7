"""The revision of a project's knowledge, a counter that only changes of knowledge advance."""

from __future__ import annotations

from random import SystemRandom
from typing import NamedTuple

from groundplan.kernel.errors import RuleViolated, Unavailable
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

PROJECT_NUMBERS_MAX = 2**31  # the upper half of a key of 63 bits, see graph_text in the migration
NUMBER_TRIES_MAX = 8
PROJECT_PATTERNS_MAX = 200_000  # per project, see graph_projects in the migration

sql = load_queries(__file__)


class Revision(NamedTuple):
    """The revision of a project's knowledge, and the last number it has given out."""

    rev: int
    last_n: int


class TooManyPatterns(RuleViolated):
    """The project would exceed its limit of path patterns, which are indexed in memory."""

    code = "too_many_patterns"

    def __init__(self, current: int, more: int) -> None:
        super().__init__(
            f"the project has {current:,} patterns with braces expanded, and these would add {more:,}; the limit is "
            f"{PROJECT_PATTERNS_MAX:,}. Use * instead of braces, or fewer and wider patterns",
            field="paths",
            limit=PROJECT_PATTERNS_MAX,
        )


def advance_revision(tx: Transaction, *, numbers: int = 0, patterns: int | None = None) -> Revision:
    """Advance the revision of the project's knowledge, and reserve the last `numbers` numbers up to `last_n`.

    `patterns` is the change in the number of patterns; None means that no pattern changed.
    """
    revision = tx.one_or_none(
        sql.advance_revision,
        Revision,
        project_id=tx.project.id,
        numbers=numbers,
        patterns=patterns,
        patterns_max=PROJECT_PATTERNS_MAX,
    )
    if revision:
        return revision
    current = tx.scalar(sql.count_patterns, project_id=tx.project.id)
    if current is not None:
        raise TooManyPatterns(current, patterns or 0)
    return _insert_first_revision(tx, numbers, patterns or 0)


def _insert_first_revision(tx: Transaction, numbers: int, patterns: int) -> Revision:
    # The number is random, because only somebody who sees every project could know the next free one.
    for _ in range(NUMBER_TRIES_MAX):
        number = SystemRandom().randrange(1, PROJECT_NUMBERS_MAX)
        columns = {"number": number, "last_n": numbers, "patterns": patterns}
        if first := tx.one_or_none(sql.insert_first_revision, Revision, project_id=tx.project.id, **columns):
            return first
    raise Unavailable("no free number was found for this project; try again")
