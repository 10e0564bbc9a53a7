"""A person works with facts: values and what is missing, suggestions, sources, runs, members and tokens."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow

FACTS: list[dict[str, Any]] = [
    {"pointer": "/site/owner", "label": "Owner of the land", "domain": "site", "valueKind": "string", "required": True},
    {"pointer": "/site/size", "label": "Size in hectares", "domain": "site", "valueKind": "number", "required": True},
    {"pointer": "/wells/pump", "label": "Pump", "valueKind": "enum", "options": ["hand", "foot"], "value": "foot"},
]


def write_facts(site: Site) -> str:
    """Write facts into a draft as Ada, and return its id."""
    with site.open_as("ada") as ada:
        run: str = ada.call("context.create_draft", scopeId=site.project, ownership="shared").run.id
        ada.call("context.edit", runId=run, inputs=FACTS)
    return run


def open_facts(page: Page, site: Site, query: str = "") -> None:
    page.goto(f"/p/{site.project}/facts{query}")


def test_from_nothing_to_a_committed_run_by_keyboard_alone(page: Page, site: Site) -> None:
    open_facts(page, site)
    page.keyboard.press("n")  # starts a draft
    page.wait_for_url("**run=draft")
    page.keyboard.press("n")
    page.keyboard.type("Depth of the well")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.type("wells/depth")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.type("n")  # number
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.type("y")  # yes, required
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("1 required fact has no value")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator(".inspector h2")).to_have_text("Depth of the well")
    page.keyboard.press("e")
    page.keyboard.type("45")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector .large")).to_have_text("45")
    expect(page.locator(".inspector header")).to_contain_text("user-entered")
    expect(page.locator(".notice")).to_have_count(0)
    page.get_by_role("button", name="Commit", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Start a draft from this run")).to_be_visible()
    expect(page.locator("main")).to_contain_text("In force")


def test_no_value_and_the_empty_text_are_two_buttons(page: Page, site: Site) -> None:
    write_facts(site)
    open_facts(page, site, "?fact=/site/owner")
    expect(page.locator(".inspector .large")).to_have_text("not set")
    page.get_by_role("button", name="Set to empty text").click()
    expect(page.locator(".inspector .large")).to_have_text("empty text")
    expect(page.locator(".notice")).to_contain_text("1 required fact")
    page.get_by_role("button", name="Unset").click()
    expect(page.locator(".inspector .large")).to_have_text("not set")
    expect(page.locator(".notice")).to_contain_text("2 required facts")
    page.get_by_role("button", name="Make it optional").click()
    expect(page.locator(".notice")).to_contain_text("1 required fact")


def test_a_suggestion_stands_beside_the_value_until_a_person_decides(page: Page, site: Site) -> None:
    run = write_facts(site)
    with page.expect_response("**/events"):  # from then on it follows
        open_facts(page, site, "?fact=/wells/pump")
    with site.open_as("builder-2", "agent") as agent:
        suggested = {"pointer": "/wells/pump", "value": "hand", "rationale": "it is cheaper"}
        agent.call("context.edit", runId=run, inputs=[suggested])
    suggestion = page.locator(".inspector .suggestion")
    expect(suggestion).to_contain_text("builder-2 (agent) suggests hand")  # it came by itself
    expect(suggestion).to_contain_text("it is cheaper")
    expect(page.locator(".inspector .large")).to_have_text("foot")
    suggestion.get_by_role("button", name="Accept").click()
    expect(page.locator(".inspector .large")).to_have_text("hand")
    expect(page.locator(".suggestion")).to_have_count(0)
    expect(page.locator(".inspector")).to_contain_text("History in this run")


def test_a_wrong_value_is_refused_at_its_field_with_what_was_typed(page: Page, site: Site) -> None:
    write_facts(site)
    open_facts(page, site, "?fact=/site/size")
    page.get_by_label("Value, a number").fill("about 3")
    page.get_by_role("button", name="Save").click()

    expect(page.locator("#value .refusal")).to_be_visible()
    expect(page.get_by_label("Value, a number")).to_have_value("about 3")
    expect(page.get_by_label("Value, a number")).to_have_attribute("aria-invalid", "true")


def test_from_a_source_everything_that_it_backs(page: Page, site: Site) -> None:
    write_facts(site)
    open_facts(page, site)
    page.get_by_text("Add a source", exact=True).click()
    form = page.locator("#add-source")
    form.get_by_label("Title").fill("The land register")
    form.get_by_label("Where it is").fill("javascript:alert(1)")
    form.get_by_role("button").click()
    expect(page.get_by_role("link", name="The land register")).to_be_visible()
    page.get_by_role("link", name="Owner of the land").click()
    page.locator("#value").get_by_label("Value", exact=True).fill("The council")
    page.get_by_label("Taken from").select_option(label="The land register")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".inspector header")).to_contain_text("source-backed")
    page.locator(".inspector").get_by_role("link", name="The land register").click()
    expect(page.locator(".inspector")).to_contain_text("Owner of the land")
    expect(page.locator(".inspector a[href^=javascript]")).to_have_count(0)


def test_a_partial_commit_keeps_saying_what_is_missing_and_the_next_draft_shows_what_changed(
    page: Page, site: Site
) -> None:
    write_facts(site)
    open_facts(page, site)
    page.get_by_role("button", name="Commit", exact=True).click()
    expect(page.locator("#commit .refusal")).to_contain_text("/site/owner")
    page.get_by_role("button", name="Commit without 2 missing").click()
    expect(page.get_by_role("button", name="Start a draft from this run")).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("2 required facts")
    page.get_by_role("link", name="Pump").click()
    page.get_by_role("button", name="Change it in a new draft").click()
    expect(page.locator(".inspector h2")).to_have_text("Pump")
    page.locator("summary", has_text="Change the value").click()
    page.locator("#value").get_by_label("Value").select_option("hand")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".inspector .large")).to_have_text("hand")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect(page.get_by_role("row", name="/wells/pump")).to_contain_text("foot")
    expect(page.get_by_role("row", name="/wells/pump")).to_contain_text("hand")


def test_the_secret_of_a_token_stays_while_others_write(page: Page, site: Site) -> None:
    with page.expect_response("**/events"):
        page.goto(f"/p/{site.project}/members?view=tokens")
    page.keyboard.press("n")
    page.locator("#token").get_by_label("Name").fill("builder-9")
    page.get_by_role("button", name="Create", exact=True).click()
    secret = page.locator(".secret code")
    expect(secret).to_contain_text("gpt_")
    with site.open_as("builder-2", "agent") as agent:
        agent.call("work.plan", project=site.project, nodes=[{"ref": "a", "summary": "Meanwhile"}])
    expect(page.locator("#live")).to_contain_text("change by builder-2")
    expect(secret).to_contain_text("gpt_")
    page.get_by_role("link", name="People and agents").click()
    expect(page.locator(".secret")).to_have_count(0)


def test_members_and_policies_are_changed_in_place(page: Page, site: Site) -> None:
    page.goto(f"/p/{site.project}/members")
    expect(page.locator("main")).to_contain_text("The last owner")
    page.keyboard.press("n")
    page.keyboard.type("ben")
    page.locator("#add").get_by_role("button").click()
    page.get_by_label("Role of ben").select_option("editor")
    page.get_by_role("button", name="Change").click()
    expect(page.locator("#toasts")).to_contain_text("Role changed")
    page.get_by_role("button", name="Remove ben").click()
    expect(page.get_by_label("Role of ben")).to_have_count(0)
    page.keyboard.press("2")
    page.get_by_label("Evidence").select_option("require")
    page.locator("#policy-evidence").get_by_role("button").click()
    expect(page.locator("tr", has_text="Evidence")).to_contain_text("set")


@pytest.mark.parametrize("width", [320, 2560])
def test_facts_and_members_fit(site: Site, chromium: Browser, width: int) -> None:
    site.create_project()
    run = write_facts(site)
    with site.open_as("ada") as ada:
        long = {"pointer": "/" + "averylongname" * 20, "label": "L" * 200, "value": "x" * 2000}
        ada.call("context.edit", runId=run, inputs=[long])
    context = chromium.new_context(base_url=site.address, viewport={"width": width, "height": 640})
    context.add_cookies(site.cookies)
    page = context.new_page()
    for path in ("facts", "facts?fact=/wells/pump", "members", "members?view=policies", "members?view=tokens"):
        page.goto(f"/p/{site.project}/{path}")
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), path
    context.close()
