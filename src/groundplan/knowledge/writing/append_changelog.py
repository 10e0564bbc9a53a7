"""Append an entry to a changelog: what a task changed, and why."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, apply_marker
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.knowledge.changelog import ChangelogEntry
from groundplan.knowledge.events import Op
from groundplan.knowledge.refs import load_names, missing_entity, resolve_entity_project, resolve_task_id
from groundplan.knowledge.requests import SUMMARY_BYTES_MAX, KnowledgeEntityType, TaskRef, parse_id
from groundplan.knowledge.revision import advance_revision

sql = load_queries(__file__)


class AppendChangelog(Struct, rename="camel", forbid_unknown_fields=True):
    """The entry to append: what a task changed, and why."""

    parent_type: KnowledgeEntityType
    parent_id: str
    task_id: TaskRef
    summary: str
    op_id: OpId = field(name="op_id", default=None)


class AppendedEntry(Struct):
    """The appended entry."""

    entry: ChangelogEntry


def append_changelog(tx: Transaction, request: AppendChangelog) -> AppendedEntry:
    """Add an entry to the changelog of an atom or a molecule.

    Raises:
        NotFound: the atom, the molecule or the task does not exist.
    """
    parent_id = parse_id(request.parent_id, ("parentId",))
    if not load_names(tx, request.parent_type, {parent_id}):
        raise missing_entity(request.parent_type, request.parent_id, ("parentId",))
    summary = apply_marker(MaxBytes(SUMMARY_BYTES_MAX), request.summary.strip(), ("summary",))
    if not summary:
        raise invalid_argument(("summary",), "must not be empty; say what changed and why")
    task_id = resolve_task_id(tx, request.task_id, "taskId")
    entry = ChangelogEntry(new_uuid(), request.parent_type, parent_id, task_id, summary, tx.now, tx.actor.id)
    tx.run_with_record(sql.add_entry, entry, project_id=tx.project.id, rev=advance_revision(tx).rev)
    tx.record(
        Op.CHANGELOG_APPENDED,
        parent_id,
        changed("entry", None, {"id": entry.id, "parent_type": entry.parent_type, "task_id": task_id}),
        changed("summary", None, summary),
    )
    return AppendedEntry(entry)


OPERATION = declare(
    append_changelog,
    name="knowledge.append_changelog",
    summary="Add what a task changed and why; entries are never edited.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_entity_project(tx, request.parent_type, request.parent_id, "parentId"),
    tool=Tool("manage_changelog", Group.KNOWLEDGE, "append"),
    command=Command(
        ("knowledge", "append-changelog"),
        arguments=("parent_id",),
        texts=("summary",),
        names={"parent_type": "type", "parent_id": "id", "task_id": "task"},
    ),
    http=Route(
        "POST",
        "/projects/{project}/knowledge/{parentType}s/{parentId}/changelog",
        location="/projects/{project}/knowledge/{parentType}s/{parentId}/changelog",
    ),
)
