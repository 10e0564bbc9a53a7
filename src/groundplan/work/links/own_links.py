"""Set the links of work nodes: what they serve and rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import UnsetType

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.links import LinkSource, LinkType, add_links, list_links_from, replace_links
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath
from groundplan.work.links.targets import KnownTargets

Requested = Mapping[LinkType, Sequence[str]]


class LinkFields(Protocol):
    """The fields of a request that set links; UNSET leaves them, and null removes them."""

    @property
    def serves(self) -> list[str] | UnsetType | None: ...
    @property
    def rests_on(self) -> list[str] | UnsetType | None: ...


def read_requested(request: LinkFields) -> dict[LinkType, list[str]]:
    """Return the targets that a request sets, by type, without those that it leaves as they are."""
    given = {LinkType.SERVES: request.serves, LinkType.RESTS_ON: request.rests_on}
    return {
        link_type: sorted(set(targets or ()))
        for link_type, targets in given.items()
        if not isinstance(targets, UnsetType)
    }


def load_targets(tx: Transaction, requests: Iterable[Requested]) -> KnownTargets:
    """Look up the targets of all requests of a batch at once."""
    keys: list[str] = []
    pointers: list[str] = []
    for requested in requests:
        keys += requested.get(LinkType.SERVES, ())
        pointers += requested.get(LinkType.RESTS_ON, ())
    return KnownTargets(tx, keys=keys, pointers=pointers)


def insert_links(
    tx: Transaction, links: Iterable[tuple[LinkSource, Requested, ArgumentPath]], known: KnownTargets
) -> None:
    """Add the links of new nodes."""
    rows = []
    for source, requested, path in links:
        for link_type, targets in requested.items():
            known.check(link_type, targets, (*path, link_type.value))
            rows += [(source, link_type, target) for target in targets]
    add_links(tx, rows)


def describe_new_links(requested: Requested) -> Iterator[Change]:
    """Yield the links of a new node as changes of its event."""
    for link_type, targets in requested.items():
        if targets:
            yield changed(link_type.value, None, list(targets))


def set_links(
    tx: Transaction, source: LinkSource, requested: Requested, known: KnownTargets, path: ArgumentPath = ()
) -> Iterator[Change]:
    """Replace the links of a node, for each type that is requested, and yield the changes.

    A target that is gone is accepted if the node has a link to it already, so that a list can be sent back as it was
    read.
    """
    if not requested:
        return
    own = {(link.type, link.target) for link in list_links_from(tx, [source.ref])}
    for link_type, targets in requested.items():
        added = [target for target in targets if (link_type, target) not in own]
        known.check(link_type, added, (*path, link_type.value))
    for link_type, targets in requested.items():
        yield from replace_links(tx, source, link_type, targets)
