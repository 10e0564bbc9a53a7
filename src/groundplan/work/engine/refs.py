"""From what callers write to the nodes they mean: whole ids, unique beginnings, and helpful refusals for the rest.

Everything here considers only nodes that the actor may see: a node in a hidden project reads like one that is missing.
"""

from __future__ import annotations

from itertools import starmap
from typing import NamedTuple

from groundplan.kernel.errors import Invalid, MixedProjects, NotFound
from groundplan.kernel.ids import PREFIX_CHARS_MIN
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

SUGGESTION_PREFIX_CHARS = 2  # how much of an unknown id must be right for the others to be looked through
CANDIDATES_MAX = 2_000
ID_CHARS_MAX = 32

sql = load_queries(__file__)


class AmbiguousNode(Invalid):
    """Several nodes begin like this."""

    code = "ambiguous_node"

    def __init__(self, ref: str, found: list[str]) -> None:
        super().__init__(
            f"several nodes begin with {ref!r}: {', '.join(found)}; write more of the id", ref=ref, near=found
        )


class NodeLocation(NamedTuple):
    """Where a node is, and how it is called."""

    project_id: str
    n: int
    id: str


def nodes_of_two_projects(first: NodeLocation, second: NodeLocation) -> MixedProjects:
    """Return the refusal of a call about nodes of two projects."""
    return MixedProjects(
        f"node {first.id} is of project {first.project_id} and node {second.id} of project {second.project_id}; "
        "send one call for each project",
        projects=[str(first.project_id), str(second.project_id)],  # plain, as the encoder wants them
    )


def find_node(tx: Transaction, ref: str) -> NodeLocation:
    """The node with this id, or the only one that begins like this.

    Raises:
        NotFound: there is none that the actor may see.
        AmbiguousNode: there are several.
    """
    found = find_node_or_none(tx, ref)
    if found is None:
        raise missing_node(tx, ref)
    return found


def find_node_or_none(tx: Transaction, ref: str) -> NodeLocation | None:
    """The same, or None where there is no such node."""
    seen = find_visible_project_ids(tx)
    row = tx.one_or_none(sql.node_by_id, id=ref)
    found = None if row is None else _to_location(*row)
    if found is not None and (seen is None or found.project_id in seen):
        return found
    # An id that was merged away or deleted stays what it was, and begins no other. What is hidden counts for nothing.
    if not PREFIX_CHARS_MIN <= len(ref) <= ID_CHARS_MAX or find_removed_node(tx, ref) is not None:
        return None
    alike = _find_by_prefix(tx, ref, seen, at_most=CANDIDATES_MAX)
    if len(alike) > 1:
        raise AmbiguousNode(ref, [one.id for one in alike[:3]])
    return alike[0] if alike else None


def resolve_node_project(tx: Transaction, ref: str) -> str:
    """The project of a node, also of one that is gone: a request that is sent again must find its answer.

    Raises:
        NotFound: there is and was none that the actor may see.
        AmbiguousNode: there are several that begin like this.
    """
    found = find_node_or_none(tx, ref)
    if found is not None:
        return found.project_id
    left = find_removed_node(tx, ref)
    if left is None:
        raise missing_node(tx, ref)
    return left.project_id


def missing_node(tx: Transaction, ref: str) -> NotFound:
    """The refusal of an id that leads nowhere, with what was probably meant."""
    seen = find_visible_project_ids(tx)
    left = find_removed_node(tx, ref)
    if left is not None:
        return NotFound("node", ref, hint=f"it was merged into {left.into!r}" if left.into else "it was deleted")
    from difflib import get_close_matches  # only a mistake needs it

    alike = (
        _find_by_prefix(tx, ref[:SUGGESTION_PREFIX_CHARS], seen, at_most=CANDIDATES_MAX)
        if len(ref) >= SUGGESTION_PREFIX_CHARS
        else []
    )
    near = get_close_matches(ref[:ID_CHARS_MAX], [one.id for one in alike], n=2)
    return NotFound("node", ref, near=near, next_steps=NextStep("work.query", "finds nodes by text"))


def find_node_in_project(tx: Transaction, ref: str) -> NodeLocation:
    """The node that is meant, in the project that was entered.

    Raises:
        NotFound: there is none that the actor may see.
        MixedProjects: it is of another project.
    """
    found = find_node(tx, ref)
    if found.project_id != tx.project.id:
        raise nodes_of_two_projects(NodeLocation(tx.project.id, 1, tx.project.id), found)
    return found


def resolve_task(tx: Transaction, ref: str) -> tuple[str, str]:
    """The project of a task and its whole id, for slices that refer to one.

    Raises:
        NotFound: there is none that the actor may see.
        AmbiguousNode: there are several that begin like this.
    """
    found = find_node(tx, ref)
    return found.project_id, found.id


class RemovedNode(NamedTuple):
    """What became of a node that is there no more."""

    project_id: str
    into: str | None  # where its work went; None when it was deleted


def find_removed_node(tx: Transaction, ref: str) -> RemovedNode | None:
    """What became of a node that the actor could see and that is there no more."""
    row = tx.one_or_none(sql.removed_node, id=ref)
    if row is None:
        return None
    project_id, into = row
    seen = find_visible_project_ids(tx)
    return RemovedNode(ProjectId(project_id), into) if seen is None or project_id in seen else None


def _find_by_prefix(
    tx: Transaction, beginning: str, seen: frozenset[str] | None, *, at_most: int
) -> list[NodeLocation]:
    last = beginning[-1:]
    behind = beginning[:-1] + chr(ord(last) + 1) if last and ord(last) < 0x7F else None
    if behind is None:  # no id has such a character
        return []
    found = starmap(_to_location, tx.all(sql.nodes_by_prefix, first=beginning, behind=behind, at_most=at_most))
    return [one for one in found if seen is None or one.project_id in seen]


def _to_location(project_id: str, n: int, node_id: str) -> NodeLocation:
    return NodeLocation(ProjectId(project_id), n, node_id)
