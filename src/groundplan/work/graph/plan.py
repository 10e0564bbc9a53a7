"""Plan work: many nodes at once, with their parents and what they wait for, all of them or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine import cycles
from groundplan.work.engine.cycles import CycleDetected, depends_on_ancestor, is_ancestor
from groundplan.work.engine.insert import insert_nodes
from groundplan.work.engine.kinds import blocks_descendants, feature_of_children
from groundplan.work.engine.node import NodeSummary
from groundplan.work.engine.node_ids import generate_ids
from groundplan.work.engine.priority import complexity_of, priority_of, warn_about_priority
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.refs import find_node_in_project, resolve_node_project
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.engine.side_effects import limit_warnings, list_within_budget
from groundplan.work.events import WorkOp
from groundplan.work.requests import (
    Decision,
    Links,
    NodeRef,
    Summary,
    encode_links,
    encode_properties,
    validate_properties,
)

NODES_MAX = 1_000
ROOT_REF = ""  # how a node without a parent_ref calls its parent; no ref is empty

sql = load_queries(__file__)


class DuplicateRef(Invalid):
    """Two nodes of one plan have the same ref."""

    code = "duplicate_ref"

    def __init__(self, ref: str, first: int, second: int) -> None:
        super().__init__(
            f"nodes[{second}].ref {ref!r} is that of nodes[{first}] too; give each node a ref of its own",
            field=f"nodes[{second}].ref",
        )


class MissingParent(Invalid):
    """Nothing says where a node belongs."""

    code = "no_parent"

    def __init__(self, place: int) -> None:
        super().__init__(
            f"nodes[{place}] has no parent_ref and the call has no project; give one of the two",
            field=f"nodes[{place}].parent_ref",
        )


class PlanNode(Struct, forbid_unknown_fields=True):
    """A node to make. `parent_ref` and `depends_on` name refs of the same plan, in any order, or existing nodes."""

    ref: NodeRef
    summary: Summary
    parent_ref: NodeRef | None = None
    depends_on: list[NodeRef] = []
    context_links: Links = []
    properties: dict[str, Any] = {}


class PlanNodes(Struct, forbid_unknown_fields=True):
    """What to make. Without `parent_ref` a node goes under the root of `project`."""

    nodes: Annotated[list[PlanNode], Meta(min_length=1, max_length=NODES_MAX)]
    project: Name | None = None
    decision: Decision | None = None
    op_id: OpId = None


class CreatedNode(Struct):
    """The id that a ref got."""

    ref: str
    id: str


class Planned(Struct):
    """What was made, and what was reopened because there is something to do below it again."""

    created: list[CreatedNode]
    reopened: list[NodeSummary] | UnsetType = UNSET
    reopened_total: int | UnsetType = UNSET  # when more were reopened than are listed
    warnings: list[str] | UnsetType = UNSET


class ExistingNode(Struct):
    """A node that is there already."""

    project_id: str
    id: str
    n: int
    kind: str | None
    feature_n: int | None
    depth: int
    resolved: bool
    blocked_above: int
    waits: bool


@dataclass(slots=True)
class NewNode:
    """A node on its way into the graph."""

    given: PlanNode
    place: int
    n: int
    id: str
    properties: dict[str, Any]
    links: list[str]
    parent: NewNode | ExistingNode
    targets: list[NewNode | ExistingNode] = field(default_factory=list)
    depth: int = 0
    feature_n: int | None = None
    open_children: int = 0
    open_deps: int = 0
    blocked_above: int = 0
    kind: str | None = None

    @property
    def waits(self) -> bool:
        return self.open_deps > 0

    @property
    def is_ready(self) -> bool:
        return not (self.open_children or self.open_deps or self.blocked_above)


def locate(tx: Transaction, request: PlanNodes) -> str:
    """The project that a plan is for.

    Raises:
        MissingParent: nothing says so.
    """
    if request.project is not None:
        return request.project
    refs = {node.ref for node in request.nodes}
    for place, node in enumerate(request.nodes):
        if node.parent_ref is None:
            raise MissingParent(place)
    outside = next((ref for ref in _iter_refs(request.nodes) if ref not in refs), None)
    if outside is None:  # the parents go round in a circle, or a project must be named
        raise MissingParent(0)
    return resolve_node_project(tx, outside)


def plan(tx: Transaction, request: PlanNodes) -> Planned:
    """Make nodes with their parents and dependencies.

    Raises:
        DuplicateRef: a ref stands for two nodes.
        NotFound: a parent or a dependency is neither in the plan nor in the project.
        MixedProjects: it is in another project.
        CycleDetected: a node would wait for itself, or lie below itself.
        ReservedProperty: a property is the engine's own.
    """
    existing = _load_existing(tx, request)
    nodes = _build_nodes(tx, request.nodes, existing)
    in_order = _sort_parents_first(nodes)
    _refuse_loops(tx, nodes)
    readiness = Readiness(tx, decision=request.decision)
    readiness.add_open_children(Counter(node.parent.n for node in nodes if isinstance(node.parent, ExistingNode)))
    if readiness.has_reopened:  # who is open, and who is held back, may have changed
        existing = _fetch_by_id(tx, {one.id for one in existing.values()})
    _compute_readiness(tx, in_order, {one.n: one for one in existing.values()})
    _insert(tx, in_order)
    for node in nodes:
        tx.record(WorkOp.CREATED, node.id, *_changes(node), decision=request.decision)
    readiness.added(
        tasks_of=Counter(node.feature_n for node in nodes),
        blocked=sum(node.open_deps > 0 or node.blocked_above > 0 for node in nodes),
        actionable=sum(node.is_ready for node in nodes),
    )
    settled = readiness.settle()
    _refuse_loops_through_tree(tx, nodes)
    warnings = [said for node in nodes if (said := warn_about_priority(node.given.ref, node.properties))]
    created = [CreatedNode(node.given.ref, node.id) for node in nodes]
    return Planned(created, *list_within_budget(tx, settled.reopened), limit_warnings(warnings))


def _iter_refs(nodes: Sequence[PlanNode]) -> Iterator[str]:
    for node in nodes:
        if node.parent_ref is not None:
            yield node.parent_ref
        yield from node.depends_on


def _load_existing(tx: Transaction, request: PlanNodes) -> dict[str, ExistingNode]:
    """The nodes that are there already, by how the request calls them."""
    refs: dict[str, int] = {}
    for place, node in enumerate(request.nodes):
        if node.ref in refs:
            raise DuplicateRef(node.ref, refs[node.ref], place)
        refs[node.ref] = place
    outside = {ref for ref in _iter_refs(request.nodes) if ref not in refs}
    called = _fetch_by_id(tx, outside)
    found = {ref: called[ref] for ref in outside if ref in called}
    # What no node is called exactly may be the beginning of an id; else the refusal says so.
    begun = {ref: find_node_in_project(tx, ref).id for ref in outside if ref not in found}
    if begun:
        called = _fetch_by_id(tx, begun.values())
        found.update({ref: called[node_id] for ref, node_id in begun.items()})
    found[ROOT_REF] = tx.one(sql.root, ExistingNode, project_id=tx.project.id)
    return found


def _fetch_by_id(tx: Transaction, ids: Iterable[str]) -> dict[str, ExistingNode]:
    encoded = to_json_array(ids)
    if encoded == "[]":
        return {}
    rows = tx.all(sql.nodes_by_id, ExistingNode, ids=encoded)
    return {row.id: row for row in rows if row.project_id == tx.project.id}


def _build_nodes(tx: Transaction, given: Sequence[PlanNode], existing: Mapping[str, ExistingNode]) -> list[NewNode]:
    last_n = tx.scalar(sql.last_n, project_id=tx.project.id)
    ids = generate_ids(tx, len(given), population=last_n)
    nodes = [
        NewNode(
            given=one,
            place=place,
            n=last_n + 1 + place,
            id=ids[place],
            properties=validate_properties(one.properties, ("nodes", place, "properties")),
            links=list(dict.fromkeys(one.context_links)),
            parent=existing[ROOT_REF],
        )
        for place, one in enumerate(given)
    ]
    by_ref = {node.given.ref: node for node in nodes}
    for node in nodes:
        if (parent := node.given.parent_ref) is not None:
            node.parent = by_ref.get(parent) or existing[parent]
        # By number: a node may be called by its id and by the beginning of it.
        targets = [by_ref.get(ref) or existing[ref] for ref in node.given.depends_on]
        node.targets = list({target.n: target for target in targets}.values())
    return nodes


def _sort_parents_first(nodes: Sequence[NewNode]) -> list[NewNode]:
    """The nodes in an order in which each comes behind its parent."""
    children: dict[int, list[NewNode]] = {}
    in_order: list[NewNode] = []
    for node in nodes:
        if isinstance(node.parent, NewNode):
            children.setdefault(node.parent.n, []).append(node)
        else:
            in_order.append(node)
    for node in in_order:  # which grows meanwhile
        in_order += children.get(node.n, ())
    if len(in_order) < len(nodes):
        seen = {node.n for node in in_order}
        looped = cycles.find_cycle({node.n: [node.parent.n] for node in nodes if node.n not in seen})
        raise CycleDetected(_numbers_to_refs(nodes, looped or []), hint=" (parent_ref)")
    return in_order


def _refuse_loops(tx: Transaction, nodes: Sequence[NewNode]) -> None:
    # A new node can only be waited for by new nodes, so a loop lies within the plan; but a node must not depend on
    # an ancestor either, and that may be any.
    first_n = nodes[0].n
    looped = cycles.find_cycle({node.n: [target.n for target in node.targets if target.n >= first_n] for node in nodes})
    if looped is not None:
        raise CycleDetected(_numbers_to_refs(nodes, looped))
    above: dict[tuple[int, int], bool] = {}
    for node in nodes:
        if not node.targets:
            continue
        targets = {target.n for target in node.targets}
        parent: NewNode | ExistingNode = node.parent
        while isinstance(parent, NewNode):
            if parent.n in targets:
                raise depends_on_ancestor(node.given.ref, parent.given.ref)
            parent = parent.parent
        for target in node.targets:
            if isinstance(target, ExistingNode) and target.depth <= parent.depth:
                pair = (target.n, parent.n)
                if pair not in above:
                    above[pair] = is_ancestor(tx, target.n, depth=target.depth, of=parent.n)
                if above[pair]:
                    raise depends_on_ancestor(node.given.ref, target.id)


def _refuse_loops_through_tree(tx: Transaction, nodes: Sequence[NewNode]) -> None:
    # Only what waits and lies below a feature can close such a loop: nobody else waits for it through the tree.
    inherits = tx.project.policies.inherit_dependencies
    waiting = [node.n for node in nodes if node.targets and (inherits or node.feature_n is not None)]
    if waiting and (looped := cycles.find_cycle_through(tx, waiting)) is not None:
        raise CycleDetected(_ids_to_refs(nodes, looped))


def _numbers_to_refs(nodes: Sequence[NewNode], looped: Sequence[int]) -> list[str]:
    by_n = {node.n: node.given.ref for node in nodes}
    return [by_n[n] for n in looped]


def _ids_to_refs(nodes: Sequence[NewNode], looped: Sequence[str]) -> list[str]:
    by_id = {node.id: node.given.ref for node in nodes}  # their ids will never have been
    return [by_id.get(node_id, node_id) for node_id in looped]


def _compute_readiness(tx: Transaction, in_order: Sequence[NewNode], now: Mapping[int, ExistingNode]) -> None:
    """How each node will stand, from its parent and its targets as they are now."""
    for node in in_order:
        parent = node.parent if isinstance(node.parent, NewNode) else now[node.parent.n]
        if isinstance(parent, NewNode):
            parent.open_children += 1
        node.depth = parent.depth + 1
        node.feature_n = feature_of_children(parent)
        node.open_deps = sum(isinstance(target, NewNode) or not now[target.n].resolved for target in node.targets)
        node.blocked_above = parent.blocked_above + (parent.waits and blocks_descendants(tx, parent.kind))


def _insert(tx: Transaction, in_order: Sequence[NewNode]) -> None:
    project_id = tx.project.id
    insert_nodes(
        tx,
        project_id,
        [
            WorkNodeRow(
                n=node.n,
                id=node.id,
                parent_n=node.parent.n,
                kind=None,
                feature_n=node.feature_n,
                depth=node.depth,
                open_children=node.open_children,
                open_deps=node.open_deps,
                blocked_above=node.blocked_above,
                summary=node.given.summary,
                properties=encode_properties(node.properties, ("nodes", node.place, "properties")),
                priority=priority_of(node.properties),
                complexity=complexity_of(node.properties),
                context_links=encode_links(node.links, ("nodes", node.place, "context_links")),
            )
            for node in in_order
        ],
    )
    edges = [
        {"project_id": project_id, "from_n": node.n, "type": "depends_on", "to_n": target.n}
        for node in in_order
        for target in node.targets
    ]
    if edges:
        tx.many(sql.add_edges, edges)


def _changes(node: NewNode) -> Iterator[Change]:
    yield changed("summary", None, node.given.summary)
    yield changed("parent", None, node.parent.id)
    if node.properties:
        yield changed("properties", None, node.properties)
    if node.links:
        yield changed("context_links", None, node.links)
    if node.targets:
        yield changed("depends_on", None, [target.id for target in node.targets])


OPERATION = Operation(
    name="work.plan",
    summary="Create nodes; refs name each other, in any order, or existing nodes.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    input=PlanNodes,
    output=Planned,
    handler=plan,
    project=locate,
    tool=Tool("graph_plan", Group.WORK),
    command=Command(("work", "plan")),
)
