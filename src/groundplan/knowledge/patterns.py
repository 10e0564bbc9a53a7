"""Which atoms some paths are of: the patterns of each project, indexed in memory and kept up with the database.

A project's knowledge has a revision, and remembers at which one its patterns last changed. An index that was brought up
to that revision is right, whatever else was written since. If it moved, by this process or another, the atoms that
changed since are read, and no others. What is kept is bounded; it can always be read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.index import PathIndex, TooManySteps
from groundplan.knowledge.revision import PROJECT_PATTERNS_MAX

MEMORY_KEY = "knowledge.patterns"  # the name under which a store keeps them
CACHED_PATTERNS_MAX = PROJECT_PATTERNS_MAX  # of all projects together as many as one of them may have
STEPS_MAX = 5_000_000  # characters looked at, for each pattern that is tried: about a second

sql = load_queries(__file__)

_patterns = msgspec.json.Decoder(list[str])


class TooCostly(RuleViolated):
    """To match these paths against the patterns that might match them would take too long."""

    code = "too_costly"

    def __init__(self) -> None:
        super().__init__(
            "these paths are too long for the many patterns without a plain name in them that this project has; "
            "ask for fewer or shorter paths, or give such patterns a directory to begin with",
            field="paths",
        )


class ProjectIndex:
    """The patterns of a project as they were when they last changed. Whoever uses it holds its lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.index = PathIndex()
        self.patterns_rev = 0


class IndexCache:
    """The indexes of one store, those that were asked for last."""

    def __init__(self, patterns_max: int = CACHED_PATTERNS_MAX) -> None:
        self.patterns_max = patterns_max
        self.projects: OrderedDict[tuple[str, str], ProjectIndex] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, place: tuple[str, str]) -> ProjectIndex:
        """The index of a project, at first an empty one."""
        with self._lock:
            found = self.projects.setdefault(place, ProjectIndex())
            self.projects.move_to_end(place)
            return found

    def evict(self) -> None:
        """Forget the projects that were not asked for the longest, until the rest is small enough."""
        with self._lock:
            total = sum(one.index.size for one in self.projects.values())
            while total > self.patterns_max and len(self.projects) > 1:
                _, oldest = self.projects.popitem(last=False)
                total -= oldest.index.size


def match_atoms(tx: Transaction, paths: Sequence[str]) -> dict[str, list[str]]:
    """The ids of the atoms that each path is of.

    Raises:
        TooCostly: it would take too long to find out.
    """
    patterns_rev = tx.scalar(sql.patterns_revision, project_id=tx.project.id)
    if patterns_rev is None:
        return {path: [] for path in paths}
    kept: IndexCache = tx.memory.get(MEMORY_KEY) or tx.memory.setdefault(MEMORY_KEY, IndexCache())
    indexed = kept.of((tx.actor.organization, tx.project.id))
    with indexed.lock:
        if indexed.patterns_rev <= patterns_rev:
            has_grown = indexed.patterns_rev < patterns_rev and _catch_up(tx, indexed, patterns_rev)
            found = _match_paths(indexed.index, paths)
        else:
            # Somebody with a later snapshot was here meanwhile. Ours is served once, from what it can see.
            has_grown = False
            of_then = ProjectIndex()
            _catch_up(tx, of_then, patterns_rev)
            found = _match_paths(of_then.index, paths)
    if has_grown:
        kept.evict()
    return found


def _match_paths(index: PathIndex, paths: Sequence[str]) -> dict[str, list[str]]:
    left = STEPS_MAX
    found = {}
    for path in paths:
        try:
            found[path] = index.matching(path, steps_max=left)
        except TooManySteps:
            raise TooCostly from None
        left -= index.steps
    return found


def _catch_up(tx: Transaction, indexed: ProjectIndex, patterns_rev: int) -> bool:
    """Bring an index up to a revision. Whether it did."""
    since = indexed.patterns_rev
    changed = tx.all(sql.patterns_since, project_id=tx.project.id, since=since)
    gone = tx.scalars(sql.atoms_deleted_since, project_id=tx.project.id, since=since) if since else []
    for atom_id, paths in changed:
        indexed.index.put(atom_id, _patterns.decode(paths))
    for atom_id in gone:
        indexed.index.remove(atom_id)
    indexed.patterns_rev = patterns_rev
    return True
