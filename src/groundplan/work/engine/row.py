"""The stored row of a work node, with functions to fetch and save it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.statuses import ACTIVE, is_claim_live
from groundplan.work.kinds import FEATURE
from groundplan.work.priority import COMPLEXITY_ABSENT, PRIORITY_ABSENT

sql = load_queries(__file__)


class WorkNodeRow(Struct):
    """The fields of one node; the defaults are those of a new node. JSON fields stay text until they are read."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None
    feature_n: int | None
    depth: int
    open_children: int
    open_deps: int
    blocked_above: int
    summary: str
    properties: str = "{}"
    priority: float = PRIORITY_ABSENT
    complexity: int = COMPLEXITY_ABSENT
    context_links: str = "[]"
    resolved: bool = False
    outcome: str | None = None
    status: str | None = None
    held_reason: str | None = None
    blocked_reason: str | None = None
    state: str | None = None
    claimed_by: str | None = None
    claimed_at: str | None = None
    claimed_until: str | None = None
    rev: int = 1
    claim_number: int = 0
    created_at: str = ""  # this and the next three are set when the row is inserted
    created_by: str = ""
    updated_at: str = ""
    changed_rev: int = 0  # the revision of the project at the last change
    evidence_total: int = 0
    parent: str | None = None  # the id of the parent, where the query selects it
    others_work: bool | None = None  # whether others work on a node of the project, where the query selects it
    order_key: str | None = None  # of a new node; reads do not select it

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
        """Whether the node itself, open or resolved, has an open dependency or is on hold."""
        return self.open_deps > 0 or self.held_reason is not None

    def resolve(self, outcome: str | None = None) -> None:
        """Mark the node as resolved, which also clears its own status."""
        self.resolved, self.outcome, self.status = True, outcome, None

    def reopen(self) -> list[Change]:
        """Mark the node as open and return the changes beyond `resolved`. A reopened feature is active, not new."""
        changes = [] if self.outcome is None else [changed("outcome", self.outcome, None)]
        if self.kind == FEATURE:
            self.status = ACTIVE
            changes.append(changed("status", None, ACTIVE))
        self.resolved, self.outcome = False, None
        return changes

    def unclaim(self) -> None:
        """Remove the claim. Its number stays, so that a late holder is detected."""
        self.claimed_by = self.claimed_at = self.claimed_until = None


def is_claimed_by_another(tx: Transaction, claimed_by: str | None, claimed_until: str | None) -> bool:
    """Return whether another actor's claim is live now."""
    return claimed_by != tx.actor.id and is_claim_live(claimed_by, claimed_until, now=tx.now)


def fetch_node(tx: Transaction, n: int) -> WorkNodeRow:
    """Return a node of the current project as stored now."""
    return tx.one(sql.node_by_number, WorkNodeRow, project_id=tx.project.id, n=n)


def save_node(tx: Transaction, node: WorkNodeRow) -> None:
    """Save the fields of a node under its next revision."""
    tx.run_with_record(sql.update_node, node, project_id=tx.project.id)
    node.rev += 1


def save_progress(tx: Transaction, node: WorkNodeRow) -> None:
    """Save a node whose content has not changed under its next revision."""
    tx.run_with_record(sql.update_progress, node, project_id=tx.project.id)
    node.rev += 1
