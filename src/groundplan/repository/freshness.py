"""Assess the freshness of atoms: whether files of an atom changed after its confirmation.

    orphaned     no file of the checked commit matches any of its patterns
    unanchored   it was not confirmed, or at a commit that this repository does not have
    changed      files that match its patterns were added, changed or deleted since it was confirmed
    fresh        none of them did

The first that applies is the state of the atom. These functions are pure: they get the data of git and the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from groundplan.knowledge.freshness import FreshnessState
from groundplan.knowledge.paths.index import PathIndex
from groundplan.repository.git import TreeDiff


@dataclass(frozen=True, slots=True)
class WatchedAtom:
    """The parts of an atom that determine its freshness."""

    id: str
    patterns: Sequence[str]
    anchor: str | None = None  # the tree of the commit it was confirmed at, if known


@dataclass(frozen=True, slots=True)
class AtomAssessment:
    """The freshness of an atom, and its changed files."""

    state: FreshnessState
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Assessment:
    """The results for atoms by id, and for files."""

    atoms: dict[str, AtomAssessment]
    uncovered: list[str]  # changed files that no atom covers
    tracked: int  # number of files of the commit
    covered: int  # number of these that an atom covers


@dataclass(frozen=True, slots=True)
class NarrowPattern:
    """A pattern that matches a folder but none of its files, and the pattern that was probably intended."""

    atom: str
    pattern: str
    instead: str


def assess(
    atoms: Sequence[WatchedAtom],
    files: Sequence[str],
    tree_diffs: Iterable[TreeDiff],
    since: Sequence[str] | None = None,
) -> Assessment:
    """Return the freshness of every atom.

    `files` are those of the checked commit, and `tree_diffs` lead back from it through every anchor. With `since`, only
    these files count as changed.
    """
    covering = _AtomsByFile(atoms, files)
    anchored = _group_by_anchor(atoms)
    only = None if since is None else frozenset(since)
    changed_files: set[str] = set(only or ())
    differing = _FilesByAtom(covering, only)
    changed: dict[str, list[str]] = {}
    for stop in tree_diffs:
        differing.add(stop.differing)
        differing.remove(stop.alike)
        if only is None:
            changed_files.update(stop.differing)
        for atom in anchored.pop(stop.tree, ()):
            changed[atom] = differing.get_files(atom)
    recent = _FilesByAtom(covering)
    recent.add(only or ())
    matched = {atom for name in files for atom in covering[name]}

    def assess_atom(atom: WatchedAtom) -> AtomAssessment:
        if atom.id not in matched:
            return AtomAssessment(FreshnessState.ORPHANED)
        if atom.anchor is None:
            return AtomAssessment(FreshnessState.UNANCHORED, recent.get_files(atom.id))
        return AtomAssessment(FreshnessState.CHANGED if changed[atom.id] else FreshnessState.FRESH, changed[atom.id])

    return Assessment(
        atoms={atom.id: assess_atom(atom) for atom in atoms},
        uncovered=sorted(name for name in changed_files.intersection(files) if not covering[name]),
        tracked=len(files),
        covered=sum(1 for name in files if covering[name]),
    )


def find_narrow_patterns(atoms: Iterable[WatchedAtom], files: Iterable[str]) -> Iterator[NarrowPattern]:
    """Yield patterns that match only a folder: `src/pages` instead of `src/pages/**`."""
    patterns = [(atom.id, pattern) for atom in atoms for pattern in atom.patterns]
    index = PathIndex()
    for number, (_, pattern) in enumerate(patterns):
        index.put(str(number), [pattern])
    matching = {number for folder in _list_folders(files) for number in index.find_matches(folder)}
    for number, (atom, pattern) in enumerate(patterns):
        if str(number) in matching:
            yield NarrowPattern(atom, pattern, f"{pattern}/**")


def _group_by_anchor(atoms: Iterable[WatchedAtom]) -> dict[str, list[str]]:
    atom_ids: dict[str, list[str]] = {}
    for atom in atoms:
        if atom.anchor is not None:
            atom_ids.setdefault(atom.anchor, []).append(atom.id)
    return atom_ids


def _list_folders(files: Iterable[str]) -> set[str]:
    folders: set[str] = set()
    for name in files:
        while (name := name.rpartition("/")[0]) and name not in folders:
            folders.add(name)
    return folders


class _AtomsByFile(dict[str, tuple[str, ...]]):
    """A cache of the atoms that cover each file. Most files of a folder share the same tuple."""

    def __init__(self, atoms: Iterable[WatchedAtom], files: Iterable[str]) -> None:
        super().__init__()
        self._index = PathIndex()
        for atom in atoms:
            self._index.put(atom.id, atom.patterns)
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        for name, patterns in self._index.match_many(files):
            self._keep(name, patterns)

    def __missing__(self, name: str) -> tuple[str, ...]:
        return self._keep(name, self._index.find_matches(name))

    def _keep(self, name: str, atom_ids: list[str]) -> tuple[str, ...]:
        atoms = tuple(atom_ids)
        self[name] = atoms = self._shared.setdefault(atoms, atoms)
        return atoms


class _FilesByAtom:
    """The files that each atom covers. With `only`, other files are ignored."""

    def __init__(self, covering: _AtomsByFile, only: Set[str] | None = None) -> None:
        self._covering = covering
        self._only = only
        self._files: dict[str, set[str]] = {}

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            if self._only is None or name in self._only:
                for atom in self._covering[name]:
                    self._files.setdefault(atom, set()).add(name)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            for atom in self._covering[name]:
                self._files.get(atom, set()).discard(name)

    def get_files(self, atom: str) -> list[str]:
        return sorted(self._files.get(atom, ()))
