"""Wait for commits to a SQLite file: `PRAGMA data_version` changes with every commit of another connection.

It reads a counter in shared memory, without a lock. Only when it changed are the revisions compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import msgspec

from groundplan.kernel.store.sqlite.errors import translate_errors
from groundplan.kernel.store.store import NO_COMMITS, ChangedProjects, CommitWatch, WatchedProject

if TYPE_CHECKING:
    from groundplan.kernel.store.sqlite.store import HeldConnection

POLL_S = 0.025

# Of several organizations at once: it reads nothing but numbers, and tells them to nobody.
_REVISIONS = """
SELECT o.id, k.value ->> 1, p.rev, o.rev
  FROM json_each(:keys) AS k
 CROSS JOIN organizations AS o
    ON o.id = k.value ->> 0
  LEFT JOIN projects AS p
    ON p.tenant_id = o.id
   AND p.id = k.value ->> 1
 WHERE p.id IS NOT NULL
    OR k.value ->> 1 = ''
"""

Revisions = tuple[int | None, int]  # of the project, if it is about one, and of its organization


class SqliteCommitWatch(CommitWatch):
    """A watch that compares the revisions in one file after each commit."""

    def __init__(self, held: HeldConnection, pause: Callable[[float], None] = time.sleep) -> None:
        self._held = held
        self._pause = pause
        self._data_version: int | None = None
        self._known: dict[WatchedProject, Revisions] = {}

    def wait(self, projects: Collection[WatchedProject]) -> ChangedProjects:
        if self._data_version is not None:
            self._pause(POLL_S)  # after a commit, too: many in a row are one wake-up
        with self._held.in_use, translate_errors():
            connection = self._held.require_open()
            (data_version,) = connection.execute("PRAGMA data_version").fetchone()
            if data_version == self._data_version and all(project in self._known for project in projects):
                return NO_COMMITS
            # Read after the counter: a commit between the two is found again, and none is missed.
            keys = msgspec.json.encode(list(projects)).decode()
            rows = connection.execute(_REVISIONS, {"keys": keys}).fetchall()
        self._data_version = data_version
        revisions_now = {WatchedProject(tenant, project): (rev, of_tenant) for tenant, project, rev, of_tenant in rows}
        changed = frozenset(
            project for project, revisions in revisions_now.items() if self._known.get(project) != revisions
        )
        self._known = revisions_now
        return ChangedProjects(changed)

    def close(self) -> None:
        self._held.close()
