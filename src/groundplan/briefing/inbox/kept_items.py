"""Items of the inbox that are the same for every member until the project changes or the day ends.

A page shows their number, and to find them runs the gates of a draft; so they are kept for the projects read last.
Claims are not among them: they lapse at any moment, and what to do about one depends on who asks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from groundplan.briefing.inbox.item import InboxItem, InboxKind
from groundplan.kernel.store.transaction import Transaction

CACHE_KEY = "briefing.inbox"  # the key of the cache in the store's memory
CACHED_PROJECTS_MAX = 32
ITEMS_MAX = 1_000  # of one kind; longer lists are read again
DATE_CHARS = 10
CHANGING = frozenset({InboxKind.CLAIM_LAPSING})


class ProjectState(NamedTuple):
    """What the items follow from."""

    rev: int
    updated_at: str
    day: str


class KeptItems:
    """The items by project and surface, each for one state of the project; the least recently used go first."""

    def __init__(self, projects_max: int = CACHED_PROJECTS_MAX) -> None:
        self.projects_max = projects_max
        self._kept: OrderedDict[tuple[str, ...], tuple[ProjectState, dict[InboxKind, list[InboxItem]]]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: tuple[str, ...], state: ProjectState) -> dict[InboxKind, list[InboxItem]]:
        """Return the lists that are known of a project in a state, to which the caller adds others."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] != state:
                kept = self._kept[key] = state, {}
            self._kept.move_to_end(key)
            while len(self._kept) > self.projects_max:
                self._kept.popitem(last=False)
            return kept[1]


def read_kept(tx: Transaction, kind: InboxKind, read: Callable[[], list[InboxItem]]) -> list[InboxItem]:
    """Return all items of a kind in the current project, from memory if nothing has changed. Do not change them."""
    if kind in CHANGING:
        return read()
    cache: KeptItems = tx.cache.get(CACHE_KEY) or tx.cache.setdefault(CACHE_KEY, KeptItems())
    surface = type(tx.preferences.vocabulary).__qualname__  # the items name operations as the surface does
    state = ProjectState(tx.project.rev, tx.project.updated_at, tx.now[:DATE_CHARS])
    lists = cache.get((tx.actor.organization, tx.project.id, surface), state)
    if kind not in lists:
        items = read()
        if len(items) > ITEMS_MAX:
            return items
        lists[kind] = items
    return lists[kind]
