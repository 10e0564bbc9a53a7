"""The open nodes of a project in memory, with their dependencies: what every analysis starts from."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.kinds import FEATURE

ESTIMATE_ABSENT = 1.0
ESTIMATE_MAX = 2.0**53  # so that the sum over any project is a number

sql = load_queries(__file__)


class OpenNode(NamedTuple):
    """An open node, with what determines whether it can be started."""

    n: int
    parent_n: int | None
    kind: str | None
    feature_n: int | None
    depth: int
    open_children: int
    open_deps: int
    blocked_above: int
    is_held: bool
    may_start: bool
    properties: str | None

    @property
    def is_work(self) -> bool:
        """Whether it can become actionable: the root and features never do."""
        return self.parent_n is not None and self.kind != FEATURE

    @property
    def is_ready(self) -> bool:
        """Whether it can be started now, as the column of this name says."""
        waits = self.open_children or self.open_deps or self.blocked_above or self.is_held
        return not waits and self.may_start and self.is_work


class EstimateProperty(Struct):
    """The one property that analyses read."""

    estimate: Any = None


class OpenGraph:
    """The open nodes of a project by number, and the dependencies between them."""

    def __init__(self, tx: Transaction) -> None:
        policies = get_policies(tx)
        self.inherits = policies.inherit_dependencies
        self.resolves_parents = policies.auto_resolve_parents
        rows = tx.all(sql.open_nodes, OpenNode, project_id=tx.project.id)
        self.nodes = {row.n: row for row in rows}
        self.dependencies = [
            (source, target)
            for source, target in tx.all(sql.open_dependencies, project_id=tx.project.id)
            if target in self.nodes
        ]
        self.dependents: dict[int, list[int]] = {}
        for source, target in self.dependencies:
            self.dependents.setdefault(target, []).append(source)

    def blocks(self, node: OpenNode) -> bool:
        """Return whether a node that waits blocks everything below it."""
        return self.inherits or node.kind == FEATURE

    def list_children(self) -> dict[int, list[int]]:
        """Return the open children of each node that has some."""
        children: dict[int, list[int]] = {}
        for node in self.nodes.values():
            if node.parent_n is not None:
                children.setdefault(node.parent_n, []).append(node.n)
        return children

    def get_estimate(self, node: OpenNode) -> float:
        """Return how much work a node is: its property `estimate`, or 1.

        The root and features are no work of their own, and neither is a parent that is resolved with its last child.
        """
        if not node.is_work or (self.resolves_parents and node.open_children):
            return 0.0
        if node.properties is None:
            return ESTIMATE_ABSENT
        return parse_estimate(get_decoder(EstimateProperty).decode(node.properties).estimate)


def parse_estimate(value: Any) -> float:
    """Return an estimate, or 1 for what is not a number between 0 and ESTIMATE_MAX."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ESTIMATE_ABSENT
    return float(value) if 0 <= value <= ESTIMATE_MAX else ESTIMATE_ABSENT
