"""A theory with findings, and the forms of its pages as people fill them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from groundplan.session import Session
from tests.engines import Engine, person
from tests.surfaces.http.client import Reply
from tests.surfaces.web.browser import Browser

PLAN = "/p/atlas/plan"
AGENT = "builder"
_FORM = re.compile(r'<form [^>]*id="([^"]+)"[^>]*>(.*?)</form>', re.DOTALL)
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')

OPERATIONS: list[dict[str, Any]] = [
    {"op": "add_node", "ref": "g", "node_type": "GOAL", "title": "Safe water"},
    {"op": "add_node", "ref": "oc", "node_type": "OUTCOME", "title": "Wells are used"},
    {"op": "add_node", "ref": "op", "node_type": "OUTPUT", "title": "Ten wells"},
    {"op": "add_node", "ref": "ac", "node_type": "ACTIVITY", "title": "Drill"},
    {"op": "add_edge", "source": "ac", "target": "op"},
    {"op": "add_edge", "source": "op", "target": "oc"},
    {"op": "add_edge", "source": "oc", "target": "g"},
    {
        "op": "add_assumption",
        "source": "op",
        "target": "oc",
        "assumption_text": "People walk to wells",
        "risk_level": "HIGH",
    },
    {"op": "add_indicator", "node": "oc", "name": "Households at a well", "unit": "%", "baseline": 20, "target": 80},
]


def fill_theory(engine: Engine, *, is_ready: bool = False, session: Session | None = None) -> Session:
    """Write a draft as Ada, with an assumption of high risk that nobody watches unless it is ready to publish."""
    ada = session or engine.session("ada")
    ada.call("project.create", name="atlas")
    for name, role in (("ben", "editor"), ("cleo", "viewer")):
        ada.call("member.add", scopeId="atlas", userId=name, role=role)
    ada.call("member.add", scopeId="atlas", userId="builder", role="owner", kind="agent")
    ada.call("purpose.draft", project="atlas")
    ada.call("purpose.edit", project="atlas", operations=OPERATIONS)
    if is_ready:
        watch = {"op": "update_assumption", "assumption": "AS1", "owner": "ben", "review_by": "2026-04-01"}
        ada.call("purpose.edit", project="atlas", operations=[watch])
    return ada


class TokenBrowser(Browser):
    """A program that reads pages with a token, as agents do."""

    token = ""

    def send(self, method: str, target: str, body: Any = None, **headers: Any) -> Reply:
        """Send one request with the token."""
        return super().send(method, target, body, **{**headers, "authorization": f"Bearer {self.token}"})


@contextmanager
def open_as(engine: Engine, who: str) -> Iterator[Browser]:
    """A browser of a member who is logged in; the agent sends a token instead."""
    if who == AGENT:
        with TokenBrowser(engine.store) as program:
            program.token = engine.session("ada").call("token.create", kind="agent", name=AGENT, role="owner").secret
            yield program
        return
    with Browser(engine.store, actor=person(who)) as browser:
        browser.log_in()
        yield browser


def read_page(browser: Browser, query: str) -> str:
    """Return a page of the plan."""
    reply = browser.get(f"{PLAN}?{query}")
    assert reply.status == 200, reply.body.decode()
    return reply.body.decode()


def list_forms(page: str) -> dict[str, str]:
    """Return the forms of a page that run operations, by id."""
    return {form: body for form, body in _FORM.findall(page) if 'name="operation"' in body}


def fill_form(browser: Browser, query: str, form: str, **typed: str) -> Reply:
    """Fill a form of a page and send it. Dots in names are written as two underscores."""
    fields = read_fields(read_page(browser, query), form)
    return send(browser, query, fields, **typed)


def read_fields(page: str, form: str) -> dict[str, str]:
    """Return the hidden fields of a form."""
    return {name: html.unescape(value) for name, value in _HIDDEN.findall(list_forms(page)[form])}


def send(browser: Browser, query: str, fields: dict[str, str], **typed: str) -> Reply:
    """Send a form."""
    named = {name.replace("__", "."): value for name, value in typed.items()}
    return browser.submit(f"{PLAN}?{query}", {**fields, **named})
