"""Add and change constraints."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, structs

from groundplan.context.editing.inputs import LastSource
from groundplan.context.editing.provenance import (
    ProposedValue,
    needs_approval,
    refuse_redefinition,
    replaces_value,
    resolve_provenance,
    unset_to_none,
)
from groundplan.context.editing.rows import (
    KeyTaken,
    add_row,
    change_row,
    diff_rows,
    get_given_fields,
    new_row,
    refuse_other_run,
    resolve_row,
)
from groundplan.context.editing.sources import validate_source_id
from groundplan.context.editing.suggestions import NewSuggestion, SuggestionTarget, suggest
from groundplan.context.events import Op
from groundplan.context.lean import DEFAULT_DOMAIN
from groundplan.context.schemas import ConstraintWrite, PcivConstraintV1, Provenance
from groundplan.context.stored_rows import load_row
from groundplan.context.values import Value, get_typed_value, parse_value
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path

sql = load_queries(__file__)


def write_constraint(
    tx: Transaction, run_id: str, write: ConstraintWrite, path: ArgumentPath, *, new_id: str
) -> tuple[str, str, NewSuggestion | None]:
    """Add or change a constraint. Return its id, its key, and the suggestion made instead of a write, if any.

    Raises:
        PcivRuntimeInvariantError: a value is in the column of another kind, or in several columns.
        ProvenanceNotAllowed: only a person may claim or change this.
        IdTaken: the given id is in use.
        KeyTaken: another constraint of the run has the key.
        NotFound: the source is not in this run.
        LastSource: the value is source-backed and would lose its source.
        ValueOfUnknown: the provenance is unknown, and a value is given.
    """
    refuse_other_run(write.run_id, run_id, path)
    id_, before = _resolve_constraint(tx, run_id, write, path, new_id)
    current = None if before is None else get_typed_value(before)
    value, is_given = parse_value(write, current, path, scope_id=tx.project.name, run_id=run_id)
    source_id = unset_to_none(write.source_id)
    if source_id is not None:
        source_id = validate_source_id(tx, run_id, source_id, (*path, "sourceId"))
    provenance = resolve_provenance(
        tx.actor, write, value, before, is_given=is_given, has_source=source_id is not None, path=path
    )
    if before is not None and needs_approval(tx.actor, value, provenance, before, has_source=source_id is not None):
        stands = before.provenance
        if replaces_value(value, current):
            about = SuggestionTarget(run_id, constraint_id=id_, key=before.key)
            cited = [] if source_id is None else [source_id]
            claim = ProposedValue(value, provenance, cited, unset_to_none(write.snippet), write.rationale)
            return id_, before.key, suggest(tx, about, claim, current_provenance=stands)
        provenance = stands  # the value is unchanged: keep its provenance and apply the other fields
    after = _build_row(tx, write, before, value, provenance, id_, run_id, path)
    if replaces_value(value, current):
        # The evidence of the old value does not apply to the new one.
        after.source_id, after.snippet = source_id, unset_to_none(write.snippet)
    elif write.source_id is not UNSET:
        after.source_id = source_id
    _refuse_unbacked(write, before, after, path)
    if changes := diff_rows(before, after):
        refuse_redefinition(tx.actor, before, path)
        if tx.actor.kind is ActorKind.PERSON or after.provenance is not Provenance.USER_ENTERED:
            after.updated_at = tx.now  # an agent does not renew what counts as a person's entry
        changes = diff_rows(before, after)
        if before is None:
            add_row(tx, sql.add_constraint, after, path)
        else:
            change_row(tx, sql.change_constraint, after)
        op = Op.CONSTRAINT_ADDED if before is None else Op.CONSTRAINT_CHANGED
        tx.record(op, id_, *changes, decision=write.rationale)
    return id_, after.key, None


def _resolve_constraint(
    tx: Transaction, run_id: str, write: ConstraintWrite, path: ArgumentPath, fresh: str
) -> tuple[str, PcivConstraintV1 | None]:
    """Return the id of a constraint, and the constraint if it is in this run, found by its id or its key.

    A key that is in use identifies its constraint, which keeps its id, as a pointer identifies an input.

    Raises:
        Invalid: the id is not a UUID.
        KeyTaken: the id is of one constraint of the run, and the key of another.
    """
    id_, found = resolve_row(tx, sql.constraint, PcivConstraintV1, write.id, run_id, path, fresh)
    of_key = None if isinstance(write.key, UnsetType) else find_constraint(tx, run_id, write.key)
    if of_key is None:
        return id_, found
    if found is not None and found.id != of_key.id:
        raise KeyTaken(of_key.key, (*path, "key"))
    return of_key.id, of_key


def find_constraint(tx: Transaction, run_id: str, key: str) -> PcivConstraintV1 | None:
    """Return the constraint of a run that has a key."""
    return load_row(tx, sql.constraint_by_key, PcivConstraintV1, run_id=run_id, key=key)


def link_constraint(tx: Transaction, run_id: str, key: str, source_id: str, path: ArgumentPath) -> None:
    """Make a source that of a constraint, which has one at most.

    Raises:
        NotFound: the constraint or the source is not in this run.
        ProvenanceNotAllowed: a person entered the value, and the actor is not a person.
    """
    row, source = _resolve_link(tx, run_id, key, source_id, path)
    if row.source_id != source:
        _set_source(tx, row, source, path)


def unlink_constraint(tx: Transaction, run_id: str, key: str, source_id: str, path: ArgumentPath) -> None:
    """Remove the source of a constraint.

    Raises:
        NotFound: the constraint or the source is not in this run, or it has another source.
        ProvenanceNotAllowed: a person entered the value, and the actor is not a person.
        LastSource: the value is source-backed.
    """
    row, source = _resolve_link(tx, run_id, key, source_id, path)
    if row.source_id != source:
        raise NotFound("link", f"{key} to {source}", field=format_argument_path(path))
    if row.provenance is Provenance.SOURCE_BACKED and not get_typed_value(row).is_unset:
        raise LastSource(key, path)
    _set_source(tx, row, None, path)


def _resolve_link(
    tx: Transaction, run_id: str, key: str, source_id: str, path: ArgumentPath
) -> tuple[PcivConstraintV1, str]:
    row = find_constraint(tx, run_id, key)
    if row is None:
        field = format_argument_path((*path, "constraint"))
        raise NotFound("constraint", key, hint="write it to this run first", field=field)
    return row, validate_source_id(tx, run_id, source_id, (*path, "sourceId"))


def _set_source(tx: Transaction, row: PcivConstraintV1, source_id: str | None, path: ArgumentPath) -> None:
    refuse_redefinition(tx.actor, row, path)
    tx.run(sql.set_constraint_source, run_id=row.run_id, id=row.id, source_id=source_id)
    tx.record(Op.CONSTRAINT_CHANGED, row.id, changed("source_id", row.source_id, source_id))


def _refuse_unbacked(
    write: ConstraintWrite, before: PcivConstraintV1 | None, after: PcivConstraintV1, path: ArgumentPath
) -> None:
    """Refuse to remove the source of a source-backed value. One without a source may get it before the commit."""
    had_source = before is not None and before.source_id is not None
    is_backed = after.provenance is Provenance.SOURCE_BACKED and not get_typed_value(after).is_unset
    if write.source_id is not UNSET and had_source and is_backed and after.source_id is None:
        raise LastSource(after.key, (*path, "sourceId"))


def _build_row(
    tx: Transaction,
    write: ConstraintWrite,
    before: PcivConstraintV1 | None,
    value: Value,
    provenance: Provenance,
    id_: str,
    run_id: str,
    path: ArgumentPath,
) -> PcivConstraintV1:
    """Return the constraint as the request changes it."""
    fields = get_given_fields(write, "key", "domain", "label", "snippet")
    if before is None:
        for name in ("key", "label"):
            if name not in fields:
                raise missing_argument(name, path, expected="a string")
        before = new_row(
            PcivConstraintV1, id=id_, run_id=run_id, domain=DEFAULT_DOMAIN, created_at=tx.now, updated_at=tx.now
        )
    return structs.replace(before, **fields, **value.to_columns(), provenance=provenance)
