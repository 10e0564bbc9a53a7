"""The errors for a named node that cannot be offered."""

from __future__ import annotations

from groundplan.kernel.errors import Conflict
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.wording import quote_text
from groundplan.work.engine.root import ROOT_N
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.engine.statuses import ACTIVE
from groundplan.work.kinds import FEATURE

NAMED_MAX = 5  # nodes that a message names; the details have more


class NotActionable(Conflict):
    """The named node cannot be worked on now: it is resolved, waits, or has open children."""

    code = "not_actionable"

    def __init__(self, node: WorkNodeRow, waiting_for: list[str], open_children: list[str]) -> None:
        problems = []
        if node.n == ROOT_N or node.kind == FEATURE:
            problems.append(f"is a {node.kind}, whose tasks are the work")
        if node.resolved:
            problems.append("is resolved")
        if waiting_for:
            problems.append(f"waits for {', '.join(waiting_for[:NAMED_MAX])}")
        if node.held_reason is not None:
            problems.append(f"is on hold ({quote_text(node.held_reason)})")
        if node.blocked_above and not node.resolved:
            problems.append("is held back by what an ancestor waits for")
        if node.status not in (None, ACTIVE) and node.kind != FEATURE:
            problems.append(f"has the status {node.status}")
        if open_children:
            problems.append(f"has open children ({', '.join(open_children[:NAMED_MAX])})")
        super().__init__(
            f"node {node.id} {' and '.join(problems)}",
            next_steps=NextStep("work.next", "offers another node without node_id"),
            node_id=node.id,
            waiting_for=waiting_for,
            open_children=open_children,
        )


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
