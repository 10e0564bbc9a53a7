"""The surroundings of an offered node: its ancestors, and the resolved nodes that it depends on."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import ANCESTORS_MAX, DEPENDENCIES_MAX, WorkNodeRow

sql = load_queries(__file__)


class SurroundingRow(Struct):
    """An ancestor of a node, with its links; or a resolved dependency, with its amount of evidence."""

    n: int
    id: str
    summary: str
    context_links: str
    depth: int | None  # None: a dependency
    evidence_total: int


def fetch_surroundings(tx: Transaction, row: WorkNodeRow) -> tuple[list[SurroundingRow], list[SurroundingRow]]:
    """Return the ancestors, root first, of very many the root and the nearest; and the resolved dependencies."""
    rows = tx.all(
        sql.surroundings,
        SurroundingRow,
        project_id=tx.project.id,
        n=row.n,
        parent_n=row.parent_n,
        ancestors_max=ANCESTORS_MAX,
        dependencies_max=DEPENDENCIES_MAX + 1,
    )
    ancestors = sorted((node for node in rows if node.depth is not None), key=lambda node: node.depth or 0)
    if ancestors[0].n != ROOT_N:
        ancestors.insert(0, tx.one(sql.root_with_links, SurroundingRow, project_id=tx.project.id))
    return ancestors, [node for node in rows if node.depth is None]
