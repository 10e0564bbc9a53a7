"""Match paths to atoms with an in-memory index of the patterns of each project.

A project's knowledge stores the revision at which its patterns last changed. An index at that revision is up to date.
An older index reads only the atoms that changed since. The cache is bounded; an evicted index is read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.index import PathIndex, TooManySteps
from groundplan.knowledge.requests import PROJECT_PATTERNS_MAX

CACHE_KEY = "knowledge.patterns"  # the key of the cache in the store's memory
CACHED_PATTERNS_MAX = PROJECT_PATTERNS_MAX  # over all projects; one project may have this many
STEPS_MAX = 5_000_000  # path characters times patterns tried: about a second

sql = load_queries(__file__)

_patterns = msgspec.json.Decoder(list[str])


class TooCostly(RuleViolated):
    """The comparison of these paths with the patterns would take too long."""

    code = "too_costly"

    def __init__(self) -> None:
        super().__init__(
            "matching these paths would take too long, because many patterns of this project contain no plain name; "
            "ask for fewer or shorter paths, or begin such patterns with a directory",
            field="paths",
        )


class ProjectIndex:
    """The index of a project at a revision. Callers must hold its lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.index = PathIndex()
        self.patterns_rev = 0


class IndexCache:
    """The most recently used indexes of one store."""

    def __init__(self, patterns_max: int = CACHED_PATTERNS_MAX) -> None:
        self.patterns_max = patterns_max
        self.projects: OrderedDict[tuple[str, str], ProjectIndex] = OrderedDict()
        self._lock = threading.Lock()

    def get_index(self, key: tuple[str, str]) -> ProjectIndex:
        """Return the index of a project, which is empty if it is new."""
        with self._lock:
            indexed = self.projects.setdefault(key, ProjectIndex())
            self.projects.move_to_end(key)
            return indexed

    def evict(self) -> None:
        """Drop the least recently used indexes until the rest is within the limit."""
        with self._lock:
            total = sum(project.index.size for project in self.projects.values())
            while total > self.patterns_max and len(self.projects) > 1:
                _, oldest = self.projects.popitem(last=False)
                total -= oldest.index.size


def match_atoms(tx: Transaction, paths: Mapping[str, bool | None]) -> dict[str, list[str]]:
    """Return the ids of the atoms that match each path. For a folder, an atom that can match a path in it is included.

    `paths` maps each path to whether it is a folder; with None, it is one if a pattern begins below it.
    """
    return _search_index(tx, lambda index: _match_paths(index, paths))


def match_files(tx: Transaction, files: Sequence[str], *, steps_max: int) -> dict[str, list[str]]:
    """Return the ids of the atoms that match each of many files, faster than `match_atoms`."""
    try:
        return _search_index(tx, lambda index: dict(index.match_many(files, steps_max=steps_max)))
    except TooManySteps:
        raise TooCostly from None


def get_patterns_revision(tx: Transaction) -> int:
    """Return the revision of the last change of patterns in the project; 0 if it has none."""
    return tx.scalar(sql.patterns_revision, project_id=tx.project.id) or 0


def _search_index(tx: Transaction, search: Callable[[PathIndex], dict[str, list[str]]]) -> dict[str, list[str]]:
    patterns_rev = get_patterns_revision(tx)
    if not patterns_rev:
        return search(PathIndex())
    cache: IndexCache = tx.cache.get(CACHE_KEY) or tx.cache.setdefault(CACHE_KEY, IndexCache())
    indexed = cache.get_index((tx.actor.organization, tx.project.id))
    with indexed.lock:
        if indexed.patterns_rev <= patterns_rev:
            has_grown = indexed.patterns_rev < patterns_rev and _update_index(tx, indexed, patterns_rev)
            answer = search(indexed.index)
        else:
            # Another transaction with a later snapshot has updated the index. This one builds its own, once.
            has_grown = False
            older = ProjectIndex()
            _update_index(tx, older, patterns_rev)
            answer = search(older.index)
    if has_grown:
        cache.evict()
    return answer


def _match_paths(index: PathIndex, paths: Mapping[str, bool | None]) -> dict[str, list[str]]:
    left = STEPS_MAX
    matches = {}
    for path, is_folder in paths.items():
        try:
            matches[path] = index.find_matches(path, is_folder=is_folder, steps_max=left)
            left -= index.steps
        except TooManySteps:
            raise TooCostly from None
    return matches


def _update_index(tx: Transaction, indexed: ProjectIndex, patterns_rev: int) -> bool:
    """Apply the changes of the database since the revision of an index, and return True."""
    since = indexed.patterns_rev
    changed = tx.all(sql.patterns_since, project_id=tx.project.id, since=since)
    gone = tx.scalars(sql.atoms_deleted_since, project_id=tx.project.id, since=since) if since else []
    for atom_id, paths in changed:
        indexed.index.put(atom_id, _patterns.decode(paths))
    for atom_id in gone:
        indexed.index.remove(atom_id)
    indexed.patterns_rev = patterns_rev
    return True
