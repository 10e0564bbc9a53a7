"""Find work in progress whose paths intersect those of a node."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow

CLAIMED_MAX = 200  # claimed nodes that are compared

sql = load_queries(__file__)


class OverlappingNode(Struct):
    """A node in progress, and the paths that it shares with another."""

    id: str
    summary: str
    claimed_by: str | None
    paths: list[str]


class _ClaimedRow(Struct):
    n: int
    id: str
    summary: str
    claimed_by: str | None
    context_links: str


def find_overlapping_work(tx: Transaction, node: WorkNodeRow) -> list[OverlappingNode]:
    """Return the claimed open nodes with a path that is equal to one of the node, or a folder above or below it."""
    own = [path.rstrip("/") for path in node.links_value]
    if not own:
        return []
    found = []
    for row in tx.all(sql.claimed_nodes, _ClaimedRow, project_id=tx.project.id, at_most=CLAIMED_MAX):
        links: list[str] = msgspec.json.decode(row.context_links)
        shared = [path for path in links if any(_intersect(path.rstrip("/"), one) for one in own)]
        if shared and row.n != node.n:
            found.append(OverlappingNode(row.id, row.summary, row.claimed_by, shared))
    return found


def _intersect(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")
