"""The order keys of the nodes of a plan: greater than those of everything that they wait for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundplan.work.graph.planned_nodes import ExistingNode, NewNode
from groundplan.work.waiting.moments import sort_last_steps_first
from groundplan.work.waiting.order import make_key_below, make_keys_between


def assign_order_keys(in_order: Sequence[NewNode], now: Mapping[int, ExistingNode]) -> list[int]:
    """Give each new node a key, and return the ends of waits that may be against the order.

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
        awaited: list[NewNode | ExistingNode] = [by_n[other] for other in waits[n]]
        existing = [now[target.n] for target in by_n[n].targets if isinstance(target, ExistingNode)]
        awaited += [node for node in existing if not node.resolved]
        if not _assign_key(by_n[n], number, above[n], awaited):
            unordered += [n, *waits[n]]  # the order finds a wait for a child from the child
    return unordered


def _assign_key(node: NewNode, number: int, above: str | None, awaited: Sequence[NewNode | ExistingNode]) -> bool:
    """Give a node a key less than `above`, and return whether it is greater than those of what the node waits for."""
    if above is None:
        return False
    low = max((one.order_key or "" for one in awaited), default="")
    node.order_key = make_key_below(above, number)
    if node.order_key is not None and low < node.order_key:
        return True
    between = make_keys_between(low, above, near_low=True) if low < above else ()
    if between:
        node.order_key = between[0]
    return bool(between)
