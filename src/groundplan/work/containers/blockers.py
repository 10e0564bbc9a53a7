"""Blockers of a task or a feature: open dependencies, a hold, and blocked ancestors."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.containers.container import BLOCKERS_SHOWN_MAX, HOLD
from groundplan.work.nodes import WorkNodeRow

ANCESTORS_SHOWN_MAX = 5

sql = load_queries(__file__)


class Blockers(NamedTuple):
    """Everything that blocks one container."""

    ids: list[str]  # open dependencies, at most BLOCKERS_SHOWN_MAX
    total: int  # all open dependencies, plus one for a hold
    is_held: bool
    reason: str | None  # of the hold, otherwise of the dependencies
    blocked_ancestors: list[str]  # blocked ancestors, the nearest first

    @property
    def all(self) -> list[str]:
        """The blockers as `blockedBy` lists them."""
        return [*self.ids, *([HOLD] if self.is_held else [])]


def load_blockers(tx: Transaction, node: WorkNodeRow) -> Blockers:
    """Return what blocks a container of the current project."""
    ids: list[str] = []
    if node.open_deps:
        place = {"project_id": tx.project.id, "ns": to_json_array([node.n])}
        ids = [other for _, other in tx.all(sql.blockers_of, **place, at_most=BLOCKERS_SHOWN_MAX)]
    above: list[str] = []
    if node.blocked_above:
        inherits = get_policies(tx).inherit_dependencies
        above = tx.scalars(
            sql.waiting_above, project_id=tx.project.id, n=node.n, inherits=inherits, at_most=ANCESTORS_SHOWN_MAX
        )
    reason = node.held_reason or (node.blocked_reason if node.open_deps else None)
    is_held = node.held_reason is not None
    return Blockers(ids, node.open_deps + is_held, is_held, reason, above)
