"""Create many nodes with their parents and dependencies. Either all are created, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.links import LinkSource
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.answers import Warnings, list_within_budget
from groundplan.work.containers.fields import parse_tags
from groundplan.work.events import WorkOp
from groundplan.work.graph.planned_nodes import (
    ExistingNode,
    NewNode,
    PlanNode,
    TaggedPlanNode,
    assign_order_keys,
    build_planned_waits,
)
from groundplan.work.kinds import (
    PRIORITY_IGNORED,
    get_complexity,
    get_feature_of_children,
    get_priority,
    ranks_as_absent,
)
from groundplan.work.links import describe_new_links, insert_links, load_targets, read_requested
from groundplan.work.nodes import NodeSummary, WorkNodeRow, add_tags, generate_ids, insert_nodes
from groundplan.work.planned_overlaps import warn_about_planned_overlaps
from groundplan.work.positions import blocks_descendants
from groundplan.work.readiness import Readiness
from groundplan.work.refs import find_node_in_project, resolve_node_project
from groundplan.work.requests import Decision, encode_links, encode_properties, validate_properties
from groundplan.work.waiting.cycles import (
    CycleDetected,
    Loop,
    describe_loop,
)
from groundplan.work.waiting.moments import find_cycle

NODES_MAX = 1_000
ROOT_REF = ""  # stands for the root as the parent of a node without parent_ref; a real ref is never empty

sql = load_queries(__file__)


class DuplicateRef(Invalid):
    """Two nodes of the plan have the same ref."""

    code = "duplicate_ref"

    def __init__(self, ref: str, first: int, second: int) -> None:
        super().__init__(
            f"nodes[{second}].ref {ref!r} is also the ref of nodes[{first}]; give each node its own ref",
            field=f"nodes[{second}].ref",
        )


class MissingParent(Invalid):
    """A node has no parent, and the request has no project."""

    code = "no_parent"
    lacks_project = True

    def __init__(self, index: int) -> None:
        super().__init__(
            f"nodes[{index}] has no parent_ref and the call has no project; give one of them",
            field=f"nodes[{index}].parent_ref",
        )


class PlanNodes(Struct, forbid_unknown_fields=True):
    """The nodes to create. A node without `parent_ref` goes under the root of `project`."""

    nodes: Annotated[list[PlanNode], Meta(min_length=1, max_length=NODES_MAX)]
    project: Name | None = None
    lean: bool | None = None
    decision: Decision | None = None
    op_id: OpId = None


class CreatedNode(Struct):
    """A ref, and the id of the created node."""

    ref: str
    id: str


class Planned(Struct):
    """The created nodes, and the ancestors that were reopened for them."""

    created: list[CreatedNode]
    reopened: list[NodeSummary] | UnsetType = UNSET
    reopened_total: int | UnsetType = UNSET  # set when more were reopened than are listed
    warnings: list[str] | UnsetType = UNSET


def locate(tx: Transaction, request: PlanNodes) -> str:
    """Return the project of a plan."""
    if request.project is not None:
        return request.project
    refs = {node.ref for node in request.nodes}
    for index, node in enumerate(request.nodes):
        if node.parent_ref is None:
            raise MissingParent(index)
    outside = next((ref for ref in _iter_refs(request.nodes) if ref not in refs), None)
    if outside is None:  # all refs are within the plan, so the parents form a cycle
        places = {node.ref: index for index, node in enumerate(request.nodes)}
        parents = {places[node.ref]: [places[node.parent_ref]] for node in request.nodes if node.parent_ref is not None}
        cycle = find_cycle(parents) or []
        raise CycleDetected(Loop([request.nodes[index].ref for index in cycle]), hint=" (parent_ref)")
    return resolve_node_project(tx, outside)


def plan(tx: Transaction, request: PlanNodes) -> Planned:
    """Create nodes with their parents and dependencies.

    Raises:
        DuplicateRef: two nodes have the same ref.
        NotFound: a parent or a dependency is neither in the plan nor in the project.
        MixedProjects: it is in another project.
        CycleDetected: a node would wait for itself, or be below itself.
        ReservedProperty: a property is reserved for the engine.
        UnknownKey, UnknownPointer: what a node serves or rests on does not exist.
        WrongLinkKind: a node would serve an assumption.
    """
    existing = _load_existing(tx, request)
    nodes = _build_nodes(tx, request.nodes, existing)
    in_order = _sort_parents_first(nodes)
    _refuse_loops_within(tx, nodes)
    readiness = Readiness(tx, decision=request.decision)
    readiness.add_open_children(Counter(node.parent.n for node in nodes if isinstance(node.parent, ExistingNode)))
    if readiness.has_reopened:  # which nodes are open or blocked may have changed
        readiness.settle_positions()
        existing = _fetch_by_id(tx, {node.id for node in existing.values()})
    now = {node.n: node for node in existing.values()}
    _compute_readiness(tx, in_order, now)
    unordered = assign_order_keys(in_order, now)
    _insert_new_nodes(tx, in_order)
    _insert_links(tx, nodes)
    for node in nodes:
        tx.record(WorkOp.CREATED, node.id, *_build_changes(node), decision=request.decision)
    readiness.count_new_nodes(
        tasks_of=Counter(node.feature_n for node in nodes),
        blocked=sum(node.open_deps > 0 or node.blocked_above > 0 for node in nodes),
        actionable=sum(node.is_ready for node in nodes),
    )
    readiness.check_for_loops(_find_loop_suspects(tx, nodes, existing), unordered=unordered)
    try:
        settled = readiness.settle()
    except CycleDetected as error:
        # The caller knows only refs: the new ids disappear with the refused plan.
        raise CycleDetected(error.loop.rename({node.id: node.request.ref for node in nodes})) from None
    warnings = _build_warnings(tx, nodes, now)
    created = [CreatedNode(node.request.ref, node.id) for node in nodes]
    return Planned(created, *list_within_budget(tx, settled.reopened), warnings.lines())


def _build_warnings(tx: Transaction, nodes: Sequence[NewNode], now: Mapping[int, ExistingNode]) -> Warnings:
    warnings = Warnings()
    for node in nodes:
        if ranks_as_absent(node.properties):
            warnings.add(node.request.ref, PRIORITY_IGNORED)
        parent = node.parent if isinstance(node.parent, NewNode) else now[node.parent.n]
        if parent.waits and not blocks_descendants(tx, parent.kind):
            name = parent.request.ref if isinstance(parent, NewNode) else parent.id
            warnings.add(
                node.request.ref,
                f"its parent {name} waits, which does not hold it back; the policy inherit_dependencies would",
            )
    warn_about_planned_overlaps(tx, nodes, warnings)
    return warnings


def _iter_refs(nodes: Sequence[PlanNode]) -> Iterator[str]:
    for node in nodes:
        if node.parent_ref is not None:
            yield node.parent_ref
        yield from node.depends_on


def _load_existing(tx: Transaction, request: PlanNodes) -> dict[str, ExistingNode]:
    """Return the existing nodes in the request, by ref."""
    refs: dict[str, int] = {}
    for index, node in enumerate(request.nodes):
        if node.ref in refs:
            raise DuplicateRef(node.ref, refs[node.ref], index)
        refs[node.ref] = index
    outside = {ref for ref in _iter_refs(request.nodes) if ref not in refs}
    by_id = _fetch_by_id(tx, outside)
    by_ref = {ref: by_id[ref] for ref in outside if ref in by_id}
    # A ref that is not a whole id may be the prefix of one; if it is not, this raises.
    id_by_prefix = {ref: find_node_in_project(tx, ref).id for ref in outside if ref not in by_ref}
    if id_by_prefix:
        by_id = _fetch_by_id(tx, id_by_prefix.values())
        by_ref.update({ref: by_id[node_id] for ref, node_id in id_by_prefix.items()})
    by_ref[ROOT_REF] = tx.one(sql.root, ExistingNode, project_id=tx.project.id)
    return by_ref


def _fetch_by_id(tx: Transaction, ids: Iterable[str]) -> dict[str, ExistingNode]:
    encoded = to_json_array(ids)
    if encoded == "[]":
        return {}
    rows = tx.all(sql.nodes_by_id, ExistingNode, ids=encoded)
    return {row.id: row for row in rows if row.project_id == tx.project.id}


def _build_nodes(tx: Transaction, requests: Sequence[PlanNode], existing: Mapping[str, ExistingNode]) -> list[NewNode]:
    last_n = tx.scalar(sql.last_n, project_id=tx.project.id)
    ids = generate_ids(tx, len(requests), population=last_n)
    nodes = [
        NewNode(
            request=item,
            index=index,
            n=last_n + 1 + index,
            id=ids[index],
            properties=validate_properties(item.properties, ("nodes", index, "properties")),
            links=list(dict.fromkeys(item.context_links)),
            parent=existing[ROOT_REF],
            served=read_requested(item),
            tags=_parse_tags(item.tags, index) if isinstance(item, TaggedPlanNode) and item.tags else [],
        )
        for index, item in enumerate(requests)
    ]
    by_ref = {node.request.ref: node for node in nodes}
    for node in nodes:
        if (parent := node.request.parent_ref) is not None:
            node.parent = by_ref.get(parent) or existing[parent]
        # Unique by number: one node may be referred to by its id and by a prefix of it.
        targets = [by_ref.get(ref) or existing[ref] for ref in node.request.depends_on]
        node.targets = list({target.n: target for target in targets}.values())
    return nodes


def _parse_tags(tags: list[str], index: int) -> list[str]:
    return sorted(set(parse_tags(tags, ("nodes", index, "tags"))))


def _sort_parents_first(nodes: Sequence[NewNode]) -> list[NewNode]:
    """Return the nodes in an order in which each comes after its parent."""
    children: dict[int, list[NewNode]] = {}
    in_order: list[NewNode] = []
    for node in nodes:
        if isinstance(node.parent, NewNode):
            children.setdefault(node.parent.n, []).append(node)
        else:
            in_order.append(node)
    for node in in_order:  # the list grows during the loop
        in_order += children.get(node.n, ())
    if len(in_order) < len(nodes):
        placed = {node.n for node in in_order}
        cycle = find_cycle({node.n: [node.parent.n] for node in nodes if node.n not in placed}) or []
        by_n = {node.n: node.request.ref for node in nodes}
        raise CycleDetected(Loop([by_n[n] for n in cycle]), hint=" (parent_ref)")
    return in_order


def _refuse_loops_within(tx: Transaction, nodes: Sequence[NewNode]) -> None:
    """Raise CycleDetected if new nodes wait for each other, even without existing nodes."""
    if all(isinstance(node.parent, ExistingNode) and all(to.n < node.n for to in node.targets) for node in nodes):
        return  # none is below another one, and each depends on earlier ones alone
    moments = find_cycle(build_planned_waits(tx, nodes))
    if moments is not None:
        raise CycleDetected(describe_loop(moments, {node.n: node.request.ref for node in nodes}))


def _find_loop_suspects(
    tx: Transaction, nodes: Sequence[NewNode], existing: Mapping[str, ExistingNode]
) -> Iterator[int]:
    """Yield the new nodes through which a loop with existing nodes can lead.

    Existing nodes wait for new ones as parents. A loop needs a way back: a dependency of a new node on an open existing
    one, or a new node that inherits the waiting of an existing ancestor.
    """
    open_ns = {node.n for node in existing.values() if not node.resolved}
    inherits = get_policies(tx).inherit_dependencies or any(node.feature_n is not None for node in nodes)
    for node in nodes:
        if any(inherits or target.n in open_ns for target in node.targets):
            yield node.n


def _compute_readiness(tx: Transaction, in_order: Sequence[NewNode], now: Mapping[int, ExistingNode]) -> None:
    """Set the depth, feature and readiness of each node from the state of its parent and dependencies."""
    for node in in_order:
        parent = node.parent if isinstance(node.parent, NewNode) else now[node.parent.n]
        if isinstance(parent, NewNode):
            parent.open_children += 1
        node.depth = parent.depth + 1
        node.feature_n = get_feature_of_children(parent)
        node.open_deps = sum(isinstance(target, NewNode) or not now[target.n].resolved for target in node.targets)
        node.blocked_above = parent.blocked_above + (parent.waits and blocks_descendants(tx, parent.kind))


def _insert_new_nodes(tx: Transaction, in_order: Sequence[NewNode]) -> None:
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
                summary=node.request.summary,
                properties=encode_properties(node.properties, ("nodes", node.index, "properties")),
                priority=get_priority(node.properties),
                complexity=get_complexity(node.properties),
                context_links=encode_links(node.links, ("nodes", node.index, "context_links")),
                order_key=node.order_key,
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
        tx.run_many(sql.add_edges, edges)
    if tags := {node.n: node.tags for node in in_order if node.tags}:
        add_tags(tx, project_id, tags)


def _insert_links(tx: Transaction, nodes: Sequence[NewNode]) -> None:
    linked = [node for node in nodes if any(node.served.values())]
    if linked:
        links = [(LinkSource(node.id, node.n), node.served, ("nodes", node.index)) for node in linked]
        insert_links(tx, links, load_targets(tx, [node.served for node in linked]))


def _build_changes(node: NewNode) -> Iterator[Change]:
    yield changed("summary", None, node.request.summary)
    yield changed("parent", None, node.parent.id)
    if node.properties:
        yield changed("properties", None, node.properties)
    if node.links:
        yield changed("context_links", None, node.links)
    if node.targets:
        yield changed("depends_on", None, [target.id for target in node.targets])
    if node.tags:
        yield changed("tags", [], node.tags)
    yield from describe_new_links(node.served)


OPERATION = declare(
    plan,
    name="work.plan",
    summary="Create nodes; refs name new or existing ones, in any order.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    project=locate,
    tool=Tool("graph_plan", Group.WORK),
    http=Route("POST", "/projects/{project}/work/nodes", location="/projects/{project}/work/nodes/{created.id}"),
)


class AddNodes(PlanNodes, forbid_unknown_fields=True):
    """The nodes to create, which may have tags."""

    nodes: Annotated[list[TaggedPlanNode], Meta(min_length=1, max_length=NODES_MAX)]  # type: ignore[assignment] # only read


ADD = declare(
    plan,
    name="work.add",
    summary="Create nodes as work plan does, with tags.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    input=AddNodes,
    project=locate,
    http=Route("POST", "/projects/{project}/work/tagged-nodes"),
)
