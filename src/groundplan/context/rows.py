"""Write the rows of a draft: add, change and compare them; sources and artifacts."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import UNSET, Struct, structs

from groundplan.context.events import Op
from groundplan.context.provenance import ProvenanceNotAllowed
from groundplan.context.resolve import parse_id
from groundplan.context.schemas import (
    PAYLOAD_BYTES_MAX,
    TEXT_BYTES_MAX,
    ArtifactWrite,
    PcivArtifactV1,
    PcivSourceV1,
    SourceKind,
    SourceParseStatus,
    SourceWrite,
)
from groundplan.context.values import encode_columns, encode_json, load_row
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Conflict, NotFound
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, apply_marker
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text

R = TypeVar("R", bound=Struct)


class IdTaken(Conflict):
    """The id is in use. The error does not reveal its owner."""

    code = "id_taken"

    def __init__(self, id_: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(f"{field}: the id {id_} is in use; omit it to get a new one", field=field, id=id_)


def generate_ascending_ids(count: int) -> list[str]:
    """Return new ids in ascending order, so that rows with equal times are listed in the order of writing."""
    return sorted(new_uuid() for _ in range(count))


def resolve_row(
    tx: Transaction, query: Query, shape: type[R], id_: str | None, run_id: str, path: ArgumentPath, new_id: str
) -> tuple[str, R | None]:
    """Return the id of a row, or `new_id` if none is given, and the row if this run already has it."""
    if id_ is None:
        return new_id, None
    checked = parse_id(id_, (*path, "id"))
    return checked, load_row(tx, query, shape, run_id=run_id, id=checked)


class KeyTaken(Conflict):
    """Another constraint of the run has this key."""

    code = "key_taken"

    def __init__(self, key: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: another constraint of this run has the key {quote_text(key)}; change that one, or rename it",
            field=field,
            key=key,
        )


def new_row(shape: type[R], **columns: Any) -> R:
    """Return a row whose columns are null unless given."""
    return shape(**dict.fromkeys(shape.__struct_fields__) | columns)


def add_row(tx: Transaction, query: Query, row: Struct, path: ArgumentPath) -> None:
    """Add a row."""
    columns = encode_columns(row)
    if not tx.run(query, project_id=tx.project.id, **columns):
        raise IdTaken(columns["id"], (*path, "id"))


def change_row(tx: Transaction, query: Query, row: Struct) -> None:
    """Update an existing row."""
    tx.run(query, **encode_columns(row))


def refuse_other_run(given_run_id: str | None, run_id: str, path: ArgumentPath) -> None:
    """Refuse a row that names a different run from the one that is written."""
    if given_run_id is not None and parse_id(given_run_id, (*path, "runId")) != run_id:
        raise invalid_argument((*path, "runId"), f"is {given_run_id}, but this call writes to run {run_id}; omit it")


def get_given_fields(write: Struct, *fields: str) -> dict[str, Any]:
    """Return the fields that a request gives."""
    return {name: value for name in fields if (value := getattr(write, name)) is not UNSET}


def diff_rows(before: R | None, after: R) -> list[Change]:
    """Return the columns that differ; for a new row, all columns with a value."""
    columns = encode_columns(after)
    if before is None:
        return [changed(name, None, value) for name, value in columns.items() if value is not None and name != "id"]
    was = encode_columns(before)
    return [changed(name, was[name], value) for name, value in columns.items() if was[name] != value]


def record_removal(tx: Transaction, op: Op, row: Struct) -> None:
    """Record the removal of a row with its old columns."""
    columns = encode_columns(row)
    tx.record(op, columns["id"], *(changed(name, value, None) for name, value in columns.items() if value is not None))


sql = load_queries(__file__)

# The fields that identify a source. The others describe how it was parsed and may always change.
IDENTITY = frozenset({"kind", "title", "uri", "file_id"})
REQUIRED = {"kind": "file, url, gis, api or manual", "title": "a string", "uri": "a string: the address"}


def write_source(tx: Transaction, run_id: str, write: SourceWrite, path: ArgumentPath) -> str:
    """Add a source or change the one with the given id, and return its id."""
    refuse_other_run(write.run_id, run_id, path)
    id_, before = resolve_row(tx, sql.source, PcivSourceV1, write.id, run_id, path, new_uuid())
    fields = get_given_fields(
        write, "kind", "title", "uri", "file_id", "mime_type", "size_bytes", "parse_status", "excerpt", "raw_meta"
    )
    if before is None:
        if fields.get("kind") is SourceKind.MANUAL and "title" in fields:
            fields.setdefault("uri", fields["title"])  # a conversation or a note has no other address
        for name, wanted in REQUIRED.items():
            if name not in fields:
                raise missing_argument(name, path, expected=wanted)
    if fields.get("file_id") is not None:
        fields["file_id"] = parse_id(fields["file_id"], (*path, "fileId"))
    if "raw_meta" in fields:
        refuse_long_json(fields["raw_meta"], (*path, "rawMeta"), TEXT_BYTES_MAX)
    base = before or new_row(
        PcivSourceV1,
        id=id_,
        run_id=run_id,
        parse_status=SourceParseStatus.PENDING,
        raw_meta={},
        created_at=tx.now,
    )
    after = structs.replace(base, **fields)
    if changes := diff_rows(before, after):
        if before is not None and any(change.field in IDENTITY for change in changes):
            refuse_source_change(tx, run_id, id_, path)
        if before is None:
            add_row(tx, sql.add_source, after, path)
        else:
            change_row(tx, sql.change_source, after)
        tx.record(Op.SOURCE_ADDED if before is None else Op.SOURCE_CHANGED, id_, *changes)
    return id_


def refuse_source_change(tx: Transaction, run_id: str, source_id: str, path: ArgumentPath) -> None:
    """Refuse actors other than a person that remove or redefine the source of a value that a person set."""
    place = {"run_id": run_id, "source_id": source_id}
    if tx.actor.kind is not ActorKind.PERSON and tx.all(sql.values_of_persons_citing, **place):
        raise ProvenanceNotAllowed("change the source of a value that a person set", "add another source", path)


def validate_source_ids(tx: Transaction, run_id: str, ids: list[str], path: ArgumentPath) -> list[str]:
    """Return the ids of sources of this run, sorted and without duplicates."""
    checked = {parse_id(id_, (*path, index)): index for index, id_ in enumerate(ids)}
    existing = set(tx.scalars(sql.existing_sources, run_id=run_id, ids=to_json_array(checked))) if checked else set()
    for id_, index in checked.items():
        if id_ not in existing:
            raise missing_source(id_, (*path, index))
    return sorted(checked)


def missing_source(id_: str, path: ArgumentPath) -> NotFound:
    """Return the refusal of a source that is not in the run."""
    return NotFound(
        "source", id_, hint="write it to this run first; the same call may do it", field=format_argument_path(path)
    )


def refuse_long_json(value: Any, path: ArgumentPath, limit_bytes: int) -> None:
    """Refuse a list or an object whose JSON is too long."""
    apply_marker(MaxBytes(limit_bytes), encode_json(value), path)


def validate_source_id(tx: Transaction, run_id: str, id_: str, path: ArgumentPath) -> str:
    """Return the canonical id of a source of this run."""
    checked = parse_id(id_, path)
    if not tx.all(sql.existing_sources, run_id=run_id, ids=to_json_array([checked])):
        raise missing_source(checked, path)
    return checked


def write_artifact(tx: Transaction, run_id: str, write: ArtifactWrite, path: ArgumentPath, *, new_id: str) -> str:
    """Add an artifact or change the one with the given id, and return its id."""
    refuse_other_run(write.run_id, run_id, path)
    id_, before = resolve_row(tx, sql.artifact, PcivArtifactV1, write.id, run_id, path, new_id)
    fields = get_given_fields(write, "type", "title", "payload")
    for name in ("type", "title"):
        if before is None and name not in fields:
            raise missing_argument(name, path, expected="a string")
    if "payload" in fields:
        refuse_long_json(fields["payload"], (*path, "payload"), PAYLOAD_BYTES_MAX)
    base = before or new_row(PcivArtifactV1, id=id_, run_id=run_id, payload={}, created_at=tx.now)
    after = structs.replace(base, **fields)
    if changes := diff_rows(before, after):
        if before is None:
            add_row(tx, sql.add_artifact, after, path)
        else:
            change_row(tx, sql.change_artifact, after)
        tx.record(Op.ARTIFACT_ADDED if before is None else Op.ARTIFACT_CHANGED, id_, *changes)
    return id_
