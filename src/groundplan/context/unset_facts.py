"""Required facts without a value, as others ask for them: the inbox, and work that rests on one."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from groundplan.context.facts_in_force import list_drafts
from groundplan.context.resolve import find_latest_committed_run
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

READ_MAX = 10_000


class UnsetFact(Struct, frozen=True):
    """A required fact that has no value, and the run in which it can be set: a draft, else the run in force."""

    pointer: str
    label: str
    value_kind: str
    since: str
    run_id: str


def list_unset_facts(tx: Transaction, *, since: str, at_most: int) -> list[UnsetFact]:
    """Return the required facts without a value in the run in force or a draft, oldest first.

    A fact of the run in force that a draft has set no longer waits for anybody's value, nor does one that a draft
    copied before it was set in force.
    """
    run = find_latest_committed_run(tx)
    in_force_id = "" if run is None else run.id
    run_ids = to_json_array([in_force_id, *list_drafts(tx)])
    return tx.all(sql.unset_facts, UnsetFact, run_ids=run_ids, in_force_id=in_force_id, since=since, at_most=at_most)


def find_unset_facts(tx: Transaction, pointers: Collection[str]) -> set[str]:
    """Return those of some pointers that are required facts without a value."""
    return {fact.pointer for fact in list_unset_facts(tx, since="", at_most=READ_MAX)}.intersection(pointers)
