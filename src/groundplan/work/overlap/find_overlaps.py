"""Find the work in progress of others that touches the files of a node."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec
from msgspec import Struct

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.providers import find_shared_paths
from groundplan.work.nodes import WorkNodeRow
from groundplan.work.overlap.node_paths import load_paths

PATH_SHOWN_CHARS_MAX = 120
IN_PROGRESS_MAX = 200  # nodes with a claim, and as many without one

sql = load_queries(__file__)


def shorten_path(path: str) -> str:
    """Return a path for a warning; of a very long one its end."""
    return path if len(path) <= PATH_SHOWN_CHARS_MAX else f"…{path[-PATH_SHOWN_CHARS_MAX:]}"


class InProgressRow(msgspec.Struct, frozen=True):
    """A node that somebody works on."""

    n: int
    id: str
    summary: str
    claimed_by: str | None
    context_links: str


class OverlappingNode(Struct):
    """A node in progress with files in common, and the paths that lead to these."""

    id: str
    summary: str
    claimed_by: str | None
    paths: list[str]

    def describe(self) -> str:
        """Return who works on which file, to be said of another node."""
        who = f" (claimed by {quote_text(self.claimed_by)})" if self.claimed_by is not None else ""
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return f"works on {shorten_path(self.paths[0])}{more}, which {self.id}{who} works on too"


class WorkInProgress:
    """The nodes that others work on now, with their paths; loaded once for an answer."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        rows = tx.all(sql.in_progress, InProgressRow, project_id=tx.project.id, at_most=IN_PROGRESS_MAX)
        self.nodes = {row.n: row for row in rows}
        self.paths = load_paths(tx, {row.n: row.context_links for row in rows}) if rows else {}

    def find_overlaps(self, nodes: Iterable[WorkNodeRow]) -> dict[int, list[OverlappingNode]]:
        """Return the nodes in progress that touch files of these nodes, by the number of each node that has some."""
        if not self.paths:
            return {}
        paths_of = load_paths(self._tx, {node.n: node.context_links for node in nodes})
        shared = self.find_shared(paths_of.values())
        overlaps = {n: self._list_overlaps(n, paths, shared) for n, paths in paths_of.items()}
        return {n: found for n, found in overlaps.items() if found}

    def find_shared(self, paths: Iterable[Collection[str]]) -> Mapping[str, Collection[str]]:
        """Return for each of these paths the paths in progress with a file in common."""
        asked = dict.fromkeys(path for some in paths for path in some)
        among = dict.fromkeys(path for some in self.paths.values() for path in some)
        return find_shared_paths(self._tx, asked, among).found if asked else {}

    def _list_overlaps(
        self, n: int, paths: Iterable[str], shared: Mapping[str, Collection[str]]
    ) -> list[OverlappingNode]:
        common: dict[str, str] = {}  # the narrower one of two paths with files in common, by that of the other node
        for path in paths:
            for other in shared.get(path, ()):
                common[other] = max(common.get(other, other), path, key=_get_narrowness)
        found = []
        for other_n, others in self.paths.items():
            touched = dict.fromkeys(common[path] for path in others if path in common)
            if touched and other_n != n:
                row = self.nodes[other_n]
                found.append(OverlappingNode(row.id, row.summary, row.claimed_by, list(touched)))
        return found


def _get_narrowness(path: str) -> tuple[bool, int]:
    """Return a sort key by which a file comes after a folder and a pattern."""
    return "*" not in path, len(path)


def find_overlapping_work(tx: Transaction, node: WorkNodeRow) -> list[OverlappingNode]:
    """Return the nodes in progress of others that touch files of a node."""
    return WorkInProgress(tx).find_overlaps([node]).get(node.n, [])
