"""Apply the policy `overlap` to the nodes that are offered: warn about files that others work on, or pass nodes over.

A claim runs under the lock of its project, so of two actors that claim nodes with the same files at once, the second
one sees the claim of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.answers import Warnings
from groundplan.work.nodes import WorkNodeRow

if TYPE_CHECKING:
    from groundplan.work.overlap.find_overlaps import OverlappingNode, WorkInProgress

# Further candidates that are tried where nodes are passed over: first some, then four times as many, up to a limit.
LOOK_AHEAD = 50
LOOK_AHEAD_MAX = 3_200
NAMED_MAX = 3  # nodes in a reason


class OverlapsInProgress(Conflict):
    """Another actor works on files of the named node, and the project avoids that."""

    code = "overlaps_in_progress"

    def __init__(self, node: WorkNodeRow, overlaps: list[OverlappingNode]) -> None:
        super().__init__(
            f"node {node.id} {overlaps[0].describe()}, and this project avoids that (policy overlap); wait until it is "
            "resolved or released",
            next_steps=NextStep("work.next", "offers another node without node_id"),
            node_id=node.id,
            overlaps=[{"id": one.id, "claimed_by": one.claimed_by, "paths": one.paths} for one in overlaps],
        )


class OverlapGuard:
    """The overlaps between the nodes of one answer and the work of others."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._policy = get_policies(tx).overlap
        self._in_progress: WorkInProgress | None = None
        self._passed_over: list[tuple[WorkNodeRow, OverlappingNode]] = []
        self._has_more = False  # candidates that were not looked at

    @property
    def _avoids(self) -> bool:
        return self._policy == "avoid" and bool(self._load().paths)

    def pick(self, find: Callable[[int], list[WorkNodeRow]], *, wanted: int) -> list[WorkNodeRow]:
        """Return the first nodes that may be offered. `find` returns at most so many candidates, the best first."""
        if not self._avoids:
            return find(wanted)
        ahead = LOOK_AHEAD
        while True:
            candidates = find(wanted + ahead)
            kept = self._pass_over(candidates, wanted=wanted)
            self._has_more = len(candidates) == wanted + ahead and len(kept) < wanted
            if not self._has_more or ahead >= LOOK_AHEAD_MAX:
                return kept
            ahead *= 4

    def _pass_over(self, nodes: list[WorkNodeRow], *, wanted: int) -> list[WorkNodeRow]:
        """Return the first nodes that may be offered, and remember those that were passed over before them."""
        self._passed_over = []
        overlaps = self._find(nodes)
        kept: list[WorkNodeRow] = []
        for node in nodes:
            if len(kept) == wanted:
                break
            if node.n in overlaps:
                self._passed_over.append((node, overlaps[node.n][0]))
            else:
                kept.append(node)
        return kept

    def check(self, node: WorkNodeRow) -> None:
        """Raise OverlapsInProgress when a node that is named must not be offered."""
        if self._avoids and (found := self._find([node]).get(node.n)):
            raise OverlapsInProgress(node, found)

    def warn(self, warnings: Warnings, nodes: list[WorkNodeRow]) -> None:
        """Add a warning for each node that touches files of others, or was passed over before one of these."""
        if self._policy == "avoid":
            for node, overlap in self._passed_over:
                warnings.add(node.id, f"passed over: it {overlap.describe()}")
            return
        if self._policy == "off" or any(node.others_work is not None and not node.others_work for node in nodes):
            return  # without a look at their paths
        overlaps = self._find(nodes)
        for node in nodes:
            for overlap in overlaps.get(node.n, ()):
                warnings.add(node.id, overlap.describe())

    def explain(self) -> str | None:
        """Return why no node is offered, if all that were looked at were passed over."""
        if not self._passed_over:
            return None
        named = "; ".join(f"{node.id} {overlap.describe()}" for node, overlap in self._passed_over[:NAMED_MAX])
        total = len(self._passed_over)
        more = f"; and {total - NAMED_MAX} more" if total > NAMED_MAX else ""
        unseen = "; others were not looked at, so name one of them or a scope" if self._has_more else ""
        return f"{total} actionable nodes were passed over (policy overlap): {named}{more}{unseen}"

    def _find(self, nodes: list[WorkNodeRow]) -> dict[int, list[OverlappingNode]]:
        return self._load().find_overlaps(nodes)

    def _load(self) -> WorkInProgress:
        if self._in_progress is None:
            from groundplan.work.overlap.find_overlaps import WorkInProgress  # most nodes name no files

            self._in_progress = WorkInProgress(self._tx)
        return self._in_progress
