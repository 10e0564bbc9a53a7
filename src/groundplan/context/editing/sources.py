"""Add and change sources: what facts were taken from."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from groundplan.context.editing.claims import ProvenanceNotAllowed
from groundplan.context.editing.rows import (
    add_row,
    change_row,
    changes_between,
    given,
    new_row,
    own_row,
    refuse_other_run,
)
from groundplan.context.events import Op
from groundplan.context.limits import TEXT_BYTES_MAX
from groundplan.context.run import checked_id
from groundplan.context.schemas import PcivSourceV1, SourceParseStatus, SourceWrite
from groundplan.context.values import stored_json
from groundplan.kernel.actors import Kind
from groundplan.kernel.errors import NotFound
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.shapes import missing
from groundplan.kernel.input_gate.text_limits import MaxBytes, applied
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import Path, rendered

sql = load_queries(__file__)

# What a source is. Whether it was read, and what it says, is for whoever reads it to tell.
IDENTITY = frozenset({"kind", "title", "uri", "file_id"})
REQUIRED = {"kind": "file, url, gis, api or manual", "title": "a string", "uri": "a string: where it is"}


def write_source(tx: Transaction, run_id: str, write: SourceWrite, path: Path) -> str:
    """Add a source, or change the one with this id. Gives its id."""
    refuse_other_run(write.run_id, run_id, path)
    id_, before = own_row(tx, sql.source, PcivSourceV1, write.id, run_id, path, new_uuid())
    fields = given(
        write, "kind", "title", "uri", "file_id", "mime_type", "size_bytes", "parse_status", "excerpt", "raw_meta"
    )
    for name, wanted in REQUIRED.items():
        if before is None and name not in fields:
            raise missing(name, path, wanted=wanted)
    if fields.get("file_id") is not None:
        fields["file_id"] = checked_id(fields["file_id"], (*path, "fileId"))
    if "raw_meta" in fields:
        refuse_long(fields["raw_meta"], (*path, "rawMeta"), TEXT_BYTES_MAX)
    base = before or new_row(
        PcivSourceV1,
        id=id_,
        run_id=run_id,
        parse_status=SourceParseStatus.PENDING,
        raw_meta={},
        created_at=tx.now,
    )
    after = structs.replace(base, **fields)
    if changes := changes_between(before, after):
        if before is not None and any(change.field in IDENTITY for change in changes):
            refuse_taking_sources(tx, run_id, id_, path)
        if before is None:
            add_row(tx, sql.add_source, after, path)
        else:
            change_row(tx, sql.change_source, after)
        tx.record(Op.SOURCE_ADDED if before is None else Op.SOURCE_CHANGED, id_, *changes)
    return id_


def refuse_taking_sources(tx: Transaction, run_id: str, source_id: str, path: Path) -> None:
    """Let only a person take away, or make another one of, the source of a value that a person entered.

    Raises:
        ProvenanceNotAllowed: it is somebody else.
    """
    if tx.actor.kind is not Kind.PERSON and tx.all(sql.a_persons_citing, run_id=run_id, source_id=source_id):
        raise ProvenanceNotAllowed("change the source of a value that a person entered", "add another source", path)


def checked_sources(tx: Transaction, run_id: str, ids: list[str], path: Path) -> list[str]:
    """The ids of sources of this run, each once, in order.

    Raises:
        Invalid: one is no UUID.
        NotFound: there is none in this run.
    """
    checked = {checked_id(id_, (*path, place)): place for place, id_ in enumerate(ids)}
    there = set(tx.scalars(sql.sources_there, run_id=run_id, ids=listed(checked))) if checked else set()
    for id_, place in checked.items():
        if id_ not in there:
            raise missing_source(id_, (*path, place))
    return sorted(checked)


def missing_source(id_: str, path: Path) -> NotFound:
    """The refusal of a source that is not in the run."""
    return NotFound(
        "source", id_, hint="write it to this run first, in the same call if you like", field=rendered(path)
    )


def refuse_long(value: Any, path: Path, limit_bytes: int) -> None:
    """Refuse a list or an object that is too long as JSON.

    Raises:
        Invalid: it is.
    """
    applied(MaxBytes(limit_bytes), stored_json(value), path)


def checked_source(tx: Transaction, run_id: str, id_: str, path: Path) -> str:
    """The id of a source of this run.

    Raises:
        Invalid: it is no UUID.
        NotFound: there is none in this run.
    """
    checked = checked_id(id_, path)
    if not tx.all(sql.sources_there, run_id=run_id, ids=listed([checked])):
        raise missing_source(checked, path)
    return checked
