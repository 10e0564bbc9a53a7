"""An overview for a new agent in one call: the goal of the project, its state, and what to do next.

The answer is never longer than 600 tokens. Without a project it describes the only one, or lists the projects to choose
from.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NextStep
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph.reading.orientation import LISTS_MAX, Orientation, ProjectChoice, shorten_orientation
from groundplan.work.graph.reading.orientation_content import build_orientation, load_overview_rows

FIRST_PROJECT = NextStep("work.open", "creates one from project and goal")
SEVERAL_PROJECTS = "call again with project set to the id or name of one of these"


class Onboard(Struct, forbid_unknown_fields=True):
    """The project to look at."""

    project: Name | None = None
    lean: bool | None = None


def onboard(tx: Transaction, request: Onboard) -> Orientation:
    """Return an overview of one project; without a name, of the only one, or the projects to choose from."""
    if tx.has_project:
        return _shorten(tx, request, *build_orientation(tx))
    projects = list_projects(tx, ListProjects()).projects
    if not projects:
        return Orientation(projects=[], hint=f"there is no project yet; {tx.describe(FIRST_PROJECT)}")
    if len(projects) == 1:
        tx.set_project(authorize_project(tx, projects[0].id, Permission.WORK_READ, by_id=True))
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
    whole = Orientation(projects=choices, hint=SEVERAL_PROJECTS)
    return _shorten(tx, request, whole, {"projects": len(projects) - len(choices)})


def _shorten(tx: Transaction, request: Onboard, orientation: Orientation, unlisted: Mapping[str, int]) -> Orientation:
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
    command=Command(("work", "onboard")),
    http=Route("GET", "/projects/{project}/work/onboarding"),
    other_routes=(Route("GET", "/organization/work/onboarding"),),
)
