"""Present: pathways as slides, and the plan as a file to keep, to send and to print."""

from __future__ import annotations

import pytest

from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_pages import HOSTILE, Tags, open_page
from tests.surfaces.web.test_throughline import fill

PRESENT = "/p/atlas/plan?view=present&version=1"


def test_the_first_slide_is_the_goal_with_the_number_of_pathways(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    page = open_page(browser, PRESENT)

    assert "Safe water for all" in page.text
    assert "2 pathways lead to it" in page.text
    assert f"{PRESENT}&path=1&step=1" in page.links


def test_each_step_is_a_link_to_the_next_up_to_the_last_pathway(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    slides, address = [], f"{PRESENT}&path=1&step=1"
    while address:
        page = browser.get(address).body.decode()
        slides.append(page.partition("<h1>")[2].partition("</h1>")[0])
        address = page.partition('data-key="ArrowRight">Next')[0].rpartition('href="')[2].partition('"')[0]
        address = address.replace("&amp;", "&") if "Next →" in page else ""

    rest = ["Twelve wells", "Families drink safe water", "Safe water for all"]
    assert slides == ["Drill", *rest, "Print ledgers", *rest]


def test_a_step_has_the_reason_the_assumptions_and_the_measurements(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    page = open_page(browser, f"{PRESENT}&path=1&step=3").text

    for text in ("A closed well stays clean", "Pumps are mended", "The springs do not run dry", "40 %", "target 95 %"):
        assert text in page


@pytest.mark.parametrize("query", ["&path=99&step=99", "&path=x&step=-1", "&path=0&step=5"])
def test_a_step_that_is_not_there_shows_the_nearest_slide(browser: Browser, engine: Engine, query: str) -> None:
    fill(engine)
    browser.log_in()

    assert "Safe water for all" in open_page(browser, f"{PRESENT}{query}").text


@pytest.mark.parametrize(
    ("name", "start"), [("plan.html", b"<!doctype html>"), ("plan.svg", b"<svg "), ("plan.png", b"\x89PNG")]
)
def test_the_plan_is_a_file(engine: Engine, name: str, start: bytes) -> None:
    fill(engine)
    with Browser(engine.store, actor=person("cleo")) as browser:
        browser.log_in()
        reply = browser.get(f"/p/atlas/files/{name}?version=1")

    assert reply.body.startswith(start)
    assert reply.headers["content-disposition"] == f'attachment; filename="atlas-v1.{name[5:]}"'
    assert "sandbox" in reply.headers["content-security-policy"]


def test_a_file_that_does_not_exist_is_not_found(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()

    assert browser.get("/p/atlas/files/plan.exe").status == 404
    assert browser.get("/p/atlas/files/plan.svg?version=9").status == 404
    assert browser.get("/p/none/files/plan.svg").status == 404


def test_hostile_text_is_text_on_slides_and_in_the_html_file(browser: Browser, engine: Engine) -> None:
    fill(engine, HOSTILE)
    browser.log_in()
    for query in ("", "&path=1&step=2", "&path=1&step=3"):
        page = open_page(browser, f"{PRESENT}{query}")
        assert page.names.count("script") == 1
        assert HOSTILE in page.text
    file = Tags(browser.get("/p/atlas/files/plan.html?show=1").body.decode())

    assert "script" not in file.names
    assert HOSTILE in file.text
