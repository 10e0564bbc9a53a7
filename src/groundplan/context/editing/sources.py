"""Add and change sources."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from groundplan.context.editing.provenance import ProvenanceNotAllowed
from groundplan.context.editing.rows import (
    add_row,
    change_row,
    diff_rows,
    get_given_fields,
    new_row,
    refuse_other_run,
    resolve_row,
)
from groundplan.context.events import Op
from groundplan.context.limits import TEXT_BYTES_MAX
from groundplan.context.run import parse_id
from groundplan.context.schemas import PcivSourceV1, SourceKind, SourceParseStatus, SourceWrite
from groundplan.context.values import encode_json
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import NotFound
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, apply_marker
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path

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
    """Let only a person remove or redefine a source of a user-entered value.

    Raises:
        ProvenanceNotAllowed: the actor is not a person.
    """
    if tx.actor.kind is not ActorKind.PERSON and tx.all(sql.user_values_citing, run_id=run_id, source_id=source_id):
        raise ProvenanceNotAllowed("change the source of a value that a person entered", "add another source", path)


def validate_source_ids(tx: Transaction, run_id: str, ids: list[str], path: ArgumentPath) -> list[str]:
    """Return the ids of sources of this run, sorted and without duplicates.

    Raises:
        Invalid: an id is not a UUID.
        NotFound: a source is not in this run.
    """
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
    """Refuse a list or an object whose JSON is too long.

    Raises:
        Invalid: the JSON has more than `limit_bytes` bytes.
    """
    apply_marker(MaxBytes(limit_bytes), encode_json(value), path)


def validate_source_id(tx: Transaction, run_id: str, id_: str, path: ArgumentPath) -> str:
    """Return the canonical id of a source of this run.

    Raises:
        Invalid: the id is not a UUID.
        NotFound: the source is not in this run.
    """
    checked = parse_id(id_, path)
    if not tx.all(sql.existing_sources, run_id=run_id, ids=to_json_array([checked])):
        raise missing_source(checked, path)
    return checked
