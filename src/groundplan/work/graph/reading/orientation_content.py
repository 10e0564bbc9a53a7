"""A short overview of a project, read by index seeks so that it takes the same time at any size."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, Struct, UnsetType

from groundplan import providers
from groundplan.kernel.errors import NextStep
from groundplan.kernel.events.history import list_headlines
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.providers import MarkLines
from groundplan.work.events import ACTIONS, WorkOp
from groundplan.work.graph.next import Next, offer
from groundplan.work.graph.reading.history import EVENT_PREFIX
from groundplan.work.graph.reading.orientation import (
    LISTS_MAX,
    BlockedBrief,
    BranchBrief,
    ClaimBrief,
    NodeBrief,
    Orientation,
    ProjectBrief,
    RecentBrief,
)
from groundplan.work.nodes import WorkCounts
from groundplan.work.waiting.cycles import describe_stored_loop, find_stored_loop

# How many rows are scanned where no index leads straight to the wanted ones.
CLAIMS_SCANNED_MAX = 200
TOP_LEVEL_SCANNED_MAX = 100  # from each end
CHANGES_SCANNED_MAX = 500
EDGES_SCANNED_MAX = 500
LEVELS_SCANNED_MAX = 1_000
WRITES_SCANNED_MAX = 200
EVENTS_PER_WRITE_MAX = 10

DEPENDENCIES_SHOWN_MAX = 2  # listed per blocked node
SHOWN_PER_WRITE_MAX = 2  # so that one batch does not fill the list of recent events

sql = load_queries(__file__)


class ProjectOverviewRow(Struct):
    """The goal of a project, its number of open top-level nodes, and the numbers of its nodes."""

    project_id: str
    summary: str
    open_children: int
    total: int
    resolved: int
    unresolved: int
    blocked: int
    actionable: int


class TopLevelRow(Struct):
    """A child of the root."""

    id: str
    summary: str
    resolved: bool
    open_children: int


class BlockedNodeRow(Struct):
    """A blocked node."""

    n: int
    id: str
    summary: str
    open_deps: int
    held_reason: str | None


def load_overview_rows(tx: Transaction, project_ids: Iterable[str]) -> dict[str, ProjectOverviewRow]:
    """Return the overview rows of some projects by their ids."""
    return {
        row.project_id: row
        for row in tx.all(sql.project_overviews, ProjectOverviewRow, project_ids=to_json_array(project_ids))
    }


def build_orientation(tx: Transaction) -> tuple[Orientation, dict[str, int]]:
    """Return the unshortened orientation of the current project, and how many entries its lists leave out."""
    project = tx.project
    row = load_overview_rows(tx, [project.id])[project.id]
    claims, tree = _load_claims(tx), _load_tree(tx)
    marks = _describe_marks(tx)
    blocked = _blocked_rows(tx) if row.blocked else []
    whole = Orientation(
        project=ProjectBrief(
            id=project.id, name=project.name, goal=row.summary, archived_at=project.archived_at or UNSET
        ),
        counts=WorkCounts(row.total, row.resolved, row.unresolved, row.blocked, row.actionable),
        next=_load_next(tx),
        marks=marks.lines or UNSET,
        my_claims=claims[: LISTS_MAX["my_claims"]],
        blocked=[_explain_blocked(tx, blocked_row) for blocked_row in blocked],
        tree=tree,
        recent=_load_recent(tx),
        hint=_suggest_first_step(tx) if row.total == 1 else _name_loop(tx, blocked),
    )
    open_in_tree = sum(not branch.resolved for branch in tree)
    return whole, {
        **({"marks": marks.left_out} if marks.lines else {}),
        "my_claims": max(len(claims) - LISTS_MAX["my_claims"], 0),
        "tree": row.open_children - open_in_tree,
    }


def _suggest_first_step(tx: Transaction) -> str:
    step = NextStep("work.plan", "adds the first nodes", {"project": tx.project.name})
    return f"nothing is planned yet; {tx.describe(step)}"


def _describe_marks(tx: Transaction) -> MarkLines:
    return providers.describe_marks(tx, LISTS_MAX["marks"])


def _load_next(tx: Transaction) -> list[NodeBrief]:
    offers = offer(tx, Next(project=tx.project.id, count=LISTS_MAX["next"], lean=True)).nodes
    return [NodeBrief(id=offered.node.id, summary=offered.node.summary) for offered in offers]


def _load_claims(tx: Transaction) -> list[ClaimBrief]:
    rows = tx.all(sql.own_claims, project_id=tx.project.id, looked_through=CLAIMS_SCANNED_MAX)
    return [ClaimBrief(id=id_, summary=summary, claimed_at=claimed_at) for id_, summary, claimed_at in rows]


def _load_tree(tx: Transaction) -> list[BranchBrief]:
    parameters = {"project_id": tx.project.id, "looked_through": TOP_LEVEL_SCANNED_MAX, "at_most": LISTS_MAX["tree"]}
    return [
        BranchBrief(
            id=row.id, summary=row.summary, resolved=row.resolved or UNSET, open_children=row.open_children or UNSET
        )
        for row in tx.all(sql.top_level, TopLevelRow, **parameters)
    ]


def _name_loop(tx: Transaction, blocked: list[BlockedNodeRow]) -> str | UnsetType:
    """Name a loop in which one of the blocked nodes is stuck."""
    for row in blocked:
        if (loop := find_stored_loop(tx, row.n)) is not None:
            return f"this plan can never be finished: {describe_stored_loop(loop)}"
    return UNSET


def _blocked_rows(tx: Transaction) -> list[BlockedNodeRow]:
    return tx.all(
        sql.recently_blocked,
        BlockedNodeRow,
        project_id=tx.project.id,
        looked_through=CHANGES_SCANNED_MAX,
        at_most=LISTS_MAX["blocked"],
    )


def _explain_blocked(tx: Transaction, row: BlockedNodeRow) -> BlockedBrief:
    waits_itself = row.open_deps or row.held_reason is not None
    waiting_n, through, hold = (row.n, UNSET, row.held_reason) if waits_itself else _find_blocking_ancestor(tx, row.n)
    waited_for = tx.all(
        sql.open_dependencies,
        project_id=tx.project.id,
        n=waiting_n,
        looked_through=EDGES_SCANNED_MAX,
        at_most=DEPENDENCIES_SHOWN_MAX,
    )
    waits_for = [NodeBrief(id=id_, summary=summary) for id_, summary in waited_for]
    blocked = BlockedBrief(id=row.id, summary=row.summary, through=through, waits_for=waits_for)
    if hold is not None:
        blocked.hold = hold
    return blocked


def _find_blocking_ancestor(tx: Transaction, n: int) -> tuple[int, str | UnsetType, str | None]:
    """Return the number and id of the waiting ancestor that blocks a node, and the reason of its hold, if any."""
    parameters = {"project_id": tx.project.id, "n": n, "inherits": get_policies(tx).inherit_dependencies}
    found = tx.one_or_none(sql.blocking_ancestor, **parameters, looked_through=LEVELS_SCANNED_MAX)
    return found or (n, UNSET, None)


def _load_recent(tx: Transaction) -> list[RecentBrief]:
    found = list_headlines(
        tx,
        ops=EVENT_PREFIX,
        shown_ops=[WorkOp.RESOLVED, WorkOp.DROPPED],
        writes=WRITES_SCANNED_MAX,
        events_per_write=EVENTS_PER_WRITE_MAX,
        shown_per_write_max=SHOWN_PER_WRITE_MAX,
        at_most=LISTS_MAX["recent"],
    )
    ids = to_json_array(event.subject for event in found)
    summaries: dict[str, str] = dict(tx.all(sql.summaries, ids=ids))
    return [
        RecentBrief(
            id=event.subject,
            summary=summaries.get(event.subject, UNSET),  # a removed node has none
            action=ACTIONS[event.op],
            agent=event.actor,
            at=event.at,
            decision=UNSET if event.decision is None else event.decision,
        )
        for event in found
    ]
