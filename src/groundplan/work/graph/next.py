"""Offer the best actionable nodes or a given node, and claim them on request.

An offer has the ancestors of a node and the resolved nodes that it depends on. Where there is no offer, the answer says
what is in the way: of the named node as an error, of the whole project as a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import DropField, LeftOut, Trimming
from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import AnswerBudget, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import get_policies
from groundplan.work.answers import TRIMMING, AnswerBriefing, Warnings, join_names, list_described
from groundplan.work.claims import (
    AlreadyClaimed,
    claim_node,
    compute_lease_end,
    is_claimed_by_another,
    limit_lease_end,
)
from groundplan.work.kinds import ACTIVE, FEATURE, ROOT_N
from groundplan.work.nodes import (
    ANCESTORS_MAX,
    DEPENDENCIES_MAX,
    TRIMMABLE_FIELDS,
    Evidence,
    NodeSummary,
    WorkCounts,
    WorkNode,
    WorkNodeRow,
    build_node,
    fetch_node,
    format_evidence,
    load_evidence,
)
from groundplan.work.overlaps import OverlapGuard
from groundplan.work.readiness import begin_features
from groundplan.work.refs import find_node_in_project, locate_request
from groundplan.work.requests import Decision, NodeRef
from groundplan.work.waiting.cycles import describe_stored_loop, find_stored_loop

COUNT_MAX = 50
SHORTEST_OFFER = "x" * 600  # room for ids, times, names and punctuation, without the node's texts

sql = load_queries(__file__)


class Next(Struct, forbid_unknown_fields=True):
    """Filters of the offered work, and the choice to claim it."""

    project: Name | None = None
    node_id: NodeRef | None = None
    scope: NodeRef | None = None
    filter: dict[str, Any] = {}
    count: Annotated[int, Meta(ge=1, le=COUNT_MAX)] = 1
    claim: bool = False
    budget: AnswerBudget = None
    lean: bool | None = None
    decision: Decision | None = None
    op_id: OpId = None

    def __post_init__(self) -> None:
        if self.node_id is not None and (self.scope is not None or self.filter or self.count > 1):
            raise ValueError("node_id names one node; leave out scope, filter and count")
        if self.budget is not None and self.count > 1:
            raise ValueError("budget is for the briefing of one node; leave out count")


class InheritedLinks(Struct):
    """Links of an ancestor."""

    node_id: str
    links: list[str]


class LinksBySource(Struct, rename={"own": "self"}):
    """The links of a node, and the links that it inherits."""

    own: list[str] | UnsetType = UNSET
    inherited: list[InheritedLinks] | UnsetType = UNSET


class ResolvedDependency(Struct):
    """A resolved dependency of a node, with its evidence."""

    id: str
    summary: str
    evidence: list[Evidence] | UnsetType = UNSET
    evidence_total: int | UnsetType = UNSET  # set when there are more than are listed


class Offer(Struct, kw_only=True):
    """A node to work on."""

    node: WorkNode
    claim: int | UnsetType = UNSET
    ancestors: list[NodeSummary]
    context_links: LinksBySource | UnsetType = UNSET
    resolved_deps: list[ResolvedDependency] | UnsetType = UNSET
    left_out: LeftOut = UNSET


class Offers(Struct):
    """The best nodes in order. If there are none, `reason` explains it."""

    trimming: ClassVar[Trimming] = Trimming(
        *TRIMMING,
        *(DropField(f"nodes[].{part}") for part in ("resolved_deps", "context_links", "ancestors")),
        *(DropField(f"nodes[].node.{part}") for part in TRIMMABLE_FIELDS),
    )

    nodes: list[Offer]
    reason: str | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET
    left_out: LeftOut = UNSET
    briefing: Any = UNSET  # of the node, if the request has a budget


def offer(tx: Transaction, request: Next) -> Offers:
    """Return the best actionable nodes, or the given one.

    Raises:
        NotFound: the scope or the named node is not a node of the project.
        NotActionable: the named node cannot be worked on now.
        AlreadyClaimed: another actor has claimed the named node.
        OverlapsInProgress: others work on files of the named node, and the project avoids that.
    """
    guard = OverlapGuard(tx)
    candidates = _pick_nodes(tx, request, guard)
    return _build_offers(tx, request, candidates, _fit_to_budget(tx, candidates), guard, is_claimed=False)


def claim(tx: Transaction, request: Next) -> Offers:
    """Claim and return the best actionable nodes, or the given one.

    Nobody else is offered them while the claim is live.

    Raises:
        NotFound: the scope or the named node is not a node of the project.
        NotActionable: the named node cannot be worked on now.
        AlreadyClaimed: another actor has claimed the named node.
        OverlapsInProgress: others work on files of the named node, and the project avoids that.
    """
    guard = OverlapGuard(tx)
    candidates = _pick_nodes(tx, request, guard)
    nodes = _fit_to_budget(tx, candidates)
    until = compute_lease_end(tx)
    for node in nodes:
        claim_node(tx, node, until, decision=request.decision)
        if node.feature_n is not None:
            begin_features(tx, node.feature_n, decision=request.decision)
    return _build_offers(tx, request, candidates, nodes, guard, is_claimed=True)


def _pick_nodes(tx: Transaction, request: Next, guard: OverlapGuard) -> list[WorkNodeRow]:
    if request.node_id is not None:
        node = pick_named(tx, request.node_id)
        guard.check(node)
        return [node]
    where: dict[str, Any] = {"project_id": tx.project.id}
    if request.scope is None and not request.filter:
        query = sql.next_nodes
    else:
        query = sql.next_matching if request.scope is None else sql.next_below
        where["wanted"] = encode_wanted_properties(request.filter)
    if request.scope is not None:
        where["scope"] = find_node_in_project(tx, request.scope).n

    def find(at_most: int) -> list[WorkNodeRow]:
        return tx.all(query, WorkNodeRow, **where, at_most=at_most)

    return guard.pick(find, wanted=request.count)


def _fit_to_budget(tx: Transaction, candidates: list[WorkNodeRow]) -> list[WorkNodeRow]:
    """Return the leading nodes that fit into half of the answer in short form, because each claim must be shown."""
    if len(candidates) < 2:
        return candidates
    shortest = [(row.summary, SHORTEST_OFFER) for row in candidates]
    return candidates[: len(tx.budget.share(1, of=2).take_rows(shortest, at_least=1))]


def encode_wanted_properties(properties: dict[str, Any]) -> str:
    """Return the properties of the filter as JSON for the queries: name, kind and value of each."""
    return msgspec.json.encode([[name, *_encode_value(value)] for name, value in properties.items()]).decode()


def _encode_value(value: Any) -> tuple[str, Any]:
    match value:
        case None:
            return "null", None
        case bool():
            return ("true" if value else "false"), None
        case int() | float():
            return "number", value
        case str():
            return "string", value
    return "json", msgspec.json.encode(value).decode()


def _build_offers(
    tx: Transaction,
    request: Next,
    picked: list[WorkNodeRow],
    kept: list[WorkNodeRow],
    guard: OverlapGuard,
    *,
    is_claimed: bool,
) -> Offers:
    warnings = Warnings()
    if request.filter:
        warn_about_filter(tx, warnings, request.filter, is_found=bool(picked))
    if not picked:
        return Offers([], reason=guard.explain() or explain_no_offer(tx), warnings=warnings.lines())
    guard.warn(warnings, kept)
    lean = tx.preferences.lean if request.lean is None else request.lean
    offers = [_build_offer(tx, row, lean=lean, is_claimed=is_claimed) for row in kept]
    left_out = {"nodes": len(picked) - len(kept)} if len(kept) < len(picked) else UNSET
    answer = Offers(offers, warnings=warnings.lines(), left_out=left_out)
    if request.budget is not None:
        briefing = AnswerBriefing(tx, kept[0].n, lean=lean, list_shown=lambda: _list_shown(answer))
        briefing.add_to(answer)
    return answer


def _list_shown(answer: Offers) -> dict[str, bool]:
    shown = {dependency.id: False for offered in answer.nodes for dependency in offered.resolved_deps or ()}
    return shown | list_described(answer.nodes[0].node)


def _build_offer(tx: Transaction, row: WorkNodeRow, *, lean: bool, is_claimed: bool) -> Offer:
    above, dependencies = fetch_surroundings(tx, row)
    row.parent = above[-1].id
    node = build_node(tx, row, lean=lean)
    # A node has one ancestor at each depth.
    left_out = {} if len(above) == row.depth else {"ancestors": row.depth - len(above)}
    if len(dependencies) > DEPENDENCIES_MAX:
        del dependencies[DEPENDENCIES_MAX:]
        total = tx.scalar(sql.count_resolved_dependencies, project_id=tx.project.id, n=row.n)
        left_out["resolved_deps"] = total - DEPENDENCIES_MAX
    offered = Offer(node=node, ancestors=[NodeSummary(ancestor.id, ancestor.summary) for ancestor in above])
    offered.left_out = left_out or UNSET
    if is_claimed:
        offered.claim = row.claim_number
    inherited = [
        InheritedLinks(ancestor.id, msgspec.json.decode(ancestor.context_links))
        for ancestor in above
        if ancestor.context_links != "[]"
    ]
    if not lean or node.context_links or inherited:
        offered.context_links = LinksBySource(node.context_links or [], inherited)
    if not lean or dependencies:
        evidence = (
            load_evidence(tx, to_json_array(dep.n for dep in dependencies))
            if any(dep.evidence_total for dep in dependencies)
            else {}
        )
        offered.resolved_deps = [_build_dependency(dep, evidence.get(dep.n, []), lean=lean) for dep in dependencies]
    return offered


def _build_dependency(row: SurroundingRow, evidence: list[Evidence], *, lean: bool) -> ResolvedDependency:
    total = row.evidence_total if row.evidence_total > len(evidence) else UNSET
    return ResolvedDependency(row.id, row.summary, format_evidence(evidence, lean=lean), total)


CLAIM = declare(
    claim,
    name="work.claim",
    summary="Claim the best actionable nodes, so that no one else is offered them.",
    permission=Permission.WORK_CLAIM,
    effect=Effect.WRITE,
    project=locate_request,
    http=Route("POST", "/projects/{project}/work/claims", without=("claim",)),
)

OPERATION = declare(
    offer,
    name="work.next",
    summary="Best actionable nodes with context; claim: true takes them.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=locate_request,
    variants=(CLAIM,),
    choose_variant=lambda request: CLAIM if request.claim else None,
    tool=Tool("graph_next", Group.WORK),
    http=Route("GET", "/projects/{project}/work/next", summary="Best actionable nodes.", without=("claim", "decision")),
)


# --- The named node ---------------------------------------------------------------------------------------------------

LISTED_MAX, NAMED_MAX = 20, 5  # nodes that an error lists, and of these in its message
ANCESTORS_LISTED_MAX = 5
SUMMARY_CHARS_MAX = 120  # in an error, which no budget shortens


class BlockedAncestor(Struct):
    """An ancestor that blocks a node, with its open dependencies, and the reason of its hold if it is on hold."""

    id: str
    summary: str
    waiting_for: list[NodeSummary]
    on_hold: str | UnsetType = UNSET


class _AncestorRow(Struct):
    n: int
    id: str
    summary: str
    held_reason: str | None


class NotActionable(Conflict):
    """The given node cannot be worked on now: it is resolved, waits, or has open children."""

    code = "not_actionable"

    def __init__(
        self,
        node: WorkNodeRow,
        waiting_for: list[str],
        open_children: list[str],
        held_by: Sequence[BlockedAncestor] = (),
    ) -> None:
        problems = []
        if node.n == ROOT_N or node.kind == FEATURE:
            problems.append(f"is a {node.kind}, whose tasks are the work")
        if node.resolved:
            problems.append("is resolved")
        if waiting_for:
            problems.append(f"waits for {', '.join(waiting_for[:NAMED_MAX])}")
        if node.held_reason is not None:
            problems.append(f"is on hold ({quote_text(node.held_reason)})")
        if node.status not in (None, ACTIVE) and node.kind != FEATURE:
            problems.append(f"has the status {node.status}")
        if open_children:
            problems.append(f"has open children ({', '.join(open_children[:NAMED_MAX])})")
        if held_by:
            problems.append(f"is held back by {_describe_ancestor(held_by[0])}")
        details: dict[str, Any] = {"held_by": to_builtins(held_by)} if held_by else {}
        super().__init__(
            f"node {node.id} {' and '.join(problems)}",
            next_steps=NextStep("work.next", "offers another node without node_id"),
            node_id=node.id,
            waiting_for=waiting_for,
            open_children=open_children,
            **details,
        )


def _describe_ancestor(ancestor: BlockedAncestor) -> str:
    reasons = []
    if ancestor.waiting_for:
        reasons.append(f"waits for {', '.join(map(_describe_node, ancestor.waiting_for[:NAMED_MAX]))}")
    if ancestor.on_hold is not UNSET:
        reasons.append(f"is on hold ({quote_text(ancestor.on_hold)})")
    return f"{_describe_node(ancestor)} above it, which {' and '.join(reasons)}"


def _describe_node(node: NodeSummary | BlockedAncestor) -> str:
    return f"{node.id} ({quote_text(node.summary)})"


def pick_named(tx: Transaction, ref: str) -> WorkNodeRow:
    """Return the given node of the current project."""
    node = fetch_node(tx, find_node_in_project(tx, ref).n)
    node_key = {"project_id": tx.project.id, "n": node.n}
    if tx.one_or_none(sql.ready_node, **node_key) is None:
        waiting_for = _load_waiting_for(tx, node.n, at_most=LISTED_MAX) if node.open_deps else []
        open_children = tx.scalars(sql.open_children_of, **node_key, at_most=LISTED_MAX) if node.open_children else []
        held_by = _load_blocked_ancestors(tx, node.n) if node.blocked_above and not node.resolved else []
        raise NotActionable(node, [awaited.id for awaited in waiting_for], open_children, held_by)
    if is_claimed_by_another(tx, node.claimed_by, node.claimed_until):
        raise AlreadyClaimed(node, limit_lease_end(tx, node.claimed_until))
    return node


def _load_waiting_for(tx: Transaction, n: int, *, at_most: int) -> list[NodeSummary]:
    return tx.all(sql.open_targets_of, NodeSummary, project_id=tx.project.id, n=n, at_most=at_most)


def _load_blocked_ancestors(tx: Transaction, n: int) -> list[BlockedAncestor]:
    """Return the ancestors that block a node, nearest first, with at most LISTED_MAX nodes in all."""
    inherits = get_policies(tx).inherit_dependencies
    parameters = {"project_id": tx.project.id, "n": n, "inherits": inherits, "at_most": ANCESTORS_LISTED_MAX}
    ancestors: list[BlockedAncestor] = []
    room = LISTED_MAX
    for row in tx.all(sql.blocked_ancestors_of, _AncestorRow, **parameters):
        waiting_for = _load_waiting_for(tx, row.n, at_most=room)
        room -= len(waiting_for)
        shown = [NodeSummary(awaited.id, _shorten_text(awaited.summary)) for awaited in waiting_for]
        on_hold = UNSET if row.held_reason is None else _shorten_text(row.held_reason)
        ancestors.append(BlockedAncestor(row.id, _shorten_text(row.summary), shown, on_hold))
    return ancestors


def _shorten_text(text: str) -> str:
    return text if len(text) <= SUMMARY_CHARS_MAX else f"{text[: SUMMARY_CHARS_MAX - 1]}…"


# --- The surroundings of an offered node ------------------------------------------------------------------------------


class SurroundingRow(Struct):
    """An ancestor of a node with its links, or a resolved dependency with the amount of its evidence."""

    n: int
    id: str
    summary: str
    context_links: str
    depth: int | None  # None: a dependency
    evidence_total: int


def fetch_surroundings(tx: Transaction, row: WorkNodeRow) -> tuple[list[SurroundingRow], list[SurroundingRow]]:
    """Return the ancestors, root first (of very many, only the root and the nearest), and the resolved dependencies."""
    rows = tx.all(
        sql.surroundings,
        SurroundingRow,
        project_id=tx.project.id,
        n=row.n,
        parent_n=row.parent_n,
        ancestors_max=ANCESTORS_MAX,
        dependencies_max=DEPENDENCIES_MAX + 1,
    )
    ancestors = sorted((node for node in rows if node.depth is not None), key=lambda node: node.depth or 0)
    if ancestors[0].n != ROOT_N:
        ancestors.insert(0, tx.one(sql.root_with_links, SurroundingRow, project_id=tx.project.id))
    return ancestors, [node for node in rows if node.depth is None]


# --- Reasons and warnings ---------------------------------------------------------------------------------------------

# Properties that answers show and no node stores, with the step that finds nodes by them.
SHOWN_PROPERTIES = (
    (("_claimed_by", "_claimed_at", "_held"), NextStep("work.query", "finds nodes by claimed_by")),
    (("_hold",), NextStep("work.query", "finds nodes by is_blocked")),
)


def warn_about_filter(tx: Transaction, warnings: Warnings, properties: dict[str, Any], *, is_found: bool) -> None:
    """Add warnings about properties that no node has, and about properties that answers compute and no node stores."""
    doubtful = [name for name, value in properties.items() if value is None or not is_found]
    for names, step in SHOWN_PROPERTIES:
        if shown := [name for name in properties if name in names]:
            doubtful = [name for name in doubtful if name not in shown]
            warnings.add(f"filter {join_names(shown)}", f"shown, but cannot be filtered here; {tx.describe(step)}")
    unknown = [name for name in doubtful if not _is_property(tx, name)]
    if unknown:
        these = "this property" if len(unknown) == 1 else "these properties"
        warnings.add(f"filter {join_names(unknown)}", f"no node has {these}")


def _is_property(tx: Transaction, name: str) -> bool:
    return tx.one_or_none(sql.node_with_property, project_id=tx.project.id, name=name) is not None


def explain_no_offer(tx: Transaction) -> str:
    """Return the reason why no node is offered, from the stored counts."""
    counts = tx.one(sql.counts, WorkCounts, project_id=tx.project.id)
    if counts.total == 1:
        return (
            f"no work is planned yet; {tx.describe(NextStep('work.plan', 'adds some', {'project': tx.project.name}))}"
        )
    if not counts.unresolved:
        return "everything is resolved"
    if counts.unresolved == 1:  # the root is open as long as anything is, and never offered
        root = tx.scalar(sql.root_id, project_id=tx.project.id)
        return f"everything below the root is resolved; resolve {root} to finish the project"
    if not counts.actionable and (loop := find_stored_loop(tx, ROOT_N)) is not None:
        return f"the plan can never be finished: {describe_stored_loop(loop)}"
    return (
        f"{counts.unresolved} nodes are open, {counts.actionable} actionable and {counts.blocked} blocked; "
        "none of them is available to you here"
    )
