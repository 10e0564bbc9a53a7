"""The links that count for a node: its own, else those of the nearest ancestor that has some, for each type."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from groundplan.kernel.links import Link, LinkType, list_links_from
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

# Evidence is that of one node: what it supports or refutes is not inherited.
INHERITED_TYPES = (LinkType.SERVES, LinkType.RESTS_ON)

sql = load_queries(__file__)


class EffectiveLinks(Struct):
    """The targets that count for a node, by type, and the node that has the links of each type."""

    targets: dict[LinkType, list[str]] = {}
    sources: dict[LinkType, str] = {}

    @property
    def serves(self) -> list[str]:
        """The keys of purpose nodes."""
        return self.targets.get(LinkType.SERVES, [])

    @property
    def rests_on(self) -> list[str]:
        """The pointers of facts."""
        return self.targets.get(LinkType.RESTS_ON, [])

    def add(self, links: Collection[Link]) -> None:
        """Add the links of one more node; a type that has a source already keeps it."""
        for link in links:
            if self.sources.setdefault(link.type, link.source) == link.source:
                self.targets.setdefault(link.type, []).append(link.target)


def load_effective_links(tx: Transaction, ns: Collection[int]) -> dict[int, EffectiveLinks]:
    """Return the links that count for each node, by its number."""
    found = {n: EffectiveLinks() for n in ns}
    lines = tx.all(sql.nodes_and_ancestors, project_id=tx.project.id, ns=to_json_array(ns))  # nearest first
    by_source: dict[str, list[Link]] = {}
    for link in list_links_from(tx, dict.fromkeys(node_id for _, node_id in lines)):
        by_source.setdefault(link.source, []).append(link)
    previous = None
    for start_n, node_id in lines:
        links = by_source.get(node_id, [])
        is_own = start_n != previous
        found[start_n].add(links if is_own else [link for link in links if link.type in INHERITED_TYPES])
        previous = start_n
    return found
