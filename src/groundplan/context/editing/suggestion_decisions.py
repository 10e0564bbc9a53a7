"""Accept or reject suggestions, which only a person may do.

An accepted value becomes user-entered, whoever suggested it, so that no model replaces it again. The suggestion is kept
with its author, and its sources and snippet replace those of the old value.
"""

from __future__ import annotations

from msgspec import structs

from groundplan.context.editing.inputs import Inputs, refuse_outside_options
from groundplan.context.editing.provenance import classify_writer
from groundplan.context.editing.rows import change_row, diff_rows
from groundplan.context.editing.suggestions import SuggestionRow, decide
from groundplan.context.events import Op
from groundplan.context.schemas import InputRow, PcivConstraintV1, Provenance
from groundplan.context.stored_rows import load_rows
from groundplan.context.values import Value, get_typed_value
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath

sql = load_queries(__file__)


def accept(tx: Transaction, run_id: str, suggestion_id: str, path: ArgumentPath) -> None:
    """Replace the current value with a suggestion.

    Raises:
        ProvenanceNotAllowed: the actor is not a person.
        NotFound: the suggestion does not exist.
        AlreadyDecided: the suggestion was decided before.
        NotAnOption: the options changed since, and the value is not one of them.
    """
    suggestion = decide(tx, run_id, suggestion_id, "accepted", path)
    value = get_typed_value(suggestion)
    if suggestion.input_id is None:
        _accept_constraint(tx, suggestion, value)
        return
    (before,) = load_rows(tx, sql.input, InputRow, run_id=run_id, id=suggestion.input_id)
    refuse_outside_options(value, before.options, path)
    after = structs.replace(
        before,
        **value.to_columns(),
        provenance=Provenance.USER_ENTERED,
        evidence_snippet=suggestion.snippet,
        updated_by=classify_writer(tx.actor),
        updated_at=tx.now,
    )
    change_row(tx, sql.change_input, after)
    tx.record(Op.INPUT_CHANGED, before.id, *diff_rows(before, after), decision=suggestion.rationale)
    inputs = Inputs(tx, run_id, [before.pointer])
    cited = set(suggestion.source_ids)
    inputs.link(before.id, cited)
    inputs.unlink(before.id, inputs.sources[before.id] - cited)


def _accept_constraint(tx: Transaction, suggestion: SuggestionRow, value: Value) -> None:
    (before,) = load_rows(tx, sql.constraint, PcivConstraintV1, run_id=suggestion.run_id, id=suggestion.constraint_id)
    after = structs.replace(
        before,
        **value.to_columns(),
        provenance=Provenance.USER_ENTERED,
        source_id=next(iter(suggestion.source_ids), None),
        snippet=suggestion.snippet,
        updated_at=tx.now,
    )
    change_row(tx, sql.change_constraint, after)
    tx.record(Op.CONSTRAINT_CHANGED, before.id, *diff_rows(before, after), decision=suggestion.rationale)


def reject(tx: Transaction, run_id: str, suggestion_id: str, path: ArgumentPath) -> None:
    """Keep the current value and reject a suggestion.

    Raises:
        ProvenanceNotAllowed: the actor is not a person.
        NotFound: the suggestion does not exist.
        AlreadyDecided: the suggestion was decided before.
    """
    decide(tx, run_id, suggestion_id, "rejected", path)
