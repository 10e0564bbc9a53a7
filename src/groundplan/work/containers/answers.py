"""What the answers of several container tools have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.budget import DropField, Trimming
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.container import Container, Feature, ProjectContainer, Task, load_containers
from groundplan.work.containers.requests import ContainerType
from groundplan.work.engine.features import FeatureStatusChange
from groundplan.work.engine.readiness import NodeState, Readiness

ENTITIES_MAX = 50  # in one list; how many there are is told beside it

sql = load_queries(__file__)


class Entity(Struct):
    """A container by name."""

    id: str
    type: ContainerType
    title: str


class Transition(Struct, rename={"before": "from", "after": "to"}):
    """From one status to another."""

    before: str
    after: str


class FeatureTransition(Struct, rename={"before": "from", "after": "to"}):
    """A feature that moved because of its tasks."""

    id: str
    before: str
    after: str


class OneContainer(Struct, rename="camel", kw_only=True):
    """The container that a request was about."""

    trimming: ClassVar[Trimming] = Trimming(
        *(DropField(f"{kind}.{text}") for text in ("description", "summary") for kind in ("project", "feature", "task"))
    )

    project: ProjectContainer | UnsetType = UNSET
    feature: Feature | UnsetType = UNSET
    task: Task | UnsetType = UNSET


def set_container(answer: OneContainer, container: Container) -> None:
    """Put a container where the answer has its place."""
    match container:
        case ProjectContainer():
            answer.project = container
        case Feature():
            answer.feature = container
        case Task():
            answer.task = container


def load_container_into(answer: OneContainer, tx: Transaction, n: int) -> None:
    """Put a container of the project entered, as it is now, where the answer has its place."""
    set_container(answer, load_containers(tx, tx.project.id, [n])[n])


def feature_transition(readiness: Readiness) -> FeatureTransition | UnsetType:
    """The nearest feature that moved, if one did."""
    moves: list[FeatureStatusChange] = readiness.feature_status_changes
    return FeatureTransition(*moves[0]) if moves else UNSET


class EntityList(NamedTuple):
    """The first of some containers, and how many there are where these are not all."""

    listed: list[Entity]
    total: int | UnsetType


class _DependentRow(Struct):
    n: int
    id: str
    kind: str | None
    summary: str
    total: int


def dependents_of(tx: Transaction, ns: Collection[int]) -> EntityList:
    """The open containers that wait for some nodes, in the order of their creation."""
    rows = tx.all(
        sql.open_dependents, _DependentRow, project_id=tx.project.id, ns=to_json_array(ns), at_most=ENTITIES_MAX
    )
    return _limit_entities([_entity(row) for row in rows], rows[0].total if rows else 0)


def list_entities(standings: Iterable[NodeState]) -> EntityList:
    """Nodes by name, in the order of their creation."""
    in_order = sorted(standings, key=lambda one: one.n)
    return _limit_entities([_entity(one) for one in in_order[:ENTITIES_MAX]], len(in_order))


def _entity(node: _DependentRow | NodeState) -> Entity:
    return Entity(node.id, type_of_kind(node.kind), node.summary)


def _limit_entities(found: list[Entity], total: int) -> EntityList:
    return EntityList(found, total if total > len(found) else UNSET)


def next_offset(offset: int, shown: int, total: int) -> int | UnsetType:
    """Return where the next page begins; UNSET behind the last."""
    return offset + shown if shown and offset + shown < total else UNSET


def type_of_kind(kind: str | None) -> ContainerType:
    """What a node of this kind is to the container dialect."""
    return ContainerType.TASK if kind is None else ContainerType(kind)
