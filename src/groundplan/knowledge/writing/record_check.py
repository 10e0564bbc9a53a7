"""Store the results of a check of the files, which readers of an atom see as its freshness."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta, Struct, field, structs

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.operations.registry import Command, Effect, OpId, Route, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.knowledge.checked_files import KEPT_BYTES_MAX, KEPT_MAX, CheckedFiles, load_checked_files, pack_paths
from groundplan.knowledge.events import Op
from groundplan.knowledge.freshness import FreshnessRow, FreshnessState
from groundplan.knowledge.paths.names import split_path
from groundplan.knowledge.requests import Version, parse_commit, parse_id

ATOMS_MAX = 1_000
FILES_MAX = 50
NAMES_MAX = 64  # of a path: coverage keeps every folder on the way to a file

sql = load_queries(__file__)


class AtomCheck(Struct, rename="camel", forbid_unknown_fields=True):
    """The result of a check of one atom."""

    id: str
    version: Version
    freshness: FreshnessState
    commit: str | None = None
    files: Annotated[list[Annotated[str, MaxBytes(4096)]], Meta(max_length=FILES_MAX)] = []


class RecordCheck(Struct, rename="camel", forbid_unknown_fields=True):
    """The results of a check, the commit it was made at, and files of this commit."""

    project_id: Name
    commit: str
    atoms: Annotated[list[AtomCheck], Meta(max_length=ATOMS_MAX)]
    files: Annotated[list[Annotated[str, MaxBytes(4096)]], Meta(max_length=KEPT_MAX)] = []
    files_total: Annotated[int, Meta(ge=0, le=2**31)] = 0
    op_id: OpId = field(name="op_id", default=None)


class RecordedCheck(Struct):
    """The number of stored results, and the atoms skipped because they changed meanwhile or do not exist."""

    recorded: int
    skipped: list[str]


def record_check(tx: Transaction, request: RecordCheck) -> RecordedCheck:
    """Store the results for those atoms that still have the checked version."""
    head = parse_commit(request.commit, ("commit",))
    checks = {}
    for index, check in enumerate(request.atoms):
        anchor = None if check.commit is None else parse_commit(check.commit, ("atoms", index, "commit"))
        checks[parse_id(check.id, ("atoms", index, "id"))] = (check, anchor)
    versions: dict[str, int] = dict(tx.all(sql.atom_versions, project_id=tx.project.id, ids=to_json_array(checks)))
    current = {id_: (check, anchor) for id_, (check, anchor) in checks.items() if versions.get(id_) == check.version}
    if not current and not request.files:
        return RecordedCheck(0, list(checks))
    rows = [
        FreshnessRow(id_, check.freshness, anchor, tx.now, to_json_array(check.files))
        for id_, (check, anchor) in current.items()
    ]
    tx.run_many(sql.upsert_freshness, [{"project_id": tx.project.id, **structs.asdict(row)} for row in rows])
    counts = Counter(check.freshness.value for check, _ in current.values())
    changes = [changed("commit", None, head)]
    if current:
        changes.append(changed("freshness", None, {state: counts[state] for state in sorted(counts)}))
    if request.files:
        changes.append(changed("files", None, _keep_files(tx, head, request)))
    tx.record(Op.CHECKED, tx.project.id, *changes)
    return RecordedCheck(len(current), [id_ for id_ in checks if id_ not in current])


def _keep_files(tx: Transaction, head: str, request: RecordCheck) -> int:
    """Store files of a commit beside those that earlier requests named for it, and return how many there are."""
    paths = set(request.files)
    for place, path in enumerate(request.files):
        names = split_path(path)
        if names is None or len(names) > NAMES_MAX:
            wrong = f"must be a path from the root of the repository with at most {NAMES_MAX} names"
            raise invalid_argument(("files", place), wrong, limit=NAMES_MAX)
    stored = load_checked_files(tx)
    if stored is not None and stored.commit_id == head:
        paths.update(stored.paths)
    size_bytes = sum(len(path.encode()) for path in paths)
    if not paths or len(paths) > KEPT_MAX or size_bytes > KEPT_BYTES_MAX:
        wrong = f"must be 1 to {KEPT_MAX:,} files of a commit, with at most {KEPT_BYTES_MAX:,} bytes; send every n-th"
        raise invalid_argument(("files",), wrong, code="too_many", limit=KEPT_MAX)
    total = max(len(paths), request.files_total)
    row = CheckedFiles(head, tx.now, total, len(paths), pack_paths(paths))
    tx.run_with_record(sql.upsert_checked_files, row, project_id=tx.project.id)
    return len(paths)


OPERATION = declare(
    record_check,
    name="knowledge.record_check",
    summary="Store the results of a check of the files, and which files there are.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    idempotent=True,
    command=Command(("knowledge", "record-check"), names={"project_id": "project"}),
    http=Route("POST", "/projects/{project}/knowledge/freshness"),
)
