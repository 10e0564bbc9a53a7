"""Return the knowledge about files to other slices, such as about the files of a task.

The answer is that of `knowledge.context`. But the paths were written by people into a text, so none is refused: a path
that cannot be matched is returned as unmatched.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from groundplan.kernel.budget import trim
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.requested_paths import PATH_CHARS_MAX, PATHS_MAX, parse_paths
from groundplan.knowledge.patterns import TooCostly, match_atoms
from groundplan.knowledge.reading.context import PATHS_CHARS_MAX, FileKnowledge, build_file_knowledge
from groundplan.knowledge.requests import CHANGELOG_LIMIT_DEFAULT
from groundplan.providers import FilesQuery

sql = load_queries(__file__)


def get_knowledge_of_files(tx: Transaction, query: FilesQuery) -> FileKnowledge:
    """Return the knowledge about files of the current project."""
    paths = parse_paths(query.paths, tx.preferences.working_copy)
    found: dict[str, list[str]] = {path: [] for path in paths}
    with suppress(TooCostly):  # only knowledge.context reports it
        found |= match_atoms(tx, _limit_paths(paths))
    answer = build_file_knowledge(tx, found, changelog_limit=CHANGELOG_LIMIT_DEFAULT)
    trim(answer, query.budget)
    return answer


def has_knowledge(tx: Transaction, _: None) -> bool:
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
