"""Archive and restore projects. An archived project can be read but not changed."""

from __future__ import annotations

from functools import partial

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Operation, Route
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class ArchiveProject(Struct, forbid_unknown_fields=True):
    """The project to archive or restore, by id or name."""

    project: Name
    op_id: OpId = None


class ArchivedProject(Struct):
    """The project and when it was archived. There is no revision, because archiving again does not change it."""

    id: str
    name: str
    archived_at: str | None


def archive(tx: Transaction, request: ArchiveProject) -> ArchivedProject:
    """Archive a project. Archiving it again changes nothing."""
    return _set_archived(tx, KernelOp.PROJECT_ARCHIVED, archived_at=tx.project.archived_at or tx.now)


def restore(tx: Transaction, request: ArchiveProject) -> ArchivedProject:
    """Restore an archived project."""
    return _set_archived(tx, KernelOp.PROJECT_RESTORED, archived_at=None)


def _set_archived(tx: Transaction, op: KernelOp, *, archived_at: str | None) -> ArchivedProject:
    project = tx.project
    if archived_at != project.archived_at:
        tx.run(sql.set_archived, id=project.id, archived_at=archived_at)
        tx.record(op, project.id, changed("archived_at", project.archived_at, archived_at))
    return ArchivedProject(project.id, project.name, archived_at)


_OPERATION = partial(
    Operation,
    permission=Permission.PROJECT_ARCHIVE,
    effect=Effect.WRITE,
    input=ArchiveProject,
    output=ArchivedProject,
    project=lambda _tx, request: request.project,
    on_archived=True,
    idempotent=True,
)

ARCHIVE = _OPERATION(
    name="project.archive",
    summary="Archive a project: it can be read, but not changed.",
    handler=archive,
    command=Command(("project", "archive"), arguments=("project",)),
    http=Route("POST", "/projects/{project}/archive"),
)

RESTORE = _OPERATION(
    name="project.restore",
    summary="Restore an archived project.",
    handler=restore,
    command=Command(("project", "restore"), arguments=("project",)),
    http=Route("POST", "/projects/{project}/restore"),
)
