"""A person builds a theory of change on the canvas, by keyboard alone and by mouse."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow

TABS_MAX = 60  # more than the links before any field


def read_theory(site: Site) -> Any:
    with site.open_as("ada") as ada:
        return ada.call("purpose.open", project=site.project, detail="full")


def add(page: Page, key: str, title: str) -> None:
    """Press a key on the card that has the focus, and type the title of a new one."""
    page.keyboard.press(key)
    expect(page.locator(":focus")).to_have_attribute("name", "operations.0.title|text")
    page.keyboard.type(title)
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_contain_text(title)


def walk_to(field: Locator) -> None:
    """Press Tab until a field has the focus."""
    for _ in range(TABS_MAX):
        if field.evaluate("one => one === document.activeElement"):
            return
        field.page.keyboard.press("Tab")
    raise AssertionError("the field cannot be reached with Tab")


def test_by_keyboard_alone_a_theory_of_six_items_is_built_and_published(page: Page, site: Site) -> None:
    page.goto(f"/p/{site.project}/plan")
    page.keyboard.press("n")
    expect(page.locator(".placeholder")).to_have_count(4)
    page.keyboard.press("n")
    page.keyboard.type("Safe water")
    page.keyboard.press("Tab")
    page.keyboard.press("g")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    focus = page.locator(":focus")
    expect(focus).to_have_id("G1")
    add(page, "N", "Committees pay")
    add(page, "N", "Fee model agreed")
    add(page, "N", "Hold assemblies")
    page.keyboard.press("ArrowRight")
    expect(focus).to_have_id("OP1")
    expect(page.locator("#said")).to_have_text("Output OP1, Fee model agreed")
    add(page, "N", "Pilot mobile fees")
    add(page, "n", "Train committees")
    expect(focus).to_have_id("AC3")
    expect(page.locator("[data-tray]")).to_have_id("AC3")  # nothing links it: it is below the bands
    page.keyboard.press("ArrowUp")
    expect(focus).to_have_attribute("data-type", "ACTIVITY")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(focus).to_have_id("AC3")
    page.keyboard.press("c")
    page.keyboard.press("ArrowRight")
    expect(focus).to_have_id("OP1")
    page.keyboard.press("Enter")
    expect(page.locator("[data-id='link-AC3-OP1']")).to_have_count(1)
    page.keyboard.press("a")
    expect(focus).to_have_attribute("name", "operations.0.assumption_text|text")
    page.keyboard.type("Households keep paying")
    page.keyboard.press("Tab")
    page.keyboard.press("h")
    page.locator("#assume").get_by_role("button").press("Enter")
    expect(page.locator("#OP1")).to_have_attribute(
        "aria-label", "Output OP1, Fee model agreed, 1 assumption, high risk"
    )
    expect(page.locator("#assume select")).to_have_value("")  # for the next one
    page.keyboard.press("Escape")
    expect(page.locator("#inspector")).to_have_count(0)
    page.locator("#canvas [tabindex='0']").focus()
    page.keyboard.press("e")
    expect(focus).to_have_attribute("name", "operations.0.title|text")
    page.keyboard.type("Fee model agreed in each village")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#inspector h2")).to_have_text("Fee model agreed in each village")
    page.locator("#canvas [tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("p")
    expect(page.locator(".chip[aria-pressed=true]")).to_contain_text("Pathway of AC")
    expect(page.locator("#canvas .node")).to_have_count(4)  # the other activities are not on it
    page.keyboard.press("p")
    expect(page.locator("#canvas .node")).to_have_count(6)
    page.keyboard.press("Delete")
    expect(focus).to_contain_text("Remove AC")
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    expect(page.locator(".plan-list")).to_contain_text("Train committees")

    page.keyboard.press("2")  # a high risk needs a person and a day
    expect(page.locator(".verdict")).to_contain_text("1 check blocks publishing")
    page.keyboard.press("j")
    page.keyboard.press("Tab")
    expect(focus).to_contain_text("Mend it")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("ben")
    page.keyboard.press("Tab")
    page.keyboard.type("01312031")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_contain_text("Nothing blocks publishing")
    page.keyboard.press("Escape")  # leave the field, so that letters and digits are keys again
    page.keyboard.press("3")
    field = page.get_by_label("Name of the version")
    expect(field).to_be_visible()
    walk_to(field)
    page.keyboard.type("First plan")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Version 1 is published and final")

    theory = read_theory(site)
    with site.open_as("ben") as ben:
        many = [{"op": "add_node", "node_type": "OUTPUT", "title": f"Output {number}"} for number in range(115)]
        ben.call("purpose.draft", project=site.project)
        ben.call("purpose.edit", project=site.project, operations=many)
    page.goto(f"/p/{site.project}/plan")  # too many for one canvas: groups open and close by keyboard
    page.locator("#canvas [data-group=G1]").first.press("Enter")
    expect(page.locator("#canvas .node:focus")).to_have_attribute("id", "G1")
    page.keyboard.press("u")
    expect(page.locator("#canvas .node:focus")).to_have_attribute("data-group", "G1")
    assert len(theory.nodes) == 6
    assert theory.version.status == "PUBLISHED"
    assert {(edge.source, edge.target) for edge in theory.edges} == {
        ("OC1", "G1"),
        ("OP1", "OC1"),
        ("AC1", "OP1"),
        ("AC2", "OP1"),
        ("AC3", "OP1"),
    }


def locate(card: Locator) -> tuple[float, float]:
    box = card.locator(".body").bounding_box()
    assert box is not None
    return round(box["x"]), round(box["y"])


def test_by_mouse_cards_are_added_renamed_connected_and_stay_where_they_are(page: Page, site: Site) -> None:
    with site.open_as("ada") as ada:
        ada.call("purpose.draft", project=site.project)
        titles = {"ACTIVITY": "Drill", "OUTPUT": "Wells", "OUTCOME": "Water", "GOAL": "Health"}
        operations = [{"op": "add_node", "node_type": one, "title": title} for one, title in titles.items()]
        ada.call("purpose.edit", project=site.project, operations=operations)
    page.goto(f"/p/{site.project}/plan")
    page.locator("#OC1").hover()
    handle, target = (one.bounding_box() for one in (page.locator("#OC1 .handle"), page.locator("#G1 .body")))
    assert handle is not None
    assert target is not None
    page.mouse.move(handle["x"] + 4, handle["y"] + 4)
    page.mouse.down()
    page.mouse.move(target["x"] + 20, target["y"] + 20, steps=4)
    page.mouse.up()
    expect(page.locator("[data-id='link-OC1-G1']")).to_have_count(1)
    page.locator("#OP1").dblclick()
    expect(page.locator(":focus")).to_have_attribute("name", "operations.0.title|text")
    page.keyboard.type("Wells of all villages")
    page.locator("#edit").get_by_role("button", name="Save").click()
    expect(page.locator("#OP1")).to_contain_text("Wells of all villages")
    expect(page.locator(".plan-svg[data-from]")).to_have_count(1)  # only what changed was sent
    expect(page.locator("#canvas .node")).to_have_count(4)
    page.locator("[data-zoom=in]").click()
    page.mouse.move(600, 700)
    page.mouse.down()
    page.mouse.move(560, 670, steps=3)
    page.mouse.up()
    before = locate(page.locator("#OP1"))
    with site.open_as("ben") as ben:  # who writes beside her
        several = [{"op": "add_node", "node_type": "ACTIVITY", "title": f"Step {number}"} for number in range(6)]
        ben.call("purpose.edit", project=site.project, operations=several)
    expect(page.locator("#AC7")).to_have_count(1)
    assert locate(page.locator("#OP1")) == before
    for _ in range(9):
        page.locator("[data-zoom=out]").click()
    expect(page.locator("#canvas.far:not(.moving)")).to_have_count(1)
    # Far away it is drawn about as small as it is shown: a large plan at full size would take seconds for a frame.
    assert (
        page.locator(".plan-svg").evaluate("one => parseFloat(one.style.width) / one.getBoundingClientRect().width") < 2
    )
    page.locator("[data-zoom=fit]").click()
    expect(page.locator("#canvas:not(.far, .moving)")).to_have_count(1)
    body, read_fill = page.locator("#OP1 .body"), "one => getComputedStyle(one).fill"
    page.emulate_media(color_scheme="dark")
    dark = body.evaluate(read_fill)
    page.emulate_media(color_scheme="dark", forced_colors="active")
    assert body.evaluate(read_fill) != dark  # the colours of the system, not those of the page
    page.emulate_media(color_scheme="light", forced_colors="none")
    page.locator("[data-add=GOAL]").first.click()
    page.keyboard.type("Trust")
    page.locator("#add").get_by_role("button").click()
    expect(page.locator(":focus")).to_have_id("G2")
    refused = page.locator("[data-id=connect-box] .refusal")
    page.locator("#G2").press("c")
    page.locator("#AC1").click()
    expect(refused).to_be_visible()  # a goal does not lead to an activity
    assert {(edge.source, edge.target) for edge in read_theory(site).edges} == {("OC1", "G1")}
