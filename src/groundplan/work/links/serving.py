"""Which work serves the purpose: by a link of its own, else by those of the nearest ancestor that has some."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from groundplan.kernel.links import Link, LinkType, list_links_of_type, list_links_to
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import AlignedWorkCounts

sql = load_queries(__file__)

ROOT_N = 1
NO_OWNER = 0
_NO_LIMIT = 2**53


def find_work_serving(tx: Transaction, keys: list[str]) -> dict[str, list[str]]:
    """Return the ids of the nodes that have a link to each of some purpose keys, in the order of ids.

    Work that was dropped serves nothing.
    """
    links = list_links_to(tx, LinkType.SERVES, keys)
    ns = to_json_array({link.node_n for link in links if link.node_n is not None})
    dropped = set(tx.scalars(sql.dropped_of_numbers, project_id=tx.project.id, ns=ns)) if links else set()
    found: dict[str, list[str]] = {}
    for link in links:
        if link.node_n not in dropped:
            found.setdefault(link.target, []).append(link.source)
    return found


def count_aligned_work(tx: Transaction, keys: list[str]) -> AlignedWorkCounts:
    """Count the open nodes besides the root, and those of them that serve one of some purpose keys."""
    open_ = tx.scalar(sql.count_open_below_root, project_id=tx.project.id)
    if not open_ or not keys:
        return AlignedWorkCounts(open_, 0)
    links = list_links_of_type(tx, LinkType.SERVES, at_most=_NO_LIMIT)
    wanted = set(keys)
    sources = {link.node_n for link in links if link.target in wanted and link.node_n is not None}
    if not sources:
        return AlignedWorkCounts(open_, 0)
    inheriting = find_open_inheriting(tx, sources, links)
    return AlignedWorkCounts(open_, sum(map(len, inheriting.values())))


def count_nodes(tx: Transaction) -> int:
    """Return the number of nodes of the current project, which is stored."""
    return tx.scalar(sql.count_nodes, project_id=tx.project.id) or 0


def find_open_inheriting(tx: Transaction, sources: Collection[int], links: Iterable[Link]) -> dict[int, list[int]]:
    """Return the numbers of the open nodes that have the links of each of some nodes, in order.

    `links` are all links of the type in the project: every node with links of its own ends what its ancestors pass
    down, also if it serves something else. So no node is listed twice. The whole tree is read once, because a walk
    from the sources takes longer where they pass their links to much of it.
    """
    rows: list[tuple[int, int | None, bool]] = tx.all(sql.tree_of_project, project_id=tx.project.id)
    owners = _find_owners(rows, {link.node_n for link in links if link.node_n is not None})
    found: dict[int, list[int]] = {n: [] for n in sources}
    for n, _, resolved in rows:
        owner = owners[n]
        if owner in found and not resolved and n != ROOT_N:
            found[owner].append(n)
    return {n: sorted(ns) for n, ns in found.items()}


def _find_owners(rows: list[tuple[int, int | None, bool]], linked: set[int]) -> dict[int, int]:
    """Return for each node the one whose links it has: itself or its nearest ancestor with links, else NO_OWNER."""
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
