"""The links of a node as callers see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.transaction import Transaction

if TYPE_CHECKING:
    from groundplan.kernel.links import LinkType
    from groundplan.work.links.targets import KnownTargets


class ShownLink(Struct):
    """A link of a node, or of the ancestor that it inherits it from."""

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
    """Return the links that count for a node."""
    # Not at import: an offer needs only the classes.
    from groundplan.kernel.links import LinkType, has_links

    shown = ShownLinks()
    if not has_links(tx):  # one seek, so that a project without links reads nothing else
        return shown
    from groundplan.work.links.effective import load_effective_links
    from groundplan.work.links.targets import KnownTargets

    effective = load_effective_links(tx, [n])[n]
    facts = effective.targets.get(LinkType.RESTS_ON, [])
    keys = [key for type_, keys in effective.targets.items() if type_ is not LinkType.RESTS_ON for key in keys]
    known = KnownTargets(tx, keys=keys, pointers=facts)
    for link_type, targets in effective.targets.items():
        source = effective.sources[link_type]
        links = [_show(known, link_type, target, with_title=with_titles) for target in targets]
        for link in links if source != node_id else ():
            link.inherited_from = source
        setattr(shown, link_type.value, links)
    return shown


def _show(known: KnownTargets, link_type: LinkType, target: str, *, with_title: bool) -> ShownLink:
    found = known.find(link_type, target)
    if found is None:
        return ShownLink(target, dangling=True)
    return ShownLink(target, found.title if with_title else UNSET)
