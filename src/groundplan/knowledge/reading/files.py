"""Return the knowledge about files to other slices, such as about the files of a task.

The answer is that of `knowledge.context`. But the paths were written by people into a text, so none is refused: a path
that cannot be matched is returned as unmatched.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from groundplan.kernel.answers import Budget, trim
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.atom import AtomRow, load_atoms
from groundplan.knowledge.freshness import Freshness, load_freshness
from groundplan.knowledge.paths.requested_paths import PATH_CHARS_MAX, PATHS_MAX, parse_paths
from groundplan.knowledge.patterns import TooCostly, match_atoms
from groundplan.knowledge.reading.context import PATHS_CHARS_MAX, FileKnowledge, build_file_knowledge
from groundplan.knowledge.requests import CHANGELOG_LIMIT_DEFAULT

READ_AT_ONCE = 4  # times the atoms that can be shown: to read so many costs less than to choose among them

sql = load_queries(__file__)


class FileAtom(NamedTuple):
    """An atom, the result of its last check, and its text."""

    id: str
    name: str
    molecule_id: str | None
    freshness: Freshness | None
    knowledge: str


class AtomsOfFiles(NamedTuple):
    """The first atoms that match some files, and how many do."""

    atoms: list[FileAtom]
    total: int


def find_knowledge_of_files(tx: Transaction, paths: list[str], budget: Budget) -> FileKnowledge:
    """Return the knowledge about files of the current project."""
    parsed = parse_paths(paths, tx.preferences.working_copy)
    found: dict[str, list[str]] = {path: [] for path in parsed}
    with suppress(TooCostly):  # only knowledge.context reports it
        found |= match_atoms(tx, _limit_paths(parsed))
    answer = build_file_knowledge(tx, found, changelog_limit=CHANGELOG_LIMIT_DEFAULT)
    trim(answer, budget)
    return answer


def load_atoms_of_files(tx: Transaction, own: Sequence[str], inherited: Sequence[str], *, at_most: int) -> AtomsOfFiles:
    """Return the first atoms that match the paths of a task: those of its own paths, then those of inherited ones.

    Texts are read only of these, however many match.
    """
    of_own = _match_ids(tx, own)
    of_others = _match_ids(tx, inherited) - of_own
    rows = _load_first(tx, of_own, at_most)
    rows += _load_first(tx, of_others, at_most - len(rows))
    freshness = load_freshness(tx, [row.id for row in rows])
    atoms = [FileAtom(row.id, row.name, row.molecule_id, freshness.get(row.id), row.knowledge) for row in rows]
    return AtomsOfFiles(atoms, len(of_own) + len(of_others))


def _match_ids(tx: Transaction, paths: Sequence[str]) -> set[str]:
    if not paths:
        return set()
    try:
        found = match_atoms(tx, _limit_paths(parse_paths(list(paths), tx.preferences.working_copy)))
    except TooCostly:  # only knowledge.context reports it
        return set()
    return {atom_id for ids in found.values() for atom_id in ids}


def _load_first(tx: Transaction, ids: Collection[str], at_most: int) -> list[AtomRow]:
    """Return the first of some atoms. Of very many, those to read are chosen before their texts are read."""
    if at_most <= 0:
        return []
    if len(ids) > at_most * READ_AT_ONCE:
        ids = tx.scalars(sql.first_matched_atoms, project_id=tx.project.id, ids=to_json_array(ids), at_most=at_most)
    return load_atoms(tx, ids)[:at_most]


def has_knowledge(tx: Transaction) -> bool:
    """Return whether knowledge was ever written in the current project."""
    return tx.one_or_none(sql.project_number, project_id=tx.project.id) is not None


def _limit_paths(paths: Mapping[str, bool]) -> dict[str, bool]:
    """Return the first paths that are within the limits."""
    accepted: dict[str, bool] = {}
    room = PATHS_CHARS_MAX
    for path, is_folder in paths.items():
        if len(path) <= min(room, PATH_CHARS_MAX) and len(accepted) < PATHS_MAX:
            accepted[path] = is_folder
            room -= len(path)
    return accepted
