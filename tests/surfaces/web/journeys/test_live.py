"""The page follows what others write, and loses nothing of what its reader does."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow


def go_and_follow(page: Page, address: str) -> None:
    """Open a page, and wait until it follows the events: what came before is shown, but without a name."""
    with page.expect_response("**/events"):
        page.goto(address)


def test_a_change_of_an_agent_appears_and_half_typed_text_stays(page: Page, site: Site) -> None:
    site.plan("The first task")
    go_and_follow(page, site.work)
    page.keyboard.press("n")
    page.keyboard.type("half of a")
    with site.open_as("builder-2", "agent") as agent:
        agent.call("work.plan", project=site.project, nodes=[{"ref": "a", "summary": "Planned by an agent"}])
    expect(page.locator(".tree")).to_contain_text("Planned by an agent")
    page.keyboard.type(" sentence")

    expect(page.locator("#plan textarea")).to_have_value("half of a sentence")
    expect(page.locator("#live")).to_contain_text("by builder-2")
    expect(page.locator(".tree [data-changed-by=builder-2]")).to_contain_text("Planned by an agent")
    shown = page.locator("html")
    for theme in ("dark", "light"):  # then as the system has it
        page.locator("#theme").click()
        expect(shown).to_have_attribute("data-theme", theme)
    page.locator("#theme").click()
    expect(shown).not_to_have_attribute("data-theme", "light")
    assert not any(cookie["name"] == "groundplan_theme" for cookie in page.context.cookies())


def test_the_selection_and_the_scroll_position_stay(page: Page, site: Site) -> None:
    *_, task = site.plan(*(f"Step {n}" for n in range(40)))
    page.goto(f"{site.work}?node={task}")
    page.evaluate("scrollTo(0, 600)")
    page.locator(f".tree [data-id='{task}'] a.title").focus()
    before = page.evaluate("scrollY")
    with site.open_as("builder-2", "agent") as agent:
        agent.call("work.update", updates=[{"node_id": task, "summary": "The last step"}])
    expect(page.locator(".inspector h2")).to_have_text("The last step")

    assert page.evaluate("scrollY") == before
    assert page.evaluate("document.activeElement.textContent") == "The last step"


def test_many_changes_are_said_in_one_line(page: Page, site: Site) -> None:
    go_and_follow(page, site.work)
    with site.open_as("builder-3", "agent") as agent:
        for n in range(20):
            agent.call("work.plan", project=site.project, nodes=[{"ref": "a", "summary": f"Agent task {n}"}])
    expect(page.locator(".tree")).to_contain_text("Agent task 19")

    expect(page.locator("#live")).to_contain_text("changes by builder-3")


def test_the_page_goes_on_after_the_server_was_restarted(page: Page, site: Site) -> None:
    page.goto(site.work)
    page.keyboard.press("n")
    page.keyboard.type("typed before")
    site.stop()
    expect(page.locator("#live")).to_contain_text("Reconnecting")
    page.locator("#plan button").click()
    expect(page.locator("#toasts")).to_contain_text("does not answer")
    site.start()
    with site.open_as("builder-2", "agent") as agent:
        agent.call("work.plan", project=site.project, nodes=[{"ref": "a", "summary": "Written after the restart"}])
    expect(page.locator(".tree")).to_contain_text("Written after the restart", timeout=20_000)

    expect(page.locator("#plan textarea")).to_have_value("typed before")


def test_a_page_that_takes_long_says_so_and_one_that_does_not_come_says_that(page: Page, site: Site) -> None:
    page.goto(site.work)
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/facts", hold)
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page.locator("body")).to_have_class("busy")
    expect(page.locator("main")).to_have_attribute("aria-busy", "true")
    waiting.pop().continue_()
    expect(page.locator("h1")).to_have_text("Facts")
    expect(page.locator("body")).not_to_have_class("busy")

    page.route("**/inbox", lambda route: route.abort())
    page.keyboard.press("g")
    page.keyboard.press("i")

    expect(page.locator("#toasts")).to_contain_text("does not answer")
    expect(page.locator("h1")).to_have_text("Facts")


def test_a_login_that_was_revoked_leads_to_the_login_page(page: Page, site: Site) -> None:
    site.plan("One more task")
    page.goto(site.work)
    page.context.clear_cookies()
    page.get_by_role("link", name="One more task").click()
    page.wait_for_url("**/login")

    expect(page.get_by_label("Token")).to_be_visible()
