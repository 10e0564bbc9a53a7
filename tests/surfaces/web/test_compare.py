"""Compare: what changed between two versions, in a picture and in a list."""

from __future__ import annotations

import re

from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_pages import HOSTILE, open_page
from tests.surfaces.web.test_throughline import fill

CHANGE = re.compile(r'class="change(?: selected)?">.*?</li>', re.DOTALL)
PLAN = "/p/atlas/plan?view=compare"


def list_changes(browser: Browser, query: str = "") -> list[str]:
    found = CHANGE.findall(browser.get(f"{PLAN}{query}").body.decode())
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", one.partition(">")[2])).strip() for one in found]


def test_the_draft_is_compared_with_the_version_that_it_began_from(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    changes = list_changes(browser)

    assert [one[0] for one in changes] == ["~", "+", "~", "\N{MINUS SIGN}", "+", "\N{MINUS SIGN}"]
    assert "risk low → high" in changes[0]
    assert "risk rose" in changes[0]
    assert "title Twelve wells → Fourteen wells" in changes[2]
    assert "Equip a lab → Families drink safe water" in changes[4]


def test_a_change_names_the_work_that_it_touches(browser: Browser, engine: Engine) -> None:
    filled = fill(engine)
    engine.session("ada").call(
        "purpose.edit", project="atlas", operations=[{"op": "update_node", "node": "AC1", "title": "Dig"}]
    )
    browser.log_in()
    page = open_page(browser, PLAN)

    assert "Touches Drill well one" in page.text
    assert f"/p/atlas/work?node={filled.task}" in page.links


def test_any_two_versions_are_compared_also_backwards(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    backwards = list_changes(browser, "&version=1&base=draft")

    assert "title Fourteen wells → Twelve wells" in " ".join(backwards)
    assert not any("risk rose" in one for one in backwards)


def test_the_name_of_a_version_keeps_its_capitals(browser: Browser, engine: Engine) -> None:
    fill(engine)
    ada = engine.session("ada")
    ada.call("purpose.publish", project="atlas", label="Agreed by the Board")
    ada.call("purpose.draft", project="atlas")
    browser.log_in()

    assert "since version 2 · Agreed by the Board" in open_page(browser, PLAN).text


def test_the_change_in_the_address_is_marked_in_the_list_and_in_the_picture(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    page = browser.get(f"{PLAN}&change=AS1").body.decode()

    assert page.count('class="gp-card selected" data-card="OC1"') == 1
    assert page.count('class="change selected"') == 1
    assert 'data-card="AC2"' in page  # removed, drawn as a ghost
    assert 'data-key="AC2"' not in page


def test_one_version_alone_says_what_to_do(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("purpose.draft", project="atlas")
    browser.log_in()

    assert "There is only one version" in open_page(browser, PLAN).text


def test_hostile_text_is_text_in_a_comparison(engine: Engine) -> None:
    fill(engine, HOSTILE)
    with Browser(engine.store, actor=person("cleo")) as browser:
        browser.log_in()
        page = open_page(browser, PLAN)

    assert page.names.count("script") == 1
    assert page.names.count("style") == 0
    assert HOSTILE in page.text
    assert page.operations == []
