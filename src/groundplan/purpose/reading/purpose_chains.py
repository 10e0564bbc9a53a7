"""The strongest path of every purpose node to a goal, prepared once for each content of a version.

The content of a published version never changes, and that of a draft only together with its revision; so what was
prepared is cached under these, for a bounded number of versions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.graph.causal_graph import STRENGTHS, CausalGraph, build_causal_graph
from groundplan.purpose.graph.strongest_paths import WaysToGoals, find_ways_to_goals
from groundplan.purpose.model import Assumption, EdgeName, NodeType, PurposeEdge, PurposeNode
from groundplan.purpose.versions.versions import VersionRow, read_versions

CACHE_KEY = "purpose.chains"  # the key of the cache in the store's memory
CACHED_VERSIONS_MAX = 8


class PurposeChains(NamedTuple):
    """The causal graph of one version, the way of each node to a goal, and the assumptions on nodes and edges."""

    causal: CausalGraph
    ways: WaysToGoals
    node_assumptions: dict[str, list[Assumption]]
    edge_assumptions: dict[EdgeName, list[Assumption]]

    def find_number(self, key: str) -> int | None:
        """Return the number of a node, or None if the version does not have it."""
        return self.causal.graph.numbers.get(key)

    def get_node(self, number: int) -> PurposeNode:
        """Return a node by its number."""
        return self.causal.nodes[number]

    def get_edge_ahead(self, number: int) -> PurposeEdge | None:
        """Return the first edge of the strongest path of a node; None at a goal and at a dead end."""
        edge = self.ways.edges[number]
        return None if edge < 0 else self.causal.edges[edge]

    def walk_to_goal(self, number: int) -> Iterator[int]:
        """Yield the nodes of the strongest path, beginning with the node itself."""
        yield number
        while (edge := self.ways.edges[number]) >= 0:
            number = self.causal.graph.targets[edge]
            yield number


class ChainsInForce(NamedTuple):
    """The chains of the version in force, and those of a draft beside it."""

    in_force: PurposeChains | None
    draft: VersionRow | None  # only if a published version is in force


class ChainsCache:
    """Prepared chains by organization, version and state of its content; the least recently used go first."""

    def __init__(self, versions_max: int = CACHED_VERSIONS_MAX) -> None:
        self.versions_max = versions_max
        self._chains: OrderedDict[tuple[str, str, str], PurposeChains] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._chains)

    def get(self, key: tuple[str, str, str]) -> PurposeChains | None:
        """Return prepared chains, if they are here."""
        with self._lock:
            if key in self._chains:
                self._chains.move_to_end(key)
            return self._chains.get(key)

    def put(self, key: tuple[str, str, str], chains: PurposeChains) -> None:
        """Keep chains, and drop the oldest if there are too many."""
        with self._lock:
            self._chains[key] = chains
            while len(self._chains) > self.versions_max:
                self._chains.popitem(last=False)


def load_chains_in_force(tx: Transaction) -> ChainsInForce:
    """Return the chains of the latest published version; of the draft while there is none."""
    rows = read_versions(tx)
    draft = rows[-1] if rows and rows[-1].is_draft else None
    published = next((row for row in reversed(rows) if not row.is_draft), None)
    if published is not None:
        return ChainsInForce(load_chains(tx, published), draft)
    return ChainsInForce(None if draft is None else load_chains(tx, draft), None)


def load_chains(tx: Transaction, row: VersionRow) -> PurposeChains:
    """Return the chains of a version."""
    cache: ChainsCache = tx.cache.get(CACHE_KEY) or tx.cache.setdefault(CACHE_KEY, ChainsCache())
    key = tx.actor.organization, row.id, row.content_hash or f"rev {row.rev}"
    chains = cache.get(key)
    if chains is None:
        chains = _prepare_chains(tx, row)
        cache.put(key, chains)
    return chains


def _prepare_chains(tx: Transaction, row: VersionRow) -> PurposeChains:
    content = read_content(tx, row.id)
    causal = build_causal_graph(content)
    strengths = [STRENGTHS[edge.confidence] for edge in causal.edges]
    node_assumptions: dict[str, list[Assumption]] = {}
    edge_assumptions: dict[EdgeName, list[Assumption]] = {}
    for one in content.assumptions.values():
        if one.edge is not None:
            edge_assumptions.setdefault(one.edge, []).append(one)
        elif one.node is not None:
            node_assumptions.setdefault(one.node, []).append(one)
    ways = find_ways_to_goals(causal.graph, strengths, causal.list_numbers(NodeType.GOAL))
    return PurposeChains(causal, ways, node_assumptions, edge_assumptions)
