"""Suggestions: values that wait for a person, because the current one has a higher provenance or was set by one."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.context.events import Op
from groundplan.context.provenance import FactRow, ProposedValue, classify_writer, is_set_by_person, require_person
from groundplan.context.resolve import find_latest_committed_run, parse_id
from groundplan.context.rows import diff_rows
from groundplan.context.schemas import Provenance, RunStatus, UpdatedBy, ValueColumns, ValueKind
from groundplan.context.values import COLUMN_BY_KIND, encode_columns, load_row, load_rows
from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Conflict, NextStep, NotFound
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path

sql = load_queries(__file__)

PENDING = "pending"  # the status of an undecided suggestion


class SuggestionRow(ValueColumns):
    """A suggestion as it is stored."""

    id: str
    run_id: str
    provenance: Provenance
    input_id: str | None
    constraint_id: str | None
    source_ids: list[str]
    snippet: str | None
    rationale: str | None
    created_at: str
    created_by: str
    author_kind: UpdatedBy
    status: str


class SuggestionTarget(NamedTuple):
    """The subject of a suggestion: an input with its pointer, or a constraint with its key."""

    run_id: str
    input_id: str | None = None
    pointer: str | None = None
    constraint_id: str | None = None
    key: str | None = None


class NewSuggestion(Struct, kw_only=True):
    """A suggestion that a request stored, and the reason why the value was not written."""

    id: str
    pointer: str | UnsetType = UNSET
    constraint: str | UnsetType = UNSET  # the key
    reason: str


class AlreadyDecided(Conflict):
    """The suggestion was already accepted or rejected."""

    code = "already_decided"

    def __init__(self, id_: str, status: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: suggestion {id_} was already {status}; view the run again", field=field, status=status
        )


def suggest(tx: Transaction, target: SuggestionTarget, proposed: ProposedValue, current: FactRow) -> NewSuggestion:
    """Store a suggestion, replacing an earlier one of the same writer for the same fact."""
    mine = sql.own_suggestion_for_input if target.input_id else sql.own_suggestion_for_constraint
    earlier = load_row(tx, mine, SuggestionRow, run_id=target.run_id, about=target.input_id or target.constraint_id)
    if earlier:
        # The new suggestion gets a new id, so that nobody accepts a value other than the one they read.
        remove_suggestion(tx, earlier)
    row = SuggestionRow(
        **proposed.value.to_columns(),
        id=new_uuid(),
        run_id=target.run_id,
        provenance=proposed.provenance,
        input_id=target.input_id,
        constraint_id=target.constraint_id,
        source_ids=proposed.source_ids,
        snippet=proposed.snippet,
        rationale=proposed.rationale,
        created_at=tx.now,
        created_by=tx.actor.id,
        author_kind=classify_writer(tx.actor),
        status=PENDING,
    )
    add_suggestion(tx, row)
    return NewSuggestion(
        id=row.id,
        pointer=UNSET if target.pointer is None else target.pointer,
        constraint=UNSET if target.key is None else target.key,
        reason=_explain_suggestion(tx.actor, proposed, current),
    )


def add_suggestion(tx: Transaction, row: SuggestionRow) -> None:
    """Store a pending suggestion."""
    tx.run(sql.add_suggestion, project_id=tx.project.id, **encode_columns(row))
    tx.record(Op.SUGGESTED, row.id, *(change for change in diff_rows(None, row) if change.field != "status"))


def _explain_suggestion(actor: Actor, proposed: ProposedValue, current: FactRow) -> str:
    if proposed.value.is_unset:
        return f"the value is {current.provenance}; a person decides whether to clear it"
    if proposed.provenance.rank < current.provenance.rank:
        return f"{current.provenance} ranks above {proposed.provenance}; a person accepts or rejects it"
    if actor.kind is not ActorKind.PERSON and is_set_by_person(current):
        return "a person set the current value; a person accepts or rejects it"
    return f"it names no source, and the current value is {current.provenance}; a person accepts or rejects it"


def remove_suggestion(tx: Transaction, row: SuggestionRow) -> None:
    """Delete a suggestion if its fact was removed or another suggestion replaces it."""
    tx.run(sql.remove_suggestion, run_id=row.run_id, id=row.id)
    columns = encode_columns(row).items()
    changes = (changed(column, value, None) for column, value in columns if value is not None and column != "id")
    tx.record(Op.SUGGESTION_REMOVED, row.id, *changes)


def decide(tx: Transaction, run_id: str, suggestion_id: str, status: str, path: ArgumentPath) -> SuggestionRow:
    """Accept or reject a pending suggestion of this run, and return it in its earlier state."""
    verb = {"accepted": "accept", "rejected": "reject"}[status]
    require_person(tx.actor, verb, suggestion_id, run_id)
    id_ = parse_id(suggestion_id, path)
    row = load_row(tx, sql.suggestion, SuggestionRow, run_id=run_id, id=id_)
    if row is None:
        where = {"scopeId": tx.project.name, "runId": run_id}
        step = NextStep("context.view", "lists the pending suggestions", where)
        raise NotFound("suggestion", suggestion_id, next_steps=step, field=format_argument_path(path))
    if row.status != PENDING:
        raise AlreadyDecided(id_, row.status, path)
    tx.run(sql.decide_suggestion, run_id=run_id, id=id_, status=status)
    tx.record(Op.ACCEPTED if status == "accepted" else Op.REJECTED, id_, changed("status", PENDING, status))
    return row


class PendingSuggestion(ValueColumns):
    """A suggestion, the pointer or key of the fact that it is about, and the present value of the fact."""

    id: str
    run_id: str
    run_status: RunStatus
    about: str
    provenance: Provenance
    created_at: str
    created_by: str
    current_kind: ValueKind
    current_string: str | None
    current_number: float | None
    current_boolean: bool | None
    current_enum: str | None
    current_json: Any
    current_provenance: Provenance

    @property
    def value(self) -> Any:
        """The suggested value; None if the suggestion clears the fact."""
        return getattr(self, COLUMN_BY_KIND[self.value_kind])

    @property
    def current(self) -> Any:
        """The present value of the fact; None if it has none."""
        return getattr(self, f"current_{self.current_kind.value}")


def list_pending_suggestions(tx: Transaction, *, since: str, at_most: int) -> list[PendingSuggestion]:
    """Return the pending suggestions of drafts and of the run in force, made at or after a moment, oldest first."""
    in_force = find_latest_committed_run(tx)
    return load_rows(
        tx,
        sql.pending_suggestions,
        PendingSuggestion,
        project_id=tx.project.id,
        in_force_id="" if in_force is None else in_force.id,
        since=since,
        at_most=at_most,
    )
