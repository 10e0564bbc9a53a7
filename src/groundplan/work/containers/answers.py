"""Parts that the answers of several container operations share."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import astuple

from groundplan.kernel.answers import CutLists, DropField, Trimming
from groundplan.kernel.links import LinkType
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.container import Container, Feature, ProjectContainer, Task, add_links, load_containers
from groundplan.work.containers.requests import ContainerType
from groundplan.work.readiness import FeatureStatusChange, Readiness

ENTITIES_MAX = 50  # in one list; a total beside it counts the rest

sql = load_queries(__file__)


class Entity(Struct):
    """A container with its id, type and title."""

    id: str
    type: ContainerType
    title: str


class Transition(Struct, rename={"before": "from", "after": "to"}):
    """A change of status."""

    before: str
    after: str


class FeatureTransition(Struct, rename={"before": "from", "after": "to"}):
    """A feature whose status changed because of its tasks."""

    id: str
    before: str
    after: str


class OneContainer(Struct, rename="camel", kw_only=True):
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


def set_container(answer: OneContainer, container: Container) -> None:
    """Set the field of the answer that matches the type of the container."""
    match container:
        case ProjectContainer():
            answer.project = container
        case Feature():
            answer.feature = container
        case Task():
            answer.task = container


def load_container_into(answer: OneContainer, tx: Transaction, n: int, *, links_of: str | None = None) -> None:
    """Load a container of the current project, with the links of its node if its id is given (`links_of`)."""
    container = load_containers(tx, tx.project.id, [n])[n]
    if links_of is not None:
        add_links(tx, container, n, links_of)
    set_container(answer, container)


def get_feature_transition(readiness: Readiness) -> FeatureTransition | UnsetType:
    """Return the nearest feature whose status changed, or UNSET."""
    moves: list[FeatureStatusChange] = readiness.feature_status_changes
    return FeatureTransition(*astuple(moves[0])) if moves else UNSET


class EntityList(NamedTuple):
    """The first containers of a list, and the total if there are more."""

    listed: list[Entity]
    total: int | UnsetType


class _EntityRow(Struct):
    n: int
    id: str
    kind: str | None
    summary: str
    total: int


def load_dependents(tx: Transaction, ns: Collection[int]) -> EntityList:
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


def to_container_type(kind: str | None) -> ContainerType:
    """Return the container type of a node kind; a node without a kind is a task."""
    return ContainerType.TASK if kind is None else ContainerType(kind)
