"""The start page shows one project: its counts, its next tasks and its picture."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.engines import Engine
from tests.surfaces.web.browser import Browser

HOSTILE = """<script>alert(1)</script>"'`{{ 7*7 }}&lt;"""


class Tags(HTMLParser):
    """The names of all elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_an_empty_store_says_how_to_begin(browser: Browser) -> None:
    browser.log_in()

    assert "groundplan project create" in browser.get("/").body.decode()


def test_the_page_has_counts_next_tasks_and_links_to_every_project(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    for name in ("atlas", "borealis"):
        ada.call("project.create", name=name, goal=f"The goal of {name}")
    nodes = [{"ref": "a", "summary": "Walk the coast"}, {"ref": "b", "summary": "Draw it", "depends_on": ["a"]}]
    ada.call("work.plan", project="atlas", nodes=nodes)
    browser.log_in()
    page = Tags(browser.get("/?project=atlas").body.decode()).text

    assert "The goal of atlas" in page
    assert re.search(r"Ready now\s*1\b", page)
    assert "Walk the coast" in page
    assert "Draw it" not in page
    assert "The goal of borealis" in Tags(browser.get("/?project=borealis").body.decode()).text
    assert browser.get("/?project=missing").status == 404


def test_the_picture_of_a_theory_is_on_the_page_and_runs_nothing(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("purpose.draft", project="atlas")
    ada.call("purpose.edit", project="atlas", operations=[{"op": "add_node", "node_type": "GOAL", "title": HOSTILE}])
    assert browser.get("/picture.svg?project=atlas").headers["location"] == "/login"
    browser.log_in()
    picture = browser.get("/picture.svg?project=atlas")

    assert 'src="/picture.svg?project=atlas"' in browser.get("/").body.decode()
    assert (picture.status, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert "sandbox" in picture.headers["content-security-policy"]
    assert b"<script" not in picture.body
    assert browser.get("/picture.svg?project=missing").status == 404


def test_stored_text_is_text(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas", goal=HOSTILE)
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": HOSTILE}])
    browser.log_in()
    page = Tags(browser.get("/").body.decode())

    assert "script" not in page.names
    assert page.text.count(HOSTILE) == 2


@pytest.mark.parametrize("path", ["/", "/login", "/picture.svg", "/static/style.css"])
def test_a_page_takes_no_other_method(browser: Browser, path: str) -> None:
    reply = browser.send("DELETE", path)

    assert (reply.status, "GET" in reply.headers["allow"]) == (405, True)


def test_the_style_is_served_without_a_login(browser: Browser) -> None:
    style = browser.get("/static/style.css")

    assert (style.status, style.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert browser.get("/static/../pages.py").status == 404
