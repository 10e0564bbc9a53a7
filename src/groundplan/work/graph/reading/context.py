"""Read one node in full, with its ancestors, its subtree, its dependencies and its dependents.

Every part is bounded, and what is left out is counted. If the caller has a cap on answers, the least important parts
are cut first: the lower levels of the tree, then edges, then distant ancestors; the node itself stays.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.operations.registry import AnswerBudget, Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work import answers as briefing
from groundplan.work.graph.reading.neighbours import (
    Ancestor,
    NodeDependency,
    Relation,
    load_ancestors,
    load_edge_neighbours,
)
from groundplan.work.graph.reading.tree import NodeTree, count_left_out, fit_branches, join_branches, load_branches
from groundplan.work.links.shown_links import load_shown_links
from groundplan.work.nodes import WorkNode, load_nodes
from groundplan.work.refs import find_node, find_node_in_project
from groundplan.work.requests import NodeRef

DEPTH_MAX = 10


class ReadContext(Struct, forbid_unknown_fields=True):
    """The node, and how many levels below it to show."""

    node_id: NodeRef
    depth: Annotated[int, Meta(ge=0, le=DEPTH_MAX)] = 2
    budget: AnswerBudget = None
    lean: bool | None = None


class NodeContext(Struct, kw_only=True):
    """A node and its neighbours. A lean answer omits empty fields."""

    # The tree needs no rule here: `context` adds only as much of it as fits.
    trimming: ClassVar[Trimming] = Trimming(
        *briefing.TRIMMING,
        CutLists(("related",)),
        CutLists(("depended_by",)),
        CutLists(("depends_on",)),
        CutLists(("ancestors",), from_start=True),
        DropField("children.state"),  # the node has it as well
        CutLists(("node.serves", "node.rests_on", "node.supports", "node.refutes")),
        CutLists(("node.context_links",)),
        CutLists(("node.evidence",), from_start=True),
        DropField("node.properties"),
        DropField("node.state"),
    )

    node: WorkNode
    ancestors: list[Ancestor] | UnsetType = UNSET
    children: NodeTree | UnsetType = UNSET
    depends_on: list[NodeDependency] | UnsetType = UNSET
    depended_by: list[NodeDependency] | UnsetType = UNSET
    related: list[Relation] | UnsetType = UNSET
    left_out: LeftOut = UNSET
    briefing: Any = UNSET  # of the node, if the request has a budget


def context(tx: Transaction, request: ReadContext) -> NodeContext:
    """Return a node with its neighbours.

    Raises:
        AmbiguousNode: several ids begin with the given text.
    """
    lean = tx.preferences.lean if request.lean is None else request.lean
    n = find_node_in_project(tx, request.node_id).n
    node = load_nodes(tx, [n], lean=lean)[n]
    links = load_shown_links(tx, n, node.id, with_titles=not lean)
    node.serves, node.rests_on, node.supports, node.refutes = msgspec.structs.astuple(links)
    over, around = load_ancestors(tx, n), load_edge_neighbours(tx, n, resolved=node.resolved, lean=lean)
    answer = NodeContext(
        node=node,
        ancestors=over.ancestors,
        depends_on=around.depends_on,
        depended_by=around.depended_by,
        related=around.related or UNSET,
    )
    if lean:
        answer.ancestors = answer.ancestors or UNSET
        answer.depends_on = answer.depends_on or UNSET
        answer.depended_by = answer.depended_by or UNSET
    branches = load_branches(tx, node, n, depth=request.depth)
    missing = {"ancestors": over.left_out, "children": count_left_out(branches[:1]), **around.left_out}
    room = tx.budget.reserve(answer, missing)
    # With a budget, the tree leaves at least half of it to the briefing.
    branches = fit_branches(branches, room if request.budget is None else room.share(1, of=2))
    answer.children = join_branches(branches, lean=lean)
    missing["children"] = count_left_out(branches)
    answer.left_out = {name: count for name, count in missing.items() if count} or UNSET
    if request.budget is not None:
        briefing.add_briefing(tx, answer, n, lean=lean)
    return answer


OPERATION = declare(
    context,
    name="work.context",
    summary="A node with its ancestors, tree and dependencies.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: find_node(tx, request.node_id).project_id,
    tool=Tool("graph_context", Group.WORK),
    command=Command(("work", "context"), arguments=("node_id",)),
    http=Route("GET", "/projects/{project}/work/nodes/{node_id}"),
)
