"""Open a project: the projects there are, one that exists, or a new one; and how it wants to be worked in."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import Cut, Drop, LeftOut, Trimming
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.operations.schema import Brief
from groundplan.kernel.policies import Policies, PolicyChanges
from groundplan.kernel.projects.configure import configure
from groundplan.kernel.projects.create import Goal, ProjectExists, found
from groundplan.kernel.projects.list import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import CycleDetected, loop_through
from groundplan.work.engine.node import LONG_PARTS, Counts, Node, nodes_shown
from groundplan.work.engine.root import ROOT_N
from groundplan.work.requests import Decision

sql = load_queries(__file__)

DEFAULTS = Policies()


class OpenProject(Struct, forbid_unknown_fields=True):
    """A project by id or name; none lists them all. Goal: for a new one. Policies: for a new one, or to change some."""

    project: Name | None = None
    goal: Goal | None = None
    policies: Annotated[PolicyChanges, Brief()] | None = None
    decision: Decision | None = None
    op_id: OpId = None


class Opened(Struct):
    """The root of a project, and how much there is to do."""

    trimming: ClassVar[Trimming] = Trimming(*(Drop(f"root.{part}") for part in LONG_PARTS))

    root: Node
    summary: Counts
    policies: Policies | UnsetType = UNSET  # where they differ from the defaults
    left_out: LeftOut = UNSET


class ProjectRow(Struct):
    """What a project is for, and how much there is to do in it."""

    project_id: str
    summary: str
    total: int
    resolved: int


class ProjectLine(Struct):
    """A project in the list."""

    id: str
    name: str
    summary: str
    total: int
    resolved: int
    unresolved: int
    updated_at: str


class ProjectLines(Struct):
    """The projects, most recently changed first."""

    trimming: ClassVar[Trimming] = Trimming(Cut(("projects",)))

    projects: list[ProjectLine]
    left_out: LeftOut = UNSET


def open_project(tx: Transaction, request: OpenProject) -> Opened | ProjectLines:
    """The root of an existing project and its counts; without a name, every project that the caller sees."""
    if not tx.has_project:
        return _list_projects(tx)
    return _opened(tx, tx.project.id, tx.project.policies)


def _list_projects(tx: Transaction) -> ProjectLines:
    views = list_projects(tx, ListProjects()).projects
    encoded = listed(view.id for view in views)
    counted = {row.project_id: row for row in tx.all(sql.counts_of_projects, ProjectRow, project_ids=encoded)}
    lines = []
    for view in sorted(views, key=lambda view: (view.updated_at, view.id), reverse=True):
        row = counted[view.id]
        open_ = row.total - row.resolved
        lines.append(ProjectLine(view.id, view.name, row.summary, row.total, row.resolved, open_, view.updated_at))
    return ProjectLines(lines)


def begin(tx: Transaction, request: OpenProject) -> Opened:
    """Make a project; whoever makes it owns it.

    Raises:
        ProjectExists: there is one of that name which the caller may not see.
    """
    assert request.project is not None  # noqa: S101 - the route to here has looked
    project_id = found(tx, request.project, goal=request.goal)
    if project_id is None:
        return _made_meanwhile(tx, request.project, request.policies)
    policies = DEFAULTS
    if request.policies is not None:
        policies = configure(tx, project_id, DEFAULTS, request.policies, decision=request.decision)
    return _opened(tx, project_id, policies)


def _made_meanwhile(tx: Transaction, name: str, policies: PolicyChanges | None) -> Opened:
    """The project that somebody else made since this request looked for it, as if it had been there all along."""
    try:
        project = authorize_project(tx, name, Permission.WORK_READ)
    except NotFound:
        raise ProjectExists(name) from None
    if policies is not None:
        raise ProjectExists(name)  # how it shall be worked in is now for its owner to say
    return _opened(tx, project.id, project.policies)


def change_policies(tx: Transaction, request: OpenProject) -> Opened:
    """Change how a project wants to be worked in.

    Raises:
        CycleDetected: dependencies shall be inherited, and then a node would wait for itself.
    """
    assert request.policies is not None  # noqa: S101 - the route to here has looked
    before = tx.project.policies
    after = configure(tx, tx.project.id, before, request.policies, decision=request.decision)
    tx.enter(replace(tx.project, policies=after))
    if after.inherit_dependencies and not before.inherit_dependencies:
        waiting = tx.scalars(sql.waiting_nodes, project_id=tx.project.id)
        if looped := loop_through(tx, waiting):
            raise CycleDetected(looped, hint="; remove one of these dependencies before they are inherited")
    if after.inherit_dependencies != before.inherit_dependencies:
        tx.run(sql.hold_back_all, project_id=tx.project.id, inherits=after.inherit_dependencies)
        tx.run(sql.recount, project_id=tx.project.id)
    return _opened(tx, tx.project.id, after)


def _opened(tx: Transaction, project_id: str, policies: Policies) -> Opened:
    root = nodes_shown(tx, [ROOT_N], lean=tx.preferences.lean, project_id=project_id)[ROOT_N]
    counts = tx.one(sql.counts, Counts, project_id=project_id)
    return Opened(root, counts, UNSET if policies == DEFAULTS else policies)


BEGIN = Operation(
    name="work.begin",
    summary="Make a project with its root node.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    input=OpenProject,
    output=Opened,
    handler=begin,
)

CONFIGURE = Operation(
    name="work.configure",
    summary="Change the policies of a project.",
    permission=Permission.PROJECT_CONFIGURE,
    effect=Effect.WRITE,
    input=OpenProject,
    output=Opened,
    handler=change_policies,
    project=lambda _tx, request: request.project or "",
    when_project_missing=BEGIN,
)

OPERATION: Operation[OpenProject, Any] = Operation(
    name="work.open",
    summary="Open or create a project; without project: list all.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    input=OpenProject,
    output=Opened,
    other_outputs=(ProjectLines,),
    handler=open_project,
    project=lambda _tx, request: request.project,
    without_project=Permission.PROJECT_LIST,
    idempotent=True,
    variants=(BEGIN, CONFIGURE),
    choose_variant=lambda request: CONFIGURE if request.project is not None and request.policies is not None else None,
    when_project_missing=BEGIN,
    tool=Tool("graph_open", Group.WORK),
    command=Command(("work", "open"), arguments=("project",)),
)
