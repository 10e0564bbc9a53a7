"""What a task or a feature waits for: others, somebody's word, and what holds back everything below it."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.container import BLOCKERS_SHOWN_MAX, HOLD
from groundplan.work.engine.row import WorkNodeRow

ANCESTORS_SHOWN_MAX = 5

sql = load_queries(__file__)


class Blockers(NamedTuple):
    """What holds one container up."""

    ids: list[str]  # what it depends on and is open, the first of very many
    total: int  # of these and a hold
    is_held: bool
    reason: str | None  # why it is on hold, or why whoever said so let it wait
    above: list[str]  # what lies above it and waits, the nearest first

    @property
    def all(self) -> list[str]:
        """As `blockedBy` lists them."""
        return [*self.ids, *([HOLD] if self.is_held else [])]


def blockers_of(tx: Transaction, node: WorkNodeRow) -> Blockers:
    """What holds a container of the project entered up."""
    ids: list[str] = []
    if node.open_deps:
        place = {"project_id": tx.project.id, "ns": to_json_array([node.n])}
        ids = [other for _, other in tx.all(sql.blockers_of, **place, at_most=BLOCKERS_SHOWN_MAX)]
    above: list[str] = []
    if node.blocked_above:
        inherits = tx.project.policies.inherit_dependencies
        above = tx.scalars(
            sql.waiting_above, project_id=tx.project.id, n=node.n, inherits=inherits, at_most=ANCESTORS_SHOWN_MAX
        )
    reason = node.held_reason or (node.blocked_reason if node.open_deps else None)
    is_held = node.held_reason is not None
    return Blockers(ids, node.open_deps + is_held, is_held, reason, above)
