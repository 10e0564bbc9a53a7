"""What a repository says about atoms: whether the files that each of them speaks of are still as they were confirmed.

    orphaned     no file of the commit that is looked at matches any of its patterns
    unanchored   nobody confirmed it, or only at a commit that this repository does not have
    changed      files that match its patterns were added, changed or deleted since it was confirmed
    fresh        none of them was

The first that holds is the atom's state. Nothing is read here: what git and the plan said comes in as values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from groundplan.knowledge.freshness import FreshnessState
from groundplan.knowledge.paths.index import PathIndex
from groundplan.repository.git import TreeDiff


@dataclass(frozen=True, slots=True)
class WatchedAtom:
    """An atom as far as a repository can say something about it."""

    id: str
    patterns: Sequence[str]
    anchor: str | None = None  # the tree of the commit it was confirmed at, where that is known


@dataclass(frozen=True, slots=True)
class AtomAssessment:
    """An atom's state, and the files that changed in its area."""

    state: FreshnessState
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What was found, for each atom by its id, and about the files."""

    atoms: dict[str, AtomAssessment]
    uncovered: list[str]  # files that changed and that no atom speaks of
    tracked: int  # files of the commit
    covered: int  # … that an atom speaks of


@dataclass(frozen=True, slots=True)
class NarrowPattern:
    """A pattern that matches a folder but none of the files in it, and the one that was probably meant."""

    atom: str
    pattern: str
    instead: str


def assess(
    atoms: Sequence[WatchedAtom], files: Sequence[str], stops: Iterable[TreeDiff], since: Sequence[str] | None = None
) -> Assessment:
    """Say of every atom how it stands.

    `files` are those of the commit that is looked at, and `stops` lead back from it past every anchor. With `since`,
    only these files count as changed.
    """
    covering = _AtomsByFile(atoms, files)
    anchored = _by_anchor(atoms)
    only = None if since is None else frozenset(since)
    moved: set[str] = set(only or ())
    differing = _FilesByAtom(covering, only)
    changed: dict[str, list[str]] = {}
    for stop in stops:
        differing.add(stop.differing)
        differing.remove(stop.alike)
        if only is None:
            moved.update(stop.differing)
        for atom in anchored.pop(stop.tree, ()):
            changed[atom] = differing.of(atom)
    lately = _FilesByAtom(covering)
    lately.add(only or ())
    there = {atom for name in files for atom in covering[name]}

    def assessed(atom: WatchedAtom) -> AtomAssessment:
        if atom.id not in there:
            return AtomAssessment(FreshnessState.ORPHANED)
        if atom.anchor is None:
            return AtomAssessment(FreshnessState.UNANCHORED, lately.of(atom.id))
        return AtomAssessment(FreshnessState.CHANGED if changed[atom.id] else FreshnessState.FRESH, changed[atom.id])

    return Assessment(
        atoms={atom.id: assessed(atom) for atom in atoms},
        uncovered=sorted(name for name in moved.intersection(files) if not covering[name]),
        tracked=len(files),
        covered=sum(1 for name in files if covering[name]),
    )


def find_narrow_patterns(atoms: Iterable[WatchedAtom], files: Iterable[str]) -> Iterator[NarrowPattern]:
    """Those patterns of these atoms that match folders: `src/pages` where `src/pages/**` was meant."""
    patterns = [(atom.id, pattern) for atom in atoms for pattern in atom.patterns]
    index = PathIndex()
    for place, (_, pattern) in enumerate(patterns):
        index.put(str(place), [pattern])
    matching = {place for folder in _folders(files) for place in index.matching(folder)}
    for place, (atom, pattern) in enumerate(patterns):
        if str(place) in matching:
            yield NarrowPattern(atom, pattern, f"{pattern}/**")


def _by_anchor(atoms: Iterable[WatchedAtom]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for atom in atoms:
        if atom.anchor is not None:
            found.setdefault(atom.anchor, []).append(atom.id)
    return found


def _folders(files: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in files:
        while (name := name.rpartition("/")[0]) and name not in found:
            found.add(name)
    return found


class _AtomsByFile(dict[str, tuple[str, ...]]):
    """Which atoms speak of a file, looked up once for each. Most files of a folder share theirs, and the tuple too."""

    def __init__(self, atoms: Iterable[WatchedAtom], files: Iterable[str]) -> None:
        super().__init__()
        self._index = PathIndex()
        for atom in atoms:
            self._index.put(atom.id, atom.patterns)
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        for name, found in self._index.match_many(files):
            self._keep(name, found)

    def __missing__(self, name: str) -> tuple[str, ...]:
        return self._keep(name, self._index.matching(name))

    def _keep(self, name: str, found: list[str]) -> tuple[str, ...]:
        atoms = tuple(found)
        self[name] = atoms = self._shared.setdefault(atoms, atoms)
        return atoms


class _FilesByAtom:
    """Files by the atoms that speak of them; where `only` is given, no others count."""

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

    def of(self, atom: str) -> list[str]:
        return sorted(self._files.get(atom, ()))
