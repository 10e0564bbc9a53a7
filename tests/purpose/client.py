"""A client of one project's purpose for tests: a theory is drawn as chains and named by its keys.

client.draw("dig -> well -> water -> health")    # an activity, an output, an outcome and a goal
client.edit(add_edge("AC1", "OP1"))
client.publish()
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.purpose.open import OpenedPurpose
from groundplan.session import Session

LEVELS = ("ACTIVITY", "OUTPUT", "OUTCOME", "GOAL")

Op = dict[str, Any]


def op(name: str, /, **given: Any) -> Op:
    """Return one operation of a batch."""
    return {"op": name, **given}


def add_node(node_type: str, title: str, **given: Any) -> Op:
    return op("add_node", node_type=node_type, title=title, **given)


def add_edge(source: str, target: str, **given: Any) -> Op:
    return op("add_edge", source=source, target=target, **given)


class PurposeClient:
    """An actor at the purpose of one project."""

    def __init__(self, session: Session, project: str = "atlas") -> None:
        self.session = session
        self.project = project

    def by(self, who: str | Actor, kind: ActorKind = ActorKind.PERSON) -> PurposeClient:
        """Return a client of another actor."""
        actor = local_actor(who, kind=kind) if isinstance(who, str) else who
        return PurposeClient(Session(self.session.store, actor, preferences=self.session.preferences), self.project)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self.session.call(operation, **{"project": self.project, **arguments})

    def draft(self, **given: Any) -> Any:
        return self.call("purpose.draft", **given)

    def allow(self, profile_min: str) -> None:
        """Set the least strict profile of the project; a new one has `standard`."""
        self.call("work.open", policies={"profile_min": profile_min})

    def edit(self, *operations: Op, **given: Any) -> Any:
        return self.call("purpose.edit", operations=list(operations), **given)

    def draw(self, chain: str) -> list[str]:
        """Add a chain from an activity to a goal and return the keys in its order."""
        titles = [title.strip() for title in chain.split("->")]
        levels = LEVELS[len(LEVELS) - len(titles) :]
        nodes = [add_node(level, title, ref=title) for level, title in zip(levels, titles, strict=True)]
        edges = [add_edge(one, next_) for one, next_ in pairwise(titles)]
        made = self.edit(*nodes, *edges).created
        return [one.key for one in made if one.kind == "node"]

    def publish(self, **given: Any) -> Any:
        return self.call("purpose.publish", **given)

    def discard(self, **given: Any) -> Any:
        return self.call("purpose.discard", **given)

    def open(self, **given: Any) -> OpenedPurpose:
        found: OpenedPurpose = self.call("purpose.open", **given)
        return found

    def check(self, gate: str = "A", **given: Any) -> Any:
        return self.call("purpose.check", gate=gate, **given)

    def record(self, **given: Any) -> Any:
        return self.call("purpose.record", **given)

    def diff(self, before: Any, after: Any) -> Any:
        return self.call("purpose.diff", **{"from": before, "to": after})

    def versions(self) -> list[Any]:
        found: list[Any] = self.call("purpose.versions").versions
        return found

    def nodes(self, **given: Any) -> dict[str, Any]:
        return {node.key: node for node in self.open(**given).nodes or ()}

    def edges(self, **given: Any) -> dict[tuple[str, str, str], Any]:
        return {(edge.source, edge.target, edge.edge_type.value): edge for edge in self.open(**given).edges or ()}

    def indicators(self, **given: Any) -> dict[str, Any]:
        return {one.key: one for one in self.open(**given).indicators or ()}

    def assumptions(self, **given: Any) -> dict[str, Any]:
        opened = self.open(**given)
        rows = [*(opened.nodes or ()), *(opened.edges or ())]
        return {one.key: one for row in rows for one in row.assumptions}


def failing(result: Any) -> dict[str, list[str]]:
    """Return the failed checks of a gate with their refs."""
    return {check.code: check.refs for check in result.checks if check.result == "failed"}
