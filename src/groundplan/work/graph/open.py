"""Open a project: list all projects, open or create one, and change its policies."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.projects import (
    Goal,
    ListProjects,
    ProjectExists,
    configure_project,
    create_owned_project,
    list_projects,
    read_default_policies,
    record_policies,
)
from groundplan.kernel.store.authorize import AgentNotAllowed, authorize_project, find_similar_names
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import Policies, PolicyChanges, decode_policies, get_policies
from groundplan.work.answers import join_names
from groundplan.work.graph.node_lists import add_node_lists
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import TRIMMABLE_FIELDS, WorkCounts, WorkNode, build_node, load_rows
from groundplan.work.positions import recompute_blocked_above
from groundplan.work.requests import Decision
from groundplan.work.waiting.cycles import CycleDetected, find_loop_in_project

sql = load_queries(__file__)

DEFAULT_POLICIES = Policies()
# Who decides, and how strictly: an agent cannot set them, even in its own new project.
OWNER_POLICIES = ("agents", "publish_role", "profile_min")


class OpenProject(Struct, forbid_unknown_fields=True):
    """A project by id or name, or none to list all; the goal of a new project; policies to set or change."""

    project: Name | None = None
    goal: Goal | None = None
    policies: Annotated[PolicyChanges, CollapsedInSchema()] | None = None
    lean: bool | None = None
    decision: Decision | None = None
    op_id: OpId = None


class OpenedProject(Struct):
    """The root of a project, and its numbers of nodes by state."""

    trimming: ClassVar[Trimming] = Trimming(*(DropField(f"root.{part}") for part in TRIMMABLE_FIELDS))

    root: WorkNode
    summary: WorkCounts
    created: bool | UnsetType = UNSET  # set if this call created the project
    policies: Policies | UnsetType = UNSET  # omitted if they are the defaults
    warnings: list[str] | UnsetType = UNSET
    left_out: LeftOut = UNSET


class ProjectProgressRow(Struct):
    """The goal of a project, and its numbers of nodes by state."""

    project_id: str
    summary: str
    total: int
    resolved: int
    dropped: int


class ProjectLine(Struct):
    """A project in the list."""

    id: str
    name: str
    summary: str
    total: int
    resolved: int
    unresolved: int
    dropped: int
    updated_at: str


class ProjectLines(Struct):
    """The projects, most recently changed first."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("projects",)))

    projects: list[ProjectLine]
    left_out: LeftOut = UNSET


def open_project(tx: Transaction, request: OpenProject) -> OpenedProject | ProjectLines:
    """Return the root and the counts of an existing project; without a name, all projects of the caller."""
    if not tx.has_project:
        return _list_projects(tx)
    return _build_answer(tx, tx.project.id, get_policies(tx), request)


def _list_projects(tx: Transaction) -> ProjectLines:
    views = list_projects(tx, ListProjects()).projects
    encoded = to_json_array(view.id for view in views)
    counted = {row.project_id: row for row in tx.all(sql.counts_of_projects, ProjectProgressRow, project_ids=encoded)}
    lines = []
    for view in sorted(views, key=lambda view: (view.updated_at, view.id), reverse=True):
        row = counted[view.id]
        counts = (row.total, row.resolved, row.total - row.resolved, row.dropped)
        lines.append(ProjectLine(view.id, view.name, row.summary, *counts, view.updated_at))
    return ProjectLines(lines)


def begin(tx: Transaction, request: OpenProject) -> OpenedProject:
    """Create a project, whose owner is the caller.

    Raises:
        ProjectExists: a project that the caller may not see has this name.
        AgentNotAllowed: an agent sets a policy that a person decides, or has no person who is responsible for it.
    """
    assert request.project is not None  # noqa: S101 - checked by the routing
    defaults = decode_policies(read_default_policies(tx))
    policies = defaults if request.policies is None else request.policies.apply(defaults)
    if tx.actor.kind is ActorKind.AGENT:
        _refuse_owner_policies(policies, defaults)
    near = find_similar_names(tx, request.project)
    # Stored with the project: an agent may choose how to work in a project that it creates, but not change it later.
    stored = msgspec.json.encode(policies).decode()
    project_id = create_owned_project(tx, request.project, goal=request.goal, policies=stored)
    if project_id is None:
        return _open_concurrently_created(tx, request.project, request)
    record_policies(tx, project_id, DEFAULT_POLICIES, policies, decision=request.decision)
    answer = _build_answer(tx, project_id, policies, request)
    answer.created = True
    if near:
        undo = NextStep("briefing.undo", "removes the new one while it is empty", {"project": request.project})
        hint = f"; {tx.describe(undo)}" if tx.actor.kind is ActorKind.PERSON else ""  # an agent removes no project
        answer.warnings = [f"{quote_text(request.project)} is new; there is also {join_names(near)}{hint}"]
    return answer


def _refuse_owner_policies(policies: Policies, defaults: Policies) -> None:
    """Raise AgentNotAllowed if an agent sets a policy that limits agents."""
    for name in OWNER_POLICIES:
        if getattr(policies, name) != getattr(defaults, name):
            raise AgentNotAllowed(
                f"policies.{name} is for a person to decide; leave it out, and ask an owner to set it",
                field=f"policies.{name}",
            )


def _open_concurrently_created(tx: Transaction, name: str, request: OpenProject) -> OpenedProject:
    """Open a project that another actor created after this request had looked for it."""
    try:
        project = authorize_project(tx, name, Permission.WORK_READ)
    except NotFound:
        raise ProjectExists(name) from None
    if request.policies is not None:
        raise ProjectExists(name)  # only its owner may set its policies
    return _build_answer(tx, project.id, decode_policies(project.policies), request)


def change_policies(tx: Transaction, request: OpenProject) -> OpenedProject:
    """Change the policies of a project.

    Raises:
        CycleDetected: with inherited dependencies, a node would wait for itself.
    """
    assert request.policies is not None  # noqa: S101 - checked by the routing
    before = get_policies(tx)
    after = request.policies.apply(before)
    stored = configure_project(tx, tx.project.id, before, after, decision=request.decision)
    tx.set_project(msgspec.structs.replace(tx.project, policies=stored))
    if after.inherit_dependencies and not before.inherit_dependencies and (loop := find_loop_in_project(tx)):
        raise CycleDetected(loop)
    if after.inherit_dependencies != before.inherit_dependencies:
        recompute_blocked_above(tx)
        tx.run(sql.recompute_counts, project_id=tx.project.id)
    return _build_answer(tx, tx.project.id, after, request)


def _build_answer(tx: Transaction, project_id: str, policies: Policies, request: OpenProject) -> OpenedProject:
    is_lean = tx.preferences.lean if request.lean is None else request.lean
    row = load_rows(tx, [ROOT_N], project_id=project_id)[ROOT_N]
    counts = tx.one(sql.counts, WorkCounts, project_id=project_id)
    root = build_node(row, now=tx.now, lean=is_lean)
    answer = OpenedProject(root, counts, policies=UNSET if policies == DEFAULT_POLICIES else policies)
    if request.goal is not None and request.goal != row.summary:
        change = NextStep("work.update", "changes it", {"updates": [{"node_id": row.id, "summary": request.goal}]})
        answer.warnings = [f"goal is for a new project, and this one keeps its own; {tx.describe(change)}"]
    room = tx.budget.reserve(answer).take_lists(is_requested=False)
    answer.left_out = add_node_lists(tx, row, root, room, prefix="root", lean=is_lean) or UNSET
    return answer


BEGIN = declare(
    begin,
    name="work.begin",
    summary="Make a project with its root node.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
    http=Route("PUT", "/projects/{project}/work"),
)

CONFIGURE = declare(
    change_policies,
    name="work.configure",
    summary="Change the policies of a project.",
    permission=Permission.PROJECT_CONFIGURE,
    effect=Effect.WRITE,
    project=lambda _tx, request: request.project or "",
    when_project_missing=BEGIN,
    http=Route("PATCH", "/projects/{project}/work", without=("goal",)),
)

OPERATION = declare(
    open_project,
    name="work.open",
    summary="Open or create a project; without project: list all.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    idempotent=True,
    variants=(BEGIN, CONFIGURE),
    choose_variant=lambda request: CONFIGURE if request.project is not None and request.policies is not None else None,
    when_project_missing=BEGIN,
    tool=Tool("graph_open", Group.WORK),
    http=Route(
        "GET",
        "/projects/{project}/work",
        summary="Return the root of a project, its counts and its policies.",
        without=("goal", "policies", "decision"),
    ),
    other_routes=(
        Route(
            "GET",
            "/organization/work",
            summary="List all projects with their counts.",
            without=("goal", "policies", "decision"),
        ),
    ),
)
