"""Add and remove single links, as edges that end at a purpose key or a pointer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.links import LINKS_MAX, LinkSource, LinkType, add_link, list_links_from, remove_link
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp
from groundplan.work.links.targets import KnownTargets

LINK_TYPES = frozenset(link_type.value for link_type in LinkType)

# Keys of the purpose have upper case letters and pointers begin with a slash; ids of work nodes do neither.
_KEY = re.compile(r"[A-Z]{1,3}[1-9][0-9]{0,8}")


class LinkEdge(Protocol):
    """The ends of an edge of a request."""

    @property
    def from_(self) -> str: ...
    @property
    def to(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def remove(self) -> bool: ...


class TooManyLinks(RuleViolated):
    """The source has as many links of the type as one may have."""

    code = "too_many_links"

    def __init__(self, source: str, link_type: LinkType) -> None:
        super().__init__(
            f"{source} has {LINKS_MAX} links of type {link_type}, which is the limit; remove some first",
            source=source,
            limit=LINKS_MAX,
        )


def is_purpose_key(ref: str) -> bool:
    """Return whether a text has the form of a key of the purpose."""
    return _KEY.fullmatch(ref) is not None


def is_link_target(ref: str) -> bool:
    """Return whether a text can only be a key of the purpose or a pointer, and never the id of a work node."""
    return ref.startswith("/") or is_purpose_key(ref)


def begins_at_purpose(edge: LinkEdge) -> bool:
    """Return whether an edge is a link from a purpose node to a fact."""
    return edge.type == LinkType.RESTS_ON and is_purpose_key(edge.from_)


class LinkWriter:
    """Adds and removes the links of one request."""

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
        """Add a link; return False if there is one already."""
        link_type = LinkType(edge.type)
        own = self._load_own(source)
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
        """Remove a link, also one that is dangling; return False if there is none."""
        link_type = LinkType(edge.type)
        if not remove_link(self._tx, source, link_type, edge.to):
            return False
        self._load_own(source).discard((link_type, edge.to))
        change = changed(link_type.value, edge.to, None)
        self._tx.record(WorkOp.DISCONNECTED, source.ref, change, decision=self._decision)
        return True

    def _load_own(self, source: LinkSource) -> set[tuple[LinkType, str]]:
        own = self._own.get(source.ref)
        if own is None:
            own = {(link.type, link.target) for link in list_links_from(self._tx, [source.ref])}
            self._own[source.ref] = own
        return own
