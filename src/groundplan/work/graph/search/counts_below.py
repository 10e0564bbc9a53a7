"""How many nodes are below each of some nodes, counted once for each revision of a project.

A page of the tree counts them by a walk over the nodes below its rows. Everybody who looks at it while agents write
asks for the same numbers, and they follow from the revision alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

CACHE_KEY = "work.counts_below"  # the key of the cache in the store's memory
CACHED_PAGES_MAX = 64
WALKED_MAX = 500  # nodes below those of a page that are counted; more are not

sql = load_queries(__file__)

PageKey = tuple[str, str, int, str, tuple[int, ...]]  # organization, project, its revision and time, and the nodes


class BelowRow(Struct, frozen=True):
    """How many nodes of a tree were met, its top included, and how many of them are open below the top."""

    top: int
    walked: int
    open_below: int


class CountedPages:
    """The numbers of the pages that were asked for last."""

    def __init__(self, pages_max: int = CACHED_PAGES_MAX) -> None:
        self.pages_max = pages_max
        self._pages: OrderedDict[PageKey, Mapping[int, BelowRow]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, key: PageKey) -> Mapping[int, BelowRow] | None:
        """Return the numbers of a page, if they are known."""
        with self._lock:
            return self._pages.get(key)

    def put(self, key: PageKey, counts: Mapping[int, BelowRow]) -> None:
        """Keep the numbers of a page, and drop the oldest if there are too many."""
        with self._lock:
            self._pages[key] = counts
            while len(self._pages) > self.pages_max:
                self._pages.popitem(last=False)


def count_below(tx: Transaction, tops: Sequence[int]) -> Mapping[int, BelowRow]:
    """Return the numbers by the node on top; none at all if to count them would take long. Only for reads."""
    cache: CountedPages = tx.cache.get(CACHE_KEY) or tx.cache.setdefault(CACHE_KEY, CountedPages())
    key = (tx.actor.organization, tx.project.id, tx.project.rev, tx.project.updated_at, tuple(tops))
    counts = cache.get(key)
    if counts is None:
        rows = tx.all(sql.counts_below, BelowRow, project_id=tx.project.id, ns=to_json_array(tops), at_most=WALKED_MAX)
        counts = {} if sum(row.walked for row in rows) >= WALKED_MAX else {row.top: row for row in rows}
        cache.put(key, counts)
    return counts
