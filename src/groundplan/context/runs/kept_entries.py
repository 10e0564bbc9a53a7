"""Keep what a person entered where a draft repeats its value with a lower provenance.

A lower provenance of the same value says less about it, so the entry of the person stays user-entered. If somebody else
commits the draft, the entry also keeps the description that the person gave it, because another label or unit would
change what they said. A quotation belongs to its sources: it stays with those of the draft, and goes with those
that the draft does not cite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from msgspec import structs

from groundplan.context.editing.rows import change_row, diff_rows
from groundplan.context.events import Op
from groundplan.context.schemas import InputRow, PcivConstraintV1, Provenance, UpdatedBy
from groundplan.context.stored_rows import load_rows
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

INPUT_DESCRIPTION = ("label", "domain", "field_type", "options", "required")
CONSTRAINT_DESCRIPTION = ("label", "domain")

R = TypeVar("R", InputRow, PcivConstraintV1)

sql = load_queries(__file__)


def keep_entries(tx: Transaction, *, before_id: str, run_id: str) -> list[str]:
    """Restore the entries of a person in the run before, and return the pointers and keys of changed descriptions."""
    runs = {"before_id": before_id, "run_id": run_id}
    may_describe = tx.actor.kind is ActorKind.PERSON
    cited = {one for run in runs.values() for one in tx.scalars(sql.inputs_with_sources, run_id=run)}
    described: list[str] = []
    for entry, repeat in zip(
        load_rows(tx, sql.entered_inputs, InputRow, **runs),
        load_rows(tx, sql.repeated_inputs, InputRow, **runs),
        strict=True,
    ):
        after = _restore(entry, repeat, ())
        if not may_describe and repeat.updated_by is not UpdatedBy.USER:
            after = _restore(entry, repeat, INPUT_DESCRIPTION)
            if repeat.id not in cited:
                after.evidence_snippet = None if entry.id in cited else entry.evidence_snippet
        if diff_rows(structs.replace(repeat, provenance=Provenance.USER_ENTERED), after):
            described.append(entry.pointer)
        after.updated_by, after.updated_at = _date(tx, entry, repeat, after)
        change_row(tx, sql.keep_input, after)
        tx.record(Op.INPUT_CHANGED, repeat.id, *diff_rows(repeat, after))
    for entered, repeated in zip(
        load_rows(tx, sql.entered_constraints, PcivConstraintV1, **runs),
        load_rows(tx, sql.repeated_constraints, PcivConstraintV1, **runs),
        strict=True,
    ):
        kept = _restore(entered, repeated, () if may_describe else CONSTRAINT_DESCRIPTION)
        if not may_describe and repeated.source_id is None:
            kept.snippet = None if entered.source_id else entered.snippet
        if diff_rows(structs.replace(repeated, provenance=Provenance.USER_ENTERED), kept):
            described.append(entered.key)
        kept.updated_at = entered.updated_at
        change_row(tx, sql.keep_constraint, kept)
        tx.record(Op.CONSTRAINT_CHANGED, repeated.id, *diff_rows(repeated, kept))
    return described


def _restore(entry: R, repeat: R, names: Sequence[str]) -> R:
    """Return the repeated row as user-entered, with some fields of the entry."""
    given: dict[str, Any] = {name: getattr(entry, name) for name in names}
    return structs.replace(repeat, provenance=Provenance.USER_ENTERED, **given)


def _date(tx: Transaction, entry: InputRow, repeat: InputRow, after: InputRow) -> tuple[UpdatedBy, str]:
    """Return who wrote a kept input, and when: the person who entered it, or who describes it anew."""
    if entry.required and not after.required:
        return repeat.updated_by, repeat.updated_at  # the view shows it as displaced, by its writer
    if all(getattr(entry, name) == getattr(after, name) for name in INPUT_DESCRIPTION):
        return entry.updated_by, entry.updated_at
    is_a_persons = repeat.updated_by is UpdatedBy.USER
    return UpdatedBy.USER, repeat.updated_at if is_a_persons else tx.now
