"""Analyse a plan: the critical path, the nodes that unlock most or are awaited most, and the effects of a change.

"Actionable" means what it means everywhere: the rules are those of the stored readiness, and tests compare the answers
with what the engine reports after the change is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from heapq import nlargest, nsmallest
from typing import Annotated, Literal, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.claims import is_claimed_by_another
from groundplan.work.graph.update import refuse_open_children
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import WorkNodeRow, fetch_node, load_summaries
from groundplan.work.refs import find_node_in_project, locate_request
from groundplan.work.requests import NodeRef
from groundplan.work.restructuring import AlreadyResolved, refuse_root_drop
from groundplan.work.waiting.cycles import describe_stored_loop, find_loop_in_project
from groundplan.work.waiting.moments import iter_waits
from groundplan.work.what_if import OpenGraph, OpenNode, WhatIf

LIMIT = 20
LIMIT_MAX = 100
STEPS_MAX = 2_000_000  # nodes looked at for unlock counts, about two seconds

sql = load_queries(__file__)


class AnalyseWork(Struct, forbid_unknown_fields=True):
    """The analysis of the open work of a project to run."""

    project: Name | None = None
    what: Literal["critical_path", "unlocks", "bottlenecks", "if_resolved", "if_dropped"] = "critical_path"
    node_id: NodeRef | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT

    def __post_init__(self) -> None:
        if (self.node_id is not None) != self.what.startswith("if_"):
            raise ValueError("if_resolved and if_dropped need node_id; the others are about the project, without it")


class AnalysisRow(Struct, omit_defaults=True):
    """A node with its values in the analysis."""

    id: str
    summary: str
    value: float
    note: str | UnsetType = UNSET


class WorkAnalysis(Struct, omit_defaults=True):
    """The rows of an analysis. `total` is the length of the critical path, or the number of nodes with a row."""

    what: str
    total: float
    rows: list[AnalysisRow]
    left_out: LeftOut = UNSET
    warnings: list[str] | UnsetType = UNSET


class ClaimAndEvidence(NamedTuple):
    """The conditions of the policies for resolving a node with its last child: a claim, and evidence."""

    n: int
    claimed_by: str | None
    claimed_until: str | None
    evidence_total: int


class RowDraft(NamedTuple):
    """A row with the number of its node."""

    n: int
    value: float
    note: str | UnsetType = UNSET


def analyse(tx: Transaction, request: AnalyseWork) -> WorkAnalysis:
    """Return an analysis of the open work of a project.

    Raises:
        NotFound: the project has no such node.
        UnresolvedChildren: the node to resolve has open children.
        AlreadyResolved: the node is resolved.
        RootNotAllowed: the node to drop is the root, and the caller is no owner.
    """
    node = None if request.node_id is None else fetch_node(tx, find_node_in_project(tx, request.node_id).n)
    if node is not None:
        _refuse_unanalysable(tx, node, drops=request.what == "if_dropped")
    graph = OpenGraph(tx)
    if node is not None:
        return _answer_what_if(tx, request, graph, node)
    if request.what == "unlocks":
        return _list_unlocks(tx, request, graph)
    order = MomentOrder(graph)
    if request.what == "bottlenecks":
        drafts = [RowDraft(n, count) for n, count in order.find_most_awaited(request.limit) if count]
        return _build_answer(tx, request, drafts, len(drafts), warnings=_warn_about_loops(tx, order))
    path = order.find_longest_path([graph.get_estimate(step) for step in order.nodes])
    length = path[-1][1] if path else 0.0
    drafts = [
        RowDraft(step.n, finish, f"estimate {_to_plain_number(graph.get_estimate(step))}") for step, finish in path
    ]
    return _build_answer(tx, request, drafts, length, warnings=_warn_about_loops(tx, order))


def _refuse_unanalysable(tx: Transaction, node: WorkNodeRow, *, drops: bool) -> None:
    if drops and node.n == ROOT_N:
        refuse_root_drop(tx)
    if node.resolved:
        raise AlreadyResolved(node)
    if not drops:
        refuse_open_children(tx, node)


def _answer_what_if(tx: Transaction, request: AnalyseWork, graph: OpenGraph, node: WorkNodeRow) -> WorkAnalysis:
    what_if = WhatIf(graph, lambda ns: _list_resolvable(tx, ns))
    dropped = what_if.list_subtree(node.n) if request.what == "if_dropped" else []
    consequences = what_if.resolve(dropped or [node.n])
    best = tx.scalars(
        sql.best_first, project_id=tx.project.id, ns=to_json_array(consequences.actionable), at_most=request.limit
    )
    actionable = [*best, *set(consequences.actionable).difference(best)]  # the others are only counted
    groups = (
        (actionable, "actionable"),
        (consequences.auto_resolved, "resolved with its last child"),
        (dropped, "dropped"),
    )
    drafts = [RowDraft(n, graph.get_estimate(graph.nodes[n]), note) for ns, note in groups for n in ns]
    return _build_answer(tx, request, drafts, len(drafts))


def _list_resolvable(tx: Transaction, ns: Collection[int]) -> list[int]:
    """Return the given nodes that the policies allow to be resolved with their last child."""
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
    return _build_answer(tx, request, drafts, len(counts), total_rows=len(counts), warnings=warnings)


def _warn_about_loops(tx: Transaction, order: MomentOrder) -> list[str]:
    if not order.stuck:
        return []
    loop = find_loop_in_project(tx)
    explained = "" if loop is None else f": {describe_stored_loop(loop)}"
    return [f"{order.stuck} nodes can never be finished and are left out{explained}"]


def _build_answer(
    tx: Transaction,
    request: AnalyseWork,
    drafts: list[RowDraft],
    total: float,
    *,
    total_rows: int | None = None,
    warnings: Iterable[str] = (),
) -> WorkAnalysis:
    listed = drafts[: request.limit]
    nodes = load_summaries(tx, (draft.n for draft in listed))
    rows = tx.budget.share(9, of=10).take_rows(
        [
            AnalysisRow(nodes[draft.n].id, nodes[draft.n].summary, _to_plain_number(draft.value), draft.note)
            for draft in listed
        ]
    )
    left_out = (len(drafts) if total_rows is None else total_rows) - len(rows)
    return WorkAnalysis(
        request.what, _to_plain_number(total), rows, {"rows": left_out} if left_out else UNSET, list(warnings) or UNSET
    )


def _to_plain_number(value: float) -> float:
    """Return a number as an integer if it is whole."""
    return int(value) if value == int(value) else round(value, 6)


# --- The order of starts and finishes ---------------------------------------------------------------------------------
#
# Each comes after what it waits for; the relation is that of the cycle check (`waiting/cycles.py`). Moments are
# numbered by the position of their node: its start is twice the position, its finish one more. Everything is done in
# loops, so that a chain of a hundred thousand nodes needs no recursion.

SAMPLE_MAX = 4_096  # nodes that are counted to find those that most wait for
SPREAD = 2_654_435_761  # a prime near 2**32 divided by the golden ratio: multiples of it are spread evenly


class MomentOrder:
    """The moments of a plan, the moments that wait for each, and their order. Moments in a loop have no place in it."""

    def __init__(self, graph: OpenGraph) -> None:
        self.nodes: Sequence[OpenNode] = list(graph.nodes.values())
        index_of: dict[int | None, int] = {node.n: index for index, node in enumerate(self.nodes)}
        self.waiters: list[list[int]] = [[] for _ in range(2 * len(self.nodes))]
        self._awaited = [0] * len(self.waiters)  # the number of moments that each waits for
        rows = (
            (index, index_of.get(node.parent_n), index_of.get(node.parent_n if graph.inherits else node.feature_n))
            for index, node in enumerate(self.nodes)
        )
        dependencies = ((index_of[source], index_of[target]) for source, target in graph.dependencies)
        for moment, awaited in iter_waits(rows, dependencies):
            self.waiters[awaited].append(moment)
            self._awaited[moment] += 1
        self.order = self._sort()

    def _sort(self) -> list[int]:
        open_waits = self._awaited.copy()
        order = [moment for moment, count in enumerate(open_waits) if not count]
        for moment in order:  # the list grows during the loop
            for waiter in self.waiters[moment]:
                open_waits[waiter] -= 1
                if not open_waits[waiter]:
                    order.append(waiter)
        return order

    @property
    def stuck(self) -> int:
        """The number of nodes that can never be finished, because they wait for a loop."""
        return len(self.nodes) - sum(moment % 2 for moment in self.order)

    def find_longest_path(self, estimates: Sequence[float]) -> list[tuple[OpenNode, float]]:
        """Return the nodes of the longest path in order, each with the time when it is done."""
        finish_times = [0.0] * len(self.waiters)
        before = [-1] * len(self.waiters)
        last = -1
        for moment in self.order:
            if moment % 2:
                finish_times[moment] += estimates[moment // 2]
            if last < 0 or finish_times[moment] > finish_times[last]:
                last = moment
            for waiter in self.waiters[moment]:
                if before[waiter] < 0 or finish_times[moment] > finish_times[waiter]:
                    finish_times[waiter], before[waiter] = finish_times[moment], moment
        path = []
        while last >= 0:
            if last % 2 and self.nodes[last // 2].is_work:
                path.append((self.nodes[last // 2], finish_times[last]))
            last = before[last]
        return path[::-1]

    def find_most_awaited(self, at_most: int) -> list[tuple[int, int]]:
        """Return the nodes that most other nodes wait for, directly or indirectly, each with the exact number.

        Up to SAMPLE_MAX nodes all are compared exactly. Among more, a fixed sample decides which ones are counted: to
        count all pairs would take a minute and gigabytes.
        """
        work = [index for index, node in enumerate(self.nodes) if node.is_work]
        sample = work if len(work) <= SAMPLE_MAX else sorted(work, key=_scatter)[:SAMPLE_MAX]
        waiting = self._count_waiters_among(sample)
        candidates = nlargest(2 * at_most, work, key=lambda index: (waiting[index], -index))
        counts = self.count_waiters([self.nodes[index].n for index in candidates if waiting[index]])
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:at_most]

    def _count_waiters_among(self, sample: Collection[int]) -> list[int]:
        """Return the number of nodes in a sample that wait for each position. A row is kept until its last use."""
        bits = {2 * index + 1: 1 << bit for bit, index in enumerate(sample)}
        rows = [0] * len(self.waiters)
        unused = self._awaited.copy()
        counts = [0] * len(self.nodes)
        for moment in reversed(self.order):
            row = 0
            for waiter in self.waiters[moment]:
                row |= rows[waiter]
                unused[waiter] -= 1
                if not unused[waiter]:
                    rows[waiter] = 0
            if moment % 2:
                counts[moment // 2] = row.bit_count()
                row |= bits.get(moment, 0)
            if unused[moment]:
                rows[moment] = row
        return counts

    def count_waiters(self, ns: Sequence[int]) -> dict[int, int]:
        """Return the number of other nodes that wait for each given node, directly or indirectly."""
        bit_of = {n: 1 << bit for bit, n in enumerate(ns)}
        bits = {2 * index + 1: bit_of[node.n] for index, node in enumerate(self.nodes) if node.n in bit_of}
        rows = [0] * len(self.waiters)
        behind = Counter[int]()
        for moment in self.order:
            row = rows[moment]
            if moment % 2 and row and self.nodes[moment // 2].is_work:
                behind[row] += 1
            row |= bits.get(moment, 0)
            if row:
                for waiter in self.waiters[moment]:
                    rows[waiter] |= row
        return {n: sum(count for row, count in behind.items() if row & bit) for n, bit in bit_of.items()}


def _scatter(index: int) -> int:
    return (index + 1) * SPREAD % 2**32


OPERATION = declare(
    analyse,
    name="work.analyse",
    summary="Critical path, unlocks, bottlenecks; or what follows if node_id is resolved or dropped.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=locate_request,
    tool=Tool("analyse", Group.BRIEFING),
    http=Route("GET", "/projects/{project}/work/analysis"),
)
