"""The background of a task: its ancestors, its paths, and the nodes that were resolved before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.sections.context_files import extract_context_files
from groundplan.work.containers.sections.section import load_sections
from groundplan.work.kinds import Outcome
from groundplan.work.nodes import Evidence, WorkNodeRow, load_evidence

ANCESTORS_MAX = 50  # the nearest ones
SIBLINGS_MAX = 50  # that are looked through
EVIDENCE_LOOKED_THROUGH = 20  # the newest of each node, of which a briefing chooses a few

sql = load_queries(__file__)


class AncestorPaths(NamedTuple):
    """An ancestor and its paths."""

    n: int
    id: str
    paths: list[str]


class TaskPaths(NamedTuple):
    """The paths of a task: own ones, and those of its ancestors."""

    own: list[str]
    inherited: list[str]


class ResolvedNode(NamedTuple):
    """A resolved node with its state and its newest evidence."""

    id: str
    summary: str
    outcome: Outcome
    state: Any
    evidence: list[Evidence]


class ResolvedNodes(NamedTuple):
    """The first resolved nodes of a list, and the number of all."""

    nodes: list[ResolvedNode]
    total: int


class _ResolvedRow(Struct):
    n: int
    id: str
    summary: str
    outcome: str | None
    state: str | None
    total: int


def load_ancestor_paths(tx: Transaction, node: WorkNodeRow) -> list[AncestorPaths]:
    """Return the nearest ancestors of a node with their paths, nearest first."""
    if node.parent_n is None:
        return []
    rows = tx.all(sql.lineage, project_id=tx.project.id, n=node.parent_n, at_most=ANCESTORS_MAX)
    return [AncestorPaths(n, id_, [] if links == "[]" else msgspec.json.decode(links)) for n, id_, links in rows]


def collect_paths(tx: Transaction, node: WorkNodeRow, above: Sequence[AncestorPaths]) -> TaskPaths:
    """Return the paths of a node: from its links and Context Files, then from the links of its ancestors."""
    own = dict.fromkeys([*node.links_value, *extract_context_files(load_sections(tx, node))])
    inherited = dict.fromkeys(path for ancestor in above for path in ancestor.paths if path not in own)
    return TaskPaths(list(own), list(inherited))


def load_resolved_before(
    tx: Transaction, node: WorkNodeRow, above: Sequence[AncestorPaths], *, at_most: int
) -> ResolvedNodes:
    """Return the nodes that were resolved before a node: its dependencies, those of its ancestors, its siblings."""
    node_key = {"project_id": tx.project.id, "n": node.n}
    rows = tx.all(sql.resolved_dependencies, _ResolvedRow, **node_key, at_most=at_most)
    total = rows[0].total if rows else 0
    if above:
        ancestors = to_json_array(ancestor.n for ancestor in above)
        inherited = tx.all(sql.inherited_dependencies, _ResolvedRow, **node_key, ancestors=ancestors, at_most=at_most)
        rows += inherited
        total += inherited[0].total if inherited else 0
    if node.parent_n is not None:
        beside = tx.all(
            sql.resolved_siblings, _ResolvedRow, **node_key, parent_n=node.parent_n, looked_through=SIBLINGS_MAX
        )
        listed = {row.n for row in rows}
        siblings = [row for row in beside if row.n not in listed]
        rows += siblings
        total += len(siblings)
    evidence = load_evidence(tx, [row.n for row in rows], of_each=EVIDENCE_LOOKED_THROUGH)
    nodes = [
        ResolvedNode(
            row.id,
            row.summary,
            "done" if row.outcome is None else "dropped",
            None if row.state is None else msgspec.json.decode(row.state),
            evidence.get(row.n, []),
        )
        for row in rows
    ]
    return ResolvedNodes(nodes, total)
