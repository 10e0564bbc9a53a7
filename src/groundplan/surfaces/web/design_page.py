"""`/_design`: every component of the page in all its states, in light and dark. For developers: `serve --design`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.context.schemas import Provenance, ValueKind
from groundplan.kernel.errors import Invalid
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.web.areas.area import Refusal
from groundplan.surfaces.web.areas.facts import ShownValue
from groundplan.surfaces.web.page_routes import Form, make_page_route
from groundplan.surfaces.web.pages import render_page
from groundplan.work.graph.search.outline import NodeState

PATH = "/_design"
THEMES = ("light", "dark")
REFUSED = "refused"
FIELDS = {"summary": "What was typed stays"}


def list_design_routes(pool: OperationPool) -> list[BaseRoute]:
    """Return the route of the page."""
    return [make_page_route(pool, PATH, {"GET": _show})]


def _show(_request: Request, _form: Form) -> Answer:
    return render_page("design.html", **_get_samples())


def _get_samples() -> dict[str, Any]:
    error = Invalid("summary must have at most 500 characters, not 612; shorten it", field="summary")
    return {
        "themes": THEMES,
        "visit": SimpleNamespace(refusal=Refusal(REFUSED, FIELDS, error)),
        "address": PATH,
        "csrf": "",
        "states": [*NodeState, "open"],
        "provenances": list(Provenance),
        "values": [
            ShownValue("set", "2140", ValueKind.NUMBER),
            ShownValue("set", '{"wells": [1, 2]}', ValueKind.JSON),
            ShownValue("empty"),
            ShownValue("unset"),
        ],
    }
