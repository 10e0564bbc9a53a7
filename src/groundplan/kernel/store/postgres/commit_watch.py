"""Wait for commits to a PostgreSQL database: a trigger on the revisions notifies this connection.

A notification is only a wake-up. While there is no connection, every project counts as changed once a second, and once
more when there is one again. Behind a pooler nobody can listen, so every project counts as changed twice a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress

import msgspec
import psycopg
from psycopg import Connection

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.store import ChangedProjects, CommitWatch, WatchedProject

CHANNEL = "groundplan_commits"
WAIT_S = 0.25  # then the caller can end, or add a project
RECONNECT_S = 1.0
POLL_S = 0.5  # behind a pooler

_payload = msgspec.json.Decoder(list[str])  # the organization, and the project if it is about one


class PostgresCommitWatch(CommitWatch):
    """Listens on a connection outside of the pool, and connects again when it is lost."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        is_closed: Callable[[], bool],
        pause: Callable[[float], None] = time.sleep,
        *,
        can_listen: bool = True,
    ) -> None:
        self._connect = connect
        self._can_listen = can_listen
        self._is_closed = is_closed
        self._pause = pause
        self._connection: Connection | None = None
        self._known: frozenset[WatchedProject] = frozenset()

    def wait(self, projects: Collection[WatchedProject]) -> ChangedProjects:
        watched = frozenset(projects)
        if self._is_closed():
            raise Unavailable("this store was closed; open it again", code="store_closed")
        if not self._can_listen:
            return self._poll(watched)
        try:
            if self._connection is None:
                self._connection = self._connect()
                self._connection.execute(f"LISTEN {CHANNEL}")
                self._known = frozenset()
            if added := watched - self._known:
                # Commits before now did not wake anybody for them.
                self._known = watched
                return ChangedProjects(added)
            self._known = watched
            return ChangedProjects(self._receive(self._connection, watched))
        except psycopg.Error:
            self.close()
            self._pause(RECONNECT_S)
            return ChangedProjects(watched)

    def _poll(self, watched: frozenset[WatchedProject]) -> ChangedProjects:
        added = watched - self._known
        self._known = watched
        if not added:
            self._pause(POLL_S)
        return ChangedProjects(added or watched)

    def _receive(self, connection: Connection, watched: frozenset[WatchedProject]) -> frozenset[WatchedProject]:
        changed: set[WatchedProject] = set()
        for notification in connection.notifies(timeout=WAIT_S, stop_after=1):
            organization, *project = _payload.decode(notification.payload)
            if project:
                changed.add(WatchedProject(organization, project[0]))
            else:
                changed.update(project for project in watched if project.organization == organization)
        return watched & changed

    def close(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None
