"""Reads for a line from work to the purpose: nodes with the counts of their subtrees, gaps, and recent files."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import msgspec

from groundplan.kernel.events import find_undone_writes
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.sections.context_files import extract_context_files, parse_link
from groundplan.work.evidence_check import EvidenceCheck
from groundplan.work.kinds import is_claim_live

sql = load_queries(__file__)

RECENT_NODES = 200

_decode_links = msgspec.json.Decoder(list[str]).decode


class TracedNode(NamedTuple):
    """A work node and its state."""

    n: int
    id: str
    summary: str
    kind: str | None
    resolved: bool
    outcome: str | None
    claimed_by: str | None
    claimed_until: str | None
    parent_n: int | None

    def get_holder(self, *, now: str) -> str | None:
        """The actor with a live claim on the node, or None."""
        return self.claimed_by if is_claim_live(self.claimed_by, self.claimed_until, now=now) else None


class SubtreeCounts(NamedTuple):
    """The number of nodes of a subtree by state. Dropped nodes are not counted as resolved."""

    start_n: int
    total: int
    resolved: int
    dropped: int
    claimed: int


class TracedEvidence(NamedTuple):
    """Evidence in a subtree with the node that it belongs to, and the number of all entries in the subtree."""

    start_n: int
    id: str
    type: str
    ref: str
    checked: EvidenceCheck | None
    rev: int | None
    total: int
    is_undone: bool = False


def load_traced_nodes(tx: Transaction, ns: Iterable[int]) -> dict[int, TracedNode]:
    """Return nodes by number, in order of creation."""
    rows = tx.all(sql.traced_nodes, TracedNode, project_id=tx.project.id, ns=to_json_array(ns))
    return {row.n: row for row in rows}


def load_path_to_root(tx: Transaction, n: int) -> list[TracedNode]:
    """Return a node and its ancestors, nearest first."""
    return tx.all(sql.path_to_root, TracedNode, project_id=tx.project.id, n=n)


def load_first_children(tx: Transaction, n: int, *, at_most: int) -> tuple[list[TracedNode], int]:
    """Return the first children of a node, and the number of other children."""
    rows = tx.all(sql.traced_children, TracedNode, project_id=tx.project.id, n=n, at_most=at_most)
    if len(rows) < at_most:
        return rows, 0
    return rows, tx.scalar(sql.count_children, project_id=tx.project.id, n=n) - len(rows)


def count_subtrees(tx: Transaction, starts: Collection[int], stops: Collection[int] = ()) -> dict[int, SubtreeCounts]:
    """Return the counts of some subtrees, each without the subtrees of `stops` in it."""
    if not starts:
        return {}
    rows = tx.all(
        sql.subtree_counts,
        SubtreeCounts,
        project_id=tx.project.id,
        starts=to_json_array(starts),
        stops=to_json_array(stops),
    )
    return {row.start_n: row for row in rows}


def load_evidence_below(
    tx: Transaction, starts: Collection[int], stops: Collection[int] = (), *, of_each: int
) -> dict[int, list[TracedEvidence]]:
    """Return the newest evidence in some subtrees, oldest first, without the subtrees of `stops`."""
    if not starts:
        return {}
    rows = tx.all(
        sql.evidence_below,
        TracedEvidence,
        project_id=tx.project.id,
        starts=to_json_array(starts),
        stops=to_json_array(stops),
        of_each=of_each,
    )
    return _group_evidence(tx, rows)


def load_evidence_of_nodes(
    tx: Transaction, starts: Collection[int], *, of_each: int
) -> dict[int, list[TracedEvidence]]:
    """Return the newest evidence of some nodes, oldest first, without that of their descendants."""
    parameters = {"project_id": tx.project.id, "starts": to_json_array(starts), "of_each": of_each}
    return _group_evidence(tx, tx.all(sql.evidence_of_nodes, TracedEvidence, **parameters)) if starts else {}


def _group_evidence(tx: Transaction, rows: Collection[TracedEvidence]) -> dict[int, list[TracedEvidence]]:
    undone = find_undone_writes(tx, {row.rev for row in rows})
    by_start: dict[int, list[TracedEvidence]] = {}
    for row in rows:
        by_start.setdefault(row.start_n, []).append(row._replace(is_undone=row.rev in undone))
    return by_start


# --- Gaps -------------------------------------------------------------------------------------------------------------


def find_open_leaves_outside(tx: Transaction, ns: Collection[int]) -> list[str]:
    """Return the ids of open nodes without open children that are outside the subtrees of `ns`, oldest first."""
    nodes = tx.all(sql.open_nodes, project_id=tx.project.id)
    parents: dict[int, int | None] = {n: parent_n for n, parent_n, _ in nodes}  # the parent of an open node is open
    is_inside: dict[int | None, bool] = {None: False, **dict.fromkeys(ns, True)}
    outside = []
    for leaf_n, parent_n, leaf_id in nodes:
        if leaf_id is None or parent_n is None:
            continue
        n: int | None = leaf_n if leaf_n in is_inside else parent_n
        path = []
        while n not in is_inside:
            path.append(n)
            n = None if n is None else parents.get(n)
        if path:
            is_inside.update(dict.fromkeys(path, is_inside[n]))
        if not is_inside[n]:
            outside.append(leaf_id)
    return outside


def find_resolved_without_evidence(tx: Transaction) -> list[str]:
    """Return the ids of resolved nodes without children and without evidence, oldest first."""
    return tx.scalars(sql.resolved_without_evidence, project_id=tx.project.id)


# --- The files of the work that changed last --------------------------------------------------------------------------


class _FileSection(NamedTuple):
    title: str
    content: str


def list_recent_files(tx: Transaction) -> list[str]:
    """Return the distinct paths of the nodes that changed last, beginning with the latest change."""
    rows = tx.all(sql.recently_changed, project_id=tx.project.id, at_most=RECENT_NODES)
    paths: dict[str, None] = {}
    for _, links in rows:
        for link in _decode_links(links):
            if path := parse_link(link):
                paths[path] = None
    ns = to_json_array(n for n, _ in rows)
    sections = tx.all(sql.sections_about_files, _FileSection, project_id=tx.project.id, ns=ns)
    paths.update(dict.fromkeys(extract_context_files(sections)))
    return list(paths)
