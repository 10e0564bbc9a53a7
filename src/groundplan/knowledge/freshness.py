"""The freshness of atoms: whether files of an atom changed after its confirmation.

An atom is confirmed at a commit. Where a repository is known, its files are compared with HEAD when it is read. A check
in a working copy stores the results of all atoms for readers without a repository.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Literal, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.preferences import ChangesSince, RepositoryState
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.index import PathIndex, TooManySteps
from groundplan.knowledge.paths.pattern import parse_pattern

FILES_SHOWN_MAX = 50
COMMITS_SHOWN_MAX = 5
STEPS_MAX = 200_000  # path characters times patterns tried: some ten milliseconds
FILES_COMPARED_MAX = 2_000  # which take some ten milliseconds

sql = load_queries(__file__)

_decode_files = msgspec.json.Decoder(list[str]).decode


class FreshnessState(StrEnum):
    """The freshness of an atom."""

    FRESH = "fresh"  # none of its files changed since it was confirmed
    CHANGED = "changed"  # at least one file changed
    ORPHANED = "orphaned"  # no file matches its patterns
    UNANCHORED = "unanchored"  # it was never confirmed, or at a commit that does not exist
    NOT_CHECKED = "not_checked"  # git did not answer in time, or there was no check


CheckResult = Literal["fresh", "changed", "orphaned", "unanchored"]


class Freshness(Struct, rename="camel"):
    """Whether the files of an atom changed since it was confirmed."""

    state: FreshnessState
    commit: str | None  # at which the atom was confirmed
    checked_at: str
    files: list[str] | UnsetType = UNSET  # the changed files
    behind: int | UnsetType = UNSET  # commits since then that changed its files
    commits: list[str] | UnsetType = UNSET  # the newest of them


class FreshnessRow(Struct):
    """The stored result of the last check of an atom."""

    atom_id: str
    state: FreshnessState
    commit_id: str | None
    checked_at: str
    files: str


class ConfirmedAtom(Protocol):
    """The parts of an atom that determine its freshness."""

    id: str
    confirmed_commit: str | None

    @property
    def path_list(self) -> list[str]:
        """The patterns of its files."""


def load_freshness(tx: Transaction, atom_ids: Collection[str]) -> dict[str, Freshness]:
    """Return the freshness of atoms by id. Atoms without a check are left out."""
    if not atom_ids:
        return {}
    rows = tx.all(sql.freshness_of_atoms, FreshnessRow, project_id=tx.project.id, ids=to_json_array(atom_ids))
    return {
        row.atom_id: Freshness(row.state, row.commit_id, row.checked_at, _decode_files(row.files) or UNSET)
        for row in rows
    }


def assess_freshness(tx: Transaction, atoms: Sequence[ConfirmedAtom]) -> dict[str, Freshness]:
    """Return the freshness of atoms by id, as git tells it now.

    Without a repository it is as the last check stored it. So it is beside one that has none of their files and none of
    their commits: it may well be another project's, and then says nothing about these.
    """
    repository = tx.preferences.working_copy
    if repository is None or not repository.has_commits:
        return load_freshness(tx, [atom.id for atom in atoms])
    if not atoms:
        return {}
    commits = {atom.confirmed_commit for atom in atoms if atom.confirmed_commit is not None}
    folders = {folder for atom in atoms for pattern in atom.path_list for folder in _list_folders(pattern)}
    state = repository.compare_with_head(commits, folders)
    if state is not None:
        try:
            freshness = _compare(atoms, state, tx.now)
        except TooManySteps:
            pass
        else:
            is_theirs = state.changes or any(one.state is not FreshnessState.ORPHANED for one in freshness.values())
            return freshness if is_theirs else load_freshness(tx, list(freshness))
    return {
        atom.id: Freshness(
            FreshnessState.NOT_CHECKED if atom.confirmed_commit else FreshnessState.UNANCHORED,
            atom.confirmed_commit,
            tx.now,
        )
        for atom in atoms
    }


def _list_folders(pattern: str) -> list[str]:
    """Return the folders that the files of a pattern are below, or the file that it names; `""` is the root."""
    parsed = parse_pattern(pattern)
    return [route.head.rstrip("/") for route in parsed.routes] + [parsed.text]


def _compare(atoms: Sequence[ConfirmedAtom], state: RepositoryState, now: str) -> dict[str, Freshness]:
    matches = _FileMatches(atoms)
    matched = matches.find_atoms(state.files, {atom.id for atom in atoms})
    by_commit = {commit: matches.group_files(changes.files) for commit, changes in state.changes.items()}

    def assess_atom(atom: ConfirmedAtom) -> Freshness:
        commit = atom.confirmed_commit
        if atom.id not in matched:
            return Freshness(FreshnessState.ORPHANED, commit, now)
        if commit is None or commit not in by_commit:
            return Freshness(FreshnessState.UNANCHORED, commit, now)
        files = by_commit[commit].get(atom.id)
        if not files:
            return Freshness(FreshnessState.FRESH, commit, now)
        freshness = Freshness(FreshnessState.CHANGED, commit, now, sorted(files)[:FILES_SHOWN_MAX])
        later = _find_later(state.changes[commit], files)
        if later is not None:
            freshness.behind, freshness.commits = len(later), later[:COMMITS_SHOWN_MAX]
        return freshness

    return {atom.id: assess_atom(atom) for atom in atoms}


def _find_later(changes: ChangesSince, files: Collection[str]) -> list[str] | None:
    """Return the commits that changed some of these files, the newest first; None if they are not known."""
    if changes.commits is None:
        return None
    return [commit.id for commit in changes.commits if not set(files).isdisjoint(commit.files)]


class _FileMatches:
    """The atoms that match files. Comparing very many files is given up with TooManySteps."""

    def __init__(self, atoms: Sequence[ConfirmedAtom]) -> None:
        self._index = PathIndex()
        for atom in atoms:
            self._index.put(atom.id, atom.path_list)
        self._files_left = FILES_COMPARED_MAX

    def find_atoms(self, files: Collection[str], wanted: Collection[str]) -> set[str]:
        """Return the wanted atoms that match at least one of some files."""
        missing = set(wanted)
        for _, atom_ids in self._match(files):
            missing.difference_update(atom_ids)
            if not missing:
                break
        return set(wanted) - missing

    def group_files(self, files: Collection[str]) -> Mapping[str, set[str]]:
        """Return the files that each atom matches."""
        grouped: dict[str, set[str]] = {}
        for name, atom_ids in self._match(files):
            for atom_id in atom_ids:
                grouped.setdefault(atom_id, set()).add(name)
        return grouped

    def _match(self, files: Collection[str]) -> Iterator[tuple[str, list[str]]]:
        for match in self._index.match_many(files, steps_max=STEPS_MAX):
            self._files_left -= 1
            if self._files_left < 0:
                raise TooManySteps
            yield match
