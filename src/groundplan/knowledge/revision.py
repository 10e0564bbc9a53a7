"""The revision of a project's knowledge: its own count, which moves with every change of knowledge and nothing else."""

from __future__ import annotations

from random import SystemRandom
from typing import NamedTuple

from groundplan.kernel.errors import RuleViolated, Unavailable
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

PROJECT_NUMBERS_MAX = 2**31  # the upper half of a key of 63 bits, see graph_text in the migration
NUMBER_TRIES_MAX = 8
PROJECT_PATTERNS_MAX = 200_000  # of a project, see graph_projects in the migration

sql = load_queries(__file__)


class Revision(NamedTuple):
    """Where a project's knowledge stands."""

    rev: int
    last_n: int


class TooManyPatterns(RuleViolated):
    """The patterns of a project are kept in memory, so there is an end to them."""

    code = "too_many_patterns"

    def __init__(self, there: int, more: int) -> None:
        super().__init__(
            f"the project has {there:,} patterns, braces written out, and these would be {more:,} more; the limit is "
            f"{PROJECT_PATTERNS_MAX:,}. Use * in the place of braces, or fewer and wider patterns",
            field="paths",
            limit=PROJECT_PATTERNS_MAX,
        )


def advance_revision(tx: Transaction, *, numbers: int = 0, patterns: int | None = None) -> Revision:
    """The revision that this write gives the project's knowledge, and as many fresh numbers up to `last_n`.

    `patterns` says how many more there are, or fewer; None where none of them changed.

    Raises:
        TooManyPatterns: it would be more than a project may have.
    """
    moved = tx.one_or_none(
        sql.advance_revision,
        Revision,
        project_id=tx.project.id,
        numbers=numbers,
        patterns=patterns,
        patterns_max=PROJECT_PATTERNS_MAX,
    )
    if moved:
        return moved
    there = tx.scalar(sql.count_patterns, project_id=tx.project.id)
    if there is not None:
        raise TooManyPatterns(there, patterns or 0)
    return _insert_first_revision(tx, numbers, patterns or 0)


def _insert_first_revision(tx: Transaction, numbers: int, patterns: int) -> Revision:
    # A random number, because the next free one would be for somebody to know who sees every project.
    for _ in range(NUMBER_TRIES_MAX):
        number = SystemRandom().randrange(1, PROJECT_NUMBERS_MAX)
        begun = {"number": number, "last_n": numbers, "patterns": patterns}
        if first := tx.one_or_none(sql.insert_first_revision, Revision, project_id=tx.project.id, **begun):
            return first
    raise Unavailable("no free number was found for this project; try again")
