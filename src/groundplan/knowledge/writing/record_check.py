"""Keep what a look at the files found, so that whoever reads an atom next knows how far to trust it."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta, Struct, field, structs

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.operations.registry import Command, Effect, Operation
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.events import Op
from groundplan.knowledge.freshness import FreshnessRow, FreshnessState
from groundplan.knowledge.requests import Version, parse_commit, parse_id

ATOMS_MAX = 1_000
FILES_MAX = 50

sql = load_queries(__file__)


class AtomCheck(Struct, rename="camel", forbid_unknown_fields=True):
    """What was seen of one atom."""

    id: str
    version: Version
    freshness: FreshnessState
    commit: str | None = None
    files: Annotated[list[Annotated[str, MaxBytes(4096)]], Meta(max_length=FILES_MAX)] = []


class RecordCheck(Struct, rename="camel", forbid_unknown_fields=True):
    """What was seen at which commit."""

    project_id: Name
    commit: str
    atoms: Annotated[list[AtomCheck], Meta(max_length=ATOMS_MAX)]
    op_id: OpId = field(name="op_id", default=None)


class RecordedCheck(Struct):
    """How much was kept; of the rest, the atoms changed meanwhile or are gone."""

    recorded: int
    skipped: list[str]


def record_check(tx: Transaction, request: RecordCheck) -> RecordedCheck:
    """Keep what was seen of some atoms, as far as they are still what was looked at."""
    head = parse_commit(request.commit, ("commit",))
    seen = {}
    for place, one in enumerate(request.atoms):
        anchor = None if one.commit is None else parse_commit(one.commit, ("atoms", place, "commit"))
        seen[parse_id(one.id, ("atoms", place, "id"))] = (one, anchor)
    versions: dict[str, int] = dict(tx.all(sql.atom_versions, project_id=tx.project.id, ids=to_json_array(seen)))
    kept = {id_: (one, anchor) for id_, (one, anchor) in seen.items() if versions.get(id_) == one.version}
    if not kept:
        return RecordedCheck(0, list(seen))
    rows = [
        FreshnessRow(id_, one.freshness, anchor, tx.now, to_json_array(one.files))
        for id_, (one, anchor) in kept.items()
    ]
    tx.many(sql.upsert_freshness, [{"project_id": tx.project.id, **structs.asdict(row)} for row in rows])
    counts = Counter(one.freshness.value for one, _ in kept.values())
    tx.record(
        Op.CHECKED,
        tx.project.id,
        changed("commit", None, head),
        changed("freshness", None, {state: counts[state] for state in sorted(counts)}),
    )
    return RecordedCheck(len(kept), [id_ for id_ in seen if id_ not in kept])


OPERATION = Operation(
    name="knowledge.record_check",
    summary="Keep what a check of the files found.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    input=RecordCheck,
    output=RecordedCheck,
    handler=record_check,
    project=lambda _tx, request: request.project_id,
    idempotent=True,
    command=Command(("knowledge", "record-check"), names={"project_id": "project"}),
)
