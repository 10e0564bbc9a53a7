"""The purpose in force: the latest published version, else the draft; and its strongest paths to goals.

The content of a published version never changes, and that of a draft only together with its revision; so the paths are
cached under these, for a bounded number of versions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import NamedTuple

from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content, read_verified_content
from groundplan.purpose.graph.graph import STRENGTHS, CausalGraph, build_causal_graph
from groundplan.purpose.graph.paths import WaysToGoals, find_ways_to_goals
from groundplan.purpose.model import Assumption, Content, EdgeName, NodeType, PurposeEdge, PurposeNode, build_content
from groundplan.purpose.versions.versions import VersionRow, read_versions


class PurposeInForce(NamedTuple):
    """A version and its content, extended by the requested nodes that only the draft has."""

    version: VersionRow
    content: Content
    draft_keys: frozenset[str] = frozenset()  # nodes that only the draft has


def read_purpose_in_force(tx: Transaction, wanted: Collection[str] = ()) -> PurposeInForce | None:
    """Return the purpose in force; None if there is no version.

    If only the draft has one of the wanted nodes, the content has everything that only the draft has, too.
    """
    rows = read_versions(tx)
    if not rows:
        return None
    version = next((row for row in reversed(rows) if not row.is_draft), rows[-1])
    content = read_verified_content(tx, version)
    draft = rows[-1]
    if draft is version or not draft.is_draft or all(key in content.nodes for key in wanted):
        return PurposeInForce(version, content)
    drafted = read_content(tx, draft.id)
    added = frozenset(drafted.nodes.keys() - content.nodes.keys())
    if added.isdisjoint(wanted):
        return PurposeInForce(version, content)
    return PurposeInForce(version, _extend(content, drafted, added), added)


def read_content_in_force(tx: Transaction) -> Content:
    """Return the content of the version in force. It is empty if there is no version.

    Its hash is not verified: marks are computed in many reads, and no answer of theirs is final.
    """
    rows = read_versions(tx)
    version = next((row for row in reversed(rows) if not row.is_draft), None) or next(iter(rows), None)
    return build_content((), (), (), ()) if version is None else read_content(tx, version.id)


def _extend(content: Content, drafted: Content, added: frozenset[str]) -> Content:
    """Return the content with the added nodes of the draft, and with the edges, assumptions and indicators on them."""
    names = {edge.name for edge in content.edges}
    known = content.nodes.keys() | added
    edges = [
        edge
        for edge in drafted.edges
        if (edge.source in added or edge.target in added)
        and edge.name not in names
        and edge.source in known
        and edge.target in known
    ]
    new_names = {edge.name for edge in edges}
    return build_content(
        [*content.nodes.values(), *(drafted.nodes[key] for key in added)],
        [*content.edges, *edges],
        [
            *content.assumptions.values(),
            *(
                assumption
                for assumption in drafted.assumptions.values()
                if assumption.node in added or assumption.edge in new_names
            ),
        ],
        [
            *content.indicators.values(),
            *(indicator for indicator in drafted.indicators.values() if indicator.node in added),
        ],
    )


CACHE_KEY = "purpose.chains"  # the key of the cache in the store's memory
CACHED_VERSIONS_MAX = 8


class PurposeChains(NamedTuple):
    """The causal graph of one version, the strongest path of each node to a goal, and assumptions by node and edge."""

    causal: CausalGraph
    ways: WaysToGoals
    node_assumptions: dict[str, list[Assumption]]
    edge_assumptions: dict[EdgeName, list[Assumption]]

    def find_number(self, key: str) -> int | None:
        """Return the number of a node, or None if the version does not contain it."""
        return self.causal.graph.numbers.get(key)

    def get_node(self, number: int) -> PurposeNode:
        """Return a node by its number."""
        return self.causal.nodes[number]

    def get_edge_ahead(self, number: int) -> PurposeEdge | None:
        """Return the first edge of the strongest path of a node; None at a goal and at a dead end."""
        edge = self.ways.edges[number]
        return None if edge < 0 else self.causal.edges[edge]

    def walk_to_goal(self, number: int) -> Iterator[int]:
        """Yield the nodes of the strongest path, which begins with the node itself."""
        yield number
        while (edge := self.ways.edges[number]) >= 0:
            number = self.causal.graph.targets[edge]
            yield number


class ChainsInForce(NamedTuple):
    """The chains of the version in force, and the chains of a draft beside it."""

    in_force: PurposeChains | None
    draft: VersionRow | None  # only if a published version is in force


class ChainsCache:
    """A cache of chains by organization, version and state of the content; the least recently used are dropped."""

    def __init__(self, versions_max: int = CACHED_VERSIONS_MAX) -> None:
        self.versions_max = versions_max
        self._chains: OrderedDict[tuple[str, str, str], PurposeChains] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._chains)

    def get(self, key: tuple[str, str, str]) -> PurposeChains | None:
        """Return chains from the cache, or None."""
        with self._lock:
            if key in self._chains:
                self._chains.move_to_end(key)
            return self._chains.get(key)

    def put(self, key: tuple[str, str, str], chains: PurposeChains) -> None:
        """Store chains, and drop the least recently used if there are too many."""
        with self._lock:
            self._chains[key] = chains
            while len(self._chains) > self.versions_max:
                self._chains.popitem(last=False)


def load_chains_in_force(tx: Transaction) -> ChainsInForce:
    """Return the chains of the latest published version, or of the draft if no version is published."""
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
    for assumption in content.assumptions.values():
        if assumption.edge is not None:
            edge_assumptions.setdefault(assumption.edge, []).append(assumption)
        elif assumption.node is not None:
            node_assumptions.setdefault(assumption.node, []).append(assumption)
    ways = find_ways_to_goals(causal.graph, strengths, causal.list_numbers(NodeType.GOAL))
    return PurposeChains(causal, ways, node_assumptions, edge_assumptions)
