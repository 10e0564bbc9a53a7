"""A person takes changes back, from the message after a change, by keys and from the history."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.surfaces.web.journeys.conftest import Site
from tests.surfaces.web.plan_pages import OPERATIONS

pytestmark = pytest.mark.slow


def read_theory(site: Site) -> Any:
    with site.open_as("ada") as ada:
        opened = ada.call("purpose.open", project=site.project)
    return opened.nodes, opened.edges


def test_removed_items_come_back_from_the_message_by_keys_and_from_the_history(page: Page, site: Site) -> None:
    with site.open_as("ada") as ada:
        ada.call("purpose.draft", project=site.project)
        ada.call("purpose.edit", project=site.project, operations=OPERATIONS)
    before, toasts = read_theory(site), page.locator("#toasts")

    def remove(key: str) -> None:
        page.goto(f"/p/{site.project}/plan?key={key}")
        page.locator("[data-id=remove-part] summary").click()
        page.get_by_role("button", name=f"Remove {key}").click()
        expect(toasts).to_contain_text("Removed")
        assert read_theory(site) != before

    remove("OC1")
    expect(toasts.get_by_role("button", name="Undo")).to_contain_text("removed")
    toasts.get_by_role("button", name="Undo").click()
    expect(toasts).to_contain_text("Undone")
    assert read_theory(site) == before
    toasts.get_by_role("button", name="Redo").click()
    expect(toasts).to_contain_text("Done again")
    assert read_theory(site) != before
    page.keyboard.press("Control+z")
    expect(toasts.get_by_text("Undone").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("OC1")
    assert read_theory(site) == before

    remove("OC1")
    page.goto(f"/p/{site.project}/history")
    page.locator(".events a[href*='event=']").first.click()
    page.get_by_role("button", name="Undo this change").click()
    expect(toasts).to_contain_text("Undone")
    assert read_theory(site) == before


def test_keys_walk_through_my_changes_and_leave_the_fields_alone(page: Page, site: Site) -> None:
    (task,) = site.plan("One")
    with site.open_as("ada") as ada:
        for summary in ("Two", "Three"):
            ada.call("work.update", updates=[{"node_id": task, "summary": summary}])
    title = page.locator(".inspector h2")
    page.goto(f"{site.work}?node={task}")
    page.keyboard.press("n")
    page.keyboard.type("x")
    page.keyboard.press("Control+z")
    expect(page.locator("#plan textarea")).to_have_value("")
    page.keyboard.press("Escape")

    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")  # before the first is done
    expect(title).to_have_text("One")
    page.keyboard.press("Control+Shift+z")
    expect(title).to_have_text("Two")
    page.keyboard.press("Control+y")
    expect(title).to_have_text("Three")
    page.keyboard.press("Control+y")
    expect(page.locator("#toasts")).to_contain_text("nothing to redo")


def test_a_note_is_taken_back_beside_it_by_its_author(page: Page, site: Site) -> None:
    (task,) = site.plan("Mark the trail")
    notes = page.locator("section[data-id=evidence]")
    for name, words in (("ben", "ask Cleo"), ("ada", "paint it red")):
        with site.open_as(name) as session:
            evidence = [{"type": "note", "ref": words}]
            session.call("work.update", updates=[{"node_id": task, "add_evidence": evidence}])
    page.goto(f"{site.work}?node={task}")
    expect(notes.get_by_role("button", name="Take back")).to_have_count(1)

    notes.get_by_role("button", name="Take back “paint it red”").click()

    expect(notes).not_to_contain_text("paint it red")
    expect(notes).to_contain_text("ask Cleo")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(notes).to_contain_text("paint it red")
