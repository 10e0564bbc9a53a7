"""Projects, features and tasks as callers see them, with their blockers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import astuple

from groundplan.kernel.access import Role
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.links import LinkType
from groundplan.kernel.projects import read_project_view
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.containers.fields import ContainerType, Priority, priority_from_number
from groundplan.work.containers.pipeline import DEFAULT_PIPELINES, Pipelines, load_pipelines
from groundplan.work.kinds import get_status, is_claim_live, parse_complexity
from groundplan.work.links import ShownLink, load_shown_links
from groundplan.work.nodes import WorkNodeRow, load_tags
from groundplan.work.readiness import FeatureStatusChange, Readiness

HOLD = "NO_OP"  # stands for a hold in lists of blockers
BLOCKERS_SHOWN_MAX = 50
RELATED_SHOWN_MAX = 50
ANCESTORS_SHOWN_MAX = 5
ENTITIES_MAX = 50  # in one list; a total beside it counts the rest


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
    """A project. It has no status; its version is the version of its root."""

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


# --- Load and build them ---


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
    containers: dict[tuple[str, int], Container] = {}
    for project_id in {project_id for project_id, _ in locations}:
        ns = [n for of_project, n in locations if of_project == project_id]
        containers |= {(project_id, n): loaded for n, loaded in load_containers(tx, project_id, ns).items()}
    return [containers[location] for location in locations]


def load_containers(tx: Transaction, project_id: str, ns: Collection[int]) -> dict[int, Container]:
    """Return containers of one project by their numbers."""
    return build_containers(
        tx, project_id, tx.all(sql.containers, ContainerRow, project_id=project_id, ns=to_json_array(ns))
    )


def build_containers(tx: Transaction, project_id: str, rows: Collection[ContainerRow]) -> dict[int, Container]:
    """Return the containers of one project by number, built from their rows."""
    ns = to_json_array(row.n for row in rows)
    tags = load_tags(tx, (row.n for row in rows), project_id=project_id)
    blockers: dict[int, list[str]] = {}
    if any(row.open_deps for row in rows):
        for n, blocker_id in tx.all(sql.blockers_of, project_id=project_id, ns=ns, at_most=BLOCKERS_SHOWN_MAX):
            blockers.setdefault(n, []).append(blocker_id)
    related = load_related(tx, project_id, [row.n for row in rows])
    containers: dict[int, Container] = {}
    for row in rows:
        if row.type is ContainerType.PROJECT:
            containers[row.n] = _build_project(tx, row, tags.get(row.n, []))
        else:
            related_ids, total = related.get(row.n, ([], 0))
            item = _build_work_item(row, tags.get(row.n, []), blockers.get(row.n, []), related_ids, now=tx.now)
            if total > len(related_ids):
                item.related_to_total = total
            containers[row.n] = item
    return containers


def load_related(tx: Transaction, project_id: str, ns: Collection[int]) -> dict[int, tuple[list[str], int]]:
    """Return the first related containers of some containers, and their number, by container number."""
    related: dict[int, tuple[list[str], int]] = {}
    nodes = {"project_id": project_id, "ns": to_json_array(ns)}
    for n, related_id, total in tx.all(sql.related_of, **nodes, at_most=RELATED_SHOWN_MAX):
        related.setdefault(n, ([], total))[0].append(related_id)
    return related


def _build_project(tx: Transaction, row: ContainerRow, tags: list[str]) -> ProjectContainer:
    project = read_project_view(tx, row.project_id, Role.VIEWER)
    pipelines = load_pipelines(tx, row.project_id)
    texts = _decode_properties(row)
    answer = ProjectContainer(id=row.project_id, name=project.name, tags=tags, **_build_common_fields(row, texts))
    answer.summary = row.summary
    if pipelines != DEFAULT_PIPELINES:
        answer.pipelines = pipelines
    if project.archived_at is not None:
        answer.archived_at = project.archived_at
    return answer


def _build_work_item(
    row: ContainerRow, tags: list[str], blockers: list[str], related: list[str], *, now: str
) -> Feature | Task:
    texts = _decode_properties(row)
    is_open = not row.resolved
    holds = [HOLD] if row.held_reason is not None and is_open else []
    common: dict[str, Any] = {
        "id": row.id,
        "project_id": row.project_id,
        "status": get_status(row, now=now),
        "priority": priority_from_number(row.priority),
        "blocked_by": [*(blockers if is_open else ()), *holds],
        "blocked_reason": _get_blocked_reason(row) if is_open else None,
        "blocked_above": True if row.blocked_above and is_open else UNSET,
        "related_to": related,
        "tags": tags,
        **_build_common_fields(row, texts),
    }
    if is_open and row.open_deps > len(blockers):
        common["blocked_by_total"] = row.open_deps + len(holds)
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
    """Return the decoded properties. Through the graph operations, any JSON may be stored in them."""
    properties: dict[str, Any] = {} if row.properties == "{}" else msgspec.json.decode(row.properties)
    return properties


def _get_text(properties: Mapping[str, Any], name: str) -> str | None:
    value = properties.get(name)
    return value if isinstance(value, str) else None


def to_container_type(kind: str | None) -> ContainerType:
    """Return the container type for a node kind. A node without a kind is a task."""
    return ContainerType.TASK if kind is None else ContainerType(kind)


def add_links(tx: Transaction, container: Container, n: int, node_id: str) -> None:
    """Add the links of a container of the current project: what it serves and rests on."""
    links = load_shown_links(tx, n, node_id)
    container.serves, container.rests_on = links.serves, links.rests_on
    container.supports, container.refutes = links.supports, links.refutes


# --- One container in the answer of an operation ---


class ContainerAnswer(Struct, rename="camel", kw_only=True):
    """The container of a request, in the field of its type."""

    trimming: ClassVar[Trimming] = Trimming(
        *(CutLists(tuple(f"{kind}.{type_}" for type_ in LinkType)) for kind in ("project", "feature", "task")),
        *(
            DropField(f"{kind}.{text}")
            for text in ("description", "summary")
            for kind in ("project", "feature", "task")
        ),
    )

    project: ProjectContainer | UnsetType = UNSET
    feature: Feature | UnsetType = UNSET
    task: Task | UnsetType = UNSET


def set_container(answer: ContainerAnswer, container: Container) -> None:
    """Set the field of the answer that matches the type of the container."""
    match container:
        case ProjectContainer():
            answer.project = container
        case Feature():
            answer.feature = container
        case Task():
            answer.task = container


def load_container_into(answer: ContainerAnswer, tx: Transaction, n: int, *, links_of: str | None = None) -> None:
    """Load a container of the current project into an answer, with the links of the node `links_of` if given."""
    container = load_containers(tx, tx.project.id, [n])[n]
    if links_of is not None:
        add_links(tx, container, n, links_of)
    set_container(answer, container)


# --- What else several operations answer ---


class Transition(Struct, rename={"before": "from", "after": "to"}):
    """A change of status."""

    before: str
    after: str


class FeatureTransition(Struct, rename={"before": "from", "after": "to"}):
    """A feature whose status followed from a change of its tasks."""

    id: str
    before: str
    after: str


def get_feature_transition(readiness: Readiness) -> FeatureTransition | UnsetType:
    """Return the nearest feature whose status changed, or UNSET."""
    moves: list[FeatureStatusChange] = readiness.feature_status_changes
    return FeatureTransition(*astuple(moves[0])) if moves else UNSET


class Entity(Struct):
    """A container with its id, type and title."""

    id: str
    type: ContainerType
    title: str


class EntityList(NamedTuple):
    """The first containers of a list, and the total number if there are more."""

    listed: list[Entity]
    total: int | UnsetType


class _EntityRow(Struct):
    n: int
    id: str
    kind: str | None
    summary: str
    total: int


def load_dependent_entities(tx: Transaction, ns: Collection[int]) -> EntityList:
    """Return the open containers that depend on some nodes, oldest first."""
    return _load_entities(tx, sql.open_dependents, ns)


def list_entities(tx: Transaction, ns: Collection[int]) -> EntityList:
    """Return nodes as entities, oldest first."""
    if not ns:
        return EntityList([], UNSET)
    return _load_entities(tx, sql.entities, ns)


def _load_entities(tx: Transaction, query: Query, ns: Collection[int]) -> EntityList:
    rows = tx.all(query, _EntityRow, project_id=tx.project.id, ns=to_json_array(ns), at_most=ENTITIES_MAX)
    entities = [Entity(row.id, to_container_type(row.kind), row.summary) for row in rows]
    return _limit_entities(entities, rows[0].total if rows else 0)


def _limit_entities(entities: list[Entity], total: int) -> EntityList:
    return EntityList(entities, total if total > len(entities) else UNSET)


def compute_next_offset(offset: int, count: int, total: int) -> int | UnsetType:
    """Return the offset of the next page, or UNSET after the last one."""
    return offset + count if count and offset + count < total else UNSET


# --- Blockers ---


class Blockers(NamedTuple):
    """All blockers of one container."""

    ids: list[str]  # open dependencies, at most BLOCKERS_SHOWN_MAX
    total: int  # all open dependencies, plus one for a hold
    is_held: bool
    reason: str | None  # of the hold, otherwise of the dependencies
    blocked_ancestors: list[str]  # blocked ancestors, the nearest first

    @property
    def all(self) -> list[str]:
        """The blockers in the form of the field `blockedBy`."""
        return [*self.ids, *([HOLD] if self.is_held else [])]


def load_blockers(tx: Transaction, node: WorkNodeRow) -> Blockers:
    """Return the blockers of a container of the current project."""
    ids: list[str] = []
    if node.open_deps:
        node_key = {"project_id": tx.project.id, "ns": to_json_array([node.n])}
        ids = [blocker_id for _, blocker_id in tx.all(sql.blockers_of, **node_key, at_most=BLOCKERS_SHOWN_MAX)]
    above: list[str] = []
    if node.blocked_above:
        inherits = get_policies(tx).inherit_dependencies
        above = tx.scalars(
            sql.waiting_above, project_id=tx.project.id, n=node.n, inherits=inherits, at_most=ANCESTORS_SHOWN_MAX
        )
    reason = node.held_reason or (node.blocked_reason if node.open_deps else None)
    is_held = node.held_reason is not None
    return Blockers(ids, node.open_deps + is_held, is_held, reason, above)
