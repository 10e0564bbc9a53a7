"""The surroundings of an offered node: its ancestors, and the resolved nodes that it depends on."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, defstruct
from msgspec.structs import astuple

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import ANCESTORS_MAX, DEPENDENCIES_MAX, WorkNodeRow, separate_surroundings

CHAIN_MAX = 6  # the ancestors that `chain_above` joins; nodes below more of them are few

sql = load_queries(__file__)


class SurroundingRow(Struct):
    """An ancestor of a node, with its links; or a resolved dependency, with its amount of evidence."""

    n: int
    id: str
    summary: str
    context_links: str
    depth: int | None  # None: a dependency
    evidence_total: int


_CHAINED = SurroundingRow.__struct_fields__[:4]
AncestorChain = defstruct(
    "AncestorChain",
    [(f"{name}_{step}", Any) for step in range(1, CHAIN_MAX + 1) for name in _CHAINED] + [("has_dependencies", bool)],
)


def fetch_surroundings(tx: Transaction, row: WorkNodeRow) -> tuple[list[SurroundingRow], list[SurroundingRow]]:
    """Return the ancestors, root first, of very many the root and the nearest; and the resolved dependencies."""
    # On a server one statement is better than two, and planning the joins takes longer than a recursive query.
    if tx.runs_in_process and row.depth <= CHAIN_MAX:
        return _fetch_by_joins(tx, row)
    rows = tx.all(
        sql.surroundings,
        SurroundingRow,
        project_id=tx.project.id,
        n=row.n,
        parent_n=row.parent_n,
        ancestors_max=ANCESTORS_MAX,
        dependencies_max=DEPENDENCIES_MAX + 1,
    )
    above, done = separate_surroundings(rows)
    if above[0].n != ROOT_N:
        above.insert(0, tx.one(sql.root_with_links, SurroundingRow, project_id=tx.project.id))
    return above, done


def _fetch_by_joins(tx: Transaction, row: WorkNodeRow) -> tuple[list[SurroundingRow], list[SurroundingRow]]:
    chain: Any = tx.one(sql.chain_above, AncestorChain, project_id=tx.project.id, n=row.n, parent_n=row.parent_n)
    at, width = astuple(chain), len(_CHAINED)
    # A node has one ancestor at each depth, and the nearest comes first.
    firsts = range(width * (row.depth - 1), -1, -width)
    above = [
        SurroundingRow(at[first], at[first + 1], at[first + 2], at[first + 3], depth, 0)
        for depth, first in enumerate(firsts)
    ]
    if not chain.has_dependencies:
        return above, []
    place = {"project_id": tx.project.id, "n": row.n, "dependencies_max": DEPENDENCIES_MAX + 1}
    return above, tx.all(sql.resolved_dependencies, SurroundingRow, **place)
