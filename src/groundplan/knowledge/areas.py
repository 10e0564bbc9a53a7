"""The areas of a project's knowledge: its molecules, by the number of their atoms."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class MoleculeSize(Struct):
    """A molecule with the number of its atoms, and the number of all molecules that have some."""

    name: str
    notes: int
    total: int


class KnowledgeAreas(NamedTuple):
    """The largest molecules, the number of the others, and the number of atoms in none."""

    largest: list[MoleculeSize]
    others: int
    orphans: int


def list_areas(tx: Transaction, *, at_most: int) -> KnowledgeAreas:
    """Return the largest areas of the current project."""
    place = {"project_id": tx.project.id}
    largest = tx.all(sql.largest_molecules, MoleculeSize, **place, at_most=at_most)
    total = largest[0].total if largest else 0
    return KnowledgeAreas(largest, total - len(largest), tx.scalar(sql.count_orphans, **place))
