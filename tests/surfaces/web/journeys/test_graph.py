"""The graph of work by keyboard alone, what became ready, and two people on one fact."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow


def test_a_person_walks_the_graph_by_keys_hears_what_is_ready_and_settles_a_conflict(page: Page, site: Site) -> None:
    with site.open_as("ada") as ada:
        nodes = [
            {"ref": "survey", "summary": "Survey the site"},
            {"ref": "drill", "summary": "Drill", "depends_on": ["survey"]},
            {"ref": "pump", "summary": "Install the pump", "depends_on": ["drill"]},
        ]
        ids = {one.ref: one.id for one in ada.call("work.plan", project=site.project, nodes=nodes).created}
        run = ada.call("context.create_draft", scopeId=site.project, ownership="shared").run.id
        owner = {"pointer": "/owner", "label": "Owner", "valueKind": "string", "value": "The council"}
        ada.call("context.edit", runId=run, inputs=[owner])

    page.clock.set_fixed_time("2020-01-01T00:00:00Z")  # a clock that is wrong by years
    page.goto(f"/p/{site.project}/history")
    expect(page.locator("main time").first).to_have_text("now")

    with page.expect_response("**/events"):
        page.goto(site.work)
    page.keyboard.press("2")
    page.wait_for_url("**view=graph*")
    page.get_by_role("link", name="Survey the site, ready").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("link", name="Install the pump, blocked")).to_be_focused()
    assert page.locator(".vertex[tabindex='0']").count() == 1  # it is one stop of the Tab key
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2")).to_have_text("Drill")
    expect(page.get_by_role("link", name="Drill, blocked")).to_be_focused()
    page.keyboard.press("b")
    expect(page.get_by_role("heading", name="What blocks “Drill”")).to_be_visible()
    page.keyboard.press("y")
    expect(page.locator(".steps li")).to_have_count(3)
    expect(page.locator(".vertex")).to_have_count(3)

    page.goto(f"{site.work}?view=graph")
    with site.open_as("builder-2", "agent") as agent:
        agent.call("work.update", updates=[{"node_id": ids["survey"], "resolved": True}])
    expect(page.locator("#toasts")).to_contain_text("1 task became ready: Drill")
    expect(page.locator(f"#vertex-{ids['drill']}.pulse")).to_have_count(1)

    with page.expect_response("**/events"):
        page.goto(f"/p/{site.project}/facts?run={run}&fact=/owner")
    page.keyboard.press("e")
    page.locator("#value").get_by_label("Value", exact=True).fill("The school")
    with site.open_as("ben") as ben:
        ben.call("context.edit", runId=run, inputs=[{"pointer": "/owner", "value": "The village"}])
    expect(page.locator(".inspector .large")).to_have_text("The village")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.locator("#value .theirs")).to_have_text("Now: The village")
    expect(page.locator("#value [name='inputs.0.value']")).to_have_value("The school")
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.locator(".inspector .large")).to_have_text("The school")
