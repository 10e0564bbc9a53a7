"""The one node that a request names: offered if it can be worked on now, else an error that says what is in the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType, to_builtins

from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import get_policies
from groundplan.work.claims import limit_lease_end
from groundplan.work.kinds import ACTIVE, FEATURE, ROOT_N
from groundplan.work.nodes import NodeSummary, WorkNodeRow, fetch_node, is_claimed_by_another
from groundplan.work.refs import find_node_in_project

LISTED_MAX, NAMED_MAX = 20, 5  # nodes that an error lists, and of these in its message
ANCESTORS_LISTED_MAX = 5
SUMMARY_CHARS_MAX = 120  # in an error, which no budget shortens

sql = load_queries(__file__)


class BlockedAncestor(Struct):
    """An ancestor that holds a node back, with what it waits for and why it is on hold, if it is."""

    id: str
    summary: str
    waiting_for: list[NodeSummary]
    on_hold: str | UnsetType = UNSET


class _AncestorRow(Struct):
    n: int
    id: str
    summary: str
    held_reason: str | None


class NotActionable(Conflict):
    """The named node cannot be worked on now: it is resolved, waits, or has open children."""

    code = "not_actionable"

    def __init__(
        self,
        node: WorkNodeRow,
        waiting_for: list[str],
        open_children: list[str],
        held_by: Sequence[BlockedAncestor] = (),
    ) -> None:
        problems = []
        if node.n == ROOT_N or node.kind == FEATURE:
            problems.append(f"is a {node.kind}, whose tasks are the work")
        if node.resolved:
            problems.append("is resolved")
        if waiting_for:
            problems.append(f"waits for {', '.join(waiting_for[:NAMED_MAX])}")
        if node.held_reason is not None:
            problems.append(f"is on hold ({quote_text(node.held_reason)})")
        if node.status not in (None, ACTIVE) and node.kind != FEATURE:
            problems.append(f"has the status {node.status}")
        if open_children:
            problems.append(f"has open children ({', '.join(open_children[:NAMED_MAX])})")
        if held_by:
            problems.append(f"is held back by {_describe_ancestor(held_by[0])}")
        details: dict[str, Any] = {"held_by": to_builtins(held_by)} if held_by else {}
        super().__init__(
            f"node {node.id} {' and '.join(problems)}",
            next_steps=NextStep("work.next", "offers another node without node_id"),
            node_id=node.id,
            waiting_for=waiting_for,
            open_children=open_children,
            **details,
        )


def _describe_ancestor(ancestor: BlockedAncestor) -> str:
    reasons = []
    if ancestor.waiting_for:
        reasons.append(f"waits for {', '.join(map(_name, ancestor.waiting_for[:NAMED_MAX]))}")
    if ancestor.on_hold is not UNSET:
        reasons.append(f"is on hold ({quote_text(ancestor.on_hold)})")
    return f"{_name(ancestor)} above it, which {' and '.join(reasons)}"


def _name(node: NodeSummary | BlockedAncestor) -> str:
    return f"{node.id} ({quote_text(node.summary)})"


class AlreadyClaimed(Conflict):
    """Another actor has claimed the named node."""

    code = "already_claimed"

    def __init__(self, node: WorkNodeRow, claimed_until: str | None) -> None:
        until = f" until {claimed_until}" if claimed_until else ""
        super().__init__(
            f"node {node.id} is claimed by {quote_text(str(node.claimed_by))}{until}",
            next_steps=NextStep("work.next", "offers another node without node_id"),
            node_id=node.id,
            claimed_by=node.claimed_by,
            claimed_until=claimed_until,
        )


def pick_named(tx: Transaction, ref: str) -> WorkNodeRow:
    """Return the named node of the current project."""
    node = fetch_node(tx, find_node_in_project(tx, ref).n)
    place = {"project_id": tx.project.id, "n": node.n}
    if tx.one_or_none(sql.ready_node, **place) is None:
        waiting_for = _load_waiting_for(tx, node.n, at_most=LISTED_MAX) if node.open_deps else []
        open_children = tx.scalars(sql.open_children_of, **place, at_most=LISTED_MAX) if node.open_children else []
        held_by = _load_blocked_ancestors(tx, node.n) if node.blocked_above and not node.resolved else []
        raise NotActionable(node, [one.id for one in waiting_for], open_children, held_by)
    if is_claimed_by_another(tx, node.claimed_by, node.claimed_until):
        raise AlreadyClaimed(node, limit_lease_end(tx, node.claimed_until))
    return node


def _load_waiting_for(tx: Transaction, n: int, *, at_most: int) -> list[NodeSummary]:
    return tx.all(sql.open_targets_of, NodeSummary, project_id=tx.project.id, n=n, at_most=at_most)


def _load_blocked_ancestors(tx: Transaction, n: int) -> list[BlockedAncestor]:
    """Return the ancestors that hold a node back, the nearest first, with at most LISTED_MAX nodes in all."""
    inherits = get_policies(tx).inherit_dependencies
    place = {"project_id": tx.project.id, "n": n, "inherits": inherits, "at_most": ANCESTORS_LISTED_MAX}
    found: list[BlockedAncestor] = []
    left = LISTED_MAX
    for row in tx.all(sql.blocked_ancestors_of, _AncestorRow, **place):
        waiting_for = _load_waiting_for(tx, row.n, at_most=left)
        left -= len(waiting_for)
        shown = [NodeSummary(one.id, _shorten(one.summary)) for one in waiting_for]
        on_hold = UNSET if row.held_reason is None else _shorten(row.held_reason)
        found.append(BlockedAncestor(row.id, _shorten(row.summary), shown, on_hold))
    return found


def _shorten(text: str) -> str:
    return text if len(text) <= SUMMARY_CHARS_MAX else f"{text[: SUMMARY_CHARS_MAX - 1]}…"
