"""`/_design`: every component of the page in all its states, in light and dark. For developers: `serve --design`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.briefing.inbox.item import InboxKind
from groundplan.context.schemas import Provenance, ValueKind
from groundplan.kernel.errors import Invalid
from groundplan.kernel.optimistic_locking import StaleRevision
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.web.areas.area import Refusal
from groundplan.surfaces.web.areas.facts import ShownValue
from groundplan.surfaces.web.areas.inbox import InboxEntry, Need
from groundplan.surfaces.web.areas.work_graph.drawing import MARKS
from groundplan.surfaces.web.areas.work_task import host_of
from groundplan.surfaces.web.page_routes import Form, make_page_route
from groundplan.surfaces.web.pages import render_page
from groundplan.work.graph.search.outline import NodeState

PATH = "/_design"
THEMES = ("light", "dark")
REFUSED = "refused"
FIELDS = {"summary": "What was typed stays"}
CONFLICT = "conflict"
MINE = {"summary": "What I typed", "kind": "foot"}


def list_design_routes(pool: OperationPool) -> list[BaseRoute]:
    """Return the route of the page."""
    return [make_page_route(pool, PATH, {"GET": _show})]


def _show(_request: Request, _form: Form) -> Answer:
    return render_page("design.html", **_get_samples())


def _make_entry(kind: str, label: str, text: str) -> InboxEntry:
    return InboxEntry(kind, label, kind, text, "2026-11-16T15:00:00Z", PATH, f"settle-{kind}", "none", {}, [], "")


def _get_samples() -> dict[str, Any]:
    error = Invalid("summary must have at most 500 characters, not 612; shorten it", field="summary")
    conflict = StaleRevision("node k7m2qp", "read it again", current=4, expected=3)
    return {
        "themes": THEMES,
        "visit": SimpleNamespace(refusal=Refusal(REFUSED, FIELDS, error)),
        "conflicted": SimpleNamespace(refusal=Refusal(CONFLICT, MINE, conflict)),
        "kinds": list(InboxKind),
        "entries": [
            _make_entry("gate_blocks", "Blocks publishing", "2 checks keep the draft from being published")._replace(
                parts=["Gate A: the goal has no indicator", "Gate A: an output leads nowhere"]
            ),
            _make_entry("suggestion", "Suggestion", "claude suggests 40 for /wells/depth")._replace(button="Accept"),
            _make_entry("request", "Question", "Which village comes first?")._replace(
                button="Record a decision", needs=[Need("text", "What is decided"), Need("due", "Until", is_date=True)]
            ),
        ],
        "marks": MARKS,
        "host_of": host_of,
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
