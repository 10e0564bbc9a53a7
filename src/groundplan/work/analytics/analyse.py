"""Analyse a plan: the critical path, what unlocks most, what most waits for, and what a change would lead to.

"Actionable" means what it means everywhere: the rules are those of the stored readiness, and tests compare the answers
with what the engine reports after the change is made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import nsmallest
from typing import Annotated, Literal, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.analytics.consequences import WhatIf
from groundplan.work.analytics.moment_order import MomentOrder
from groundplan.work.analytics.open_graph import OpenGraph
from groundplan.work.graph.update import refuse_open_children
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import WorkNodeRow, fetch_node, is_claimed_by_another
from groundplan.work.refs import find_node_in_project, resolve_node_project
from groundplan.work.requests import NodeRef
from groundplan.work.restructuring import AlreadyResolved, RootNotAllowed
from groundplan.work.waiting.cycles import describe_stored_loop, find_loop_in_project

LIMIT = 20
LIMIT_MAX = 100
STEPS_MAX = 2_000_000  # nodes looked at for unlock counts, about two seconds

sql = load_queries(__file__)


class AnalyseWork(Struct, forbid_unknown_fields=True):
    """What to find out about the open work of a project."""

    project: Name | None = None
    what: Literal["critical_path", "unlocks", "bottlenecks", "if_resolved", "if_dropped"] = "critical_path"
    node_id: NodeRef | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT

    def __post_init__(self) -> None:
        if (self.node_id is not None) != self.what.startswith("if_"):
            raise ValueError("if_resolved and if_dropped need node_id; the others are about the project, without it")


class AnalysisRow(Struct, omit_defaults=True):
    """A node, and what was found out about it."""

    id: str
    summary: str
    value: float
    note: str | UnsetType = UNSET


class WorkAnalysis(Struct, omit_defaults=True):
    """The rows of an analysis; `total` is the length of the critical path, or the number of nodes with a row."""

    what: str
    total: float
    rows: list[AnalysisRow]
    left_out: LeftOut = UNSET
    warnings: list[str] | UnsetType = UNSET


class ClaimAndEvidence(NamedTuple):
    """What the policies ask of a node before it is resolved with its last child."""

    n: int
    claimed_by: str | None
    claimed_until: str | None
    evidence_total: int


class RowDraft(NamedTuple):
    """A row, with the number of its node."""

    n: int
    value: float
    note: str | UnsetType = UNSET


def analyse(tx: Transaction, request: AnalyseWork) -> WorkAnalysis:
    """Return an analysis of the open work of a project.

    Raises:
        NotFound: the project has no such node.
        UnresolvedChildren: the node to resolve has open children.
        AlreadyResolved: the node is resolved.
        RootNotAllowed: the node to drop is the root.
    """
    node = None if request.node_id is None else fetch_node(tx, find_node_in_project(tx, request.node_id).n)
    if node is not None:
        _check(tx, node, drops=request.what == "if_dropped")
    graph = OpenGraph(tx)
    if node is not None:
        return _answer_what_if(tx, request, graph, node)
    if request.what == "unlocks":
        return _list_unlocks(tx, request, graph)
    order = MomentOrder(graph)
    if request.what == "bottlenecks":
        drafts = [RowDraft(n, count) for n, count in order.find_most_awaited(request.limit) if count]
        return _build(tx, request, drafts, len(drafts), warnings=_warn_about_loops(tx, order))
    path = order.find_longest_path([graph.get_estimate(one) for one in order.nodes])
    length = path[-1][1] if path else 0.0
    drafts = [RowDraft(one.n, done, f"estimate {_shorten(graph.get_estimate(one))}") for one, done in path]
    return _build(tx, request, drafts, length, warnings=_warn_about_loops(tx, order))


def _check(tx: Transaction, node: WorkNodeRow, *, drops: bool) -> None:
    if drops and node.n == ROOT_N:
        raise RootNotAllowed("dropped")
    if node.resolved:
        raise AlreadyResolved(node)
    if not drops:
        refuse_open_children(tx, node)


def _answer_what_if(tx: Transaction, request: AnalyseWork, graph: OpenGraph, node: WorkNodeRow) -> WorkAnalysis:
    what_if = WhatIf(graph, lambda ns: _list_resolvable(tx, ns))
    dropped = what_if.list_subtree(node.n) if request.what == "if_dropped" else []
    found = what_if.resolve(dropped or [node.n])
    best = tx.scalars(
        sql.best_first, project_id=tx.project.id, ns=to_json_array(found.actionable), at_most=request.limit
    )
    actionable = [*best, *set(found.actionable).difference(best)]  # the others are only counted
    groups = (actionable, "actionable"), (found.auto_resolved, "resolved with its last child"), (dropped, "dropped")
    drafts = [RowDraft(n, graph.get_estimate(graph.nodes[n]), note) for ns, note in groups for n in ns]
    return _build(tx, request, drafts, len(drafts))


def _list_resolvable(tx: Transaction, ns: Collection[int]) -> list[int]:
    """Return the nodes among these that the policies allow to be resolved with their last child."""
    policies = get_policies(tx)
    rows = tx.all(sql.claims_and_evidence, ClaimAndEvidence, project_id=tx.project.id, ns=to_json_array(ns))
    return [
        row.n
        for row in rows
        if (policies.evidence != "require" or row.evidence_total)
        and (policies.claims == "soft" or not is_claimed_by_another(tx, row.claimed_by, row.claimed_until))
    ]


def _list_unlocks(tx: Transaction, request: AnalyseWork, graph: OpenGraph) -> WorkAnalysis:
    what_if = WhatIf(graph, lambda ns: _list_resolvable(tx, ns))
    counts: dict[int, int] = {}
    skipped = 0
    for node in graph.nodes.values():
        if not node.is_ready or node.parent_n is None:
            continue
        if node.n not in graph.dependents and graph.nodes[node.parent_n].open_children > 1:
            continue  # nothing waits for it alone
        if what_if.steps > STEPS_MAX:
            skipped += 1
        elif count := len(what_if.resolve([node.n]).actionable):
            counts[node.n] = count
    best = nsmallest(request.limit, counts, key=lambda n: (-counts[n], n))
    waiting = MomentOrder(graph).count_waiters(best) if best else {}
    notes = {n: f"{count} wait for it, directly or not" for n, count in waiting.items()}
    drafts = [RowDraft(n, counts[n], notes[n]) for n in best]
    warnings = [f"{skipped} more actionable nodes were not counted, because too much waits for them"] if skipped else []
    return _build(tx, request, drafts, len(counts), total_rows=len(counts), warnings=warnings)


def _warn_about_loops(tx: Transaction, order: MomentOrder) -> list[str]:
    if not order.stuck:
        return []
    loop = find_loop_in_project(tx)
    explained = "" if loop is None else f": {describe_stored_loop(loop)}"
    return [f"{order.stuck} nodes can never be finished and are left out{explained}"]


def _build(
    tx: Transaction,
    request: AnalyseWork,
    drafts: list[RowDraft],
    total: float,
    *,
    total_rows: int | None = None,
    warnings: Iterable[str] = (),
) -> WorkAnalysis:
    listed = drafts[: request.limit]
    found = tx.all(sql.names, project_id=tx.project.id, ns=to_json_array(draft.n for draft in listed))
    names = {n: (node_id, summary) for n, node_id, summary in found}
    rows = tx.budget.share(9, of=10).take_rows(
        [AnalysisRow(*names[draft.n], _shorten(draft.value), draft.note) for draft in listed]
    )
    left = (len(drafts) if total_rows is None else total_rows) - len(rows)
    return WorkAnalysis(request.what, _shorten(total), rows, {"rows": left} if left else UNSET, list(warnings) or UNSET)


def _shorten(value: float) -> float:
    """Return a number as an integer if it is one."""
    return int(value) if value == int(value) else round(value, 6)


def locate(tx: Transaction, request: AnalyseWork) -> str:
    """Return the project of a request: the given one, or that of the node."""
    if request.project is not None:
        return request.project
    if request.node_id is None:
        raise missing_argument("project", (), expected="a string, unless node_id names a node")
    return resolve_node_project(tx, request.node_id)


OPERATION = declare(
    analyse,
    name="work.analyse",
    summary="Critical path, unlocks, bottlenecks; or what follows if node_id is resolved or dropped.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=locate,
    tool=Tool("analyse", Group.BRIEFING),
    command=Command(("work", "analyse"), arguments=("what", "node_id")),
    http=Route("GET", "/projects/{project}/work/analysis"),
)
