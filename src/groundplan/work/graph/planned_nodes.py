"""The nodes of a plan: requested nodes, existing nodes, and new nodes with their order keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from groundplan.kernel.links import LinkType
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.link_targets import Pointers, PurposeKeys
from groundplan.work.requests import Links, NodeRef, Summary
from groundplan.work.waiting.moments import group_steps, iter_waits, sort_last_steps_first
from groundplan.work.waiting.order import make_key_below, make_keys_between


class PlanNode(Struct, forbid_unknown_fields=True):
    """A node to create. `parent_ref` and `depends_on` are refs of the same plan, in any order, or existing nodes."""

    ref: NodeRef
    summary: Summary
    parent_ref: NodeRef | None = None
    depends_on: list[NodeRef] = []
    context_links: Links = []
    properties: dict[str, Any] = {}
    serves: PurposeKeys = []
    rests_on: Pointers = []


class TaggedPlanNode(PlanNode, forbid_unknown_fields=True):
    """A node to create, with tags. Tools do not have tags, because each conversation pays for their parameters."""

    tags: list[str] = []


class ExistingNode(Struct):
    """A stored node to which the plan refers."""

    project_id: str
    id: str
    n: int
    kind: str | None
    feature_n: int | None
    depth: int
    resolved: bool
    blocked_above: int
    waits: bool
    order_key: str | None


class NewNode(Struct):
    """A node while it is created."""

    request: PlanNode
    index: int
    n: int
    id: str
    properties: dict[str, Any]
    links: list[str]
    parent: NewNode | ExistingNode
    served: dict[LinkType, list[str]]  # the targets of its links
    tags: list[str] = field(default_factory=list)
    targets: list[NewNode | ExistingNode] = field(default_factory=list)
    depth: int = 0
    feature_n: int | None = None
    open_children: int = 0
    open_deps: int = 0
    blocked_above: int = 0
    kind: str | None = None
    order_key: str | None = None

    @property
    def waits(self) -> bool:
        return self.open_deps > 0

    @property
    def is_ready(self) -> bool:
        return not (self.open_children or self.open_deps or self.blocked_above)


def build_planned_waits(tx: Transaction, nodes: Sequence[NewNode]) -> dict[int, list[int]]:
    """Return the moments of new nodes that each moment of a new node waits for directly."""
    inherits = get_policies(tx).inherit_dependencies
    parents = [(node.n, node.parent.n if isinstance(node.parent, NewNode) else None) for node in nodes]
    rows = [(n, parent, parent if inherits else None) for n, parent in parents]
    dependencies = [(node.n, target.n) for node in nodes for target in node.targets if isinstance(target, NewNode)]
    return group_steps(iter_waits(rows, dependencies))


def assign_order_keys(in_order: Sequence[NewNode], now: Mapping[int, ExistingNode]) -> list[int]:
    """Assign a key to each new node. Return the ends of waits that may violate the order.

    Parents come first, and the nodes must not wait for each other. `now` has the current state of existing nodes. Below
    an ancestor without a key they get none.
    """
    by_n = {node.n: node for node in in_order}
    above: dict[int, str | None] = {}  # the key of the nearest existing ancestor
    waits: dict[int, list[int]] = {n: [] for n in sorted(by_n)}
    for node in in_order:
        waits[node.n] += [target.n for target in node.targets if isinstance(target, NewNode)]
        if isinstance(node.parent, NewNode):
            waits[node.parent.n].append(node.n)
            above[node.n] = above[node.parent.n]
        else:
            above[node.n] = node.parent.order_key
    unordered = []
    for number, n in enumerate(sort_last_steps_first(waits) or (), min(by_n)):
        awaited: list[NewNode | ExistingNode] = [by_n[awaited_n] for awaited_n in waits[n]]
        existing = [now[target.n] for target in by_n[n].targets if isinstance(target, ExistingNode)]
        awaited += [node for node in existing if not node.resolved]
        if not _assign_key(by_n[n], number, above[n], awaited):
            unordered += [n, *waits[n]]  # the order finds a wait for a child from the child
    return unordered


def _assign_key(node: NewNode, number: int, above: str | None, awaited: Sequence[NewNode | ExistingNode]) -> bool:
    """Assign a key below `above` to a node. Return True if it is greater than the keys of its dependencies."""
    if above is None:
        return False
    low = max((node_awaited.order_key or "" for node_awaited in awaited), default="")
    node.order_key = make_key_below(above, number)
    if node.order_key is not None and low < node.order_key:
        return True
    between = make_keys_between(low, above, near_low=True) if low < above else ()
    if between:
        node.order_key = between[0]
    return bool(between)
