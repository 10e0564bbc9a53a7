"""A work node as a change needs it: its stored fields, to be looked at, changed and put back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.kinds import FEATURE
from groundplan.work.statuses import ACTIVE, is_live

sql = load_queries(__file__)


@dataclass(slots=True)
class NodeRow:
    """The fields of one node. What is JSON is kept as text until somebody looks into it."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None
    feature_n: int | None
    rev: int
    summary: str
    resolved: bool
    outcome: str | None
    status: str | None
    held_reason: str | None
    blocked_reason: str | None
    state: str | None
    properties: str
    context_links: str
    depth: int
    open_children: int
    open_deps: int
    blocked_above: int
    claimed_by: str | None
    claimed_at: str | None
    claimed_until: str | None
    claim_number: int
    priority: float
    complexity: int
    evidence_total: int

    @property
    def state_value(self) -> Any:
        return None if self.state is None else msgspec.json.decode(self.state)

    @property
    def properties_value(self) -> dict[str, Any]:
        value: dict[str, Any] = msgspec.json.decode(self.properties)
        return value

    @property
    def links_value(self) -> list[str]:
        value: list[str] = msgspec.json.decode(self.context_links)
        return value

    @property
    def waits(self) -> bool:
        """Whether it waits for something itself, be it open or not: a dependency, or somebody's word."""
        return self.open_deps > 0 or self.held_reason is not None

    def resolve(self, outcome: str | None = None) -> None:
        """Let it be finished. That it has no status of its own any more goes without saying."""
        self.resolved, self.outcome, self.status = True, outcome, None

    def reopen(self) -> list[Change]:
        """Let it be open again, and say what of that does not go without saying. A feature is not new any more."""
        changes = [] if self.outcome is None else [changed("outcome", self.outcome, None)]
        if self.kind == FEATURE:
            self.status = ACTIVE
            changes.append(changed("status", None, ACTIVE))
        self.resolved, self.outcome = False, None
        return changes

    def unclaim(self) -> None:
        """Take the claim away. Its number stays, so that a late holder is told."""
        self.claimed_by = self.claimed_at = self.claimed_until = None

    def stored(self) -> dict[str, Any]:
        """What `change_node` writes."""
        return {
            "n": self.n,
            "summary": self.summary,
            "resolved": self.resolved,
            "outcome": self.outcome,
            "status": self.status,
            "held_reason": self.held_reason,
            "blocked_reason": self.blocked_reason,
            "state": self.state,
            "properties": self.properties,
            "priority": self.priority,
            "complexity": self.complexity,
            "context_links": self.context_links,
            "claimed_by": self.claimed_by,
            "claimed_at": self.claimed_at,
            "claimed_until": self.claimed_until,
        }


def is_held_by_another(tx: Transaction, claimed_by: str | None, claimed_until: str | None) -> bool:
    """Whether somebody else's claim holds at this moment."""
    return claimed_by != tx.actor.id and is_live(claimed_by, claimed_until, now=tx.now)


def fetch(tx: Transaction, n: int) -> NodeRow:
    """A node of the project entered, as it is now."""
    node = NodeRow(*tx.one(sql.node_in_full, project_id=tx.project.id, n=n))
    node.resolved = bool(node.resolved)
    return node
