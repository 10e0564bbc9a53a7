"""A person shows the plan to others: compares versions, presents pathways, prints, and follows an item to the goal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.surfaces.web.journeys.conftest import Site
from tests.surfaces.web.journeys.test_accessibility import check_rules
from tests.surfaces.web.two_versions import fill_versions

pytestmark = pytest.mark.slow

PAGES_OF_PDF = re.compile(rb"/Type\s*/Page[^s]")
LANDSCAPE = re.compile(rb"/MediaBox\s*\[\s*0 0 (\d+)[\d.]* (\d+)")


def test_compare_present_print_and_follow_by_keyboard(page: Page, site: Site, tmp_path: Path) -> None:
    with site.open_as("ada") as ada:
        filled = fill_versions(ada, site.project)
    page.goto(f"/p/{site.project}/plan")

    page.keyboard.press("v")
    expect(page.locator(".sum")).to_contain_text("+2 added, ~2 changed")
    check_rules(page)
    page.keyboard.press("j")
    expect(page.locator(".change.selected")).to_contain_text("risk rose")
    expect(page.locator(".drawn .selected")).to_have_attribute("data-card", "OC1")
    page.keyboard.press("j")
    expect(page.locator(".drawn .selected")).to_have_attribute("data-card", "AC3")
    expect(page.locator(".drawn .selected")).to_be_in_viewport()
    page.keyboard.press("k")
    page.wait_for_url("**change=AS1")
    page.reload()
    expect(page.locator(".drawn .selected")).to_have_attribute("data-card", "OC1")

    page.keyboard.press("f")
    expect(page.locator("h1")).to_have_text("Safe water for all")
    expect(page.locator(".rail")).to_be_hidden()
    check_rules(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator("h1")).to_have_text("Drill")
    page.keyboard.press(" ")
    expect(page.locator("h1")).to_have_text("Fourteen wells")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".measured")).to_contain_text("40 %")
    check_rules(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("h1")).to_have_text("Fourteen wells")
    page.keyboard.press("Escape")
    expect(page.locator(".rail")).to_be_visible()

    # As a person does who got it by mail: without a server.
    kept = tmp_path / "plan.html"
    kept.write_bytes(page.request.get(f"/p/{site.project}/files/plan.html").body())
    page.goto(kept.as_uri())
    printed = page.pdf(format="A4", landscape=True)
    size = LANDSCAPE.search(printed)
    assert size is not None
    assert int(size[1]) > int(size[2])
    assert len(PAGES_OF_PDF.findall(printed)) >= 2  # the picture, then the assumptions and the list
    check_rules(page)

    page.goto(f"{site.work}?node={filled.task}")
    page.keyboard.press("t")
    expect(page.locator("#of")).to_have_text("Drill well one")
    expect(page.locator(".way.whole").first).to_contain_text("Safe water for all")
    check_rules(page)
    row = page.locator(f"[data-id='nothing-{filled.unlinked}']")
    row.locator("input:not([type=hidden])").fill("OP1")
    row.get_by_role("button", name="Link").click()
    expect(page.get_by_text("Every open task serves a part of the plan.")).to_be_visible()
