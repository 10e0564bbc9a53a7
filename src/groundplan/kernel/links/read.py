"""Read the links of the current project."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.kernel.links.link import Link, LinkType
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def has_links(tx: Transaction) -> bool:
    """Return whether the project has any link."""
    return tx.scalar(sql.any_link, project_id=tx.project.id) is not None


def list_links_from(tx: Transaction, sources: Iterable[str]) -> list[Link]:
    """Return the links that begin at some work nodes or purpose nodes, by source, type and target."""
    return tx.all(sql.links_from, Link, project_id=tx.project.id, sources=to_json_array(sources))


def list_links_to(tx: Transaction, link_type: LinkType, targets: Iterable[str]) -> list[Link]:
    """Return the links of one type that end at some targets, by target and source."""
    return tx.all(sql.links_to, Link, project_id=tx.project.id, type=link_type, targets=to_json_array(targets))


def list_links_of_type(
    tx: Transaction, link_type: LinkType, *, after: tuple[str, str] = ("", ""), at_most: int
) -> list[Link]:
    """Return the links of one type, by target and source, after a position in this order."""
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
