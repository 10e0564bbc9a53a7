"""Change the links of the current project. The caller checks the ends and records the event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.links.link import LinkSource, LinkType
from groundplan.kernel.links.read import list_links_from
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def add_link(tx: Transaction, source: LinkSource, link_type: LinkType, target: str) -> bool:
    """Add a link; return whether it is new."""
    link = {"project_id": tx.project.id, "source": source.ref, "type": link_type, "target": target}
    return tx.run(sql.add_link, **link, node_n=source.node_n) > 0


def add_links(tx: Transaction, links: Iterable[tuple[LinkSource, LinkType, str]]) -> None:
    """Add many links; those that exist stay as they are."""
    project_id = tx.project.id
    rows = [
        {"project_id": project_id, "source": source.ref, "type": link_type, "target": target, "node_n": source.node_n}
        for source, link_type, target in links
    ]
    if rows:
        tx.run_many(sql.add_link, rows)


def remove_link(tx: Transaction, source: LinkSource, link_type: LinkType, target: str) -> bool:
    """Remove a link; return whether there was one."""
    link = {"project_id": tx.project.id, "source": source.ref, "type": link_type, "target": target}
    return tx.run(sql.remove_link, **link) > 0


def replace_links(tx: Transaction, source: LinkSource, link_type: LinkType, targets: Iterable[str]) -> Sequence[Change]:
    """Make `targets` the only links of one type from a source. Return the change, or nothing if they were that."""
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
    """Move all links of a source to another one, which keeps its own. Return the changes of the other one."""
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


def remove_links_of_many(tx: Transaction, sources: Iterable[str]) -> None:
    """Remove all links of sources that are deleted."""
    tx.run_many(sql.remove_links_of, [{"project_id": tx.project.id, "source": source} for source in sources])
