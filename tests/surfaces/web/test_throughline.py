"""Through-line: from any item of any area up to the goals and down to work and evidence."""

from __future__ import annotations

import html
import re

import pytest

from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import submit
from tests.surfaces.web.test_pages import HOSTILE, open_page
from tests.surfaces.web.two_versions import Filled, fill_versions

BLOCK = re.compile(r'<section class="why".*?</section>', re.DOTALL)
STEP = re.compile(r'<li class="way-(\w+)".*?>\s*(?:<p>)?(?:<a class="title"[^>]*>)?([^<]+)', re.DOTALL)


def fill(engine: Engine, text: str = "") -> Filled:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas", goal="Water")
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    return fill_versions(ada, "atlas", text)


def list_steps(page: str) -> list[tuple[str, str]]:
    return [(kind, html.unescape(title).strip()) for kind, title in STEP.findall(page)]


UP = [("goal", "Safe water for all"), ("outcome", "Families drink safe water"), ("output", "Twelve wells")]


def test_the_block_in_an_inspector_is_the_way_from_the_goal_to_the_item(browser: Browser, engine: Engine) -> None:
    filled = fill(engine)
    browser.log_in()
    task = BLOCK.search(browser.get(f"/p/atlas/work?node={filled.task}").body.decode())
    fact = BLOCK.search(browser.get("/p/atlas/facts?fact=/site/size").body.decode())
    node = BLOCK.search(browser.get("/p/atlas/plan?key=AC1&version=1").body.decode())
    link = BLOCK.search(browser.get("/p/atlas/plan?edge=AC1-OP1&version=1").body.decode())
    note = BLOCK.search(browser.get(f"/p/atlas/knowledge?note={filled.note}").body.decode())

    assert task is not None
    assert fact is not None
    assert node is not None
    assert link is not None
    assert note is not None
    way = [*UP, ("activity", "Drill"), ("work", "Drill well one")]
    assert list_steps(task[0]) == way
    assert f'href="/p/atlas/throughline?ref={filled.task}" data-key="t"' in task[0]
    assert list_steps(fact[0]) == [*way, ("fact", "Size of the site")]
    assert list_steps(node[0]) == list_steps(link[0]) == way[:-1]
    assert 'href="/p/atlas/throughline?ref=AC1" data-key="t"' in node[0]
    assert list_steps(note[0])[:-1] == way
    assert f'href="/p/atlas/throughline?ref={filled.note}" data-key="t"' in note[0]


def test_an_item_without_a_link_says_that_it_serves_nothing(browser: Browser, engine: Engine) -> None:
    filled = fill(engine)
    browser.log_in()

    assert "It serves nothing in the plan yet." in open_page(browser, f"/p/atlas/work?node={filled.unlinked}").text


@pytest.mark.parametrize("of", ["task", "AC1", "AS1", "AS2", "IN1", "/site/size", "note", "G1", "AC3"])
def test_every_kind_of_item_has_a_line(browser: Browser, engine: Engine, of: str) -> None:
    filled = fill(engine)
    browser.log_in()
    ref = filled._asdict().get(of, of)
    page = open_page(browser, f"/p/atlas/throughline?ref={ref}")

    assert "What it is for" in page.text
    assert "Safe water for all" in page.text


def test_the_whole_line_has_assumptions_measurements_and_evidence(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    page = open_page(browser, "/p/atlas/throughline?ref=AC1").text

    for text in ("The springs do not run dry", "Pumps are mended", "40", "target 95", "seen by cleo", "Drill well one"):
        assert text in page


def test_an_unknown_item_is_said_to_be_unknown_with_what_is_near(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    page = open_page(browser, "/p/atlas/throughline?ref=OC2")

    assert "There is no task, part of the plan, fact or note “OC2” in this project. Did you mean" in page.text
    assert "/p/atlas/throughline?ref=OC1" in page.links
    for ref in ("/none", "00000000-0000-0000-0000-000000000000", "x" * 300, "zzzzzz", "<b>"):
        assert "notice" in browser.get(f"/p/atlas/throughline?ref={ref}").body.decode(), ref


def test_a_task_that_serves_nothing_is_linked_by_its_form(browser: Browser, engine: Engine) -> None:
    filled = fill(engine)
    browser.log_in()
    fields = {"updates.0.node_id": filled.unlinked, "updates.0.serves|list": "OP1"}
    assert "Paint the gate" in open_page(browser, "/p/atlas/throughline").text
    refused = submit(browser, "/p/atlas/throughline", "work.update", **{**fields, "updates.0.serves|list": "OP9"})
    reply = submit(browser, "/p/atlas/throughline", "work.update", **fields)

    assert refused.status == 404
    assert reply.status == 303
    assert "Every open task serves a part of the plan." in open_page(browser, "/p/atlas/throughline").text


def test_a_viewer_sees_the_list_without_forms(engine: Engine) -> None:
    fill(engine)
    with Browser(engine.store, actor=person("cleo")) as browser:
        browser.log_in()
        page = open_page(browser, "/p/atlas/throughline?ref=AC1")

    assert "Paint the gate" in page.text
    assert page.operations == []


def test_hostile_text_is_text_on_the_line(browser: Browser, engine: Engine) -> None:
    filled = fill(engine, HOSTILE)
    browser.log_in()
    for ref in (filled.task, "/site/size", filled.note, "AS1"):
        page = open_page(browser, f"/p/atlas/throughline?ref={ref}")
        assert page.names.count("script") == 1
        assert HOSTILE in page.text
