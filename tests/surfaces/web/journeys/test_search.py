"""Search over everything: as you type, on its own page, and in the palette."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow


def test_what_is_typed_is_found_and_opened_with_the_arrow_keys(page: Page, site: Site) -> None:
    site.plan("Find the spring", "Find the mill")
    page.goto(f"/p/{site.project}/home")
    page.keyboard.press("/")
    page.keyboard.type("find")
    expect(page.locator("#find-picks li")).to_have_count(2)
    page.locator("#find").press("ArrowDown")
    chosen = page.locator("#find-picks [aria-selected=true]")
    expect(chosen).to_have_count(1)
    title = chosen.inner_text().replace("Tasks", "").strip()
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2")).to_have_text(title)
    expect(page.locator("#find-picks")).to_be_hidden()


def test_enter_leads_to_the_page_of_results_by_slice(page: Page, site: Site) -> None:
    site.plan("Find the spring", "Find the mill")
    with site.open_as("ada") as ada:
        ada.call("purpose.draft", project=site.project)
        goal = {"op": "add_node", "node_type": "GOAL", "title": "Every spring is known"}
        ada.call("purpose.edit", project=site.project, operations=[goal])
    page.goto(f"/p/{site.project}/facts")
    page.keyboard.press("/")
    page.keyboard.type("spring")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?text=spring")
    expect(page.locator("main")).to_contain_text("Find the spring")
    expect(page.locator("main")).not_to_contain_text("mill")
    page.get_by_role("link", name="Every spring is known").click()
    page.wait_for_url("**/plan?key=G1*")
    expect(page.locator(".inspector h2").first).to_contain_text("Every spring is known")
    page.go_back()
    page.get_by_role("link", name="Only tasks").click()
    page.wait_for_url("**/work?text=spring")
    expect(page.locator(".list")).to_contain_text("Find the spring")


@pytest.mark.parametrize("keys", ["Control+k", "Meta+k"])
def test_the_palette_goes_to_areas_does_what_the_page_offers_and_finds(page: Page, site: Site, keys: str) -> None:
    (task,) = site.plan("Find the spring")
    page.goto(f"{site.work}?node={task}")
    page.keyboard.press(keys)
    expect(page.locator("#palette")).to_be_visible()
    page.keyboard.type("claim")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.keyboard.press(keys)
    page.keyboard.type("memb")
    expect(page.locator("#palette-picks li").first).to_contain_text("Members")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/members")
    page.keyboard.press(keys)
    page.keyboard.type("spring")
    expect(page.locator("#palette-picks")).to_contain_text("Find the spring")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2")).to_have_text("Find the spring")
    page.keyboard.press(keys)
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_without_script_the_search_is_a_form(site: Site, chromium: Browser) -> None:
    site.create_project()
    site.plan("Find the spring")
    context = chromium.new_context(base_url=site.address, java_script_enabled=False)
    context.add_cookies(site.cookies)
    page = context.new_page()
    page.goto(f"/p/{site.project}/home")
    page.get_by_label("Search everything").fill("spring")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Find the spring").click()
    assert page.locator(".inspector h2").inner_text() == "Find the spring"
    context.close()


def test_what_waits_what_is_found_and_what_happened_fit_a_phone(site: Site, chromium: Browser) -> None:
    site.create_project()
    site.plan("A name that is much longer than a telephone is wide, and has averyveryveryverylongwordinit too")
    with site.open_as("ada") as ada:
        ada.call("purpose.draft", project=site.project)
        ada.call("purpose.record", project=site.project, requests=[{"question": "averyverylongword" * 12}])
    context = chromium.new_context(base_url=site.address, viewport={"width": 320, "height": 640})
    context.add_cookies(site.cookies)
    page = context.new_page()
    for area in ("home", "inbox", "history", "search?text=longword"):
        page.goto(f"/p/{site.project}/{area}")
        too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not too_wide, area
    context.close()
