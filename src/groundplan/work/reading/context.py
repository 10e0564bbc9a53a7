"""Read one node deeply: all of it, the way to it, what lies below, what it waits for and who waits for it.

Every part is bounded, and what was left out is counted. Where the caller has a cap on answers, the parts that matter
least give way: the lower levels of the tree first, then edges, then distant ancestors; the node itself stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.output_gate import encode, fits
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.node import Node, nodes_shown
from groundplan.work.reading.around import Ancestor, Dependency, Relation, above, beside
from groundplan.work.reading.room import Room
from groundplan.work.reading.tree import Branch, NodeTree, fitting, grown, joined, left_out
from groundplan.work.refs import find, in_project
from groundplan.work.requests import NodeRef

DEPTH_MAX = 10

# How to get at what an answer had no room for.
HINTS = {
    "children": "children: graph_query {project, filter: {parent: id}}",
    "ancestors": "ancestors: graph_context of one that is shown",
    "depends_on": "depends_on: graph_query {project, filter: {depended_by: id}}",
    "depended_by": "depended_by: graph_query {project, filter: {depends_on: id}}",
    "related": "related: graph_history {node_id}",
    "context_links": "context_links: graph_history {node_id}",
}


class ReadContext(Struct, forbid_unknown_fields=True):
    """The node, and how many levels below it to show."""

    node_id: NodeRef
    depth: Annotated[int, Meta(ge=0, le=DEPTH_MAX)] = 2
    lean: bool | None = None


class LeftOut(Struct, kw_only=True):
    """How many there are that the answer had no room for, and how to get at them."""

    children: int | UnsetType = UNSET
    ancestors: int | UnsetType = UNSET
    depends_on: int | UnsetType = UNSET
    depended_by: int | UnsetType = UNSET
    related: int | UnsetType = UNSET
    context_links: int | UnsetType = UNSET
    hint: str


class Context(Struct, kw_only=True):
    """A node and its neighbourhood. A lean one has no empty fields."""

    node: Node
    ancestors: list[Ancestor] | UnsetType = UNSET
    children: NodeTree | UnsetType = UNSET
    depends_on: list[Dependency] | UnsetType = UNSET
    depended_by: list[Dependency] | UnsetType = UNSET
    related: list[Relation] | UnsetType = UNSET
    left_out: LeftOut | UnsetType = UNSET


@dataclass(frozen=True)
class Neighbourhood:
    """What the answer shows, and how many there are of each sort in all."""

    node: Node
    ancestors: Sequence[Ancestor]  # root first
    branches: Sequence[Branch]
    depends_on: Sequence[Dependency]
    depended_by: Sequence[Dependency]
    related: Sequence[Relation]
    totals: dict[str, int]


def context(tx: Transaction, request: ReadContext) -> Context:
    """A node with its neighbourhood.

    Raises:
        AmbiguousNode: several ids begin like this.
    """
    lean = tx.preferences.lean if request.lean is None else request.lean
    cap = tx.preferences.answer_tokens_max
    found = _neighbourhood(tx, in_project(tx, request.node_id).n, depth=request.depth, lean=lean)
    answer = _answer(found, lean=lean)
    return answer if cap == 0 or fits(encode(answer), cap) else _answer(_cut(found, cap), lean=lean)


def _neighbourhood(tx: Transaction, n: int, *, depth: int, lean: bool) -> Neighbourhood:
    node = nodes_shown(tx, [n], lean=lean)[n]
    over, around = above(tx, n), beside(tx, n, resolved=node.resolved, lean=lean)
    branches = grown(tx, node, n, depth=depth)
    return Neighbourhood(
        node=node,
        ancestors=over.ancestors,
        branches=branches,
        depends_on=around.depends_on,
        depended_by=around.depended_by,
        related=around.related,
        totals={
            "children": branches[0].count,
            "ancestors": len(over.ancestors) + over.left_out,
            **around.totals,
            "context_links": len(node.context_links or ()),
        },
    )


def _answer(found: Neighbourhood, *, lean: bool) -> Context:
    answer = Context(
        node=found.node,
        ancestors=list(found.ancestors),
        children=joined(found.branches, lean=lean),
        depends_on=list(found.depends_on),
        depended_by=list(found.depended_by),
        related=list(found.related) or UNSET,
    )
    missing = {
        "ancestors": found.totals["ancestors"] - len(found.ancestors),
        "children": left_out(found.branches) if found.branches else found.totals["children"],
        "depends_on": found.totals["depends_on"] - len(found.depends_on),
        "depended_by": found.totals["depended_by"] - len(found.depended_by),
        "related": found.totals["related"] - len(found.related),
        "context_links": found.totals["context_links"] - len(found.node.context_links or ()),
    }
    answer.left_out = _left_out(missing)
    if lean:
        answer.ancestors = answer.ancestors or UNSET
        answer.depends_on = answer.depends_on or UNSET
        answer.depended_by = answer.depended_by or UNSET
    return answer


def _left_out(missing: Mapping[str, int]) -> LeftOut | UnsetType:
    counted = {name: count for name, count in missing.items() if count}
    if not counted:
        return UNSET
    return msgspec.convert({**counted, "hint": "; ".join(map(HINTS.__getitem__, counted))}, LeftOut)


# An answer in which everything is missing, with counts as long as any.
_FRAME: dict[str, Any] = {
    **{name: [] for name in Context.__struct_fields__},
    "left_out": _left_out(dict.fromkeys(HINTS, 10**9)),
}


def _cut(found: Neighbourhood, cap: int) -> Neighbourhood:
    """As much as fits, the most important first. What does not fit in one place leaves room for the next."""
    room = Room(cap, _FRAME)
    node = _node_that_fits(found.node, room)
    top = fitting(found.branches[:1], room)
    if not top:  # the node has said its state already
        top = list(found.branches[:1])
        top[0].shown.state = UNSET
        room.takes(top[0].shown)
    nearest = room.beginning(reversed(found.ancestors))
    return replace(
        found,
        node=node,
        ancestors=nearest[::-1],
        depends_on=room.beginning(found.depends_on),
        depended_by=room.beginning(found.depended_by),
        related=room.beginning(found.related),
        branches=[*top, *fitting(found.branches[1:], room)],
    )


def _node_that_fits(node: Node, room: Room) -> Node:
    """The node, whole if possible: else without its last links and its oldest evidence."""
    if room.takes(node):
        return node
    links, evidence = node.context_links or [], node.evidence or []
    total = node.evidence_total or len(evidence)
    bare = msgspec.structs.replace(node, context_links=[], evidence=[], evidence_total=total)
    if not room.takes(bare):
        bare.state = bare.properties = UNSET
        room.takes(bare)
    kept_links = room.beginning(links)
    newest = room.beginning(reversed(evidence))
    return msgspec.structs.replace(
        bare,
        context_links=kept_links,
        evidence=newest[::-1],
        evidence_total=total if len(newest) < total else UNSET,
    )


OPERATION = Operation(
    name="work.context",
    summary="A node with its ancestors, tree and dependencies.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    input=ReadContext,
    output=Context,
    handler=context,
    project=lambda tx, request: find(tx, request.node_id).project_id,
    tool=Tool("graph_context", Group.WORK),
    command=Command(("work", "context"), arguments=("node_id",)),
)
