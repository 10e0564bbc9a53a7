"""Accept or reject what was suggested: a person's word, and nobody else's.

What a person accepts is theirs from then on: it is user-entered, whoever thought of it first, so that no model replaces
it again. Where it came from is not lost: the suggestion stays with its author, and its sources and its snippet take the
place of those of the value that goes.
"""

from __future__ import annotations

from groundplan.context.editing.claims import writer
from groundplan.context.editing.inputs import Inputs, refuse_outside_options
from groundplan.context.editing.rows import CONSTRAINT, INPUT, Row, as_row, changes_between
from groundplan.context.editing.suggesting import decided, sources_of
from groundplan.context.events import Op
from groundplan.context.schemas import Provenance
from groundplan.context.values import kept_value
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import Path

sql = load_queries(__file__)


def accept(tx: Transaction, run_id: str, suggestion_id: str, path: Path) -> None:
    """Let a suggestion take the place of the value that stands.

    Raises:
        ProvenanceNotAllowed: it is no person who decides.
        NotFound: there is no such suggestion.
        AlreadyDecided: somebody did.
        OutsideOptions: the options have changed since, and it is none of them.
    """
    suggestion = decided(tx, run_id, suggestion_id, "accepted", path)
    value = kept_value(suggestion)
    taken = {**value.columns(), "provenance": Provenance.USER_ENTERED.value}
    if suggestion["input_id"] is None:
        _accept_constraint(tx, suggestion, taken)
        return
    before = as_row(INPUT, tx.one(sql.input, run_id=run_id, id=suggestion["input_id"]))
    refuse_outside_options(value, before["options"], path)
    after = {**before, **taken, "evidence_snippet": suggestion["snippet"]}
    after |= {"updated_by": writer(tx.actor).value, "updated_at": tx.now}
    tx.run(sql.change_input, **after)
    tx.record(Op.INPUT_CHANGED, before["id"], *changes_between(before, after), decision=suggestion["rationale"])
    inputs = Inputs(tx, run_id, [before["pointer"]])
    cited = set(sources_of(suggestion))
    inputs.link(before["id"], cited)
    inputs.unlink(before["id"], inputs.sources[before["id"]] - cited)


def _accept_constraint(tx: Transaction, suggestion: Row, taken: Row) -> None:
    before = as_row(CONSTRAINT, tx.one(sql.constraint, run_id=suggestion["run_id"], id=suggestion["constraint_id"]))
    after = {**before, **taken, "source_id": next(iter(sources_of(suggestion)), None), "snippet": suggestion["snippet"]}
    tx.run(sql.change_constraint, **after)
    tx.record(Op.CONSTRAINT_CHANGED, before["id"], *changes_between(before, after), decision=suggestion["rationale"])


def reject(tx: Transaction, run_id: str, suggestion_id: str, path: Path) -> None:
    """Let the value that stands stay.

    Raises:
        ProvenanceNotAllowed: it is no person who decides.
        NotFound: there is no such suggestion.
        AlreadyDecided: somebody did.
    """
    decided(tx, run_id, suggestion_id, "rejected", path)
