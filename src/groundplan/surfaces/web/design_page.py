"""`/_design`: every component of the page in all its states, in light and dark, for developers (`serve --design`)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.briefing.inbox import InboxKind
from groundplan.context.schemas import Provenance, ValueKind
from groundplan.kernel.errors import Invalid, StaleRevision
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.web.areas.coverage import PICTURE, STATES, draw_cells
from groundplan.surfaces.web.areas.history import Day
from groundplan.surfaces.web.areas.inbox import FormField, InboxEntry
from groundplan.surfaces.web.areas.plan.measures import DayValue, build_chart
from groundplan.surfaces.web.areas.work import host_of
from groundplan.surfaces.web.areas.work_graph import MARKS
from groundplan.surfaces.web.page_routes import Form, make_page_route
from groundplan.surfaces.web.render import render_page
from groundplan.surfaces.web.visit import Refusal
from groundplan.surfaces.web.words import EventLine, FactValue, FieldChange
from groundplan.work.graph.outline import NodeState

PATH = "/_design"
THEMES = ("light", "dark")
REFUSED = "refused"
FIELDS = {"summary": "What was typed stays"}
CONFLICT = "conflict"
MINE = {"summary": "What I typed", "kind": "foot"}


LINES = [
    EventLine("3.0", "2026-11-16T15:00:00Z", "ada", "resolved", "k7m2qp", "Drill", PATH, "The water is clear."),
    EventLine(
        "2.0",
        "2026-11-16T14:00:00Z",
        "builder-2",
        "changed",
        "m4q8te",
        "Test the water",
        PATH,
        "",
        [FieldChange("summary", "Test", "Test the water"), FieldChange("owner", "ben", "")],
        4,
    ),
]


def _count_files(path: str, files: int, covered: int, overlapping: int = 0, *inside: Any) -> Any:
    return SimpleNamespace(
        path=path, files=files, covered=covered, overlapping=overlapping, is_folder=bool(inside), entries=inside
    )


FOLDERS = [
    _count_files("src", 12, 7, 0, _count_files("src/read.py", 7, 7), _count_files("src/write.py", 5, 0)),
    _count_files("docs", 8, 8, 3, _count_files("docs/start.md", 8, 8, 3)),
    _count_files("setup.py", 3, 3),
    _count_files("legacy.py", 3, 0),
]


def _link_here(**_changes: Any) -> str:
    return PATH


def _name(name: str) -> str:
    return f"{name} (agent)" if name == "builder-2" else name


LINKS_NOWHERE: Any = SimpleNamespace(link=_link_here)


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
        "visit": SimpleNamespace(refusal=Refusal(REFUSED, FIELDS, error), link=_link_here, who=_name),
        "conflicted": SimpleNamespace(refusal=Refusal(CONFLICT, MINE, conflict), who=_name),
        "kinds": list(InboxKind),
        "entries": [
            _make_entry("gate_blocks", "Blocks publishing", "2 checks keep the draft from being published")._replace(
                parts=["Gate A: the goal has no indicator", "Gate A: an output leads nowhere"]
            ),
            _make_entry("suggestion", "Suggestion", "claude suggests 40 for /wells/depth")._replace(button="Accept"),
            _make_entry("request", "Question", "Which village comes first?")._replace(
                button="Record a decision",
                fields=[FormField("text", "What is decided"), FormField("due", "Until", is_date=True)],
            ),
        ],
        "covers": STATES,
        "cells": draw_cells(LINKS_NOWHERE, FOLDERS),
        "picture": PICTURE,
        "days": [Day("2026-11-16", LINES)],
        "chart": build_chart([DayValue("2026-09-01", 30.0), DayValue("2026-11-01", 42.0)], baseline=30.0, target=45.0),
        "marks": MARKS,
        "host_of": host_of,
        "address": PATH,
        "csrf": "",
        "states": [*NodeState, "open"],
        "provenances": list(Provenance),
        "values": [
            FactValue("set", "2140", ValueKind.NUMBER),
            FactValue("set", '{"wells": [1, 2]}', ValueKind.JSON),
            FactValue("empty"),
            FactValue("unset"),
        ],
    }
