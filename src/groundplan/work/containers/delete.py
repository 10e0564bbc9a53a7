"""Delete a task or a feature with its sections, tags and, on request, descendants. A project is archived instead."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import RuleViolated, refuse_stale
from groundplan.kernel.links import LinkType, list_links_from, remove_links_of_many
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.projects import ArchiveProject, archive_project
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.claims import enforce_claims
from groundplan.work.containers.answers import Entity, list_entities
from groundplan.work.containers.refs import get_container_type, resolve_container, resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType, Version
from groundplan.work.events import WorkOp
from groundplan.work.nodes import DEPENDS_ON, WorkNodeRow, touch
from groundplan.work.readiness import Readiness
from groundplan.work.refs import remove_aliases

sql = load_queries(__file__)


class HasChildren(RuleViolated):
    """The container has descendants, and cascade was not set."""

    code = "has_children"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow, count: int) -> None:
        super().__init__(
            f"{get_container_type(node)} {node.id} has {count} descendant{'' if count == 1 else 's'}; "
            "send cascade: true to delete all of them, or move them first",
            field="cascade",
            id=node.id,
            count=count,
        )


class DeleteContainer(Struct, rename="camel", forbid_unknown_fields=True):
    """A container, the version that the caller read, and whether to delete its descendants too."""

    container_type: ContainerType
    id: ContainerId
    version: Version
    cascade: bool | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeletedContainer(Struct, rename="camel", kw_only=True):
    """The deleted container and the containers that this unblocked. A project is archived instead."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("unblocked_entities",)))

    deleted: str
    count: int  # including descendants
    archived: bool | UnsetType = UNSET
    unblocked_entities: list[Entity] | UnsetType = UNSET
    unblocked_entities_total: int | UnsetType = UNSET  # if more than the listed ones exist
    left_out: LeftOut = field(name="left_out", default=UNSET)


class _RemovedRow(Struct):
    n: int
    id: str
    resolved: bool
    claimed_by: str | None
    claimed_until: str | None


class _IncomingEdge(NamedTuple):
    from_n: int
    id: str  # of the node at `from_n`
    type: str
    to_n: int


def delete(tx: Transaction, request: DeleteContainer) -> DeletedContainer:
    """Delete a task or a feature and unblock its dependents.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        HasChildren: it has descendants, and `cascade` is not set.
        ClaimedByAnother: the project enforces claims and another actor has claimed a part of it.
    """
    node = resolve_container(tx, request.container_type, request.id)
    refuse_stale(request.container_type, node.id, current=node.rev, given=request.version)
    rows = tx.all(sql.subtree, _RemovedRow, project_id=tx.project.id, n=node.n)
    if len(rows) > 1 and not request.cascade:
        raise HasChildren(node, len(rows) - 1)
    for row in rows:
        enforce_claims(tx, row.id, row.claimed_by, row.claimed_until)
    ids = {row.n: row.id for row in rows}
    readiness = Readiness(tx, decision=None)
    readiness.snapshot(ids)
    assert node.parent_n is not None  # noqa: S101 - it is not the root
    if not node.resolved:
        readiness.remove_open_children(node.parent_n)
    dependents = _disconnect(tx, readiness, ids, open_ns={row.n for row in rows if not row.resolved})
    links = _remove_links(tx, ids.values())
    _remove(tx, ids)
    for node_id in ids.values():
        tx.record(WorkOp.DELETED, node_id, changed("deleted", None, True), *links.get(node_id, ()))
    released = list_entities(tx, readiness.settle().unblocked & dependents)
    return DeletedContainer(
        deleted=node.id,
        count=len(ids),
        unblocked_entities=released.listed or UNSET,
        unblocked_entities_total=released.total,
    )


def _disconnect(tx: Transaction, readiness: Readiness, ids: dict[int, str], *, open_ns: Collection[int]) -> set[int]:
    """Delete every edge from or to these nodes, and return the other nodes that depended on them."""
    touched: dict[int, list[tuple[str, int]]] = {}
    outside: dict[int, str] = {}
    for edge in sorted(tx.all(sql.edges_into, _IncomingEdge, project_id=tx.project.id, ns=to_json_array(ids))):
        if edge.from_n not in ids:
            touched.setdefault(edge.from_n, []).append((edge.type, edge.to_n))
            outside[edge.from_n] = edge.id
    readiness.snapshot(touched)
    tx.run(sql.remove_edges_from, project_id=tx.project.id, ns=to_json_array(ids))
    tx.run(sql.remove_edges_to, project_id=tx.project.id, ns=to_json_array(ids))
    for from_n, edges in touched.items():
        touch(tx, from_n)
        tx.record(WorkOp.DISCONNECTED, outside[from_n], *(changed(type_, ids[to_n], None) for type_, to_n in edges))
        waited_for = sum(type_ == DEPENDS_ON and to_n in open_ns for type_, to_n in edges)
        if waited_for:
            readiness.adjust_open_dependencies([from_n], by=-waited_for)
    return {from_n for from_n, edges in touched.items() if any(type_ == DEPENDS_ON for type_, _ in edges)}


def _remove_links(tx: Transaction, node_ids: Collection[str]) -> dict[str, list[Change]]:
    """Delete the links of these nodes, and return them as changes, by node."""
    found: dict[str, dict[LinkType, list[str]]] = {}
    for link in list_links_from(tx, node_ids):
        found.setdefault(link.source, {}).setdefault(link.type, []).append(link.target)
    if found:
        remove_links_of_many(tx, found)
    return {
        source: [changed(type_.value, targets, []) for type_, targets in by_type.items()]
        for source, by_type in found.items()
    }


def _remove(tx: Transaction, ids: dict[int, str]) -> None:
    remove_aliases(tx, ids)
    place = {"project_id": tx.project.id, "ns": to_json_array(ids)}
    for query in (
        sql.record_deleted_sections,
        sql.remove_section_tags_of,
        sql.remove_sections_of,
        sql.remove_tags_of,
        sql.remove_evidence_of,
        sql.remove_features_of,
        sql.remove_nodes,
    ):
        tx.run(query, **place)
    tx.run_many(sql.record_deleted_nodes, [{"id": node_id, "project_id": tx.project.id} for node_id in ids.values()])


def delete_project(tx: Transaction, request: DeleteContainer) -> DeletedContainer:
    """Archive a project. Its contents are kept, so that it can be restored.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        HasChildren: it is not empty, and `cascade` is not set.
    """
    root = resolve_container(tx, ContainerType.PROJECT, request.id)
    refuse_stale(ContainerType.PROJECT, tx.project.id, current=root.rev, given=request.version)
    _, total = tx.one(sql.counts, project_id=tx.project.id)
    if total > 1 and not request.cascade:
        raise HasChildren(root, total - 1)
    archive_project(tx, ArchiveProject(tx.project.id))
    return DeletedContainer(deleted=tx.project.id, count=total, archived=True)


DELETE_PROJECT = declare(
    delete_project,
    name="container.delete_project",
    summary="Archive a project; it can be restored.",
    permission=Permission.PROJECT_ARCHIVE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
    on_archived=True,
    person_words=("project", "archive"),
)

DELETE = declare(
    delete,
    name="container.delete",
    summary="Delete one; cascade: with all below it; a project is archived.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_container_project(tx, request.container_type, request.id),
    variants=(DELETE_PROJECT,),
    choose_variant=lambda request: DELETE_PROJECT if request.container_type is ContainerType.PROJECT else None,
    tool=Tool("manage_container", Group.CONTAINERS, "delete"),
    command=Command(("task", "delete"), arguments=("id",), fixed={"container_type": "task"}),
    aliases=(Command(("feature", "delete"), arguments=("id",), fixed={"container_type": "feature"}),),
    http=Route("DELETE", "/projects/{project}/work/{containerType}s/{id}"),
)
