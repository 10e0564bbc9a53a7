"""Remove rows from a draft with everything that belongs to them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from groundplan.context.events import Op
from groundplan.context.facts import LastSource, load_inputs_at
from groundplan.context.provenance import FactRow, ProvenanceNotAllowed, is_set_by_person
from groundplan.context.resolve import parse_id
from groundplan.context.rows import missing_source, record_removal, refuse_source_change
from groundplan.context.schemas import (
    ROWS_MAX,
    InputRow,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivSourceV1,
    Pointer,
    Provenance,
)
from groundplan.context.suggestions import SuggestionRow, remove_suggestion
from groundplan.context.values import encode_json, get_typed_value, load_row, load_rows, validate_pointer
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
    """Remove rows from a draft. Sources are removed last, so that one call can also remove the rows that cite them."""
    for index, pointer in enumerate(removals.inputs or ()):
        _remove_input(tx, run_id, pointer, ("remove", "inputs", index))
    for index, id_ in enumerate(removals.constraints or ()):
        _remove_constraint(tx, run_id, id_, ("remove", "constraints", index))
    for index, id_ in enumerate(removals.artifacts or ()):
        path: ArgumentPath = ("remove", "artifacts", index)
        row = load_row(tx, sql.artifact, PcivArtifactV1, run_id=run_id, id=parse_id(id_, path))
        if row is None:
            raise NotFound("artifact", id_, field=format_argument_path(path))
        delete_artifact(tx, row)
    for index, id_ in enumerate(removals.sources or ()):
        _remove_source(tx, run_id, id_, ("remove", "sources", index))


def _remove_input(tx: Transaction, run_id: str, pointer: str, path: ArgumentPath) -> None:
    row = next(iter(load_inputs_at(tx, run_id, [validate_pointer(pointer, path)])), None)
    if row is None:
        raise NotFound("input", pointer, field=format_argument_path(path))
    if (_is_protected(row) or row.required) and tx.actor.kind is not ActorKind.PERSON:
        raise _person_required(row, path)
    delete_input(tx, row)


def _remove_constraint(tx: Transaction, run_id: str, id_: str, path: ArgumentPath) -> None:
    row = load_row(tx, sql.constraint, PcivConstraintV1, run_id=run_id, id=parse_id(id_, path))
    if row is None:
        raise NotFound("constraint", id_, field=format_argument_path(path))
    if _is_protected(row) and tx.actor.kind is not ActorKind.PERSON:
        raise _person_required(row, path)
    delete_constraint(tx, row)


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
    delete_source(tx, row)


def _is_protected(row: FactRow) -> bool:
    """Return True if a row holds a value that a person set, or one of higher provenance than model-inferred."""
    is_backed = row.provenance.rank > Provenance.MODEL_INFERRED.rank and not get_typed_value(row).is_unset
    return is_backed or is_set_by_person(row)


def _person_required(row: FactRow, path: ArgumentPath) -> ProvenanceNotAllowed:
    what = "a value that a person set" if is_set_by_person(row) else f"a row that is {row.provenance}"
    return ProvenanceNotAllowed(
        f"remove {what if _is_protected(row) else 'a row that is required'}",
        "suggest to clear it by writing null" if _is_protected(row) else "ask a person to remove it",
        path,
    )


def delete_input(tx: Transaction, row: InputRow) -> None:
    """Delete an input with its suggestions and its links to sources."""
    run_id = row.run_id
    linked = [source_id for _, source_id in tx.all(sql.links_of_inputs, run_id=run_id, ids=to_json_array([row.id]))]
    for suggestion in load_rows(tx, sql.suggestions_for_input, SuggestionRow, run_id=run_id, about=row.id):
        remove_suggestion(tx, suggestion)
    tx.run(sql.remove_links_of_input, run_id=run_id, input_id=row.id)
    tx.run(sql.remove_input, run_id=run_id, id=row.id)
    if linked:
        tx.record(Op.UNLINKED, row.id, *(changed("source_id", id_, None) for id_ in linked))
    record_removal(tx, Op.INPUT_REMOVED, row)


def delete_constraint(tx: Transaction, row: PcivConstraintV1) -> None:
    """Delete a constraint with its suggestions."""
    for suggestion in load_rows(tx, sql.suggestions_for_constraint, SuggestionRow, run_id=row.run_id, about=row.id):
        remove_suggestion(tx, suggestion)
    tx.run(sql.remove_constraint, run_id=row.run_id, id=row.id)
    record_removal(tx, Op.CONSTRAINT_REMOVED, row)


def delete_artifact(tx: Transaction, row: PcivArtifactV1) -> None:
    """Delete an artifact."""
    tx.run(sql.remove_artifact, run_id=row.run_id, id=row.id)
    record_removal(tx, Op.ARTIFACT_REMOVED, row)


def delete_source(tx: Transaction, row: PcivSourceV1) -> None:
    """Delete a source that no fact cites, also from the suggestions that cite it."""
    for suggestion_id, source_ids in tx.all(sql.suggestion_sources, run_id=row.run_id):
        cited: list[str] = msgspec.json.decode(source_ids)
        if row.id in cited:
            left = encode_json([source_id for source_id in cited if source_id != row.id])
            tx.run(sql.set_suggestion_sources, run_id=row.run_id, id=suggestion_id, source_ids=left)
            tx.record(Op.SUGGESTION_CHANGED, suggestion_id, changed("source_ids", source_ids, left))
    tx.run(sql.remove_source, run_id=row.run_id, id=row.id)
    record_removal(tx, Op.SOURCE_REMOVED, row)
