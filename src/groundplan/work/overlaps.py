"""Overlaps: other actors work on the same files as a node that is about to be offered.

The files of a node are the paths in its context links and in its Context Files. Only its own paths count: those of an
ancestor say where its whole subtree takes place, so they would make every two nodes of a feature overlap.

A claim runs under the lock of its project, so of two actors that claim nodes with the same files at once, the second
one sees the claim of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property

import msgspec
from msgspec import Struct

from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import get_policies
from groundplan.providers import find_shared_paths
from groundplan.work.answers import Warnings
from groundplan.work.containers.sections.context_files import extract_context_files, parse_link
from groundplan.work.nodes import WorkNodeRow

PATH_SHOWN_CHARS_MAX = 120
IN_PROGRESS_MAX = 200  # nodes with a claim, and as many without one

# Further candidates that are tried where nodes are passed over: first some, then four times as many, up to a limit.
LOOK_AHEAD = 50
LOOK_AHEAD_MAX = 3_200
NAMED_MAX = 3  # nodes in a reason

sql = load_queries(__file__)


class SectionTextRow(Struct, frozen=True):
    """The title and the text of a section, with its node."""

    n: int
    title: str
    content: str


def load_paths(tx: Transaction, links: Mapping[int, str]) -> dict[int, list[str]]:
    """Return the paths of nodes, given with their context links as JSON. Nodes without paths are left out."""
    paths_of = {n: extract_paths(msgspec.json.decode(text)) for n, text in links.items() if text != "[]"}
    sections: dict[int, list[SectionTextRow]] = {}
    for row in tx.all(sql.context_files_of, SectionTextRow, project_id=tx.project.id, ns=to_json_array(links)):
        sections.setdefault(row.n, []).append(row)
    for n, rows in sections.items():
        paths_of[n] = list(dict.fromkeys([*paths_of.get(n, ()), *extract_context_files(rows)]))
    return {n: paths for n, paths in paths_of.items() if paths}


def extract_paths(links: Iterable[str]) -> list[str]:
    """Return the distinct paths in context links, in order."""
    return list(dict.fromkeys(path for path in map(parse_link, links) if path is not None))


# --- The work of others in progress -----------------------------------------------------------------------------------


def shorten_path(path: str) -> str:
    """Return a path for a warning; of a very long path only the end."""
    return path if len(path) <= PATH_SHOWN_CHARS_MAX else f"…{path[-PATH_SHOWN_CHARS_MAX:]}"


class InProgressRow(Struct, frozen=True):
    """A node that an actor works on."""

    n: int
    id: str
    summary: str
    claimed_by: str | None
    context_links: str


class OverlappingNode(Struct):
    """A node in progress that shares files, and the paths that match these files."""

    id: str
    summary: str
    claimed_by: str | None
    paths: list[str]

    def describe(self) -> str:
        """Return a clause for the warning of another node: the actor, and a common file."""
        claimant = f" (claimed by {quote_text(self.claimed_by)})" if self.claimed_by is not None else ""
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return f"works on {shorten_path(self.paths[0])}{more}, which {self.id}{claimant} works on too"


class WorkInProgress:
    """The nodes that others work on, with their paths. They are loaded once for an answer."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        rows = tx.all(sql.in_progress, InProgressRow, project_id=tx.project.id, at_most=IN_PROGRESS_MAX)
        self.nodes = {row.n: row for row in rows}
        self.paths = load_paths(tx, {row.n: row.context_links for row in rows}) if rows else {}

    def find_overlaps(self, nodes: Iterable[WorkNodeRow]) -> dict[int, list[OverlappingNode]]:
        """Return the nodes in progress that share files with nodes, by number. Nodes without overlaps are left out."""
        if not self.paths:
            return {}
        paths_of = load_paths(self._tx, {node.n: node.context_links for node in nodes})
        shared = self.find_shared(paths_of.values())
        overlaps_of = {n: self._list_overlaps(n, paths, shared) for n, paths in paths_of.items()}
        return {n: overlaps for n, overlaps in overlaps_of.items() if overlaps}

    def find_shared(self, paths: Iterable[Collection[str]]) -> Mapping[str, Collection[str]]:
        """Return for each path the paths in progress that match a common file."""
        distinct = dict.fromkeys(path for some in paths for path in some)
        among = dict.fromkeys(path for some in self.paths.values() for path in some)
        return find_shared_paths(self._tx, distinct, among).found if distinct else {}

    def _list_overlaps(
        self, n: int, paths: Iterable[str], shared: Mapping[str, Collection[str]]
    ) -> list[OverlappingNode]:
        common: dict[str, str] = {}  # the narrower one of two paths with files in common, by that of the other node
        for path in paths:
            for path_in_progress in shared.get(path, ()):
                common[path_in_progress] = max(
                    common.get(path_in_progress, path_in_progress), path, key=_get_narrowness
                )
        overlaps = []
        for other_n, paths_of_other in self.paths.items():
            touched = dict.fromkeys(common[path] for path in paths_of_other if path in common)
            if touched and other_n != n:
                row = self.nodes[other_n]
                overlaps.append(OverlappingNode(row.id, row.summary, row.claimed_by, list(touched)))
        return overlaps


def _get_narrowness(path: str) -> tuple[bool, int]:
    """Return a sort key by which folders and patterns come before files."""
    return "*" not in path, len(path)


def find_overlapping_work(tx: Transaction, node: WorkNodeRow) -> list[OverlappingNode]:
    """Return the nodes in progress of others that touch files of a node."""
    return WorkInProgress(tx).find_overlaps([node]).get(node.n, [])


# --- The policy `overlap` ---------------------------------------------------------------------------------------------


class OverlapsInProgress(Conflict):
    """Another actor works on files of the given node, and the project avoids overlaps."""

    code = "overlaps_in_progress"

    def __init__(self, node: WorkNodeRow, overlaps: list[OverlappingNode]) -> None:
        super().__init__(
            f"node {node.id} {overlaps[0].describe()}, and this project avoids that (policy overlap); wait until it is "
            "resolved or released",
            next_steps=NextStep("work.next", "offers another node without node_id"),
            node_id=node.id,
            overlaps=[
                {"id": overlap.id, "claimed_by": overlap.claimed_by, "paths": overlap.paths} for overlap in overlaps
            ],
        )


class OverlapGuard:
    """The overlaps of the nodes of one answer with the work of others."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._policy = get_policies(tx).overlap
        self._passed_over: list[tuple[WorkNodeRow, OverlappingNode]] = []
        self._has_more = False  # candidates that were not looked at

    @property
    def _avoids(self) -> bool:
        return self._policy == "avoid" and bool(self._in_progress.paths)

    def pick(self, find: Callable[[int], list[WorkNodeRow]], *, wanted: int) -> list[WorkNodeRow]:
        """Return the first nodes that may be offered. `find` returns at most so many candidates, best first."""
        if not self._avoids:
            return find(wanted)
        ahead = LOOK_AHEAD
        while True:
            candidates = find(wanted + ahead)
            offered = self._pass_over(candidates, wanted=wanted)
            self._has_more = len(candidates) == wanted + ahead and len(offered) < wanted
            if not self._has_more or ahead >= LOOK_AHEAD_MAX:
                return offered
            ahead *= 4

    def _pass_over(self, nodes: list[WorkNodeRow], *, wanted: int) -> list[WorkNodeRow]:
        """Return the first nodes that may be offered, and record the nodes that were skipped before them."""
        self._passed_over = []
        overlaps = self._find_overlaps(nodes)
        offered: list[WorkNodeRow] = []
        for node in nodes:
            if len(offered) == wanted:
                break
            if node.n in overlaps:
                self._passed_over.append((node, overlaps[node.n][0]))
            else:
                offered.append(node)
        return offered

    def check(self, node: WorkNodeRow) -> None:
        """Raise OverlapsInProgress if a given node must not be offered."""
        if self._avoids and (overlaps := self._find_overlaps([node]).get(node.n)):
            raise OverlapsInProgress(node, overlaps)

    def warn(self, warnings: Warnings, nodes: list[WorkNodeRow]) -> None:
        """Add a warning for each node that shares files with others, or was skipped before one of these nodes."""
        if self._policy == "avoid":
            for node, overlap in self._passed_over:
                warnings.add(node.id, f"passed over: it {overlap.describe()}")
            return
        if self._policy == "off" or any(node.others_work is not None and not node.others_work for node in nodes):
            return  # without a look at their paths
        overlaps = self._find_overlaps(nodes)
        for node in nodes:
            for overlap in overlaps.get(node.n, ()):
                warnings.add(node.id, overlap.describe())

    def explain(self) -> str | None:
        """Return the reason why no node is offered, if all candidates were skipped."""
        if not self._passed_over:
            return None
        named = "; ".join(f"{node.id} {overlap.describe()}" for node, overlap in self._passed_over[:NAMED_MAX])
        total = len(self._passed_over)
        more = f"; and {total - NAMED_MAX} more" if total > NAMED_MAX else ""
        unseen = "; others were not looked at, so name one of them or a scope" if self._has_more else ""
        return f"{total} actionable nodes were passed over (policy overlap): {named}{more}{unseen}"

    def _find_overlaps(self, nodes: list[WorkNodeRow]) -> dict[int, list[OverlappingNode]]:
        return self._in_progress.find_overlaps(nodes)

    @cached_property
    def _in_progress(self) -> WorkInProgress:
        return WorkInProgress(self._tx)
