"""Remove rows from a draft, with the rows that depend on them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from groundplan.context.editing.inputs import LastSource, load_inputs_at
from groundplan.context.editing.provenance import FactRow, ProvenanceNotAllowed
from groundplan.context.editing.rows import record_removal
from groundplan.context.editing.sources import missing_source, refuse_source_change
from groundplan.context.editing.suggestions import SuggestionRow, remove_suggestion
from groundplan.context.events import Op
from groundplan.context.limits import ROWS_MAX, Pointer
from groundplan.context.pointers import validate_pointer
from groundplan.context.run import parse_id
from groundplan.context.schemas import PcivArtifactV1, PcivConstraintV1, PcivSourceV1, Provenance
from groundplan.context.stored_rows import load_row, load_rows
from groundplan.context.values import encode_json, get_typed_value
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NotFound
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path

sql = load_queries(__file__)

_ROWS_LIMIT = Meta(max_length=ROWS_MAX)


class Removals(Struct, forbid_unknown_fields=True):
    """Rows to remove from a draft: inputs by pointer, the others by id."""

    inputs: Annotated[list[Pointer], _ROWS_LIMIT] | None = None
    constraints: Annotated[list[str], _ROWS_LIMIT] | None = None
    sources: Annotated[list[str], _ROWS_LIMIT] | None = None
    artifacts: Annotated[list[str], _ROWS_LIMIT] | None = None

    def __bool__(self) -> bool:
        return bool(self.inputs or self.constraints or self.sources or self.artifacts)


def remove(tx: Transaction, run_id: str, removals: Removals) -> None:
    """Remove rows from a draft. Sources go last, so that the rows citing them can go in the same call.

    Raises:
        NotFound: a row is not in this run.
        ProvenanceNotAllowed: a row is required, source-backed or user-entered, and the actor is not a person.
        LastSource: a remaining value has no other source.
    """
    for index, pointer in enumerate(removals.inputs or ()):
        _remove_input(tx, run_id, pointer, ("remove", "inputs", index))
    for index, id_ in enumerate(removals.constraints or ()):
        _remove_constraint(tx, run_id, id_, ("remove", "constraints", index))
    for index, id_ in enumerate(removals.artifacts or ()):
        path: ArgumentPath = ("remove", "artifacts", index)
        row = load_row(tx, sql.artifact, PcivArtifactV1, run_id=run_id, id=parse_id(id_, path))
        if row is None:
            raise NotFound("artifact", id_, field=format_argument_path(path))
        tx.run(sql.remove_artifact, run_id=run_id, id=row.id)
        record_removal(tx, Op.ARTIFACT_REMOVED, row)
    for index, id_ in enumerate(removals.sources or ()):
        _remove_source(tx, run_id, id_, ("remove", "sources", index))


def _remove_input(tx: Transaction, run_id: str, pointer: str, path: ArgumentPath) -> None:
    row = next(iter(load_inputs_at(tx, run_id, [validate_pointer(pointer, path)])), None)
    if row is None:
        raise NotFound("input", pointer, field=format_argument_path(path))
    if (_is_protected(row) or row.required) and tx.actor.kind is not ActorKind.PERSON:
        raise _person_required(row, path)
    linked = [source_id for _, source_id in tx.all(sql.links_of_inputs, run_id=run_id, ids=to_json_array([row.id]))]
    for suggestion in load_rows(tx, sql.suggestions_for_input, SuggestionRow, run_id=run_id, about=row.id):
        remove_suggestion(tx, suggestion)
    tx.run(sql.remove_links_of_input, run_id=run_id, input_id=row.id)
    tx.run(sql.remove_input, run_id=run_id, id=row.id)
    if linked:
        tx.record(Op.UNLINKED, row.id, *(changed("source_id", id_, None) for id_ in linked))
    record_removal(tx, Op.INPUT_REMOVED, row)


def _remove_constraint(tx: Transaction, run_id: str, id_: str, path: ArgumentPath) -> None:
    row = load_row(tx, sql.constraint, PcivConstraintV1, run_id=run_id, id=parse_id(id_, path))
    if row is None:
        raise NotFound("constraint", id_, field=format_argument_path(path))
    if _is_protected(row) and tx.actor.kind is not ActorKind.PERSON:
        raise _person_required(row, path)
    for suggestion in load_rows(tx, sql.suggestions_for_constraint, SuggestionRow, run_id=run_id, about=row.id):
        remove_suggestion(tx, suggestion)
    tx.run(sql.remove_constraint, run_id=run_id, id=row.id)
    record_removal(tx, Op.CONSTRAINT_REMOVED, row)


def _remove_source(tx: Transaction, run_id: str, id_: str, path: ArgumentPath) -> None:
    row = load_row(tx, sql.source, PcivSourceV1, run_id=run_id, id=parse_id(id_, path))
    if row is None:
        raise missing_source(id_, path)
    for pointer_or_key in tx.scalars(sql.values_with_only_this_source, run_id=run_id, source_id=row.id):
        raise LastSource(pointer_or_key, path)
    refuse_source_change(tx, run_id, row.id, path)
    for input_id in tx.scalars(sql.inputs_citing, run_id=run_id, source_id=row.id):
        tx.run(sql.remove_link, run_id=run_id, input_id=input_id, source_id=row.id)
        tx.record(Op.UNLINKED, input_id, changed("source_id", row.id, None))
    for constraint_id in tx.scalars(sql.constraints_citing, run_id=run_id, source_id=row.id):
        tx.run(sql.set_constraint_source, run_id=run_id, id=constraint_id, source_id=None)
        tx.record(Op.CONSTRAINT_CHANGED, constraint_id, changed("source_id", row.id, None))
    for suggestion_id, source_ids in tx.all(sql.suggestion_sources, run_id=run_id):
        cited: list[str] = msgspec.json.decode(source_ids)
        if row.id in cited:
            left = encode_json([source_id for source_id in cited if source_id != row.id])
            tx.run(sql.set_suggestion_sources, run_id=run_id, id=suggestion_id, source_ids=left)
            tx.record(Op.SUGGESTION_CHANGED, suggestion_id, changed("source_ids", source_ids, left))
    tx.run(sql.remove_source, run_id=run_id, id=row.id)
    record_removal(tx, Op.SOURCE_REMOVED, row)


def _is_protected(row: FactRow) -> bool:
    """Return whether a row holds a value of higher provenance than model-inferred."""
    return row.provenance.rank > Provenance.MODEL_INFERRED.rank and not get_typed_value(row).is_unset


def _person_required(row: FactRow, path: ArgumentPath) -> ProvenanceNotAllowed:
    return ProvenanceNotAllowed(
        f"remove a row that is {row.provenance if _is_protected(row) else 'required'}",
        "suggest to clear it by writing null" if _is_protected(row) else "ask a person to remove it",
        path,
    )
