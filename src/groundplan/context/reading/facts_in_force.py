"""Read the facts in force in part: the constraints, what is missing, and the facts that some work rests on first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from msgspec import Struct

from groundplan.context.resolve import find_latest_committed_run, find_required_unset
from groundplan.context.schemas import Provenance, ValueKind
from groundplan.context.stored_rows import load_rows
from groundplan.context.values import get_value
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class FactValue(NamedTuple):
    """A fact of the run in force."""

    pointer: str
    label: str
    value: Any
    provenance: Provenance


class ConstraintValue(NamedTuple):
    """A constraint of the run in force; its value is None if it is not known."""

    key: str
    value: Any
    provenance: Provenance


class FactsInForce(NamedTuple):
    """A part of the run in force, and how many constraints and facts it has in all."""

    constraints: list[ConstraintValue]
    constraints_total: int
    facts: list[FactValue]  # the linked ones first, then by label
    facts_total: int
    missing: list[str]  # linked pointers without a value first, then the other required ones


class _ValueRow(Struct):
    name: str
    label: str
    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any
    provenance: Provenance
    total: int


def read_facts_in_force(tx: Transaction, linked: Collection[str], *, at_most: int) -> FactsInForce | None:
    """Return the first constraints and facts of the run in force, `at_most` of each; None if nothing was committed.

    `linked` are the pointers that come first.
    """
    run = find_latest_committed_run(tx)
    if run is None:
        return None
    pointers = to_json_array(linked)
    constraints = load_rows(tx, sql.first_constraints, _ValueRow, run_id=run.id, at_most=at_most)
    facts = load_rows(tx, sql.first_facts, _ValueRow, run_id=run.id, linked=pointers, at_most=at_most)
    known = set(tx.scalars(sql.pointers_with_value, run_id=run.id, pointers=pointers)) if linked else set()
    unset = dict.fromkeys(pointer for pointer in linked if pointer not in known)
    return FactsInForce(
        [ConstraintValue(row.name, get_value(row), row.provenance) for row in constraints],
        constraints[0].total if constraints else 0,
        [FactValue(row.name, row.label, get_value(row), row.provenance) for row in facts],
        facts[0].total if facts else 0,
        list(unset | dict.fromkeys(find_required_unset(tx, run.id))),
    )
