"""Which atoms some paths are of: the patterns of each project, indexed in memory and kept up with the database.

The revision of the project's knowledge says whether the index is still right. If it moved, by this process or another,
the atoms that changed since are read, and no others. What is kept is bounded; it can always be read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.index import PathIndex

MEMORY = "knowledge.patterns"  # the name under which a store keeps them
PATTERNS_KEPT_MAX = 100_000  # of all projects together, alternatives of braces counted one by one
PAGE = 2_000  # atoms read at once where a project has too many to be kept

sql = load_queries(__file__)

_patterns = msgspec.json.Decoder(list[str])


@dataclass(slots=True)
class Indexed:
    """The patterns of a project as they were at a revision."""

    index: PathIndex
    rev: int


class Kept:
    """The indexes of one store, those that were asked for last."""

    def __init__(self, patterns_max: int = PATTERNS_KEPT_MAX) -> None:
        self.lock = threading.Lock()
        self.patterns_max = patterns_max
        self.projects: OrderedDict[tuple[str, str], Indexed] = OrderedDict()
        self.too_large: set[tuple[str, str]] = set()  # projects that are read page by page instead

    def let_go(self) -> None:
        """Forget the projects that were not asked for the longest, until the rest is small enough."""
        while self.projects and sum(one.index.size for one in self.projects.values()) > self.patterns_max:
            self.projects.popitem(last=False)


def atoms_matching(tx: Transaction, paths: Sequence[str]) -> dict[str, list[str]]:
    """The ids of the atoms that each path is of."""
    row = tx.one_or_none(sql.knowledge_revision, project_id=tx.project.id)
    if row is None:
        return {path: [] for path in paths}
    kept: Kept = tx.memory.setdefault(MEMORY, Kept())
    with kept.lock:
        index = _index_at(tx, kept, row[0])
        if index is not None:
            return {path: index.matching(path) for path in paths}
    return _page_by_page(tx, paths)


def _index_at(tx: Transaction, kept: Kept, rev: int) -> PathIndex | None:
    """The index as of a revision, or None where the project has too many patterns to be kept."""
    place = (tx.actor.organization, tx.project.id)
    if place in kept.too_large:
        return None
    found = kept.projects.get(place)
    if found is not None and found.rev > rev:
        # Somebody with a later snapshot was here meanwhile. Ours is served once, from what it can see.
        return _catch_up(tx, Indexed(PathIndex(), 0), rev, kept.patterns_max)
    if found is None or found.rev < rev:
        found = found or Indexed(PathIndex(), 0)
        kept.projects.pop(place, None)  # should reading fail half-way, nothing half-way is kept
        if _catch_up(tx, found, rev, kept.patterns_max) is None:
            kept.too_large.add(place)
            return None
        kept.projects[place] = found
        kept.let_go()
    else:
        kept.projects.move_to_end(place)
    return found.index


def _catch_up(tx: Transaction, indexed: Indexed, rev: int, patterns_max: int) -> PathIndex | None:
    project_id = tx.project.id
    at_most = patterns_max + 1  # an atom has one pattern at least
    changed = tx.all(sql.patterns_since, project_id=project_id, since=indexed.rev, at_most=at_most)
    if len(changed) > patterns_max:
        return None
    for atom_id, paths in changed:
        indexed.index.put(atom_id, _patterns.decode(paths))
    if indexed.rev:
        for (atom_id,) in tx.all(sql.atoms_deleted_since, project_id=project_id, since=indexed.rev):
            indexed.index.remove(atom_id)
    indexed.rev = rev
    return indexed.index if indexed.index.size <= patterns_max else None


def _page_by_page(tx: Transaction, paths: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {path: [] for path in paths}
    for rows in _pages(tx):
        index = PathIndex()
        for atom_id, patterns in rows:
            index.put(atom_id, _patterns.decode(patterns))
        for path in paths:
            found[path] += index.matching(path)
    return found


def _pages(tx: Transaction) -> Iterator[Iterable[tuple[str, str]]]:
    behind = ""
    while rows := tx.all(sql.patterns_behind, project_id=tx.project.id, behind=behind, at_most=PAGE):
        yield [(atom_id, paths) for atom_id, paths in rows]
        behind = rows[-1][0]
