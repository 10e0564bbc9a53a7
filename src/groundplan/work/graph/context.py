"""Read one node in full, with its ancestors, subtree, dependencies and dependents.

Every part is bounded, and what is left out is counted. If the caller has a cap on answers, the least important parts
are cut first: the lower levels of the tree, then edges, then distant ancestors; the node itself stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Budget, CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.operations.registry import AnswerBudget, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.answers import TRIMMING, AnswerBriefing, list_described
from groundplan.work.links import load_shown_links
from groundplan.work.nodes import WorkNode, load_nodes
from groundplan.work.refs import find_node, find_node_in_project
from groundplan.work.requests import NodeRef

DEPTH_MAX = 10


class ReadContext(Struct, forbid_unknown_fields=True):
    """The node, and the number of levels of its subtree to include."""

    node_id: NodeRef
    depth: Annotated[int, Meta(ge=0, le=DEPTH_MAX)] = 2
    budget: AnswerBudget = None
    lean: bool | None = None


class NodeContext(Struct, kw_only=True):
    """A node and its neighbours. A lean answer leaves out empty fields."""

    # The tree needs no rule here: `context` adds only as much of it as fits.
    trimming: ClassVar[Trimming] = Trimming(
        *TRIMMING,
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
    if request.budget is None:
        briefing = None
    else:
        briefing = AnswerBriefing(tx, n, lean=lean, list_shown=lambda: _list_shown(answer))
        room = Budget(room.free_chars - briefing.measure(), room)  # the tree uses what the briefing leaves
    branches = fit_branches(branches, room)
    answer.children = join_branches(branches, lean=lean)
    missing["children"] = count_left_out(branches)
    answer.left_out = {name: count for name, count in missing.items() if count} or UNSET
    if briefing is not None:
        briefing.add_to(answer)
    return answer


def _list_shown(answer: NodeContext) -> dict[str, bool]:
    return {dependency.node.id: True for dependency in answer.depends_on or ()} | list_described(answer.node)


OPERATION = declare(
    context,
    name="work.context",
    summary="A node with its ancestors, tree and dependencies.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: find_node(tx, request.node_id).project_id,
    tool=Tool("graph_context", Group.WORK),
    http=Route("GET", "/projects/{project}/work/nodes/{node_id}"),
)


# --- Neighbours -------------------------------------------------------------------------------------------------------

ANCESTORS_MAX = 50  # the root and the nearest ones
DEPENDENCIES_MAX = 20  # in each direction
RELATED_MAX = 20  # in each direction
EDGES_SCANNED_MAX = 500  # edges of one node that are read to list the open ones first

sql = load_queries(__file__)


class Ancestor(Struct):
    """An ancestor of a node."""

    id: str
    summary: str
    resolved: bool


class NodeDependency(Struct):
    """The target of a `depends_on` edge, and whether the dependency is satisfied."""

    node: WorkNode
    satisfied: bool


class Relation(Struct):
    """The node at the other end of an edge that is not a dependency."""

    type: str
    direction: Literal["out", "in"]
    id: str
    summary: str


class AncestorRow(Struct):
    """An ancestor of a node, with its depth."""

    id: str
    summary: str
    resolved: bool
    depth: int


class AncestorList(msgspec.Struct, frozen=True):
    """The listed ancestors, root first, and the number of ancestors left out below the root."""

    ancestors: list[Ancestor]
    left_out: int


class EdgeNeighbours(msgspec.Struct, frozen=True):
    """The neighbours along edges, and the number of neighbours that are left out of each list."""

    depends_on: list[NodeDependency]
    depended_by: list[NodeDependency]
    related: list[Relation]
    left_out: dict[str, int]


def load_ancestors(tx: Transaction, n: int) -> AncestorList:
    """Return the ancestors of a node. If there are very many, only the root and the nearest are returned."""
    *rows, node = tx.all(sql.ancestors, AncestorRow, project_id=tx.project.id, n=n, at_most=ANCESTORS_MAX)
    if node.depth > ANCESTORS_MAX:
        rows[0] = tx.one(sql.root_ancestor, AncestorRow, project_id=tx.project.id)
    return AncestorList([Ancestor(row.id, row.summary, row.resolved) for row in rows], node.depth - len(rows))


def load_edge_neighbours(tx: Transaction, n: int, *, resolved: bool, lean: bool) -> EdgeNeighbours:
    """Return the dependencies, dependents and other relations of a node."""
    project_id = tx.project.id
    edges = {"project_id": project_id, "n": n, "looked_through": EDGES_SCANNED_MAX, "at_most": DEPENDENCIES_MAX + 1}
    targets = tx.scalars(sql.dependencies, **edges)
    waiting = tx.scalars(sql.dependents, **edges)
    related = [
        *_to_relations(tx.all(sql.related_out, project_id=project_id, n=n, at_most=RELATED_MAX + 1), "out"),
        *_to_relations(tx.all(sql.related_in, project_id=project_id, n=n, at_most=RELATED_MAX + 1), "in"),
    ]
    totals: Sequence[int] = (len(targets), len(waiting), len(related))
    if max(len(targets), len(waiting)) > DEPENDENCIES_MAX or len(related) > RELATED_MAX:
        totals = tx.one(sql.edge_counts, project_id=project_id, n=n)  # there may be more than were fetched
    targets, waiting = targets[:DEPENDENCIES_MAX], waiting[:DEPENDENCIES_MAX]
    related = [*_select_first(related, "out"), *_select_first(related, "in")]
    nodes = load_nodes(tx, {*targets, *waiting}, lean=lean) if targets or waiting else {}
    left_out = {
        name: total - len(listed)
        for name, total, listed in zip(
            ("depends_on", "depended_by", "related"), totals, (targets, waiting, related), strict=True
        )
    }
    return EdgeNeighbours(
        depends_on=[NodeDependency(nodes[target_n], nodes[target_n].resolved) for target_n in targets],
        depended_by=[NodeDependency(nodes[waiting_n], resolved) for waiting_n in waiting],
        related=related,
        left_out=left_out,
    )


def _to_relations(rows: Sequence[tuple[str, str, str]], direction: Literal["out", "in"]) -> list[Relation]:
    return [Relation(type_, direction, id_, summary) for id_, type_, summary in rows]


def _select_first(related: Sequence[Relation], direction: str) -> list[Relation]:
    return [relation for relation in related if relation.direction == direction][:RELATED_MAX]


# --- Subtree: level by level, the oldest nodes first ------------------------------------------------------------------

CHILDREN_MAX = 50  # per node in one answer
TREE_NODES_MAX = 200  # in one answer


class ChildRow(Struct):
    """A child of a node."""

    parent_n: int
    n: int
    id: str
    summary: str
    resolved: bool
    state: str | None


class NodeTree(Struct, kw_only=True):
    """A node with its subtree. `child_count` is the number of all children, set only if some are not listed."""

    id: str
    summary: str
    resolved: bool
    state: Any = UNSET
    children: list[NodeTree] | UnsetType = UNSET
    child_count: int | UnsetType = UNSET


class Branch(Struct):
    """A node of the tree, with its parent and the number of its children."""

    n: int
    tree: NodeTree
    parent: Branch | None = None
    child_count: int = 0
    is_last_level: bool = False  # the request asks for nothing below

    def set_children(self, children: Sequence[NodeTree], *, lean: bool) -> None:
        """Add the first children of the node to it."""
        self.tree.child_count = self.child_count if len(children) < self.child_count else UNSET
        # A leaf gets neither field: leaves are the most frequent nodes, and each field costs tokens.
        is_bare_top = self.parent is None and not (self.child_count or lean or self.is_last_level)
        self.tree.children = list(children) if children or is_bare_top else UNSET


def load_branches(tx: Transaction, node: WorkNode, n: int, *, depth: int) -> list[Branch]:
    """Return the nodes of a subtree, level by level in the order of creation, beginning with its root."""
    top = Branch(n, NodeTree(id=node.id, summary=node.summary, resolved=node.resolved, state=node.state))
    branches, level = [top], [top]
    for height in range(depth, -1, -1):
        _count_children(tx, level)
        for branch in level:
            branch.is_last_level = height == 0
        if height > 0:
            level = _load_next_level(tx, level, room=TREE_NODES_MAX - len(branches))
            branches += level
        if not level:
            break
    return branches


def join_branches(branches: Sequence[Branch], *, lean: bool) -> NodeTree | UnsetType:
    """Return the tree that all or the leading branches form."""
    children: dict[int, list[NodeTree]] = {}
    for branch in branches[1:]:
        if branch.parent is not None:
            children.setdefault(branch.parent.n, []).append(branch.tree)
    for branch in branches:
        branch.set_children(children.get(branch.n, ()), lean=lean)
    return branches[0].tree if branches[0].child_count or not lean else UNSET


def count_left_out(branches: Sequence[Branch]) -> int:
    """Return the number of missing children of these branches, without children below the last level."""
    asked_for = sum(branch.child_count for branch in branches if not branch.is_last_level)
    return asked_for - (len(branches) - 1)


def fit_branches(branches: list[Branch], budget: Budget) -> list[Branch]:
    """Return the leading branches that fit the budget. The first branch is always included."""
    for branch in branches:
        branch.tree.children, branch.tree.child_count = [], branch.child_count  # the most that joining can add
    return branches[: len(budget.take_rows([branch.tree for branch in branches], at_least=1))]


def _count_children(tx: Transaction, level: Sequence[Branch]) -> None:
    counts: dict[int, int] = dict(tx.all(sql.child_counts, project_id=tx.project.id, ns=_encode_numbers(level)))
    for branch in level:
        branch.child_count = counts[branch.n]


def _load_next_level(tx: Transaction, level: Sequence[Branch], *, room: int) -> list[Branch]:
    parents: list[Branch] = []
    for branch in level:
        if room > 0 and branch.child_count:
            parents.append(branch)
            room -= min(branch.child_count, CHILDREN_MAX)
    if not parents:
        return []
    children: dict[int, list[Branch]] = {branch.n: [] for branch in parents}
    above = {branch.n: branch for branch in parents}
    rows = tx.all(
        sql.first_children, ChildRow, project_id=tx.project.id, ns=_encode_numbers(parents), of_each=CHILDREN_MAX
    )
    for row in rows:
        tree = NodeTree(id=row.id, summary=row.summary, resolved=row.resolved)
        if row.state is not None:
            tree.state = msgspec.json.decode(row.state)
        children[row.parent_n].append(Branch(row.n, tree, above[row.parent_n]))
    below = [branch for siblings in children.values() for branch in siblings]
    return below[: len(below) + min(room, 0)]


def _encode_numbers(branches: Sequence[Branch]) -> str:
    return to_json_array(branch.n for branch in branches)
