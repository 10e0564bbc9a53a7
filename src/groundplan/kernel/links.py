"""Links between slices, by names that stay the same in all versions and runs: their types, reads and changes.

    work node    serves              purpose node, by its key
    work node    rests_on            fact, by its pointer
    purpose node rests_on            fact
    work node    supports, refutes   what the purpose takes for granted, by its key

Whoever changes a link checks its ends and records the event.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

LINKS_MAX = 500  # of one type from one source


class LinkType(StrEnum):
    """The type of a link: the relation of its source to its target."""

    SERVES = "serves"
    RESTS_ON = "rests_on"
    SUPPORTS = "supports"
    REFUTES = "refutes"


class LinkSource(msgspec.Struct, frozen=True):
    """The source of a link: the id and number of a work node, or the key of a purpose node."""

    ref: str
    node_n: int | None = None


class Link(Struct):
    """A stored link."""

    source: str
    type: LinkType
    target: str
    node_n: int | None  # the number of the source, if it is a work node
    rev: int  # the revision of the project in which it was made
    created_at: str
    created_by: str


sql = load_queries(__file__)


def has_links(tx: Transaction) -> bool:
    """Return True if the project has a link."""
    return tx.scalar(sql.any_link, project_id=tx.project.id) is not None


def list_links_from(tx: Transaction, sources: Iterable[str]) -> list[Link]:
    """Return the links from some work nodes or purpose nodes, by source, type and target."""
    return tx.all(sql.links_from, Link, project_id=tx.project.id, sources=to_json_array(sources))


def list_links_to(tx: Transaction, link_type: LinkType, targets: Iterable[str]) -> list[Link]:
    """Return the links of one type to some targets, by target and source."""
    return tx.all(sql.links_to, Link, project_id=tx.project.id, type=link_type, targets=to_json_array(targets))


def list_links_of_type(
    tx: Transaction, link_type: LinkType, *, after: tuple[str, str] = ("", ""), at_most: int
) -> list[Link]:
    """Return the links of one type after a position, by target and source."""
    target, source = after
    return tx.all(
        sql.links_of_type,
        Link,
        project_id=tx.project.id,
        type=link_type,
        target=target,
        source=source,
        at_most=at_most,
    )


def list_link_ends(tx: Transaction, link_type: LinkType) -> list[tuple[int, str]]:
    """Return the number of the work node and the target of each link of one type, by target and source."""
    return [(node_n, target) for node_n, target in tx.all(sql.link_ends, project_id=tx.project.id, type=link_type)]


def add_link(tx: Transaction, source: LinkSource, link_type: LinkType, target: str) -> bool:
    """Add a link. Return False if it exists already."""
    link = {"project_id": tx.project.id, "source": source.ref, "type": link_type, "target": target}
    return tx.run(sql.add_link, **link, node_n=source.node_n) > 0


def add_links(tx: Transaction, links: Iterable[tuple[LinkSource, LinkType, str]]) -> None:
    """Add many links. Existing links are unchanged."""
    project_id = tx.project.id
    rows = [
        {"project_id": project_id, "source": source.ref, "type": link_type, "target": target, "node_n": source.node_n}
        for source, link_type, target in links
    ]
    if rows:
        tx.run_many(sql.add_link, rows)


def remove_link(tx: Transaction, source: LinkSource, link_type: LinkType, target: str) -> bool:
    """Remove a link. Return False if it does not exist."""
    link = {"project_id": tx.project.id, "source": source.ref, "type": link_type, "target": target}
    return tx.run(sql.remove_link, **link) > 0


def replace_links(tx: Transaction, source: LinkSource, link_type: LinkType, targets: Iterable[str]) -> Sequence[Change]:
    """Make `targets` the only links of one type from a source. Return the change, or nothing if they are the same."""
    before = [link.target for link in list_links_from(tx, [source.ref]) if link.type is link_type]
    after = sorted(set(targets))
    if before == after:
        return ()
    for target in before:
        if target not in after:
            remove_link(tx, source, link_type, target)
    add_links(tx, [(source, link_type, target) for target in after if target not in before])
    return (changed(link_type, before, after),)


def move_links(tx: Transaction, source: LinkSource, to: LinkSource) -> Sequence[Change]:
    """Move all links of a source to another source, which keeps its own. Return the changes of the other source."""
    links = list_links_from(tx, [source.ref])
    if not links:
        return ()
    own = list_links_from(tx, [to.ref])
    place = {"project_id": tx.project.id, "source": source.ref}
    tx.run(sql.copy_links, **place, to_source=to.ref, to_node_n=to.node_n)
    tx.run(sql.remove_links_of, **place)
    changes = []
    for link_type in LinkType:
        before = [link.target for link in own if link.type is link_type]
        gained = [link.target for link in links if link.type is link_type and link.target not in before]
        if gained:
            changes.append(changed(link_type, before, sorted([*before, *gained])))
    return changes


def return_links(
    tx: Transaction,
    source: LinkSource,
    to: LinkSource,
    *,
    kept: Mapping[LinkType, Collection[str]],
    returned: Mapping[LinkType, Collection[str]],
) -> Sequence[Change]:
    """Give the links back that a source got by `move_links`, as old as they are. Return its changes.

    `kept` and `returned` have the targets of the links that each of the two has then.
    """
    links = list_links_from(tx, [source.ref])
    if not links:
        return ()
    place = {"project_id": tx.project.id, "source": source.ref}
    tx.run(sql.copy_links, **place, to_source=to.ref, to_node_n=to.node_n)
    for link in links:
        if link.target not in kept.get(link.type, ()):
            remove_link(tx, source, link.type, link.target)
        if link.target not in returned.get(link.type, ()):
            remove_link(tx, to, link.type, link.target)
    before = {link_type: [link.target for link in links if link.type is link_type] for link_type in LinkType}
    return [
        changed(link_type, targets, sorted(kept.get(link_type, ())))
        for link_type, targets in before.items()
        if targets != sorted(kept.get(link_type, ()))
    ]


def remove_links_of_many(tx: Transaction, sources: Iterable[str]) -> None:
    """Remove all links of deleted sources."""
    tx.run_many(sql.remove_links_of, [{"project_id": tx.project.id, "source": source} for source in sources])
