"""Keep what a person entered where a draft repeats its value with a lower provenance.

A lower provenance of the same value says less about it, so the entry of the person stays: as user-entered, and with the
description that they gave it, because another label or unit would change what they said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from msgspec import structs

from groundplan.context.editing.rows import change_row, diff_rows
from groundplan.context.events import Op
from groundplan.context.schemas import InputRow, PcivConstraintV1, Provenance
from groundplan.context.stored_rows import load_rows
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

INPUT_DESCRIPTION = ("label", "domain", "field_type", "options", "evidence_snippet")
CONSTRAINT_DESCRIPTION = ("label", "domain", "snippet")

R = TypeVar("R", InputRow, PcivConstraintV1)

sql = load_queries(__file__)


def keep_entries(tx: Transaction, *, before_id: str, run_id: str) -> list[str]:
    """Restore the entries of a person in the run before, and return the pointers and keys that were described anew."""
    runs = {"before_id": before_id, "run_id": run_id}
    described: list[str] = []
    for entry, repeat in zip(
        load_rows(tx, sql.entered_inputs, InputRow, **runs),
        load_rows(tx, sql.repeated_inputs, InputRow, **runs),
        strict=True,
    ):
        after = _restore(entry, repeat, INPUT_DESCRIPTION)
        # An input that is no longer required was changed by its writer, and the view must show that.
        if repeat.required or not entry.required:
            after.updated_by, after.updated_at = entry.updated_by, entry.updated_at
        change_row(tx, sql.keep_input, after)
        tx.record(Op.INPUT_CHANGED, repeat.id, *diff_rows(repeat, after))
        if _differ(entry, repeat, INPUT_DESCRIPTION):
            described.append(entry.pointer)
    for limit, again in zip(
        load_rows(tx, sql.entered_constraints, PcivConstraintV1, **runs),
        load_rows(tx, sql.repeated_constraints, PcivConstraintV1, **runs),
        strict=True,
    ):
        kept = _restore(limit, again, CONSTRAINT_DESCRIPTION)
        kept.updated_at = limit.updated_at
        change_row(tx, sql.keep_constraint, kept)
        tx.record(Op.CONSTRAINT_CHANGED, again.id, *diff_rows(again, kept))
        if _differ(limit, again, CONSTRAINT_DESCRIPTION):
            described.append(limit.key)
    return described


def _restore(entry: R, repeat: R, description: Sequence[str]) -> R:
    given: dict[str, Any] = {name: getattr(entry, name) for name in description}
    return structs.replace(repeat, provenance=Provenance.USER_ENTERED, **given)


def _differ(entry: R, repeat: R, description: Sequence[str]) -> bool:
    return any(getattr(entry, name) != getattr(repeat, name) for name in description)
