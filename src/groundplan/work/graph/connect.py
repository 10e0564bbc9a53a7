"""Add and remove edges between nodes, which are dependencies or other relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import GroundplanError, MixedProjects, NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.links import LinkSource
from groundplan.kernel.operations.registry import AnswerWithoutProject, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.authorize import authorize_organization
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.answers import SideEffects, Warnings, add_side_effects, describe_edge_type
from groundplan.work.events import WorkOp
from groundplan.work.link_targets import OF_ASSUMPTIONS, Pointer
from groundplan.work.links import LINK_TYPES, LinkWriter, begins_at_purpose, is_link_target
from groundplan.work.nodes import DEPENDS_ON, add_edge, fetch_node, list_open_nodes, remove_edge, touch
from groundplan.work.readiness import Readiness
from groundplan.work.refs import (
    AmbiguousNode,
    NodeLocation,
    find_node_in_project,
    find_node_or_none,
    resolve_node_project,
)
from groundplan.work.requests import Decision, NodeRef, TypeName
from groundplan.work.waiting.cycles import CycleDetected, WaitingMoments

EDGES_MAX = 1_000
EXPLAINED_MAX = 20  # rejected edges that get a path or near ids; a call with more has a more general mistake
PARENT_TYPES = ("parent", "parent_of", "child", "child_of")  # the parent of a node is not an edge


class Edge(Struct, forbid_unknown_fields=True):
    """An edge to add or to remove. `to` is a node, or the target of a link: a purpose key or a pointer."""

    from_: NodeRef = field(name="from")
    to: Pointer
    type: TypeName
    remove: bool = False


class Connect(Struct, forbid_unknown_fields=True):
    """The edges to remove and then the edges to add, in order, between nodes of one project."""

    edges: Annotated[list[Edge], Meta(min_length=1, max_length=EDGES_MAX)]
    project: Name | None = None
    lean: bool | None = None
    decision: Decision | None = None
    op_id: OpId = None


class RejectedEdge(Struct, rename={"from_": "from"}):
    """An edge that was not added or removed, and the reason."""

    from_: str
    to: str
    reason: str
    path: list[str] | UnsetType = UNSET  # the path of the cycle, if there is one
    depends_on: list[list[str]] | UnsetType = UNSET  # the dependencies of a cycle that also runs through the tree
    near: list[str] | UnsetType = UNSET  # similar ids, for an unknown node


class Connected(SideEffects, kw_only=True):
    """The number of added and removed edges, and the rejected edges."""

    applied: int
    rejected: list[RejectedEdge] | UnsetType = UNSET


class _EdgeRejected(Exception):
    def __init__(
        self,
        reason: str,
        *,
        path: list[str] | None = None,
        depends_on: list[list[str]] | None = None,
        near: list[str] | None = None,
    ) -> None:
        self.reason = reason
        self.path = path or UNSET
        self.depends_on = depends_on or UNSET
        self.near = near or UNSET


def connect(tx: Transaction, request: Connect) -> Connected:
    """Add and remove edges. Each rejected edge is listed with its reason, and all others are applied.

    Edges are removed before others are added, so that one call can turn a dependency round.
    """
    writer = _EdgeWriter(tx, request)
    rejected: dict[int, RejectedEdge] = {}
    for index, edge in sorted(enumerate(request.edges), key=lambda item: not item[1].remove):
        try:
            writer.apply(edge)
        except _EdgeRejected as error:
            rejection = RejectedEdge(edge.from_, edge.to, error.reason, error.path, error.depends_on, error.near)
            if len(rejected) >= EXPLAINED_MAX:
                rejection.path = rejection.depends_on = rejection.near = UNSET
            rejected[index] = rejection
    answer = Connected(applied=len(request.edges) - len(rejected))
    answer.rejected = [rejected[index] for index in sorted(rejected)] or UNSET
    return add_side_effects(answer, tx, writer.readiness, writer.warnings)


class _EdgeWriter:
    """A writer that applies the edges of one call in order."""

    def __init__(self, tx: Transaction, request: Connect) -> None:
        self._tx = tx
        self._decision = decision = request.decision
        links = [edge for edge in request.edges if edge.type in LINK_TYPES and _is_link(tx, edge)]
        self._link_ids = {id(edge) for edge in links}
        self._links = LinkWriter(tx, links, decision=decision)
        self._moments = WaitingMoments(tx)
        self._cycles_explained = 0
        self.readiness = Readiness(tx, decision=decision)
        self.warnings = Warnings()

    def apply(self, edge: Edge) -> None:
        """Add or remove one edge. Raise _EdgeRejected if that is not possible."""
        if id(edge) in self._link_ids:
            self._apply_link(edge)
            return
        source, target = _find_end(self._tx, edge.from_), _find_end(self._tx, edge.to)
        ends = source.n, edge.type, target.n
        if edge.remove:
            if not remove_edge(self._tx, *ends):
                raise _EdgeRejected("not_connected")
            self._record_change(WorkOp.DISCONNECTED, source, changed(edge.type, target.id, None))
        else:
            self._refuse_invalid_edge(source, target, edge.type)
            if not add_edge(self._tx, *ends):
                raise _EdgeRejected("already_connected")
            self._record_change(WorkOp.CONNECTED, source, changed(edge.type, None, target.id))
            if problem := describe_edge_type(edge.type):
                self.warnings.add(source.id, problem)
        if edge.type == DEPENDS_ON:
            (self._moments.remove if edge.remove else self._moments.add)(source.n, target.n)
            open_ends = list_open_nodes(self._tx, (source.n, target.n))
            if target.n in open_ends:
                self.readiness.adjust_open_dependencies([source.n], by=-1 if edge.remove else 1)
                if source.n not in open_ends and not edge.remove:
                    self._warn_of_resolved(source.id)

    def _warn_of_resolved(self, node_id: str) -> None:
        reopen = NextStep(
            "work.update", "with resolved false reopens it", {"updates": [{"node_id": node_id, "resolved": False}]}
        )
        self.warnings.add(node_id, f"is resolved, so it waits for nothing; {self._tx.describe(reopen)}")

    def _apply_link(self, edge: Edge) -> None:
        if begins_at_purpose(edge):
            source = LinkSource(edge.from_)
        else:
            node = _find_end(self._tx, edge.from_)
            source = LinkSource(node.id, node.n)
        try:
            is_applied = (self._links.remove if edge.remove else self._links.add)(source, edge)
        except GroundplanError as error:
            raise _EdgeRejected(error.code, near=error.details.get("near")) from None
        if not is_applied:
            raise _EdgeRejected("not_connected" if edge.remove else "already_connected")
        if source.node_n is None:
            return
        touch(self._tx, source.node_n)
        if edge.type in OF_ASSUMPTIONS and not edge.remove and not fetch_node(self._tx, source.node_n).evidence_total:
            self.warnings.add(source.ref, f"{edge.type} an assumption but has no evidence; add_evidence adds it")

    def _record_change(self, op: WorkOp, source: NodeLocation, change: Change) -> None:
        self.readiness.snapshot([source.n])
        touch(self._tx, source.n)
        self._tx.record(op, source.id, change, decision=self._decision)

    def _refuse_invalid_edge(self, source: NodeLocation, target: NodeLocation, type_: str) -> None:
        if type_ in PARENT_TYPES:
            raise _EdgeRejected("use_graph_restructure")
        if source.n == target.n:
            raise _EdgeRejected("cycle_detected" if type_ == DEPENDS_ON else "self_edge", path=[source.id, source.id])
        if type_ == DEPENDS_ON:
            if self._cycles_explained >= EXPLAINED_MAX:
                if self._moments.closes_loop(source.n, target.n):
                    raise _EdgeRejected(CycleDetected.code)
                return
            loop = self._moments.find_loop_closed_by(source.n, target.n)
            if loop is None:
                return
            self._cycles_explained += 1
            details = CycleDetected(self._moments.describe(loop)).details
            raise _EdgeRejected(CycleDetected.code, path=details["path"], depends_on=details.get("depends_on"))


def _is_link(tx: Transaction, edge: Edge) -> bool:
    """Return True if the target of an edge is not a work node."""
    if is_link_target(edge.to):
        return True
    try:
        return find_node_or_none(tx, edge.to) is None
    except AmbiguousNode:
        return False


def _find_end(tx: Transaction, ref: str) -> NodeLocation:
    try:
        return find_node_in_project(tx, ref)
    except NotFound as error:
        raise _EdgeRejected("node_not_found", near=error.details.get("near")) from None
    except AmbiguousNode as error:
        raise _EdgeRejected(error.code, near=error.details["near"]) from None
    except MixedProjects as error:
        raise _EdgeRejected(error.code) from None


def locate(tx: Transaction, request: Connect) -> str:
    """Return the project of the first existing node, or the one that the request names beside the edges."""
    if request.project is not None:
        return request.project
    refs = [ref for edge in request.edges for ref in (edge.from_, edge.to) if not is_link_target(ref)]
    if not refs:
        raise missing_argument("project", (), expected="the project of the keys, by name or id")
    for ref in refs:
        try:
            return resolve_node_project(tx, ref)
        except (NotFound, AmbiguousNode):
            continue
    if tx.named_project is not None:
        return tx.named_project
    authorize_organization(tx, Permission.PROJECT_LIST)
    raise AnswerWithoutProject(_reject_unknown(tx, request.edges))


def _reject_unknown(tx: Transaction, edges: Sequence[Edge]) -> Connected:
    """Return the answer for edges of which no node is known."""
    rejected: list[RejectedEdge] = []
    for edge in edges:
        refs = [ref for ref in (edge.from_, edge.to) if not is_link_target(ref)]
        try:
            _find_end(tx, refs[0] if refs else edge.from_)
        except _EdgeRejected as error:
            near = error.near if len(rejected) < EXPLAINED_MAX else UNSET
            rejected.append(RejectedEdge(edge.from_, edge.to, error.reason, near=near))
    return Connected(applied=0, rejected=rejected)


OPERATION = declare(
    connect,
    name="work.connect",
    summary="Add or remove edges and links.",
    permission=Permission.WORK_CONNECT,
    effect=Effect.WRITE,
    project=locate,
    tool=Tool("graph_connect", Group.WORK),
    http=Route("POST", "/projects/{project}/work/edges"),
)
