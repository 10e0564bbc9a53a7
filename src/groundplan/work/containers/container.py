"""A project, a feature and a task as callers see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Role
from groundplan.kernel.answers import DropField, LeftOut, Trimming
from groundplan.kernel.projects import read_project_view
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.pipeline import Pipelines, decode_pipelines
from groundplan.work.containers.requests import ContainerType, Priority, priority_from_number
from groundplan.work.kinds import get_status, is_claim_live, parse_complexity
from groundplan.work.links.shown_links import ShownLink, load_shown_links

HOLD = "NO_OP"  # stands for a hold in lists of blockers
BLOCKERS_SHOWN_MAX = 50
RELATED_SHOWN_MAX = 50

sql = load_queries(__file__)


class _Container(Struct, rename="camel", kw_only=True):
    trimming: ClassVar[Trimming] = Trimming(DropField("description"), DropField("summary"))

    summary: str | UnsetType | None = None
    description: str | UnsetType | None = None
    tags: list[str]
    version: int
    created_at: str
    modified_at: str
    last_modified_by: str
    serves: list[ShownLink] | UnsetType = UNSET  # this and the next three: only where a container is read by itself
    rests_on: list[ShownLink] | UnsetType = field(name="rests_on", default=UNSET)
    supports: list[ShownLink] | UnsetType = UNSET
    refutes: list[ShownLink] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


class ProjectContainer(_Container, kw_only=True):
    """A project. It has no status; its version is that of its root."""

    id: str
    name: str
    pipelines: Pipelines | UnsetType = UNSET  # unless they are the default ones
    archived_at: str | UnsetType = UNSET


class _WorkItem(_Container, kw_only=True):
    id: str
    project_id: str
    status: str
    priority: Priority | None
    blocked_by: list[str]  # its own blockers; NO_OP stands for a hold
    blocked_by_total: int | UnsetType = UNSET  # if more than the listed ones exist
    blocked_reason: str | None
    blocked_above: bool | UnsetType = UNSET  # an ancestor is blocked, which blocks this one too
    related_to: list[str]
    related_to_total: int | UnsetType = UNSET  # if more than the listed ones exist


class Feature(_WorkItem, kw_only=True):
    """A feature: a group of tasks."""

    name: str


class Task(_WorkItem, kw_only=True):
    """A task."""

    feature_id: str | None
    title: str
    complexity: int | None
    claimed_by: str | UnsetType = UNSET  # the actor with a live claim


Container: TypeAlias = ProjectContainer | Feature | Task


class ContainerRow(Struct):
    """The stored row of a container, with the id of its feature."""

    n: int
    id: str
    project_id: str
    kind: str | None
    summary: str
    properties: str
    rev: int
    resolved: bool
    outcome: str | None
    status: str | None
    claimed_by: str | None
    claimed_until: str | None
    held_reason: str | None
    blocked_reason: str | None
    priority: float
    open_deps: int
    blocked_above: int
    created_at: str
    updated_at: str
    updated_by: str
    feature_id: str | None

    @property
    def type(self) -> ContainerType:
        return ContainerType.TASK if self.kind is None else ContainerType(self.kind)


def load_containers_at(tx: Transaction, locations: Sequence[tuple[str, int]]) -> list[Container]:
    """Return containers by (project id, number), in the given order."""
    found: dict[tuple[str, int], Container] = {}
    for project_id in {project_id for project_id, _ in locations}:
        ns = [n for of_project, n in locations if of_project == project_id]
        found |= {(project_id, n): loaded for n, loaded in load_containers(tx, project_id, ns).items()}
    return [found[place] for place in locations]


def load_containers(tx: Transaction, project_id: str, ns: Collection[int]) -> dict[int, Container]:
    """Return containers of one project by their numbers."""
    return build_containers(
        tx, project_id, tx.all(sql.containers, ContainerRow, project_id=project_id, ns=to_json_array(ns))
    )


def add_links(tx: Transaction, container: Container, n: int, node_id: str) -> None:
    """Add what a container of the current project serves and rests on."""
    links = load_shown_links(tx, n, node_id)
    container.serves, container.rests_on = links.serves, links.rests_on
    container.supports, container.refutes = links.supports, links.refutes


def build_containers(tx: Transaction, project_id: str, rows: Collection[ContainerRow]) -> dict[int, Container]:
    """Build the containers of one project from their rows, by number."""
    ns = to_json_array(row.n for row in rows)
    tags: dict[int, list[str]] = {}
    for n, tag in tx.all(sql.tags_of, project_id=project_id, ns=ns):
        tags.setdefault(n, []).append(tag)
    blockers: dict[int, list[str]] = {}
    if any(row.open_deps for row in rows):
        for n, other in tx.all(sql.blockers_of, project_id=project_id, ns=ns, at_most=BLOCKERS_SHOWN_MAX):
            blockers.setdefault(n, []).append(other)
    related: dict[int, list[str]] = {}
    totals: dict[int, int] = {}
    for n, other, total in tx.all(sql.related_of, project_id=project_id, ns=ns, at_most=RELATED_SHOWN_MAX):
        related.setdefault(n, []).append(other)
        totals[n] = total
    found: dict[int, Container] = {}
    for row in rows:
        if row.type is ContainerType.PROJECT:
            found[row.n] = _build_project(tx, row, tags.get(row.n, []))
        else:
            item = _build_work_item(
                row, tags.get(row.n, []), blockers.get(row.n, []), related.get(row.n, []), now=tx.now
            )
            if totals.get(row.n, 0) > len(item.related_to):
                item.related_to_total = totals[row.n]
            found[row.n] = item
    return found


def _build_project(tx: Transaction, row: ContainerRow, tags: list[str]) -> ProjectContainer:
    project = read_project_view(tx, row.project_id, Role.VIEWER)
    pipelines = tx.scalar(sql.pipelines, project_id=row.project_id)
    texts = _decode_properties(row)
    answer = ProjectContainer(id=row.project_id, name=project.name, tags=tags, **_build_common_fields(row, texts))
    answer.summary = row.summary
    if pipelines is not None:
        answer.pipelines = decode_pipelines(pipelines)
    if project.archived_at is not None:
        answer.archived_at = project.archived_at
    return answer


def _build_work_item(
    row: ContainerRow, tags: list[str], blockers: list[str], related: list[str], *, now: str
) -> Feature | Task:
    texts = _decode_properties(row)
    is_open = not row.resolved
    held = [HOLD] if row.held_reason is not None and is_open else []
    common: dict[str, Any] = {
        "id": row.id,
        "project_id": row.project_id,
        "status": get_status(row, now=now),
        "priority": priority_from_number(row.priority),
        "blocked_by": [*(blockers if is_open else ()), *held],
        "blocked_reason": _get_blocked_reason(row) if is_open else None,
        "blocked_above": True if row.blocked_above and is_open else UNSET,
        "related_to": related,
        "tags": tags,
        **_build_common_fields(row, texts),
    }
    if is_open and row.open_deps > len(blockers):
        common["blocked_by_total"] = row.open_deps + len(held)
    if row.type is ContainerType.FEATURE:
        return Feature(name=row.summary, **common)
    task = Task(feature_id=row.feature_id, title=row.summary, complexity=parse_complexity(texts), **common)
    if is_claim_live(row.claimed_by, row.claimed_until, now=now):
        task.claimed_by = row.claimed_by or UNSET
    return task


def _get_blocked_reason(row: ContainerRow) -> str | None:
    return row.held_reason or (row.blocked_reason if row.open_deps else None)


def _build_common_fields(row: ContainerRow, texts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "summary": _get_text(texts, "summary"),
        "description": _get_text(texts, "description"),
        "version": row.rev,
        "created_at": row.created_at,
        "modified_at": row.updated_at,
        "last_modified_by": row.updated_by,
    }


def _decode_properties(row: ContainerRow) -> dict[str, Any]:
    """Return the properties. The graph dialect may have stored any JSON in them."""
    found: dict[str, Any] = {} if row.properties == "{}" else msgspec.json.decode(row.properties)
    return found


def _get_text(properties: Mapping[str, Any], name: str) -> str | None:
    value = properties.get(name)
    return value if isinstance(value, str) else None
