"""The start page: the projects, and of one of them its counts, its next tasks and its picture."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.kernel.errors import NotFound
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.web.page_routes import Form, make_page_route
from groundplan.surfaces.web.pages import PICTURE_HEADERS, read_style, render_page

TASKS_MAX = 5


class ProjectOverview(NamedTuple):
    """One project as the start page shows it."""

    project: Any
    work: Any  # the counts of its tasks
    tasks: list[Any]
    has_picture: bool


class StartPage:
    """The start page with its picture and its style."""

    def __init__(self, store: Store, authenticator: Authenticator, preferences: Preferences) -> None:
        self._store = store
        self._authenticator = authenticator
        self._preferences = preferences

    def list_routes(self, pool: OperationPool) -> list[BaseRoute]:
        """Return the routes of the page."""
        return [
            make_page_route(pool, "/", {"GET": self.show}),
            make_page_route(pool, "/picture.svg", {"GET": self.draw}),
            make_page_route(pool, "/static/style.css", {"GET": _show_style}),
        ]

    def show(self, request: Request, _form: Form) -> Answer:
        """Return the page of the project that the query names, else of the first one."""
        principal = self._authenticator.authenticate(request)
        session = Session(self._store, principal.actor, preferences=self._preferences)
        projects = session.call("project.list").projects
        name = request.query_params.get("project")
        if name is not None and name not in [project.name for project in projects]:
            raise NotFound("project", name)
        chosen = next((project for project in projects if name in (None, project.name)), None)
        return render_page(
            "start.html",
            actor=principal.actor.id,
            csrf=principal.csrf_token if principal.is_login else "",
            projects=projects,
            overview=None if chosen is None else _read_overview(session, chosen),
        )

    def draw(self, request: Request, _form: Form) -> Answer:
        """Return the picture of a project's theory of change."""
        actor = self._authenticator.authenticate(request).actor
        session = Session(self._store, actor, preferences=self._preferences)
        picture = session.call("purpose.render", project=request.query_params.get("project", ""), theme="auto")
        return Answer(200, picture.svg.encode(), PICTURE_HEADERS, b"image/svg+xml")


def _read_overview(session: Session, project: Any) -> ProjectOverview:
    theory = session.call("purpose.open", project=project.name, detail="summary")
    return ProjectOverview(
        project,
        session.call("work.open", project=project.name).summary,
        session.call("work.next", project=project.name, count=TASKS_MAX).nodes,
        has_picture=bool(theory.versions),
    )


def _show_style(_request: Request, _form: Form) -> Answer:
    return Answer(200, read_style(), content_type=b"text/css; charset=utf-8")
