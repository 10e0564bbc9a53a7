"""Random calls of the container dialect: for the oracle, and as arguments for the product.

As in `work_calls`, values come from small sets, so that calls collide. Most calls are valid, and some are not: a stale
version, a task addressed as a feature, a merged or deleted node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.machines.containers_oracle import ACTIVE, CLOSED, FEATURE, NEW, NO_OP, TASK, Containers, NewContainer
from tests.machines.work_calls import DESCRIPTIONS, NOWHERE, Ids, often, rarely, some_node, sometimes, unrelated
from tests.machines.work_oracle import DEPENDS_ON, ROOT

FEATURES_MAX = 4
TITLES = ("sketch", "wire up", "Größe messen", "50% _off_")
PRIORITIES = ("HIGH", "MEDIUM", "LOW")
COMPLEXITIES = (1, 3, 10, None)
TAGS = ("ui", "Server", "50%")
HOLDS = ("waits for the board", "no key yet")
REASONS = ("out of scope", None)
PIPELINES: Sequence[dict[str, Sequence[str]]] = (
    {TASK: (NEW, ACTIVE, CLOSED)},
    {TASK: (NEW, ACTIVE, "IN_REVIEW", "TO_BE_TESTED", CLOSED)},
    {TASK: (NEW, ACTIVE, "TO_BE_TESTED", CLOSED), FEATURE: (NEW, ACTIVE, "READY_TO_PROD", CLOSED)},
    {FEATURE: (NEW, ACTIVE, CLOSED)},
)


class Target:
    """A container as a call names it, sometimes by the wrong type or at an old version."""

    def __init__(self, random: Random, work: Containers, among: Sequence[int] = ()) -> None:
        self.n = some_container(random, work, among)
        node = work.nodes.get(self.n)
        self.kind = TASK if node is None else work.kind(self.n)
        self.version = 1 if node is None else node.rev - (rarely(random) and node.rev > 1)
        if rarely(random) or self.kind not in (TASK, FEATURE):
            self.kind = random.choice((TASK, FEATURE))

    def as_arguments(self, ids: Ids) -> dict[str, Any]:
        return {"containerType": self.kind, "id": ids[self.n], "version": self.version}


def some_container(random: Random, work: Containers, among: Sequence[int] = ()) -> int:
    if rarely(random):
        return random.choice([NOWHERE, ROOT, *work.gone, *work.deleted])
    return random.choice(among or [n for n in work.nodes if n != ROOT] or [ROOT])


def some_pipelines(random: Random, work: Containers) -> Mapping[str, Sequence[str]]:
    """Return other steps, often without one that is in use."""
    stood_at = {node.status for node in work.nodes.values() if node.status not in (None, ACTIVE)}
    without = [one for one in PIPELINES if stood_at - {step for steps in one.values() for step in steps}]
    return random.choice(without if without and sometimes(random) else PIPELINES)


def some_new_container(random: Random, work: Containers, kind: str | None = None) -> NewContainer:
    features = work.features()
    kind = kind or (FEATURE if len(features) < FEATURES_MAX and sometimes(random) else TASK)
    feature = None
    if kind == TASK and features and not sometimes(random):
        feature = some_container(random, work, features)
    return NewContainer(
        kind,
        random.choice(TITLES),
        feature=feature,
        priority=random.choice(PRIORITIES) if often(random) else None,
        complexity=random.choice(COMPLEXITIES) if kind == TASK and often(random) else None,
        description=random.choice(DESCRIPTIONS),
        tags=sorted(random.sample(TAGS, k=random.randint(1, 2))) if sometimes(random) else (),
    )


def new_container_as_arguments(made: NewContainer, project: str, ids: Ids) -> dict[str, Any]:
    told: dict[str, Any] = {
        "containerType": made.kind,
        "projectId": project,
        "title" if made.kind == TASK else "name": made.title,
        "featureId": None if made.feature is None else ids[made.feature],
        "priority": made.priority,
        "complexity": made.complexity,
        "description": made.description,
        "tags": ",".join(made.tags) or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def some_changes(random: Random, work: Containers, target: Target) -> dict[str, Any]:
    """Return the fields that `update` changes."""
    is_task = target.kind == TASK or rarely(random)
    changes: dict[str, Any] = {}
    if is_task and often(random):
        features = work.features()
        changes["feature"] = None if not features or sometimes(random) else some_container(random, work, features)
    if sometimes(random):
        changes["related"] = [some_container(random, work) for _ in range(random.randint(0, 2))]
    if sometimes(random):
        changes["tags"] = random.sample(TAGS, k=random.randint(0, 2))
    if sometimes(random):
        changes["title"] = random.choice(TITLES)
    if is_task and sometimes(random):
        changes["complexity"] = random.choice(COMPLEXITIES)
    if sometimes(random):
        changes["description"] = random.choice(DESCRIPTIONS)
    if often(random) or not changes:
        changes["priority"] = random.choice(PRIORITIES)
    return changes


def changes_as_arguments(changes: Mapping[str, Any], kind: str, ids: Ids) -> dict[str, Any]:
    told = dict(changes)
    if "feature" in told:
        feature = told.pop("feature")
        told["featureId"] = None if feature is None else ids[feature]
    if "related" in told:
        told["relatedTo"] = [ids[n] for n in told.pop("related")]
    if "title" in told and kind == FEATURE:
        told["name"] = told.pop("title")
    return told


# Nodes for which a call is valid.


def unfinished(work: Containers) -> list[int]:
    return [n for n, node in work.nodes.items() if n != ROOT and not node.resolved]


def advanceable(random: Random, work: Containers) -> list[int]:
    """Return mostly started nodes, so that work gets done; sometimes one that must not advance."""
    if rarely(random):
        return [n for n in unfinished(work) if work.is_blocked(n)]
    free = [n for n in unfinished(work) if not work.is_blocked(n)]
    leaves = [n for n in free if not work.open_children(n)]
    begun = [n for n in leaves if work.nodes[n].status or work.nodes[n].claim]
    return (begun if often(random) else []) or (leaves if often(random) else free)


def revertible(work: Containers) -> list[int]:
    return [n for n, node in work.nodes.items() if n != ROOT and (node.status or node.claim or node.resolved)]


def held(work: Containers) -> list[int]:
    return [n for n, node in work.nodes.items() if node.held is not None]


def waiting(work: Containers) -> list[int]:
    return sorted({edge.source for edge in work.edges if edge.type == DEPENDS_ON})


def some_blockers(random: Random, work: Containers, n: int) -> list[int | str]:
    if sometimes(random):
        return [NO_OP]
    others = unrelated(n, work) or [some_node(random, work)]
    blockers: list[int | str] = [some_container(random, work, others) for _ in range(random.choice((1, 1, 2)))]
    return [*blockers, NO_OP] if rarely(random) else blockers


def some_of_its_blockers(random: Random, work: Containers, n: int) -> list[int | str]:
    node = work.nodes.get(n)
    own: list[int | str] = [] if node is None else [*sorted(work.waits_for(n)), *([] if node.held is None else [NO_OP])]
    if not own or rarely(random):
        return some_blockers(random, work, n)
    return random.sample(own, k=random.randint(1, len(own)))


def blockers_as_arguments(random: Random, blockers: Sequence[int | str], ids: Ids) -> str | list[str]:
    named = [one if isinstance(one, str) else ids[one] for one in blockers]
    return ",".join(named) if sometimes(random) else named
