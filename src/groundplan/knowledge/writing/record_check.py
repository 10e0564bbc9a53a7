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
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.events import Op
from groundplan.knowledge.freshness import FreshnessRow, State
from groundplan.knowledge.requests import Version, checked_commit, checked_id

ATOMS_MAX = 1_000
FILES_MAX = 50

sql = load_queries(__file__)


class SeenAtom(Struct, rename="camel", forbid_unknown_fields=True):
    """What was seen of one atom."""

    id: str
    version: Version
    freshness: State
    commit: str | None = None
    files: Annotated[list[Annotated[str, MaxBytes(4096)]], Meta(max_length=FILES_MAX)] = []


class RecordCheck(Struct, rename="camel", forbid_unknown_fields=True):
    """What was seen at which commit."""

    project_id: Name
    commit: str
    atoms: Annotated[list[SeenAtom], Meta(max_length=ATOMS_MAX)]
    op_id: OpId = field(name="op_id", default=None)


class Recorded(Struct):
    """How much was kept; of the rest, the atoms changed meanwhile or are gone."""

    recorded: int
    skipped: list[str]


def record_check(tx: Transaction, request: RecordCheck) -> Recorded:
    """Keep what was seen of some atoms, as far as they are still what was looked at."""
    head = checked_commit(request.commit, ("commit",))
    seen = {}
    for place, one in enumerate(request.atoms):
        anchor = None if one.commit is None else checked_commit(one.commit, ("atoms", place, "commit"))
        seen[checked_id(one.id, ("atoms", place, "id"))] = (one, anchor)
    versions: dict[str, int] = dict(tx.all(sql.versions_of, project_id=tx.project.id, ids=listed(seen)))
    kept = {id_: (one, anchor) for id_, (one, anchor) in seen.items() if versions.get(id_) == one.version}
    if not kept:
        return Recorded(0, list(seen))
    rows = [FreshnessRow(id_, one.freshness, anchor, tx.now, listed(one.files)) for id_, (one, anchor) in kept.items()]
    tx.many(sql.see, [{"project_id": tx.project.id, **structs.asdict(row)} for row in rows])
    counts = Counter(one.freshness.value for one, _ in kept.values())
    tx.record(
        Op.CHECKED,
        tx.project.id,
        changed("commit", None, head),
        changed("freshness", None, {state: counts[state] for state in sorted(counts)}),
    )
    return Recorded(len(kept), [id_ for id_ in seen if id_ not in kept])


OPERATION = Operation(
    name="knowledge.record_check",
    summary="Keep what a check of the files found.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    input=RecordCheck,
    output=Recorded,
    handler=record_check,
    project=lambda _tx, request: request.project_id,
    idempotent=True,
    command=Command(("knowledge", "record-check"), names={"project_id": "project"}),
)
