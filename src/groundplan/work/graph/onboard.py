"""An overview for a new agent in one call: the goal of the project, its state, and the next steps.

It names the goal and the purpose, work to start with, claims, missing facts, open questions, drafts and the areas of
knowledge. The answer is never longer than 600 tokens: it is read whole, by index seeks, and then shortened. Without a
project it describes the configured or the only one, or lists the projects to choose from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nlargest
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from groundplan import providers
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import LeftOut, fit_excerpts
from groundplan.kernel.errors import NextStep
from groundplan.kernel.events import list_headlines
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.principals import read_other_kinds
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.providers import MarkLines, ProjectOverview
from groundplan.work.events import ACTIONS, WorkOp
from groundplan.work.graph.history import EVENT_PREFIX
from groundplan.work.graph.next import Next, offer
from groundplan.work.kinds import Outcome, get_outcome
from groundplan.work.nodes import WorkCounts
from groundplan.work.waiting.cycles import describe_stored_loop, find_stored_loop

TOKENS_MAX = 600

# The lists, the most important first: how many entries each has at most, and how many it keeps as long as possible.
LISTS_MAX = {
    **{"next": 3, "marks": 3, "my_claims": 5, "claims": 5, "areas": 5},
    **{"blocked": 3, "tree": 8, "recent": 5, "projects": 20},
}
LISTS_MIN = {
    **{"next": 2, "marks": 1, "my_claims": 2, "claims": 1, "areas": 1},
    **{"blocked": 1, "tree": 4, "recent": 2, "projects": 5},
}

# A goal, the purpose and a decision get a multiple of the room that a summary gets.
GOAL_WIDTHS = 4
PURPOSE_WIDTHS = 2
DECISION_WIDTHS = 2


class ProjectBrief(Struct, kw_only=True):
    """The id, name and goal of a project."""

    id: str
    name: str
    goal: str | UnsetType = UNSET
    goal_excerpt: str | UnsetType = UNSET
    archived_at: str | UnsetType = UNSET


class NodeBrief(Struct, kw_only=True):
    """The id of a node with its summary, or with an excerpt that fits."""

    id: str
    summary: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET


class ClaimBrief(NodeBrief, kw_only=True):
    """A node that the caller has claimed."""

    claimed_at: str | UnsetType = UNSET


class OtherClaimBrief(NodeBrief, kw_only=True):
    """A node that somebody else has claimed."""

    claimed_by: str
    claimed_by_kind: ActorKind | UnsetType = UNSET  # not of a person


class AreaBrief(Struct):
    """An area of knowledge and the number of its notes."""

    name: str
    notes: int


class DraftsBrief(Struct):
    """What is being drafted: the number of the draft of the purpose, and how many drafts of facts there are."""

    purpose: int | UnsetType = UNSET
    facts: int | UnsetType = UNSET


class BranchBrief(NodeBrief, kw_only=True):
    """A top-level node, with the number of its open descendants."""

    resolved: bool | UnsetType = UNSET  # set only if it is true
    outcome: Outcome | UnsetType = UNSET
    open_children: int | UnsetType = UNSET


class BlockedBrief(NodeBrief, kw_only=True):
    """A blocked node with its open dependencies. `through` is its waiting ancestor, if it does not wait itself."""

    through: str | UnsetType = UNSET
    waits_for: list[NodeBrief]
    hold: str | UnsetType = UNSET  # why the node, or that ancestor, is on hold
    hold_excerpt: str | UnsetType = UNSET


class RecentBrief(NodeBrief, kw_only=True):
    """A recent event: a node that was resolved or dropped, or a decision."""

    action: str
    agent: str | UnsetType = UNSET
    agent_kind: ActorKind | UnsetType = UNSET  # not of a person
    at: str | UnsetType = UNSET
    decision: str | UnsetType = UNSET
    decision_excerpt: str | UnsetType = UNSET


class ProjectChoice(NodeBrief, kw_only=True):
    """A project to choose from."""

    name: str
    unresolved: int
    actionable: int


class Orientation(Struct, kw_only=True):
    """An overview of one project, or the projects to choose from."""

    project: ProjectBrief | UnsetType = UNSET
    purpose: str | UnsetType = UNSET  # in one line, which may be cut
    counts: WorkCounts | UnsetType = UNSET
    next: list[NodeBrief] | UnsetType = UNSET
    marks: list[str] | UnsetType = UNSET  # assumptions in doubt and changed facts, the latest first
    my_claims: list[ClaimBrief] | UnsetType = UNSET
    claims: list[OtherClaimBrief] | UnsetType = UNSET  # this and the next six: only if there are some
    claims_total: int | UnsetType = UNSET  # of others
    missing: int | UnsetType = UNSET  # required facts without a value
    questions: int | UnsetType = UNSET  # that nobody has answered
    drafts: DraftsBrief | UnsetType = UNSET
    areas: list[AreaBrief] | UnsetType = UNSET
    blocked: list[BlockedBrief] | UnsetType = UNSET
    tree: list[BranchBrief] | UnsetType = UNSET
    recent: list[RecentBrief] | UnsetType = UNSET
    projects: list[ProjectChoice] | UnsetType = UNSET
    left_out: LeftOut = UNSET  # for marks, my_claims, areas, tree (only open nodes) and projects
    hint: str | UnsetType = UNSET


AnyBrief = TypeVar("AnyBrief", bound=NodeBrief)


def shorten_orientation(
    orientation: Orientation, unlisted: Mapping[str, int], *, tokens_max: int, lean: bool
) -> Orientation:
    """Return an orientation shortened to fit. `unlisted` counts the entries that its lists never had."""
    lists = {name: len(getattr(orientation, name)) for name in LISTS_MAX if getattr(orientation, name) is not UNSET}
    limit = min(TOKENS_MAX, tokens_max or TOKENS_MAX)
    return fit_excerpts(
        lambda chars, kept: _shorten_entries(orientation, unlisted, chars, kept, lean=lean),
        lists,
        floors=LISTS_MIN,
        tokens_max=limit,
    )


def _shorten_entries(
    orientation: Orientation, unlisted: Mapping[str, int], chars: int, list_lengths: Mapping[str, int], *, lean: bool
) -> Orientation:
    parts: dict[str, Any] = {
        name: [_shorten(entry, chars, lean=lean) for entry in getattr(orientation, name)[:count]]
        for name, count in list_lengths.items()
    }
    if orientation.project is not UNSET:
        goal, goal_excerpt = _make_excerpt(orientation.project.goal, chars * GOAL_WIDTHS)
        parts["project"] = replace(orientation.project, goal=goal, goal_excerpt=goal_excerpt)
    if orientation.purpose is not UNSET:
        parts["purpose"] = _cut_line(orientation.purpose, chars * PURPOSE_WIDTHS)
    parts["left_out"] = _count_left_out(orientation, unlisted, list_lengths)
    if lean:
        parts = {name: part or UNSET for name, part in parts.items()}
    return replace(orientation, **parts)


def _shorten(entry: str | AreaBrief | NodeBrief, chars: int, *, lean: bool) -> str | AreaBrief | NodeBrief:
    match entry:
        case str():
            return _cut_line(entry, chars)
        case AreaBrief():
            return replace(entry, name=_cut_line(entry.name, chars))
    return _shorten_entry(entry, chars, lean=lean)


def _shorten_entry(entry: AnyBrief, chars: int, *, lean: bool) -> AnyBrief:
    summary, excerpt = _make_excerpt(entry.summary, chars)
    shortened = replace(entry, summary=summary, excerpt=excerpt)
    match shortened:
        case RecentBrief():
            shortened.decision, shortened.decision_excerpt = _make_excerpt(shortened.decision, chars * DECISION_WIDTHS)
            if lean:
                shortened.agent = shortened.agent_kind = shortened.at = UNSET
        case BlockedBrief():
            shortened.waits_for = [_shorten_entry(awaited, chars, lean=lean) for awaited in shortened.waits_for]
            shortened.hold, shortened.hold_excerpt = _make_excerpt(shortened.hold, chars)
        case ClaimBrief() if lean:
            shortened.claimed_at = UNSET
        case OtherClaimBrief():
            shortened.claimed_by = _cut_line(shortened.claimed_by, chars)
    return shortened


def _cut_line(line: str, chars_max: int) -> str:
    return line if len(line) <= chars_max else line[: chars_max - 1] + "…"


def _make_excerpt(stored: str | UnsetType, chars_max: int) -> tuple[str | UnsetType, str | UnsetType]:
    """Return a stored text if it is short enough, else its beginning."""
    if stored is UNSET or len(stored) <= chars_max:
        return stored, UNSET
    return UNSET, stored[: chars_max - 1] + "…"


def _count_left_out(orientation: Orientation, unlisted: Mapping[str, int], list_lengths: Mapping[str, int]) -> LeftOut:
    counted = {
        name: count
        + sum(not getattr(entry, "resolved", False) for entry in getattr(orientation, name)[list_lengths[name] :])
        for name, count in unlisted.items()
    }
    return {name: count for name, count in counted.items() if count} or UNSET


# --- Content ----------------------------------------------------------------------------------------------------------

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
    dropped: int


class TopLevelRow(Struct):
    """A child of the root."""

    id: str
    summary: str
    resolved: bool
    outcome: str | None
    open_children: int


class OtherClaimRow(Struct):
    """A live claim of somebody else, and the number of all of them."""

    id: str
    summary: str
    claimed_by: str
    total: int


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
    """Return the full orientation of the current project, and the number of entries that its lists leave out."""
    project = tx.project
    row = load_overview_rows(tx, [project.id])[project.id]
    claims, tree = _load_claims(tx), _load_top_level(tx)
    other_claims, claims_total = _load_other_claims(tx)
    overview = providers.summarize_project(tx, LISTS_MAX["areas"])
    marks = _describe_marks(tx)
    blocked = _blocked_rows(tx) if row.blocked else []
    orientation = Orientation(
        project=ProjectBrief(
            id=project.id, name=project.name, goal=row.summary, archived_at=project.archived_at or UNSET
        ),
        purpose=overview.purpose or UNSET,
        counts=WorkCounts(row.total, row.resolved, row.unresolved, row.blocked, row.actionable, row.dropped),
        next=_load_next(tx),
        marks=marks.lines or UNSET,
        my_claims=claims[: LISTS_MAX["my_claims"]],
        claims=other_claims or UNSET,
        claims_total=claims_total or UNSET,
        missing=overview.missing or UNSET,
        questions=overview.questions or UNSET,
        drafts=_describe_drafts(overview),
        areas=[AreaBrief(area.name, area.notes) for area in overview.areas] or UNSET,
        blocked=[_explain_blocked(tx, blocked_row) for blocked_row in blocked],
        tree=tree,
        recent=_load_recent(tx),
        hint=_suggest_first_step(tx) if row.total == 1 else _name_loop(tx, blocked),
    )
    open_in_tree = sum(not branch.resolved for branch in tree)
    return orientation, {
        **({"marks": marks.left_out} if marks.lines else {}),
        "my_claims": max(len(claims) - LISTS_MAX["my_claims"], 0),
        **({"areas": overview.other_areas} if overview.areas else {}),
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


def _load_other_claims(tx: Transaction) -> tuple[list[OtherClaimBrief], int]:
    """Return the latest claims of others, and how many there are."""
    rows = tx.all(sql.claims_of_others, OtherClaimRow, project_id=tx.project.id, at_most=LISTS_MAX["claims"])
    kinds = read_other_kinds(tx) if rows else {}
    claims = [
        OtherClaimBrief(
            id=row.id,
            summary=row.summary,
            claimed_by=row.claimed_by,
            claimed_by_kind=kinds.get(row.claimed_by, UNSET),
        )
        for row in rows
    ]
    return claims, rows[0].total if rows else 0


def _describe_drafts(overview: ProjectOverview) -> DraftsBrief | UnsetType:
    if overview.purpose_draft is None and not overview.fact_drafts:
        return UNSET
    purpose = UNSET if overview.purpose_draft is None else overview.purpose_draft
    return DraftsBrief(purpose, overview.fact_drafts or UNSET)


def _load_top_level(tx: Transaction) -> list[BranchBrief]:
    parameters = {"project_id": tx.project.id, "looked_through": TOP_LEVEL_SCANNED_MAX, "at_most": LISTS_MAX["tree"]}
    return [
        BranchBrief(
            id=row.id,
            summary=row.summary,
            resolved=row.resolved or UNSET,
            outcome=get_outcome(row),
            open_children=row.open_children or UNSET,
        )
        for row in tx.all(sql.top_level, TopLevelRow, **parameters)
    ]


def _name_loop(tx: Transaction, blocked: list[BlockedNodeRow]) -> str | UnsetType:
    """Return the names of the nodes in a loop that one of the blocked nodes waits for."""
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
    row = tx.one_or_none(sql.blocking_ancestor, **parameters, looked_through=LEVELS_SCANNED_MAX)
    return row or (n, UNSET, None)


def _load_recent(tx: Transaction) -> list[RecentBrief]:
    events = list_headlines(
        tx,
        ops=EVENT_PREFIX,
        shown_ops=[WorkOp.RESOLVED, WorkOp.DROPPED],
        writes=WRITES_SCANNED_MAX,
        events_per_write=EVENTS_PER_WRITE_MAX,
        shown_per_write_max=SHOWN_PER_WRITE_MAX,
        at_most=LISTS_MAX["recent"],
    )
    ids = to_json_array(event.subject for event in events)
    summaries: dict[str, str] = dict(tx.all(sql.summaries, project_id=tx.project.id, ids=ids))
    return [
        RecentBrief(
            id=event.subject,
            summary=summaries.get(event.subject, UNSET),  # a deleted node has none
            action=ACTIONS[event.op],
            agent=event.actor,
            agent_kind=event.actor_kind or UNSET,
            at=event.at,
            decision=UNSET if event.decision is None else event.decision,
        )
        for event in events
    ]


# --- Operation --------------------------------------------------------------------------------------------------------

FIRST_PROJECT = NextStep("work.open", "creates one from project and goal")
SEVERAL_PROJECTS = "call again with project set to the id or name of one of these"


class Onboard(Struct, forbid_unknown_fields=True):
    """The project to show."""

    project: Name | None = None
    lean: bool | None = None


def onboard(tx: Transaction, request: Onboard) -> Orientation:
    """Return an overview of a project; without a name, of the configured or only one, else a list of the projects."""
    if tx.has_project:
        return _fit_to_session(tx, request, *build_orientation(tx))
    projects = list_projects(tx, ListProjects()).projects
    if not projects:
        return Orientation(projects=[], hint=f"there is no project yet; {tx.describe(FIRST_PROJECT)}")
    chosen = [project for project in projects if tx.preferences.project in (project.name, project.id)] or projects
    if len(chosen) == 1:
        tx.set_project(authorize_project(tx, chosen[0].id, Permission.WORK_READ, by_id=True))
        return onboard(tx, request)
    latest = nlargest(LISTS_MAX["projects"], projects, key=lambda project: (project.updated_at, project.id))
    rows = load_overview_rows(tx, (project.id for project in latest))
    choices = [
        ProjectChoice(
            id=project.id,
            name=project.name,
            summary=rows[project.id].summary,
            unresolved=rows[project.id].unresolved,
            actionable=rows[project.id].actionable,
        )
        for project in latest
    ]
    orientation = Orientation(projects=choices, hint=SEVERAL_PROJECTS)
    return _fit_to_session(tx, request, orientation, {"projects": len(projects) - len(choices)})


def _fit_to_session(
    tx: Transaction, request: Onboard, orientation: Orientation, unlisted: Mapping[str, int]
) -> Orientation:
    lean = tx.preferences.lean if request.lean is None else request.lean
    return shorten_orientation(orientation, unlisted, tokens_max=tx.preferences.answer_tokens_max, lean=lean)


OPERATION = declare(
    onboard,
    name="work.onboard",
    summary="Start here: goal, state, recent work, next steps.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("graph_onboard", Group.WORK),
    http=Route("GET", "/projects/{project}/work/onboarding"),
    other_routes=(Route("GET", "/organization/work/onboarding"),),
)
