"""The links of work nodes to the purpose, as stored on them."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.links import LinkType, list_link_ends
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.tracing.traced_nodes import find_dropped


class ServingLinks(NamedTuple):
    """The purpose keys that each work node serves by links of its own, by number, and which nodes were dropped."""

    keys: dict[int, list[str]]
    dropped: set[int]

    @property
    def served(self) -> set[str]:
        """The keys that some work serves. Work that was dropped does not."""
        return {key for n, keys in self.keys.items() if n not in self.dropped for key in keys}


def load_serving_links(tx: Transaction) -> ServingLinks:
    """Return all links to the purpose in the current project."""
    keys: dict[int, list[str]] = {}
    for n, target in list_link_ends(tx, LinkType.SERVES):
        keys.setdefault(n, []).append(target)
    return ServingLinks(keys, find_dropped(tx, keys))
