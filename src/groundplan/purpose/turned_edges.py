"""The check of the doctor about edges that lead the other way since the meaning of DEPENDS_ON changed.

Until migration `cause_of_depends_on`, the source of every edge was its cause. Since then the source of a DEPENDS_ON
edge depends on its target. Between two levels both spellings mean the same, so only edges of one level are turned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from groundplan.kernel.access import Permission
from groundplan.kernel.events import list_event_headers
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.checkup import Finding, ok, warn
from groundplan.kernel.store.live_catalog import read_migration_time
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.editing.items import format_path
from groundplan.purpose.graph.cycles import find_closed_cycle
from groundplan.purpose.model import EdgeName, EdgeType
from groundplan.purpose.tables import Op
from groundplan.purpose.versions.versions import VersionRow, read_versions

sql = load_queries(__file__)

MIGRATION = "cause_of_depends_on"
TURNED_EDGES = "dependencies"
NAMED_MAX = 5
FIX = (
    "draw those in the draft from the other end that are meant the other way, and say the mechanism of the others anew"
)
CYCLE_FIX = "draw one of these links in the draft from its other end, or make it FEEDBACK"


class TurnedEdge(NamedTuple):
    """The keys of the ends of an edge that leads from its target to its source, and did not when it was stored."""

    source: str
    target: str

    @property
    def names(self) -> list[str]:
        """The names of all edges between the ends: a change of the type is recorded under the former name."""
        return [str(EdgeName(*self, edge_type)) for edge_type in EdgeType]


def check_turned_edges(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each version with edges that lead the other way, and for each cycle that this makes.

    Only the draft and the latest published version of a project count.
    """
    are_none = True
    for project in list_projects(tx, ListProjects(archived=True)).projects:
        tx.set_project(authorize_project(tx, project.id, Permission.PURPOSE_READ, by_id=True))
        versions = read_versions(tx)
        latest = [row for row in versions if not row.is_draft][-1:]
        for row in (*latest, *(row for row in versions if row.is_draft)):
            if edges := _find_turned_edges(tx, row):
                are_none = False
                yield from _describe_version(tx, f"{project.name}, version {row.number}", row, edges)
    if are_none:
        yield ok(TURNED_EDGES, "no link leads the other way since the meaning of DEPENDS_ON changed")


def _find_turned_edges(tx: Transaction, row: VersionRow) -> list[TurnedEdge]:
    """Return the edges that were stored before the change, and that nobody has drawn or changed since."""
    edges = tx.all(sql.edges_of_one_level, TurnedEdge, version_id=row.id)
    if not edges:
        return []
    subjects = {name: edge for edge in edges for name in edge.names}
    changed_at = read_migration_time(tx, MIGRATION)
    events = list_event_headers(tx, subjects, (Op.EDGE_ADDED, Op.EDGE_CHANGED))
    touched = {subjects[event.subject] for event in events if event.at > changed_at}
    return [edge for edge in edges if edge not in touched]


def _describe_version(tx: Transaction, name: str, row: VersionRow, edges: list[TurnedEdge]) -> Iterator[Finding]:
    readings = [f"{edge.source} depends on {edge.target}" for edge in edges[:NAMED_MAX]]
    more = f" and {len(edges) - NAMED_MAX} more" if len(edges) > NAMED_MAX else ""
    message = f"{name}: read the other way since the meaning of DEPENDS_ON changed: {', '.join(readings)}{more}"
    yield warn(TURNED_EDGES, message, FIX)
    content = read_content(tx, row.id)
    pairs = [content.orient(edge.name)[:2] for edge in content.causal_edges]
    cycle = find_closed_cycle(pairs, [(edge.target, edge.source) for edge in edges])
    if cycle is not None:
        yield warn(TURNED_EDGES, f"{name}: this makes a cycle: {format_path(cycle)}", CYCLE_FIX)
