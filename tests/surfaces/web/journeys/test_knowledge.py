"""A person writes down what to know about files, finds what is not covered, and takes a change back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow

FILES = ["README.md", "docs/a.md", "src/pay/a.py", "src/pay/deep/b.py", "src/web/c.py", "src/web/d.py", "src/web/e.py"]


def test_an_atom_is_written_with_live_matches_and_its_folder_is_covered(page: Page, site: Site) -> None:
    site.plan("Draw the coast", context_links=["src/web/c.py"])
    with site.open_as("ada") as ada:
        ada.call("knowledge.record_check", projectId=site.project, commit="0123abc", atoms=[], files=FILES)
    knowledge = f"/p/{site.project}/knowledge"

    # What is not covered: the map, walked by arrows, and the list behind it.
    page.goto(f"{knowledge}?view=coverage")
    cells = page.locator(".treemap a")
    expect(cells).to_have_count(3)
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".treemap a:focus")).to_have_attribute("aria-label", "README.md not covered")
    expect(page.locator('.treemap a[tabindex="0"]')).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_url("**folder=src")
    expect(page.locator(".treemap a:focus")).to_have_attribute("aria-label", "web/ 0 of 3 files covered")
    page.keyboard.press("Backspace")
    expect(cells).to_have_count(3)
    page.keyboard.press("h")
    expect(page.locator("[data-id=uncovered] li").first).to_contain_text("src/web")

    # An atom about the first folder: the matches follow what is typed.
    page.get_by_role("link", name="Write an atom about src/web").click()
    matches = page.locator("#matches-new")
    expect(matches).to_contain_text("3 of 7 files")
    patterns = page.locator("#new-atom textarea").first
    patterns.fill("src/**\nlib/**")
    expect(matches).to_contain_text("lib/** 0: matches nothing")
    patterns.fill("src/[")
    expect(matches.locator(".refusal")).to_be_visible()
    patterns.fill("src/web/**")
    expect(matches).to_contain_text("3 of 7 files of the last check match")
    page.locator("#new-atom").get_by_label("Name").fill("Pages")
    page.get_by_role("button", name="Write", exact=True).click()
    expect(page.locator("#toasts")).to_contain_text("Written")

    # It is in the tree, and its inspector has everything.
    page.goto(knowledge)
    page.locator(".tree").get_by_role("link", name="Pages").click()
    expect(page.locator(".inspector")).to_contain_text("for Draw the coast")
    page.keyboard.press("e")
    page.locator("#edit").get_by_label("What to know").fill("Ask for the style first.")
    page.locator("#edit").get_by_role("button", name="Save").click()
    expect(page.locator("[data-id=knowledge-text]")).to_contain_text("Ask for the style first.")

    # The history: only knowledge, the change in full, and back again.
    page.goto(f"/p/{site.project}/history")
    page.get_by_role("button", name="Knowledge", exact=True).click()
    page.wait_for_url("**op=knowledge")
    expect(page.locator(".events")).not_to_contain_text("Draw the coast")
    page.locator(".events li", has_text="changed the note Pages").locator("[data-main]").click()
    inspector = page.locator(".inspector")
    expect(inspector.locator("ins")).to_contain_text("Ask for the style first.")
    inspector.get_by_role("button", name="Undo this change").click()
    expect(page.locator("#toasts")).to_contain_text("Undone")
    page.goto(knowledge)
    page.locator(".tree").get_by_role("link", name="Pages").click()
    expect(page.locator("[data-id=knowledge-text]")).to_contain_text("Nothing written yet.")
