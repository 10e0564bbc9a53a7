"""The links of work nodes to purpose and facts: serves, rests on, supports and refutes.

A request sets whole lists of links (`set_links`) or single ones (`LinkWriter`). The links that count for a node are its
own, else those of the nearest ancestor that has some, for each type; evidence (`supports`, `refutes`) is not inherited.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import UNSET, Struct, UnsetType

from groundplan import providers
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.links import (
    LINKS_MAX,
    Link,
    LinkSource,
    LinkType,
    add_link,
    add_links,
    has_links,
    list_link_ends,
    list_links_from,
    list_links_of_type,
    list_links_to,
    remove_link,
    replace_links,
)
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath
from groundplan.providers import AlignedWorkCounts
from groundplan.work.events import WorkOp
from groundplan.work.kinds import ROOT_N
from groundplan.work.link_targets import KnownTargets

sql = load_queries(__file__)

LINK_TYPES = frozenset(link_type.value for link_type in LinkType)
INHERITED_TYPES = (LinkType.SERVES, LinkType.RESTS_ON)  # evidence is that of one node

# Keys of the purpose have upper case letters and pointers begin with a slash; ids of work nodes do neither.
_KEY = re.compile(r"[A-Z]{1,3}[1-9][0-9]{0,8}")

Requested = Mapping[LinkType, Sequence[str]]


class LinkFields(Protocol):
    """The fields of a request that set links. UNSET keeps the links, and null removes them."""

    @property
    def serves(self) -> list[str] | UnsetType | None: ...
    @property
    def rests_on(self) -> list[str] | UnsetType | None: ...


def read_requested(request: LinkFields) -> dict[LinkType, list[str]]:
    """Return the targets in a request by type. Types that the request does not change are left out."""
    fields = {LinkType.SERVES: request.serves, LinkType.RESTS_ON: request.rests_on}
    return {
        link_type: sorted(set(targets or ()))
        for link_type, targets in fields.items()
        if not isinstance(targets, UnsetType)
    }


def load_targets(tx: Transaction, requests: Iterable[Requested]) -> KnownTargets:
    """Look up the targets of all requests of a batch together."""
    keys: list[str] = []
    pointers: list[str] = []
    for requested in requests:
        keys += requested.get(LinkType.SERVES, ())
        pointers += requested.get(LinkType.RESTS_ON, ())
    return KnownTargets(tx, keys=keys, pointers=pointers)


def insert_links(
    tx: Transaction, links: Iterable[tuple[LinkSource, Requested, ArgumentPath]], targets_by_name: KnownTargets
) -> None:
    """Add the links of new nodes."""
    rows = []
    for source, requested, path in links:
        for link_type, targets in requested.items():
            targets_by_name.check(link_type, targets, (*path, link_type.value))
            rows += [(source, link_type, target) for target in targets]
    add_links(tx, rows)


def describe_new_links(requested: Requested) -> Iterator[Change]:
    """Yield the links of a new node as changes for its event."""
    for link_type, targets in requested.items():
        if targets:
            yield changed(link_type.value, None, list(targets))


def set_links(
    tx: Transaction, source: LinkSource, requested: Requested, known: KnownTargets, path: ArgumentPath = ()
) -> Iterator[Change]:
    """Replace the links of a node for each type in the request, and yield the changes.

    A target that is gone is accepted if the node has a link to it already, so that a list can be sent back as it was
    read.
    """
    if not requested:
        return
    own = _load_own(tx, source)
    for link_type, targets in requested.items():
        added = [target for target in targets if (link_type, target) not in own]
        known.check(link_type, added, (*path, link_type.value))
    for link_type, targets in requested.items():
        yield from replace_links(tx, source, link_type, targets)


def _load_own(tx: Transaction, source: LinkSource) -> set[tuple[LinkType, str]]:
    return {(link.type, link.target) for link in list_links_from(tx, [source.ref])}


# --- Single links, as edges that end at a purpose key or a pointer ----------------------------------------------------


class LinkEdge(Protocol):
    """The ends of an edge in a request."""

    @property
    def from_(self) -> str: ...
    @property
    def to(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def remove(self) -> bool: ...


class TooManyLinks(RuleViolated):
    """The source would have more links of the type than are allowed."""

    code = "too_many_links"

    def __init__(self, source: str, link_type: LinkType) -> None:
        super().__init__(
            f"{source} has {LINKS_MAX} links of type {link_type}, which is the limit; remove some first",
            source=source,
            limit=LINKS_MAX,
        )


def is_purpose_key(ref: str) -> bool:
    """Return True if a text has the form of a purpose key."""
    return _KEY.fullmatch(ref) is not None


def is_link_target(ref: str) -> bool:
    """Return True if a text can be a purpose key or a pointer but not the id of a work node."""
    return ref.startswith("/") or is_purpose_key(ref)


def begins_at_purpose(edge: LinkEdge) -> bool:
    """Return True if an edge is a link from a purpose node to a fact."""
    return edge.type == LinkType.RESTS_ON and is_purpose_key(edge.from_)


class LinkWriter:
    """A writer that adds and removes the links of one request."""

    def __init__(self, tx: Transaction, edges: Iterable[LinkEdge], *, decision: str | None) -> None:
        self._tx = tx
        self._decision = decision
        added = [edge for edge in edges if not edge.remove]
        self._known = KnownTargets(
            tx,
            keys=[
                *(edge.to for edge in added if edge.type != LinkType.RESTS_ON),
                *(edge.from_ for edge in added if begins_at_purpose(edge)),
            ],
            pointers=[edge.to for edge in added if edge.type == LinkType.RESTS_ON],
        )
        self._own: dict[str, set[tuple[LinkType, str]]] = {}

    def add(self, source: LinkSource, edge: LinkEdge) -> bool:
        """Add a link. Return False if it exists already."""
        link_type = LinkType(edge.type)
        own = self._get_own(source)
        if (link_type, edge.to) in own:
            return False
        if source.node_n is None:
            self._known.check_purpose_node(source.ref, ("from",))
        self._known.check(link_type, [edge.to], ("to",))
        if sum(type_ is link_type for type_, _ in own) >= LINKS_MAX:
            raise TooManyLinks(source.ref, link_type)
        add_link(self._tx, source, link_type, edge.to)
        own.add((link_type, edge.to))
        change = changed(link_type.value, None, edge.to)
        self._tx.record(WorkOp.CONNECTED, source.ref, change, decision=self._decision)
        return True

    def remove(self, source: LinkSource, edge: LinkEdge) -> bool:
        """Remove a link, even if it is dangling. Return False if it does not exist."""
        link_type = LinkType(edge.type)
        if not remove_link(self._tx, source, link_type, edge.to):
            return False
        self._get_own(source).discard((link_type, edge.to))
        change = changed(link_type.value, edge.to, None)
        self._tx.record(WorkOp.DISCONNECTED, source.ref, change, decision=self._decision)
        return True

    def _get_own(self, source: LinkSource) -> set[tuple[LinkType, str]]:
        if source.ref not in self._own:
            self._own[source.ref] = _load_own(self._tx, source)
        return self._own[source.ref]


# --- The links that count for a node ----------------------------------------------------------------------------------


class EffectiveLinks(Struct):
    """The effective targets of a node by type, and the node to which the links of each type belong."""

    targets: dict[LinkType, list[str]] = {}
    sources: dict[LinkType, str] = {}

    @property
    def serves(self) -> list[str]:
        """The keys of the purpose nodes that the node serves."""
        return self.targets.get(LinkType.SERVES, [])

    @property
    def rests_on(self) -> list[str]:
        """The pointers of the facts that the node rests on."""
        return self.targets.get(LinkType.RESTS_ON, [])

    def add(self, links: Collection[Link]) -> None:
        """Add the links of another node. Types that have links already are not changed."""
        for link in links:
            if self.sources.setdefault(link.type, link.source) == link.source:
                self.targets.setdefault(link.type, []).append(link.target)


def load_effective_links(tx: Transaction, ns: Collection[int]) -> dict[int, EffectiveLinks]:
    """Return the effective links of each node, by its number."""
    effective = {n: EffectiveLinks() for n in ns}
    ancestors = tx.all(sql.nodes_and_ancestors, project_id=tx.project.id, ns=to_json_array(ns))  # nearest first
    by_source: dict[str, list[Link]] = {}
    for link in list_links_from(tx, dict.fromkeys(node_id for _, node_id in ancestors)):
        by_source.setdefault(link.source, []).append(link)
    previous = None
    for start_n, node_id in ancestors:
        links = by_source.get(node_id, [])
        is_own = start_n != previous
        effective[start_n].add(links if is_own else [link for link in links if link.type in INHERITED_TYPES])
        previous = start_n
    return effective


def find_unset_facts_of_nodes(tx: Transaction, ns: Collection[int]) -> dict[int, list[str]]:
    """Return the required facts without a value on which nodes rest, by the number of each node that has some."""
    if not ns or not has_links(tx):  # one seek, so that a project without links reads nothing else
        return {}
    pointers = {n: links.targets.get(LinkType.RESTS_ON, []) for n, links in load_effective_links(tx, ns).items()}
    rested_on = {pointer for listed in pointers.values() for pointer in listed}
    unset = providers.find_unset_facts(tx, rested_on) if rested_on else set()
    unset_of = {n: [pointer for pointer in listed if pointer in unset] for n, listed in pointers.items()}
    return {n: listed for n, listed in unset_of.items() if listed}


class ShownLink(Struct):
    """A link of a node, or of the ancestor from which it is inherited."""

    to: str  # a key of the purpose, or the pointer of a fact
    title: str | UnsetType = UNSET
    inherited_from: str | UnsetType = UNSET  # the ancestor that has the link
    dangling: bool | UnsetType = UNSET  # true if the target is gone


class ShownLinks(Struct):
    """The links of a node by type; UNSET where there are none."""

    serves: list[ShownLink] | UnsetType = UNSET
    rests_on: list[ShownLink] | UnsetType = UNSET
    supports: list[ShownLink] | UnsetType = UNSET
    refutes: list[ShownLink] | UnsetType = UNSET


def load_shown_links(tx: Transaction, n: int, node_id: str, *, with_titles: bool = True) -> ShownLinks:
    """Return the effective links of a node for an answer."""
    shown = ShownLinks()
    if not has_links(tx):  # one seek, so that a project without links reads nothing else
        return shown
    effective = load_effective_links(tx, [n])[n]
    facts = effective.targets.get(LinkType.RESTS_ON, [])
    keys = [key for type_, keys in effective.targets.items() if type_ is not LinkType.RESTS_ON for key in keys]
    known = KnownTargets(tx, keys=keys, pointers=facts)
    for link_type, targets in effective.targets.items():
        source = effective.sources[link_type]
        links = [_to_shown_link(known, link_type, target, with_title=with_titles) for target in targets]
        for link in links if source != node_id else ():
            link.inherited_from = source
        setattr(shown, link_type.value, links)
    return shown


def _to_shown_link(known: KnownTargets, link_type: LinkType, target: str, *, with_title: bool) -> ShownLink:
    thing = known.find(link_type, target)
    if thing is None:
        return ShownLink(target, dangling=True)
    return ShownLink(target, thing.title if with_title else UNSET)


# --- Which work serves the purpose ------------------------------------------------------------------------------------

NO_OWNER = 0  # of a node that has no links and inherits none
NO_LIMIT = 2**53


def find_work_serving(tx: Transaction, keys: list[str]) -> dict[str, list[str]]:
    """Return the ids of the nodes with a link to each of some purpose keys, sorted.

    Work that was dropped serves nothing.
    """
    links = list_links_to(tx, LinkType.SERVES, keys)
    dropped = find_dropped(tx, {link.node_n for link in links if link.node_n is not None})
    sources: dict[str, list[str]] = {}
    for link in links:
        if link.node_n not in dropped:
            sources.setdefault(link.target, []).append(link.source)
    return sources


def find_dropped(tx: Transaction, ns: Collection[int]) -> set[int]:
    """Return the nodes that were dropped, among the given ones."""
    return set(tx.scalars(sql.dropped_of_numbers, project_id=tx.project.id, ns=to_json_array(ns))) if ns else set()


class ServingLinks(NamedTuple):
    """The purpose keys of the own links of each work node, by number, and the dropped nodes."""

    keys: dict[int, list[str]]
    dropped: set[int]

    @property
    def served(self) -> set[str]:
        """The keys that work serves. Dropped work is ignored."""
        return {key for n, keys in self.keys.items() if n not in self.dropped for key in keys}


def load_serving_links(tx: Transaction) -> ServingLinks:
    """Return all links to the purpose in the current project."""
    keys: dict[int, list[str]] = {}
    for n, target in list_link_ends(tx, LinkType.SERVES):
        keys.setdefault(n, []).append(target)
    return ServingLinks(keys, find_dropped(tx, keys))


def count_aligned_work(tx: Transaction, keys: list[str]) -> AlignedWorkCounts:
    """Return the number of open nodes without the root, and the number of them that serve one of some purpose keys."""
    open_ = tx.scalar(sql.count_open_below_root, project_id=tx.project.id)
    if not open_ or not keys:
        return AlignedWorkCounts(open_, 0)
    links = list_links_of_type(tx, LinkType.SERVES, at_most=NO_LIMIT)
    wanted_keys = set(keys)
    sources = {link.node_n for link in links if link.target in wanted_keys and link.node_n is not None}
    if not sources:
        return AlignedWorkCounts(open_, 0)
    inheriting = find_open_inheriting(tx, sources, links)
    return AlignedWorkCounts(open_, sum(map(len, inheriting.values())))


def count_nodes(tx: Transaction) -> int:
    """Return the number of nodes of the current project, which is stored."""
    return tx.scalar(sql.count_nodes, project_id=tx.project.id) or 0


def find_open_inheriting(tx: Transaction, sources: Collection[int], links: Iterable[Link]) -> dict[int, list[int]]:
    """Return the numbers of the open nodes that have the links of each given node, in order.

    `links` are all links of the type in the project: every node with links of its own ends what its ancestors pass
    down, also if it serves something else. So no node is listed twice. The whole tree is read once, because a walk
    from the sources takes longer where they pass their links to much of it.
    """
    rows: list[tuple[int, int | None, bool]] = tx.all(sql.tree_of_project, project_id=tx.project.id)
    owners = _find_owners(rows, {link.node_n for link in links if link.node_n is not None})
    heirs: dict[int, list[int]] = {n: [] for n in sources}
    for n, _, resolved in rows:
        owner = owners[n]
        if owner in heirs and not resolved and n != ROOT_N:
            heirs[owner].append(n)
    return {n: sorted(ns) for n, ns in heirs.items()}


def _find_owners(rows: list[tuple[int, int | None, bool]], linked: set[int]) -> dict[int, int]:
    """Return the owner of the links of each node: itself or its nearest ancestor with links, else NO_OWNER."""
    owners = {n: n for n in linked}
    if ROOT_N not in owners:
        owners[ROOT_N] = NO_OWNER
    later: dict[int, int] = {}  # moved nodes, whose parent comes later
    for n, parent_n, _ in rows:
        if n not in owners and parent_n is not None:
            if parent_n in owners:
                owners[n] = owners[parent_n]
            else:
                later[n] = parent_n
    for n in later:
        path = []
        above = n
        while above not in owners:
            path.append(above)
            above = later[above]
        owners.update(dict.fromkeys(path, owners[above]))
    return owners


def get_ids(tx: Transaction, ns: Collection[int]) -> dict[int, str]:
    """Return the ids of some nodes by their numbers."""
    return dict(tx.all(sql.ids_of_numbers, project_id=tx.project.id, ns=to_json_array(ns))) if ns else {}
