"""Offer the best actionable nodes or a given node, and claim them on request.

An offer has the ancestors of a node and the resolved nodes that it depends on. The lists of an answer share a room,
which the best node uses first, and a cursor goes on where they stop. Where there is no offer, the answer says what is
in the way: of the named node as an error, of the whole project as a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import (
    CURSOR_CHARS,
    Budget,
    DropField,
    LeftOut,
    ListPart,
    ListRow,
    Position,
    Trimming,
    share_room,
)
from groundplan.kernel.cursors import (
    Cursor,
    InvalidCursor,
    decode_cursor,
    encode_cursor,
    join_positions,
    split_positions,
)
from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import AnswerBudget, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import get_policies
from groundplan.work.answers import TRIMMING, AnswerBriefing, Warnings, join_names, list_described
from groundplan.work.claims import (
    AlreadyClaimed,
    claim_node,
    compute_claim_end,
    is_claimed_by_another,
    limit_lease_end,
)
from groundplan.work.graph.node_lists import (
    AFTER_ALL,
    ANCESTOR_CHARS_MIN,
    ENDED,
    EVIDENCE_CHARS_MIN,
    FIRST_PAGE,
    NODE_LISTS,
    AncestorRow,
    begin_ancestors,
    count_left_out,
    list_ancestors,
    order_ancestors,
    read_node_lists,
    shorten_evidence,
    show_node_lists,
)
from groundplan.work.graph.search import build_property_conditions
from groundplan.work.kinds import ACTIVE, FEATURE, ROOT_N, Outcome, get_outcome
from groundplan.work.nodes import (
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
    load_rows,
    summarize_node,
)
from groundplan.work.overlaps import OverlapGuard
from groundplan.work.readiness import begin_features
from groundplan.work.refs import find_node_in_project, locate_request
from groundplan.work.requests import CLAIMANT_PROPERTY, Decision, NodeRef
from groundplan.work.waiting.cycles import describe_stored_loop, find_stored_loop

NAME = "work.next"
COUNT_MAX = 50
NUMBER_CHARS = 7  # of a node in a cursor
NO_DEPTH = -1  # of a dependency among the surroundings
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
    cursor: Cursor = None
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
    outcome: Outcome | UnsetType = UNSET
    evidence: list[Evidence] | UnsetType = UNSET
    evidence_total: int | UnsetType = UNSET  # set when there are more than are listed


class Offer(Struct, kw_only=True):
    """A node to work on."""

    node: WorkNode
    claim: int | UnsetType = UNSET
    until: str | UnsetType | None = UNSET  # of a claim; null: it does not end by itself
    ancestors: list[NodeSummary]
    context_links: LinksBySource | UnsetType = UNSET
    resolved_deps: list[ResolvedDependency] | UnsetType = UNSET
    left_out: LeftOut = UNSET


class Offers(Struct):
    """The best nodes in order. If there are none, `reason` explains it."""

    # The lists need no rule here: only as much of them is added as fits.
    trimming: ClassVar[Trimming] = Trimming(
        *TRIMMING, *(DropField(f"nodes[].node.{part}") for part in TRIMMABLE_FIELDS)
    )

    nodes: list[Offer]
    reason: str | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET
    left_out: LeftOut = UNSET
    next_cursor: str | UnsetType = UNSET
    briefing: Any = UNSET  # of the node, if the request has a budget


def offer(tx: Transaction, request: Next) -> Offers:
    """Return the best actionable nodes, or the given one; with a cursor, the rest of an earlier answer.

    Raises:
        NotFound: the scope or the named node is not a node of the project.
        NotActionable: the named node cannot be worked on now.
        AlreadyClaimed: another actor has claimed the named node.
        OverlapsInProgress: others work on files of the named node, and the project avoids that.
        InvalidCursor: the cursor belongs to other arguments or another caller.
    """
    if request.cursor is not None:
        return _continue_offers(tx, request, request.cursor, is_claimed=request.claim)
    guard = OverlapGuard(tx)
    candidates = _pick_nodes(tx, request, guard)
    return _build_offers(tx, request, candidates, _fit_to_budget(tx, candidates), guard, is_claimed=False)


def claim(tx: Transaction, request: Next) -> Offers:
    """Claim and return the best actionable nodes, or the given one.

    Nobody else is offered them while the claim is live. A cursor leads to the rest of an earlier answer, which claimed
    its nodes.

    Raises:
        NotFound: the scope or the named node is not a node of the project.
        NotActionable: the named node cannot be worked on now.
        AlreadyClaimed: another actor has claimed the named node.
        OverlapsInProgress: others work on files of the named node, and the project avoids that.
        InvalidCursor: the cursor belongs to other arguments or another caller.
    """
    if request.cursor is not None:
        return _continue_offers(tx, request, request.cursor, is_claimed=True)
    guard = OverlapGuard(tx)
    candidates = _pick_nodes(tx, request, guard)
    nodes = _fit_to_budget(tx, candidates)
    until = compute_claim_end(tx)
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
        where |= build_property_conditions(request.filter, ("filter",))
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
    left_out = {"nodes": len(picked) - len(kept)} if len(kept) < len(picked) else UNSET
    builder = _OfferBuilder(tx, request, is_claimed=is_claimed)
    answer = Offers([], warnings=warnings.lines(), left_out=left_out)
    builder.add_nodes(answer, kept)
    briefing = None
    if request.budget is not None:
        shown = builder.list_dependencies()
        briefing = AnswerBriefing(
            tx, kept[0].n, lean=builder.lean, list_shown=lambda: shown | list_described(answer.nodes[0].node)
        )
    builder.add_lists(answer, briefing)
    # Those that do not fit are not claimed, so a cursor leads to them only where nobody claims.
    builder.add_cursor(answer, () if is_claimed else [row.n for row in picked[len(kept) :]])
    if briefing is not None:
        shown = _list_dependencies_shown(answer)
        briefing.add_to(answer)
    return answer


def _continue_offers(tx: Transaction, request: Next, cursor: str, *, is_claimed: bool) -> Offers:
    builder = _OfferBuilder(tx, request, is_claimed=is_claimed)
    answer = Offers([])
    builder.add_rest(answer, cursor)
    builder.add_cursor(answer)
    return answer


def _list_dependencies_shown(answer: Offers) -> dict[str, bool]:
    return {dependency.id: False for offered in answer.nodes for dependency in offered.resolved_deps or ()}


LISTS = len(NODE_LISTS) + 2  # the lists of one offer: those of its node, its ancestors and resolved dependencies


class _OfferDraft(NamedTuple):
    """An offer, and what was read of its lists."""

    offered: Offer
    row: WorkNodeRow
    parts: Sequence[ListPart[Any]]
    surroundings: Surroundings


class _OfferBuilder:
    """Builds offers. As soon as the lists of one are cut, those of the later ones are for the next page."""

    def __init__(self, tx: Transaction, request: Next, *, is_claimed: bool) -> None:
        self._tx = tx
        self._is_claimed = is_claimed
        self.lean = tx.preferences.lean if request.lean is None else request.lean
        self._has_budget = request.budget is not None
        # Without `count`, `budget` and `lean`, which the caller may change between pages.
        self._belongs_to = [request.node_id, request.scope, request.filter, is_claimed]
        self._drafts: list[_OfferDraft] = []
        self._pending: list[int] = []  # the first offer whose lists were cut, and those after it
        self._positions: Sequence[Position | None] = ()  # where its lists go on

    def add_nodes(self, answer: Offers, rows: Sequence[WorkNodeRow]) -> None:
        """Add offers without their lists."""
        room = self._take_room(answer)
        for row in rows:
            offered = self._begin_offer(row)
            if self._is_claimed:
                offered.claim, offered.until = row.claim_number, row.claimed_until
            draft = self._read_lists(offered, row, room)
            offered.node.parent = draft.surroundings.ancestors[0].id
            self._drafts.append(draft)
            answer.nodes.append(offered)

    def list_dependencies(self) -> dict[str, bool]:
        """Return the ids of all dependencies that were read."""
        return {row.id: False for draft in self._drafts for row in draft.surroundings.dependencies}

    def add_lists(self, answer: Offers, briefing: AnswerBriefing | None) -> None:
        """Add what fits of the lists of all offers. The briefing gets what it needs before."""
        room = self._take_room(answer, less=0 if briefing is None else briefing.measure())
        for draft in self._drafts:
            if self._pending:
                self._pending.append(draft.row.n)
            self._show_lists(draft, Budget(0) if self._pending else room)

    def add_rest(self, answer: Offers, cursor: str) -> None:
        """Add the offers to which a cursor leads: the rest of the lists of the first, and the next ones while they fit.

        Raises:
            InvalidCursor: the cursor belongs to other arguments or another caller.
        """
        [numbers, *positions] = split_positions(decode_cursor(self._tx, NAME, self._belongs_to, cursor)) or [None]
        if not numbers or len(positions) not in (0, LISTS):
            raise InvalidCursor
        rows = load_rows(self._tx, numbers)
        room = self._take_room(answer)
        for row in (rows[n] for n in numbers if n in rows):
            is_begun = bool(positions) and row.n == numbers[0]
            offered = Offer(node=summarize_node(row), ancestors=[]) if is_begun else self._begin_offer(row)
            if not answer.nodes:
                room.reserve(offered)
            elif self._pending or not room.spend_if_fits(offered):
                self._pending.append(row.n)
                continue
            draft = self._read_lists(offered, row, room, positions if is_begun else ())
            self._show_lists(draft, room, at_least=0 if answer.nodes else 1)
            answer.nodes.append(offered)

    def add_cursor(self, answer: Offers, more: Sequence[int] = ()) -> None:
        """Add the cursor to what is left out of the lists, and to more nodes, if it fits."""
        numbers = [*self._pending, *more]
        if numbers:
            positions = join_positions([numbers, *self._positions])
            cursor = encode_cursor(self._tx, NAME, self._belongs_to, *positions)
            if self._tx.budget.reserve(answer).spend_if_fits({"next_cursor": cursor}):
                answer.next_cursor = cursor

    def _take_room(self, answer: Offers, *, less: int = 0) -> Budget:
        room = self._tx.budget.reserve(answer)
        return Budget(room.free_chars - less, room).take_lists(is_requested=self._has_budget)

    def _begin_offer(self, row: WorkNodeRow) -> Offer:
        offered = Offer(node=build_node(row, now=self._tx.now, lean=self.lean), ancestors=[])
        if not self.lean:
            offered.context_links, offered.resolved_deps = LinksBySource([], []), []
        return offered

    def _read_lists(
        self, offered: Offer, row: WorkNodeRow, room: Budget, positions: Sequence[Position | None] = ()
    ) -> _OfferDraft:
        """Read the lists of an offer from some positions on, or from their beginnings."""
        *of_node, above, before = positions or (*FIRST_PAGE, begin_ancestors(row), (AFTER_ALL,))
        parts = read_node_lists(self._tx, row, offered.node, room, of_node, lean=self.lean)
        surroundings = read_surroundings(self._tx, row.n, above, before, room)
        parts.append(list_ancestors(self._tx, surroundings.ancestors, above or ENDED, _list_ancestor_forms))
        parts.append(_list_dependencies(self._tx, row.n, surroundings.dependencies, before, room, lean=self.lean))
        return _OfferDraft(offered, row, parts, surroundings)

    def _show_lists(self, draft: _OfferDraft, room: Budget, *, at_least: int = 0) -> None:
        """Add what fits of its lists to an offer."""
        offered, row, parts, surroundings = draft
        *of_node, ancestors, dependencies = parts
        own = parts[NODE_LISTS.index("context_links")]
        own.rows = [ListRow([(link, link)], listed.position) for listed in own.rows for link in listed.forms]  # twice
        cursor_chars = CURSOR_CHARS + NUMBER_CHARS * len(self._drafts)
        share_room(room, parts, at_least=at_least, cursor_chars=cursor_chars)
        offered.left_out = count_left_out(parts) or UNSET
        if not self._pending and any(rest := [part.rest for part in parts]):
            self._pending, self._positions = [row.n], rest
        own.shown = [link for link, _ in own.shown]
        show_node_lists(offered.node, row, of_node, lean=self.lean or offered.node.rev is UNSET)
        shown = order_ancestors(ancestors)
        offered.ancestors = [ancestor for ancestor, _ in shown]
        inherited = [links for _, links in shown if links is not None]
        if offered.node.context_links or inherited:
            offered.context_links = LinksBySource(offered.node.context_links or [], inherited)
        if dependencies.shown:
            latest = sorted(zip(surroundings.dependencies, dependencies.shown, strict=False), key=_get_recency)
            offered.resolved_deps = [dependency for _, dependency in latest]


def _list_ancestor_forms(row: AncestorRow) -> Sequence[tuple[NodeSummary, InheritedLinks | None]]:
    summary = NodeSummary(row.id, row.summary)
    if row.context_links == "[]":
        return [(summary, None)]
    return [(summary, InheritedLinks(row.id, msgspec.json.decode(row.context_links))), (summary, None)]


def _get_recency(entry: tuple[SurroundingRow, Any]) -> tuple[int, int]:
    return -entry[0].changed_rev, entry[0].n


def _list_dependencies(
    tx: Transaction, n: int, rows: Sequence[SurroundingRow], position: Position | None, room: Budget, *, lean: bool
) -> ListPart[ResolvedDependency]:
    """Return a part of the resolved dependencies of a node, the last planned first."""
    if position is None or not rows:
        return ListPart("resolved_deps", [], (), 0)
    with_evidence = [row.n for row in rows if row.evidence_total]
    of_each = room.count_rows(EVIDENCE_CHARS_MIN) // len(rows) + 1
    evidence = load_evidence(tx, with_evidence, of_each=of_each)
    listed = []
    for row in rows:
        forms = [
            ResolvedDependency(
                row.id,
                row.summary,
                get_outcome(row),
                format_evidence(list(entries), lean=lean),
                row.evidence_total if len(entries) < row.evidence_total else UNSET,
            )
            for entries in shorten_evidence(evidence.get(row.n, []))
        ]
        listed.append(ListRow(forms, (row.n,)))
    total = len(rows)
    if total == room.count_rows(ANCESTOR_CHARS_MIN):
        total = tx.scalar(sql.count_resolved_dependencies, project_id=tx.project.id, n=n, before=position[0])
    return ListPart("resolved_deps", listed, position, total)


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
    name=NAME,
    summary="Best actionable nodes with context; claim: true takes them.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=locate_request,
    variants=(CLAIM,),
    # What a cursor leads to was claimed with the first page.
    choose_variant=lambda request: CLAIM if request.claim and request.cursor is None else None,
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


class SurroundingRow(AncestorRow):
    """An ancestor of a node, or a resolved dependency with the amount of its evidence, which has no depth here."""

    evidence_total: int
    changed_rev: int


class Surroundings(NamedTuple):
    """The ancestors of a node, the nearest first, and its resolved dependencies, the last planned first."""

    ancestors: list[SurroundingRow]
    dependencies: list[SurroundingRow]


def read_surroundings(
    tx: Transaction, n: int, above: Position | None, before: Position | None, room: Budget
) -> Surroundings:
    """Return what surrounds a node from some positions on, as much as could fit."""
    rows = tx.all(
        sql.surroundings,
        SurroundingRow,
        project_id=tx.project.id,
        n=n,
        first_n=above and above[0],
        before=before[0] if before else 0,
        at_most=room.count_rows(ANCESTOR_CHARS_MIN),
    )
    ancestors = [row for row in rows if row.depth != NO_DEPTH]
    dependencies = [row for row in rows if row.depth == NO_DEPTH]
    return Surroundings(
        sorted(ancestors, key=lambda row: row.depth, reverse=True),
        sorted(dependencies, key=lambda row: row.n, reverse=True),
    )


# --- Reasons and warnings ---------------------------------------------------------------------------------------------

# Properties that answers show and no node stores, with the step that finds nodes by them.
SHOWN_PROPERTIES = (
    (("_claimed_at", "_held"), NextStep("work.query", "finds nodes by claimed_by")),
    (("_hold",), NextStep("work.query", "finds nodes by is_blocked")),
)


def warn_about_filter(tx: Transaction, warnings: Warnings, properties: dict[str, Any], *, is_found: bool) -> None:
    """Add warnings about properties that no node has, and about properties that answers compute and no node stores."""
    stored = {name: value for name, value in properties.items() if name != CLAIMANT_PROPERTY}
    doubtful = [name for name, value in stored.items() if value is None or not is_found]
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
