"""Find the plan of a folder: in the folder itself, else in the nearest parent folder that has one, as git does.

    groundplan.yaml, graph.config.yaml   a configuration, in the folder or in `.groundplan/`
    groundplan.db                        a database without a configuration

A linked worktree of a git repository uses the plan of the main working copy, unless it has a database of its own: the
configuration may be committed and then stands in both, but the tasks are the same ones.

Nothing is created.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from groundplan.git_folders import find_git_folders

CONFIG_NAMES = ("groundplan.yaml", "graph.config.yaml")
PLAN_FOLDER = ".groundplan"
DB_NAME = "groundplan.db"
REPOSITORY_DB_NAME = "plan.db"  # in the plan folder


class FoundPlan(NamedTuple):
    """A plan that was found: its configuration, or its database if it has none.

    `owner` is another user, who wrote the file and could decide what is read.
    """

    config_file: str | None
    db: str | None
    owner: str | None = None


def find_plans(start: str = "") -> Iterator[FoundPlan]:
    """Yield the plan of a folder, by default of the current one, then the plans of the folders above it.

    Paths in the current folder are relative.
    """
    yield from _list_folder(f"{start.rstrip('/')}/" if start else "", is_above=False)
    try:
        folder = os.path.realpath(start or ".")
    except OSError:  # the current folder was deleted
        return
    while folder:
        folder = folder.rpartition("/")[0]
        yield from _list_folder(f"{folder}/", is_above=True)


def _list_folder(folder: str, *, is_above: bool) -> Iterator[FoundPlan]:
    main_copy = _find_main_copy(folder)
    if main_copy is not None:
        yield from _list_plan(f"{main_copy}/", is_above=True)
    yield from _list_plan(folder, is_above=is_above)


def _list_plan(folder: str, *, is_above: bool) -> Iterator[FoundPlan]:
    configs = (f"{folder}{place}{name}" for place in ("", f"{PLAN_FOLDER}/") for name in CONFIG_NAMES)
    config = next(filter(os.path.lexists, configs), None)
    db = f"{folder}{DB_NAME}"
    if config is not None or os.path.lexists(db):
        owner = _find_other_owner(config or db) if is_above else None
        yield FoundPlan(config, None if config else db, owner)


def _find_main_copy(folder: str) -> Path | None:
    """Return the main working copy of a linked worktree that has no database."""
    if any(os.path.lexists(f"{folder}{db}") for db in (f"{PLAN_FOLDER}/{REPOSITORY_DB_NAME}", DB_NAME)):
        return None
    folders = find_git_folders(Path(folder))
    return None if folders is None else folders.main_copy


def _find_other_owner(path: str) -> str | None:
    """Return the id of the owner of a file; None if that is the current user or root."""
    try:
        uid = os.lstat(path).st_uid
    except OSError:
        return None
    return None if uid in (0, os.geteuid()) else str(uid)
