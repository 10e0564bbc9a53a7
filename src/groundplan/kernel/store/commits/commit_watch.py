"""Wait for commits of any process, as a wake-up: what changed is then read under the identity of each reader."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import NamedTuple


class WatchedProject(NamedTuple):
    """A project that somebody follows, or an organization and none of its projects."""

    organization: str
    id: str = ""  # empty: the organization itself


class SeenCommits(NamedTuple):
    """Which projects a wait found changed. It may name too many, and never too few."""

    projects: frozenset[WatchedProject]


NO_COMMITS = SeenCommits(frozenset())


class CommitWatch(ABC):
    """Waits for commits on a connection of its own, which `Store.close` closes, too. One thread uses it."""

    @abstractmethod
    def wait(self, projects: Collection[WatchedProject]) -> SeenCommits:
        """Wait for a short time, and return those of the projects that changed, or whose organization did.

        The first call for a project always returns it.

        Raises:
            Unavailable: the store is closed.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""
