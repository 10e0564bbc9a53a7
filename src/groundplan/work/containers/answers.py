"""What the answers of several container tools have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.output_gate import leading
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.container import (
    Container,
    Feature,
    ProjectContainer,
    Task,
    containers_shown,
    shortened,
)
from groundplan.work.containers.requests import ContainerType
from groundplan.work.features import FeatureMove
from groundplan.work.readiness import Readiness, Standing

ENTITIES_MAX = 50  # in one list; how many there are is told beside it
# Of the caller's cap: for the container itself, and for each list of others, of which an answer has four at most.
CONTAINER_TENTHS, LIST_TENTHS = 4, 1

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

    project: ProjectContainer | UnsetType = UNSET
    feature: Feature | UnsetType = UNSET
    task: Task | UnsetType = UNSET


def put(answer: OneContainer, container: Container, tx: Transaction) -> None:
    """Put a container where the answer has its place, without its long texts where they are too long for the caller."""
    container = shortened(container, tokens_max=tx.preferences.answer_tokens_max * CONTAINER_TENTHS // 10)
    match container:
        case ProjectContainer():
            answer.project = container
        case Feature():
            answer.feature = container
        case Task():
            answer.task = container


def put_node(answer: OneContainer, tx: Transaction, n: int) -> None:
    """Put a container of the project entered, as it is now, where the answer has its place."""
    put(answer, containers_shown(tx, tx.project.id, [n])[n], tx)


def feature_transition(readiness: Readiness) -> FeatureTransition | UnsetType:
    """The nearest feature that moved, if one did."""
    moves: list[FeatureMove] = readiness.moved_features
    return FeatureTransition(*moves[0]) if moves else UNSET


class Others(NamedTuple):
    """The first of some containers, and how many there are where these are not all."""

    listed: list[Entity]
    total: int | UnsetType


class _Dependent(Struct):
    n: int
    id: str
    kind: str | None
    summary: str
    total: int


def dependents_of(tx: Transaction, ns: Collection[int]) -> Others:
    """The open containers that wait for some nodes, in the order of their creation."""
    rows = tx.all(sql.open_dependents, _Dependent, project_id=tx.project.id, ns=listed(ns), at_most=ENTITIES_MAX)
    return _fitting(tx, [_entity(row) for row in rows], rows[0].total if rows else 0)


def others(tx: Transaction, standings: Iterable[Standing]) -> Others:
    """Nodes by name, in the order of their creation."""
    in_order = sorted(standings, key=lambda one: one.n)
    return _fitting(tx, [_entity(one) for one in in_order[:ENTITIES_MAX]], len(in_order))


def _entity(node: _Dependent | Standing) -> Entity:
    return Entity(node.id, type_of_kind(node.kind), node.summary)


def _fitting(tx: Transaction, found: list[Entity], total: int) -> Others:
    kept = leading(found, tokens_max=tx.preferences.answer_tokens_max * LIST_TENTHS // 10)
    return Others(kept, total if total > len(kept) else UNSET)


def type_of_kind(kind: str | None) -> ContainerType:
    """What a node of this kind is to the container dialect."""
    return ContainerType.TASK if kind is None else ContainerType(kind)
