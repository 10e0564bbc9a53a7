"""Read one node in full, with its ancestors, subtree, dependencies and dependents.

The lists share a room: first come ids and summaries of all of them, then details. A cursor goes on where they stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import (
    CURSOR_CHARS,
    CURSOR_CHARS_MAX,
    Budget,
    DropField,
    LeftOut,
    ListPart,
    ListRow,
    Position,
    Trimming,
    count_chars,
    share_room,
)
from groundplan.kernel.cursors import (
    BEFORE_ALL,
    Cursor,
    InvalidCursor,
    TextPosition,
    decode_cursor,
    encode_cursor,
    join_positions,
    locate_text,
    parse_text_position,
    read_after,
    split_positions,
)
from groundplan.kernel.operations.registry import AnswerBudget, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.answers import TRIMMING, AnswerBriefing, list_described
from groundplan.work.graph.node_lists import (
    EVIDENCE_CHARS_MIN,
    FIRST_PAGE,
    NODE_LISTS,
    AncestorRow,
    begin_ancestors,
    count_left_out,
    order_ancestors,
    read_ancestors,
    read_node_lists,
    shorten_evidence,
    show_node_lists,
)
from groundplan.work.graph.subtree import NodeTree, Subtree
from groundplan.work.kinds import Outcome, get_outcome
from groundplan.work.links import load_shown_links
from groundplan.work.nodes import (
    TRIMMABLE_FIELDS,
    WorkNode,
    WorkNodeRow,
    build_node,
    load_nodes,
    load_rows,
    summarize_node,
)
from groundplan.work.refs import find_node, find_node_in_project
from groundplan.work.requests import NodeRef

NAME = "work.context"
DEPTH_MAX = 10


class ReadContext(Struct, forbid_unknown_fields=True):
    """The node, and the number of levels of its subtree to include."""

    node_id: NodeRef
    depth: Annotated[int, Meta(ge=0, le=DEPTH_MAX)] = 2
    budget: AnswerBudget = None
    cursor: Cursor = None
    lean: bool | None = None


class NodeContext(Struct, kw_only=True):
    """A node and its neighbours. A lean answer leaves out empty fields."""

    # The lists need no rule here: only as much of them is added as fits.
    trimming: ClassVar[Trimming] = Trimming(
        *TRIMMING,
        DropField("children.state"),  # the node has it as well
        *(DropField(f"node.{name}") for name in TRIMMABLE_FIELDS),
    )

    node: WorkNode
    ancestors: list[Ancestor] | UnsetType = UNSET
    children: NodeTree | UnsetType = UNSET
    depends_on: list[NodeDependency] | UnsetType = UNSET
    depended_by: list[NodeDependency] | UnsetType = UNSET
    related: list[Relation] | UnsetType = UNSET
    left_out: LeftOut = UNSET
    next_cursor: str | UnsetType = UNSET
    briefing: Any = UNSET  # of the node, if the request has a budget


def context(tx: Transaction, request: ReadContext) -> NodeContext:
    """Return a node with its neighbours; with a cursor, only what did not fit into an earlier answer.

    Raises:
        AmbiguousNode: several ids begin with the given text.
        InvalidCursor: the cursor belongs to another node, another depth or another caller.
    """
    lean = tx.preferences.lean if request.lean is None else request.lean
    n = find_node_in_project(tx, request.node_id).n
    row = load_rows(tx, [n])[n]
    belongs_to = [row.id, request.depth]  # without `budget` and `lean`, which the caller may change between pages
    positions = _begin(row) if request.cursor is None else _continue(tx, belongs_to, request.cursor)
    is_first = request.cursor is None
    node = build_node(row, now=tx.now, lean=lean) if is_first else summarize_node(row)
    links = load_shown_links(tx, n, row.id, with_titles=not lean)
    node.serves, node.rests_on, node.supports, node.refutes = msgspec.structs.astuple(links)
    room = tx.budget.take_lists(is_requested=request.budget is not None)
    of_node = read_node_lists(tx, row, node, room, positions[: len(NODE_LISTS)], lean=lean)
    above, targets, waiting, others, below = positions[len(NODE_LISTS) :]
    subtree = Subtree(tx, node, n, depth=request.depth)
    ancestors = read_ancestors(tx, above, room, lambda ancestor: [to_ancestor(ancestor)])
    shows_details = request.budget is not None or not tx.budget.is_limited
    neighbours = partial(read_dependencies, tx, n, room=room, lean=lean, shows_details=shows_details)
    depends_on = neighbours(targets, DEPENDENCIES)
    depended_by = neighbours(waiting, DEPENDENTS, satisfied=row.resolved)
    related = read_related(tx, n, others, room)
    children = subtree.read(below, room)
    parts = (*of_node, ancestors, depends_on, depended_by, related, children)
    answer = NodeContext(node=node, ancestors=[], children=subtree.top, depends_on=[], depended_by=[], related=[])
    room = tx.budget.reserve(answer)
    briefing = None
    if request.budget is not None and is_first:
        shown = {listed.forms[0].node.id: True for listed in depends_on.rows}
        briefing = AnswerBriefing(tx, n, lean=lean, list_shown=lambda: shown | list_described(node))
        room = Budget(room.free_chars - briefing.measure(), room)
    cursor = ""
    for cursor_chars in (CURSOR_CHARS, CURSOR_CHARS_MAX):
        shared = Budget(room.free_chars).take_lists(is_requested=request.budget is not None)
        share_room(shared, parts, at_least=0 if is_first else 1, cursor_chars=cursor_chars)
        if all(part.rest is None for part in parts):
            break
        cursor = encode_cursor(tx, NAME, belongs_to, *join_positions(part.rest for part in parts))
        if count_chars({"next_cursor": cursor}) <= cursor_chars:
            break
    show_node_lists(node, row, of_node, lean=lean or not is_first)
    empty: Any = UNSET if lean or not is_first else []
    answer.ancestors = order_ancestors(ancestors) or empty
    answer.depends_on = list(depends_on.shown) or empty
    answer.depended_by = list(depended_by.shown) or empty
    answer.related = list(related.shown) or UNSET
    answer.children = UNSET if below is None else subtree.show(children, lean=lean)
    answer.left_out = count_left_out(parts) or UNSET
    if cursor and tx.budget.reserve(answer).spend_if_fits({"next_cursor": cursor}):
        answer.next_cursor = cursor
    if briefing is not None:
        shown = {dependency.node.id: True for dependency in depends_on.shown}
        briefing.add_to(answer)
    return answer


def _begin(row: WorkNodeRow) -> Sequence[Position | None]:
    return (*FIRST_PAGE, begin_ancestors(row), *FIRST_NEIGHBOURS)


def _continue(tx: Transaction, belongs_to: Any, cursor: str) -> Sequence[Position | None]:
    positions = split_positions(decode_cursor(tx, NAME, belongs_to, cursor))
    if len(positions) != len(FIRST_PAGE) + 1 + len(FIRST_NEIGHBOURS):  # of another version of Groundplan
        raise InvalidCursor
    return positions


OPERATION = declare(
    context,
    name=NAME,
    summary="A node with its ancestors, tree and dependencies.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: find_node(tx, request.node_id).project_id,
    tool=Tool("graph_context", Group.WORK),
    http=Route("GET", "/projects/{project}/work/nodes/{node_id}"),
)


# --- Neighbours -------------------------------------------------------------------------------------------------------

EDGES_READ = 500  # at once; among these, the open ones come first
DEPENDENCY_CHARS_MIN = 70
RELATION_CHARS_MIN = 55
NUMBER_DIGITS = 12  # of the number of a node in the position of an edge
DIGEST_CHARS = 16  # of a type that is too long for a position

# Where the lists begin: dependencies, dependents, other edges, and the tree.
FIRST_NEIGHBOURS: tuple[Position, ...] = ((0, 0, 0), (0, 0, 0), (0, *BEFORE_ALL), (0,))

sql = load_queries(__file__)


class Ancestor(Struct):
    """An ancestor of a node."""

    id: str
    summary: str
    resolved: bool
    outcome: Outcome | UnsetType = UNSET  # of a resolved node


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


class RelatedRow(Struct):
    """A node at the other end of an edge."""

    n: int
    id: str
    type: str
    summary: str


class EdgeList(NamedTuple):
    """The dependencies of a node in one direction: the name of the list, and its queries."""

    name: str
    read: Query
    count_rest: Query


DEPENDENCIES = EdgeList("depends_on", sql.dependencies, sql.count_dependencies)
DEPENDENTS = EdgeList("depended_by", sql.dependents, sql.count_dependents)


def to_ancestor(row: AncestorRow) -> Ancestor:
    """Return an ancestor as it is shown."""
    return Ancestor(row.id, row.summary, row.resolved, get_outcome(row))


def read_dependencies(
    tx: Transaction,
    n: int,
    position: Position | None,
    edges: EdgeList,
    *,
    room: Budget,
    lean: bool,
    shows_details: bool,
    satisfied: bool | None = None,
) -> ListPart[NodeDependency]:
    """Return a part of the dependencies or dependents of a node: the open ones first among those that are read at once.

    A position has the edge after which these begin, and the last node that was shown of them.
    """
    if position is None:
        return ListPart(edges.name, [], (), 0)
    after, *shown = position
    asked = room.count_rows(DEPENDENCY_CHARS_MIN)
    found: list[tuple[int, int, int]] = []
    more = 0
    while True:
        parameters = {"project_id": tx.project.id, "n": n, "after": after}
        rows = tx.all(edges.read, **parameters, at_most=EDGES_READ)
        open_first = sorted((int(is_resolved), other) for other, is_resolved in rows)
        found += [(after, *entry) for entry in open_first if entry > tuple(shown)]
        if len(rows) < EDGES_READ:
            break
        after, shown = rows[-1][0], [0, 0]
        if len(found) >= asked:
            more = tx.scalar(edges.count_rest, **{**parameters, "after": after})
            break
    listed = found[:asked]
    of_each = room.count_rows(EVIDENCE_CHARS_MIN) // (len(listed) or 1) + 1 if shows_details else 0
    nodes = load_nodes(tx, [other for *_, other in listed], lean=lean, of_each=of_each) if listed else {}
    part_rows = []
    for entry in listed:
        node = nodes[entry[-1]]
        is_satisfied = node.resolved if satisfied is None else satisfied
        forms = _list_forms(node, shows_details=shows_details)
        part_rows.append(ListRow([NodeDependency(form, is_satisfied) for form in forms], entry))
    return ListPart(edges.name, part_rows, position, len(found) + more)


def _list_forms(node: WorkNode, *, shows_details: bool) -> Iterator[WorkNode]:
    """Yield a node in full, then with ever less evidence, then without details, and then without its state."""
    if shows_details:
        yield node
        evidence = node.evidence or []
        for entries in list(shorten_evidence(evidence))[1:]:
            shorter = msgspec.structs.replace(node, evidence_total=node.evidence_total or len(evidence))
            shorter.evidence = list(entries) or (UNSET if node.rev is UNSET else [])
            yield shorter
    short = WorkNode(id=node.id, rev=node.rev, summary=node.summary, resolved=node.resolved, outcome=node.outcome)
    if node.state is not UNSET:
        yield msgspec.structs.replace(short, state=node.state)
    yield short


def read_related(tx: Transaction, n: int, position: Position | None, room: Budget) -> ListPart[Relation]:
    """Return a part of the other edges of a node, those that leave it first."""
    if position is None:
        return ListPart("related", [], (), 0)
    first, *values = position
    after = parse_text_position(values)
    asked = room.count_rows(RELATION_CHARS_MIN)
    rows: list[ListRow[Relation]] = []
    total = 0
    directions: list[tuple[Literal["out", "in"], Query, Query]] = [
        ("out", sql.related_out, sql.count_related_out),
        ("in", sql.related_in, sql.count_related_in),
    ]
    for index, (direction, read, count) in list(enumerate(directions))[first:]:
        place = {"project_id": tx.project.id, "n": n, "type": after.lower_bound, "after": _get_number(after)}
        wanted = asked - len(rows)
        found = _read_edges(tx, read, after, place, at_most=wanted) if wanted else []
        for row in found:
            relation = Relation(row.type, direction, row.id, row.summary)
            rows.append(ListRow([relation], (index, *_locate_edge(row))))
        total += len(found) if len(found) < wanted else tx.scalar(count, **place)
        after = BEFORE_ALL
    return ListPart("related", rows, position, total)


def _read_edges(
    tx: Transaction, query: Query, after: TextPosition, place: Mapping[str, Any], *, at_most: int
) -> list[RelatedRow]:
    return read_after(
        after, lambda number: tx.all(query, RelatedRow, **place, at_most=number), _locate_edge, at_most=at_most
    )


def _locate_edge(row: RelatedRow) -> TextPosition:
    position = locate_text(row.type, f"{row.n:0{NUMBER_DIGITS}}")
    if not position.is_cut:
        return position
    return position._replace(tie_breaker=position.tie_breaker + sha256(row.type.encode()).hexdigest()[:DIGEST_CHARS])


def _get_number(position: TextPosition) -> int:
    """Return the number of the node at a position; 0 if the position has only the beginning of a type."""
    return 0 if position.is_cut else int(position.tie_breaker[:NUMBER_DIGITS] or 0)
