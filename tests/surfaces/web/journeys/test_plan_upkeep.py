"""A programme manager gets a theory through its gates, publishes it, and records what is measured."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from playwright.sync_api import Page, expect

from tests.surfaces.web.journeys.conftest import Site
from tests.surfaces.web.plan_pages import OPERATIONS

pytestmark = pytest.mark.slow

LOOSE = {"op": "add_node", "node_type": "OUTPUT", "title": "A map of all wells"}
PUMPS = {"op": "add_node", "ref": "p", "node_type": "OUTPUT", "title": "Pumps that children can use"}
LED = {"op": "add_edge", "source": "p", "target": "OC1"}


def edit(site: Site, name: str, *operations: Mapping[str, object]) -> None:
    """Edit the draft as another writer."""
    with site.open_as(name) as session:
        session.call("purpose.edit", project=site.project, operations=operations)


def test_from_findings_to_a_published_version_that_is_measured(page: Page, site: Site) -> None:
    with site.open_as("ada") as ada:
        ada.call("purpose.draft", project=site.project)
    edit(site, "ada", *OPERATIONS, LOOSE)
    page.goto(f"/p/{site.project}/plan")
    page.keyboard.press("2")
    verdict, main, pill = page.locator(".verdict"), page.locator("main"), page.locator(".versions > summary")
    expect(verdict).to_contain_text("2 checks block publishing")

    # A finding leads to its place, and back.
    finding = page.locator("#GA_HIGH_RISK")
    finding.get_by_role("link", name="People walk to wells").click()
    page.wait_for_url("**/plan?key=AS1*")
    page.go_back()

    # The edit that mends it is right there.
    finding.get_by_text("Mend it AS1").click()
    finding.get_by_label("Who watches it").fill("ben")
    finding.get_by_label("Reviewed by").fill("2999-01-01")
    finding.get_by_role("button", name="Save").click()
    expect(verdict).to_contain_text("1 check blocks publishing")
    expect(finding).to_have_count(0)

    # What is accepted is waived until a day; a past day is refused where it was typed.
    loose = page.locator("#GA_ORPHANS")
    loose.get_by_text("Waive it until a day").click()
    loose.get_by_label("Why it is acceptable").fill("The map is drawn next year")
    due = loose.get_by_label("Until", exact=True)
    due.evaluate("field => field.removeAttribute('min')")
    due.fill("2020-01-01")
    loose.get_by_role("button", name="Waive", exact=True).click()
    expect(loose.get_by_role("alert")).to_contain_text("is past")
    expect(loose.get_by_label("Why it is acceptable")).to_have_value("The map is drawn next year")
    due.fill("2999-01-01")
    loose.get_by_role("button", name="Waive", exact=True).click()
    expect(verdict).to_contain_text("Nothing blocks publishing")
    expect(main).to_contain_text("APPROVED")

    # Another person edits while the name is typed: publishing shows the new summary first.
    verdict.get_by_role("link").click()
    page.get_by_label("Name of the version").fill("Spring plan")
    edit(site, "ben", PUMPS, LED)
    expect(main).to_contain_text("3 outputs")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("#publish").get_by_role("alert")).to_contain_text("changed after you read this summary")
    expect(page.get_by_label("Name of the version")).to_have_value("Spring plan")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(main).to_contain_text("Version 1 is published and final")
    expect(main).to_contain_text("Spring plan")
    expect(pill).to_contain_text("Version 1")

    # A published version is still measured.
    page.keyboard.press("4")
    page.get_by_text("Record a measurement").click()
    page.get_by_label("Value (%)").fill("35")
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("img", name="Households at a well: 35 %")).to_be_visible()
    expect(page.get_by_label("Value (%)")).to_be_hidden()
    expect(page.locator(":focus")).to_have_text("Record a measurement")

    # As it was on a day: read only, and back.
    pill.click()
    page.get_by_label("As it was on").fill("2020-01-01")
    page.get_by_role("button", name="Show").click()
    expect(main).to_contain_text("No version was in force on 2020-01-01")
    expect(pill).to_contain_text("As it was on 2020-01-01")
    page.get_by_role("link", name="Back to today").click()
    expect(pill).to_have_text(re.compile("Version 1"))
    expect(page.get_by_text("Record a measurement")).to_be_visible()
