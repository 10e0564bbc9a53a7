"""Add and change artifacts."""

from __future__ import annotations

from msgspec import structs

from groundplan.context.editing.rows import (
    add_row,
    change_row,
    diff_rows,
    get_given_fields,
    new_row,
    refuse_other_run,
    resolve_row,
)
from groundplan.context.editing.sources import refuse_long_json
from groundplan.context.events import Op
from groundplan.context.limits import PAYLOAD_BYTES_MAX
from groundplan.context.schemas import ArtifactWrite, PcivArtifactV1
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath

sql = load_queries(__file__)


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
