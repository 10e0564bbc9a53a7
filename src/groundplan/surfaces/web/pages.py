"""The pages of a project: each area has an address, and each form runs one operation.

GET  /p/PROJECT/AREA?…    the page in the state that the address names
POST /p/PROJECT/AREA?…    run the operation of a form; then show the page again, or the form with its refusal
GET  /static/DIGEST/NAME  a file of the pages: the same for everybody, so it needs no login
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace
from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import LOCAL_ORGANIZATION, Actor
from groundplan.kernel.errors import GroundplanError, Invalid, NotFound, StaleRevision, Unauthenticated, Unavailable
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.projects import ProjectView
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.authentication import Authenticator, Principal
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.web.areas import facts, history, home, inbox, knowledge, members, search, throughline, work
from groundplan.surfaces.web.areas.plan import plan
from groundplan.surfaces.web.areas.plan.present import send_file
from groundplan.surfaces.web.forms import read_arguments
from groundplan.surfaces.web.page_routes import Form, FormLimits, make_page_route
from groundplan.surfaces.web.render import get_assets_path, load_assets, redirect, render_page
from groundplan.surfaces.web.visit import Area, Refusal, Visit
from groundplan.surfaces.web.words import PageVocabulary

AREAS: Mapping[str, Area] = {
    area.path: area
    for area in (
        home.AREA,
        plan.AREA,
        work.AREA,
        knowledge.AREA,
        facts.AREA,
        inbox.AREA,
        members.AREA,
        history.AREA,
        search.AREA,
        throughline.AREA,
    )
}
FIRST_AREA = home.AREA.path
FORM_OF_OPERATION = FormLimits(bytes_max=256 * 1024, fields_max=60)
REBASES_MAX = 5  # an agent that writes all the time must not keep a person from saving
THEMES = ("light", "dark")
THEME_COOKIE = "groundplan_theme"
SHOWN_CANVAS = "x-canvas-shown"
KEPT = (b"cache-control", b"public, max-age=31536000, immutable")


class NotInArea(Invalid):
    """A form names an operation that does not belong to its area."""

    code = "operation_not_in_area"


class ProjectPages:
    """The pages of all projects of a store."""

    def __init__(self, store: Store, authenticator: Authenticator, preferences: Preferences) -> None:
        self._store = store
        self._authenticator = authenticator
        self._preferences = replace(preferences, vocabulary=PageVocabulary(OPERATIONS))

    def list_routes(self, pool: OperationPool) -> list[BaseRoute]:
        """Return the routes of the pages."""
        return [
            make_page_route(pool, "/", {"GET": self.choose}),
            make_page_route(pool, "/p/{project}", {"GET": self.choose_area}),
            make_page_route(pool, "/p/{project}/files/{name}", {"GET": self.send}),
            make_page_route(
                pool, "/p/{project}/{area}", {"GET": self.show, "POST": self.run}, limits=FORM_OF_OPERATION
            ),
        ]

    def choose(self, request: Request, _form: Form) -> Answer:
        """Redirect to the project that changed last; without a project, show how to create one."""
        principal, session = self._open(request)
        projects = session.call("project.list").projects
        if not projects:
            return render_page("no_project.html", **self._frame(request, principal, []))
        latest = max(projects, key=lambda project: project.updated_at)
        return redirect(f"/p/{quote(latest.name, safe='')}/{FIRST_AREA}")

    def choose_area(self, request: Request, _form: Form) -> Answer:
        """Redirect to the first area."""
        return redirect(f"/p/{quote(request.path_params['project'], safe='')}/{FIRST_AREA}")

    def show(self, request: Request, _form: Form) -> Answer:
        """Return a page."""
        principal, session = self._open(request)
        return self._render(request, principal, session)

    def run(self, request: Request, form: Form) -> Answer:
        """Run the operation of a form."""
        principal, session = self._open(request)
        try:
            _check_operation(request, form)
            answer = _send(session, _find_area(request), request.path_params["project"], form)
        except (Unauthenticated, Unavailable):
            raise
        except GroundplanError as error:
            return self._render(request, principal, session, Refusal(form.get("form", ""), form, error))
        if session.operations[form["operation"]].redact is not None:  # a redirect would lose what is shown only once
            return self._render(request, principal, session, answer=answer)
        to = form.get("to", "")
        query = f"?{request.url.query}" if request.url.query else ""
        # Only an address on this server, and one that a header can have: a form must not lead elsewhere.
        is_address = to.startswith("/p/") and to.isascii() and to.isprintable()
        return redirect(to if is_address else f"{_quote_path(request)}{query}")

    def send(self, request: Request, _form: Form) -> Answer:
        """Return the plan as a file."""
        _, session = self._open(request)
        return send_file(session, request.path_params["project"], request.path_params["name"], request.query_params)

    def _open(self, request: Request) -> tuple[Principal, Session]:
        principal = self._authenticator.authenticate(request)
        return principal, Session(self._store, principal.actor, preferences=self._preferences)

    def _render(
        self,
        request: Request,
        principal: Principal,
        session: Session,
        refusal: Refusal | None = None,
        answer: Any = None,
    ) -> Answer:
        area = _find_area(request)
        projects = session.call("project.list", archived=True).projects
        name = request.path_params["project"]
        project = next((project for project in projects if name in (project.name, project.id)), None)
        if project is None:
            raise NotFound("project", name)
        visit = Visit(session, project, _quote_path(request), dict(request.query_params), refusal, answer)
        if refusal is None:  # a refusal is shown whatever happened to the page meanwhile, so it is always whole
            visit.shown_canvas = request.headers.get(SHOWN_CANVAS, "")
        shown = area.read(visit)
        status = 200 if refusal is None else refusal.error.status
        return render_page(
            area.template, status=status, **self._frame(request, principal, projects, project, area, visit), **shown
        )

    def _find_organization(self, actor: Actor) -> str:
        """Return the name of the organization; empty for the default organization."""
        if actor.organization == LOCAL_ORGANIZATION:
            return ""
        name: str = Session(self._store, actor).call("organization.view").organization.name
        return name

    def _frame(
        self,
        request: Request,
        principal: Principal,
        projects: list[Any],
        project: ProjectView | None = None,
        area: Area | None = None,
        visit: Visit | None = None,
    ) -> dict[str, Any]:
        """Return the data that all pages show around their own content."""
        theme = request.cookies.get(THEME_COOKIE, "")
        return {
            "theme": theme if theme in THEMES else "",
            "actor": principal.actor.id,
            "organization": self._find_organization(principal.actor),
            "csrf": principal.csrf_token if principal.is_login else "",
            "projects": projects,
            "project": project,
            "areas": AREAS.values(),
            "area": area,
            "visit": visit,
            "address": f"{_quote_path(request)}?{request.url.query}" if request.url.query else _quote_path(request),
        }


def _find_area(request: Request) -> Area:
    area = AREAS.get(request.path_params["area"])
    if area is None:
        raise NotFound("page", request.path_params["area"])
    return area


def _check_operation(request: Request, form: Form) -> None:
    """Refuse an operation that no form of the area runs, so that a page does not give access to all operations."""
    area, operation = _find_area(request), form.get("operation", "")
    if not area.has_form(operation):
        raise NotInArea(f"no form of the page {area.title} runs {operation!r}; send one of its own forms")


def _send(session: Session, area: Area, project: str, form: Form) -> Any:
    """Run the operation of a form; repeat it if only other items changed since its page was read."""
    readers = area.make_readers(session, project) if area.make_readers else {}
    for _ in range(REBASES_MAX):
        try:
            return session.call(form["operation"], **read_arguments(form, readers))
        except StaleRevision:
            rebased = area.rebase(session, project, form) if area.rebase else None
            if rebased is None:
                raise
            form = rebased
    return session.call(form["operation"], **read_arguments(form, readers))


def _quote_path(request: Request) -> str:
    return quote(request.url.path, safe="/:@!$&'()*+,;=-._~")


def list_asset_routes(pool: OperationPool) -> list[BaseRoute]:
    """Return the route of the files."""
    return [make_page_route(pool, "/static/{digest}/{name:path}", {"GET": _send_asset})]


def _send_asset(request: Request, _form: Form) -> Answer:
    asset = load_assets().get(request.path_params["name"])
    if asset is None:
        raise NotFound("file", request.path_params["name"])
    # A page of another version of the program may ask for a name that exists; it must not keep the answer.
    is_current = request.url.path.startswith(get_assets_path() + "/")
    headers = [KEPT] if is_current else []
    if "gzip" in request.headers.get("accept-encoding", "") and len(asset.compressed) < len(asset.body):
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
        return Answer(200, asset.compressed, headers, asset.content_type)
    return Answer(200, asset.body, headers, asset.content_type)
