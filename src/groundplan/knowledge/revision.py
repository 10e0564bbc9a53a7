"""The revision of a project's knowledge: its own count, which moves with every change of knowledge and nothing else."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

NUMBERS = 2**31  # the upper half of a key of 63 bits, see graph_text in the migration
NUMBER_TRIES_MAX = 8

sql = load_queries(__file__)


class Revision(NamedTuple):
    """Where a project's knowledge stands."""

    rev: int
    last_n: int


def move_on(tx: Transaction, *, numbers: int = 0) -> Revision:
    """The revision that this write gives the project's knowledge, and as many fresh numbers up to `last_n`."""
    row = tx.one_or_none(sql.move_on, project_id=tx.project.id, numbers=numbers)
    return Revision(*row) if row else _begin(tx, numbers)


def _begin(tx: Transaction, numbers: int) -> Revision:
    # A random number, because the next free one would be for somebody to know who sees every project.
    for _ in range(NUMBER_TRIES_MAX):
        number = secrets.randbelow(NUMBERS - 1) + 1
        if row := tx.one_or_none(sql.begin_knowledge, project_id=tx.project.id, number=number, last_n=numbers):
            return Revision(*row)
    raise Unavailable("no free number was found for this project; try again")
