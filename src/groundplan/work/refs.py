"""Resolve references to nodes: ids, aliases and unique prefixes of ids. Errors for other texts suggest corrections.

An alias is the id of an imported item in the tool that it came from. A whole id wins over an alias, and an alias over
the prefix of an id.

Only nodes that the actor may see are considered: a node in a hidden project looks the same as a missing one.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import starmap
from typing import Protocol

import msgspec

from groundplan.kernel.errors import Invalid, MixedProjects, NextStep, NotFound
from groundplan.kernel.ids import PREFIX_CHARS_MIN
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.store.authorize import ProjectId, find_project_id, find_visible_project_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import LinkTarget, LinkTargets
from groundplan.work.kinds import TASK
from groundplan.work.nodes import WorkNodeRow, fetch_node

SUGGESTION_PREFIX_CHARS = 2  # how much of an unknown id must match for other ids to be suggested
CANDIDATES_MAX = 2_000
ID_CHARS_MAX = 32

sql = load_queries(__file__)


class AmbiguousNode(Invalid):
    """The text is the prefix of several node ids."""

    code = "ambiguous_node"

    def __init__(self, ref: str, matches: list[str]) -> None:
        super().__init__(
            f"several node ids begin with {ref!r}: {', '.join(matches)}; write more of the id", ref=ref, near=matches
        )


class AmbiguousAlias(Invalid):
    """Nodes of several projects have the alias."""

    code = "ambiguous_alias"

    def __init__(self, ref: str, matches: list[str]) -> None:
        super().__init__(
            f"nodes of several projects were imported under {ref!r}: {', '.join(matches)}; "
            "name the project, or one of these ids",
            ref=ref,
            near=matches,
        )


class NotTask(Invalid):
    """The node is the root of a project or a feature, and a task is required."""

    code = "not_a_task"

    def __init__(self, ref: str, kind: str) -> None:
        super().__init__(f"node {ref!r} is a {kind}, not a task; name a task", ref=ref, kind=kind)


class NodeLocation(msgspec.Struct, frozen=True):
    """The project, number and id of a node."""

    project_id: str
    n: int
    id: str


def node_elsewhere(node: NodeLocation, project_id: str, *, beside: str | None) -> MixedProjects:
    """Return the error for a node of another project. `beside` is a node of this project in the same call."""
    where = f"node {beside} is in project {project_id}" if beside else f"the call is about project {project_id}"
    return MixedProjects(
        f"{where} and node {node.id} is in project {node.project_id}; send one call for each project",
        nodes=[beside, node.id] if beside else [node.id],
        projects=[str(project_id), str(node.project_id)],  # the encoder needs plain str
    )


def find_node(tx: Transaction, ref: str) -> NodeLocation:
    """Return the node with this id or alias, else the only node whose id begins with it."""
    node = find_node_or_none(tx, ref)
    if node is None:
        raise missing_node(tx, ref)
    return node


def find_node_or_none(tx: Transaction, ref: str) -> NodeLocation | None:
    """Return the node with this id or alias, or the only node whose id begins with it, or None.

    The id of a node that was merged into another leads to that one.
    """
    visible = find_visible_project_ids(tx)
    row = tx.one_or_none(sql.node_by_id, id=ref)
    location = None if row is None else _to_location(*row)
    if location is not None and (visible is None or location.project_id in visible):
        return location
    if (aliased := _find_by_alias(tx, ref, visible)) is not None:
        return aliased
    # The id of a node that was merged away or deleted is never read as a prefix. Hidden nodes do not count here.
    if (removed := find_removed_node(tx, ref)) is not None:
        return _follow_merges(tx, removed)
    if not PREFIX_CHARS_MIN <= len(ref) <= ID_CHARS_MAX:
        return None
    matches = find_nodes_by_prefix(tx, ref, visible, at_most=CANDIDATES_MAX)
    if len(matches) > 1:
        raise AmbiguousNode(ref, [node.id for node in matches[:3]])
    return matches[0] if matches else None


def _follow_merges(tx: Transaction, removed: RemovedNode) -> NodeLocation | None:
    """Return the node that a removed one was merged into, or None if that was deleted."""
    step: RemovedNode | None = removed
    while step is not None and step.into is not None:
        row = tx.one_or_none(sql.node_by_id, id=step.into)
        if row is not None:
            return _to_location(*row)
        step = find_removed_node(tx, step.into)
    return None


def resolve_node_project(tx: Transaction, ref: str) -> str:
    """Return the project of a node, even of a removed one, so that a retry finds its stored answer."""
    node = find_node_or_none(tx, ref)
    if node is not None:
        return node.project_id
    removed = find_removed_node(tx, ref)
    if removed is None:
        raise missing_node(tx, ref)
    return removed.project_id


class ProjectOrNode(Protocol):
    """A request that names a project or one of its nodes."""

    @property
    def project(self) -> str | None: ...

    @property
    def node_id(self) -> str | None: ...


def locate_request(tx: Transaction, request: ProjectOrNode) -> str:
    """Return the project of a request, which is the given one or that of the node."""
    if request.project is not None:
        return request.project
    if request.node_id is None:
        raise missing_argument("project", (), expected="a string, unless node_id names a node")
    return resolve_node_project(tx, request.node_id)


def missing_node(tx: Transaction, ref: str) -> NotFound:
    """Return the error for an unknown id, with similar ids as suggestions."""
    visible = find_visible_project_ids(tx)
    removed = find_removed_node(tx, ref)
    if removed is not None:
        return NotFound("node", ref, hint=f"it was merged into {removed.into!r}" if removed.into else "it was deleted")
    candidates = (
        find_nodes_by_prefix(tx, ref[:SUGGESTION_PREFIX_CHARS], visible, at_most=CANDIDATES_MAX)
        if len(ref) >= SUGGESTION_PREFIX_CHARS
        else []
    )
    similar = get_close_matches(ref[:ID_CHARS_MAX], [node.id for node in candidates], n=2)
    return NotFound("node", ref, near=similar, next_steps=NextStep("work.query", "finds nodes by text"))


def find_node_in_project(tx: Transaction, ref: str, *, beside: str | None = None) -> NodeLocation:
    """Return the node with this id, or the only node whose id begins with it, in the current project.

    `beside` is another node of the call, which the error names if this one is in another project.
    """
    node = find_node(tx, ref)
    if node.project_id != tx.project.id:
        raise node_elsewhere(node, tx.project.id, beside=beside)
    return node


def fetch_node_in_project(tx: Transaction, ref: str, *, beside: str | None = None) -> WorkNodeRow:
    """Return the fields of the node with this id or unique prefix in the current project."""
    # Nearly every reference is a whole id of this project, and then one statement is enough.
    node = tx.one_or_none(sql.node_by_own_id, WorkNodeRow, project_id=tx.project.id, id=ref)
    return node or fetch_node(tx, find_node_in_project(tx, ref, beside=beside).n)


def resolve_task(tx: Transaction, ref: str) -> tuple[str, str]:
    """Return the project and the whole id of a task, for slices that refer to tasks."""
    node = find_node(tx, ref)
    kind = tx.scalar(sql.kind_of_node, project_id=node.project_id, n=node.n)
    if kind not in (None, TASK):
        raise NotTask(ref, kind)
    return node.project_id, node.id


def find_work_targets(tx: Transaction, refs: list[str]) -> LinkTargets:
    """Return the nodes of the current project with these ids or unique prefixes, for slices that refer to nodes."""
    targets = find_known_targets(tx, dict.fromkeys(refs))
    near: dict[str, list[str]] = {}
    for ref in refs:
        if ref not in targets:
            node = find_node_or_none(tx, ref)
            if node is not None and node.project_id == tx.project.id:
                targets[ref] = find_known_targets(tx, [node.id])[node.id]
            else:
                near[ref] = list(missing_node(tx, ref).details.get("near", ()))
    return LinkTargets(targets, near)


def find_known_targets(tx: Transaction, ids: Iterable[str]) -> dict[str, LinkTarget]:
    """Return the nodes of the current project with the given ids. Unknown ids are left out."""
    rows = tx.all(sql.link_targets, project_id=tx.project.id, ids=to_json_array(ids))
    return {id_: LinkTarget(id_, kind or "node", summary) for id_, kind, summary in rows}


class RemovedNode(msgspec.Struct, frozen=True):
    """The project of a removed node, and the node into which it was merged."""

    project_id: str
    into: str | None  # the node it was merged into; None when it was deleted


def find_removed_node(tx: Transaction, ref: str) -> RemovedNode | None:
    """Return the removed node with this id; None if there is none or the actor may not see it."""
    row = tx.one_or_none(sql.removed_node, id=ref)
    if row is None:
        return None
    project_id, into = row
    visible = find_visible_project_ids(tx)
    return RemovedNode(ProjectId(project_id), into) if visible is None or project_id in visible else None


def _find_by_alias(tx: Transaction, alias: str, visible_project_ids: frozenset[str] | None) -> NodeLocation | None:
    """Return the node with an alias, preferably of the project of the call, or None."""
    nodes = [
        node
        for node in starmap(_to_location, tx.all(sql.nodes_by_alias, alias=alias))
        if visible_project_ids is None or node.project_id in visible_project_ids
    ]
    if len(nodes) > 1:
        project_id = _find_project_of_call(tx)
        own = [node for node in nodes if node.project_id == project_id]
        if not own:
            raise AmbiguousAlias(alias, [node.id for node in nodes[:3]])
        nodes = own
    return nodes[0] if nodes else None


def _find_project_of_call(tx: Transaction) -> str | None:
    """Return the id of the current project, or of the one that the caller named while the current one is looked for."""
    if tx.has_project:
        return tx.project.id
    return None if tx.named_project is None else find_project_id(tx, tx.named_project)


def find_nodes_by_prefix(
    tx: Transaction, prefix: str, visible_project_ids: frozenset[str] | None, *, at_most: int
) -> list[NodeLocation]:
    """Return the nodes whose ids begin with a text, in the order of their ids."""
    last = prefix[-1:]
    behind = prefix[:-1] + chr(ord(last) + 1) if last and ord(last) < 0x7F else None
    if behind is None:  # no id contains such a character
        return []
    nodes = starmap(_to_location, tx.all(sql.nodes_by_prefix, first=prefix, behind=behind, at_most=at_most))
    return [node for node in nodes if visible_project_ids is None or node.project_id in visible_project_ids]


def _to_location(project_id: str, n: int, node_id: str) -> NodeLocation:
    return NodeLocation(ProjectId(project_id), n, node_id)


def move_aliases(tx: Transaction, from_n: int, to_n: int) -> None:
    """Move the aliases of a node to the node into which it is merged."""
    tx.run(sql.move_aliases, project_id=tx.project.id, n=from_n, to_n=to_n)
    _detach_imports(tx, [from_n])


def remove_aliases(tx: Transaction, ns: Iterable[int]) -> None:
    """Remove the aliases of nodes that are deleted."""
    tx.run(sql.remove_aliases, project_id=tx.project.id, ns=to_json_array(ns))
    _detach_imports(tx, ns)


def _detach_imports(tx: Transaction, ns: Iterable[int]) -> None:
    """Store that the items of these nodes were imported, so that the next import does not create them again."""
    tx.run(sql.detach_imports, project_id=tx.project.id, ns=to_json_array(ns))
