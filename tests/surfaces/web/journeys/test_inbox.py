"""A person settles what waits, by keyboard and by mouse, and takes a change back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow


def ask(site: Site, *questions: str) -> None:
    """Ask for decisions as an agent."""
    with site.open_as("ada") as ada:
        ada.call("purpose.draft", project=site.project)
    with site.open_as("scout", "agent") as agent:
        agent.call("purpose.record", project=site.project, requests=[{"question": one} for one in questions])


def test_by_keyboard_alone_a_question_is_answered_and_gone(page: Page, site: Site) -> None:
    ask(site, "Which coast comes first?")
    page.goto(f"/p/{site.project}/home")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox")
    expect(page.locator(".waiting")).to_contain_text("Which coast comes first?")
    item = page.locator(".waiting > li", has_text="Which coast")
    while not item.locator(":focus").count():
        page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("The northern one")
    page.keyboard.press("Tab")
    page.keyboard.type("Nobody has drawn it")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).not_to_contain_text("Which coast comes first?")
    expect(page.locator("#toasts")).to_contain_text("Settled")


def test_a_question_of_an_agent_appears_while_another_answer_is_typed(page: Page, site: Site) -> None:
    ask(site, "Which coast comes first?")
    page.goto(f"/p/{site.project}/inbox")
    count = int(page.locator(".rail .count").inner_text().split()[0])
    page.locator(".waiting > li", has_text="Which coast").locator("summary").click()
    page.get_by_label("What is decided").fill("The northern")
    with site.open_as("scout", "agent") as agent:
        agent.call("purpose.record", project=site.project, requests=[{"question": "Which scale?"}])
    expect(page.locator(".waiting")).to_contain_text("Which scale?")

    expect(page.get_by_label("What is decided").first).to_have_value("The northern")
    expect(page.locator(".rail .count")).to_contain_text(str(count + 1))


def test_a_change_is_taken_back_from_its_message(page: Page, site: Site) -> None:
    (task,) = site.plan("Mark the trail")
    page.goto(f"{site.work}?node={task}")
    page.get_by_role("button", name="Claim", exact=True).click()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Claim", exact=True)).to_be_visible()
    expect(page.locator("#toasts")).to_contain_text("Undone")
    assert page.url.endswith(f"node={task}")


def test_what_has_no_way_back_offers_none(page: Page, site: Site) -> None:
    ask(site, "Which coast comes first?")
    page.goto(f"/p/{site.project}/inbox")
    page.locator(".waiting > li", has_text="Which coast").locator("summary").click()
    page.get_by_label("What is decided").fill("The northern")
    page.get_by_label("Why").fill("Nobody has drawn it")
    with page.expect_response(lambda response: "/history?" in response.url) as asked:
        page.get_by_role("button", name="Record a decision").click()
    expect(page.locator("#toasts")).to_contain_text("Settled")
    assert "undo-offer" not in asked.value.text()


def test_the_history_is_filtered_by_its_form_and_undoes_the_last_change(page: Page, site: Site) -> None:
    first, _ = site.plan("Mark the trail", "Paint the signs")
    with site.open_as("ada") as ada:
        ada.call("work.update", updates=[{"node_id": first, "summary": "Mark all trails"}])
    page.goto(f"/p/{site.project}/history")
    expect(page.locator(".events")).to_contain_text("planned Paint the signs")
    page.get_by_text("Filter by name, item or day").click()
    page.get_by_label("Item").fill(first)
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(f"**subject={first}*")
    expect(page.locator(".events")).not_to_contain_text("Paint the signs")
    page.get_by_role("link", name="Clear").click()
    page.get_by_role("button", name="Undo").first.click()
    expect(page.locator(".events")).to_contain_text("undo of")
    expect(page.locator(".events").get_by_role("link", name="Mark the trail").first).to_be_visible()


def test_without_script_the_inbox_is_settled_by_its_forms(site: Site, chromium: Browser) -> None:
    site.create_project()
    ask(site, "Which coast comes first?")
    context = chromium.new_context(base_url=site.address, java_script_enabled=False)
    context.add_cookies(site.cookies)
    page = context.new_page()
    page.goto(f"/p/{site.project}/inbox")
    page.locator(".waiting > li", has_text="Which coast").locator("summary").click()
    page.get_by_label("What is decided").fill("The northern one")
    page.get_by_label("Why").fill("Nobody has drawn it")
    page.get_by_role("button", name="Record a decision").click()
    assert "Which coast comes first?" not in page.locator("main").inner_text()
    context.close()
