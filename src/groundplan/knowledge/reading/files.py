"""What one must know about the files that a task names, for slices that know of files and nothing about knowledge.

It says what `knowledge.context` says. But the paths were written by people into a text, so none of them is refused:
what cannot be matched is told as a path about which nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from groundplan.kernel.budget import trim
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.requested_paths import PATH_CHARS_MAX, PATHS_MAX, parse_paths
from groundplan.knowledge.patterns import TooCostly, match_atoms
from groundplan.knowledge.reading.context import PATHS_CHARS_MAX, FileKnowledge, build_file_knowledge
from groundplan.knowledge.requests import CHANGELOG_LIMIT_DEFAULT
from groundplan.providers import FilesQuery


def get_knowledge_of_files(tx: Transaction, asked: FilesQuery) -> FileKnowledge:
    """What is known about some files of the project entered."""
    meant = parse_paths(asked.paths)
    found: dict[str, list[str]] = {path: [] for path in meant}
    with suppress(TooCostly):  # asked for by itself, it says so
        found |= match_atoms(tx, _limit_paths(meant))
    answer = build_file_knowledge(tx, found, of_each=CHANGELOG_LIMIT_DEFAULT)
    trim(answer, asked.budget)
    return answer


def _limit_paths(paths: Sequence[str]) -> list[str]:
    """Those of the paths that can be matched; of too many, the first. Those that lead elsewhere match nothing."""
    taken: list[str] = []
    room = PATHS_CHARS_MAX
    for path in paths:
        if len(path) <= min(room, PATH_CHARS_MAX) and len(taken) < PATHS_MAX:
            taken.append(path)
            room -= len(path)
    return taken
