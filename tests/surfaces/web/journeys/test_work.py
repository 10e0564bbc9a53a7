"""A person works through a plan, by mouse and by keyboard alone, with and without script."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.surfaces.web.journeys.conftest import Site

pytestmark = pytest.mark.slow


def test_by_keyboard_alone_a_task_is_planned_claimed_and_resolved(page: Page, site: Site) -> None:
    page.goto(f"/p/{site.project}/home")
    page.keyboard.press("g")
    page.keyboard.press("w")
    page.wait_for_url(f"**{site.work}")
    page.keyboard.press("n")
    page.keyboard.type("Chart the reef\n    Sail out\n    Sound the depths after: Sail out")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".tree")).to_contain_text("Chart the reef")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Open Chart the reef").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tree")).to_contain_text("Sail out")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2")).to_have_text("Sail out")
    for key, panel in (("[", ".rail"), ("]", ".inspector")):
        page.keyboard.press(key)
        expect(page.locator(panel)).to_be_hidden()
        page.keyboard.press(key)
        expect(page.locator(panel)).to_be_visible()
    page.keyboard.press("]")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2")).to_have_text("Chart the reef")  # what is opened is seen
    expect(page.locator(".inspector")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2")).to_have_text("Sail out")
    page.keyboard.press("m")
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.keyboard.press("x")
    page.keyboard.type("the log of the day")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    expect(page.locator(".inspector")).to_contain_text("the log of the day")
    page.keyboard.press("Escape")
    expect(page.locator(".inspector")).to_have_count(0)


def test_every_action_on_a_task_works_by_mouse(page: Page, site: Site) -> None:
    first, second = site.plan("Mark the trail", "Paint the signs")
    page.goto(f"{site.work}?node={second}")
    page.locator("summary", has_text="Edit").click()
    page.get_by_label("Summary").first.fill("Paint all signs")
    page.get_by_label("Why").fill("all of them are faded")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".inspector h2")).to_have_text("Paint all signs")
    expect(page.locator("#toasts")).to_contain_text("Saved")
    page.get_by_text("Wait for another task").click()
    page.get_by_label("Words or id of a task").fill("trail")
    page.get_by_role("button", name="Mark the trail").click()
    expect(page.get_by_role("button", name="Wait no longer for Mark the trail")).to_be_visible()
    page.get_by_text("Add a task within it").click()
    page.locator("#child").get_by_label("Summary").fill("Buy paint")
    page.locator("#child").get_by_role("button").click()
    expect(page.locator(".inspector")).to_contain_text("Buy paint")
    page.locator("summary", has_text="Move").click()
    page.get_by_label("Words or id of the new parent").fill(first)
    page.get_by_role("button", name="Under Mark the trail").click()
    expect(page.locator(".inspector .refusal")).to_be_visible()  # it waits for what would then wait for it
    page.get_by_role("button", name="Wait no longer for Mark the trail").click()
    expect(page.locator("[data-id=waits]")).not_to_contain_text("Mark the trail")
    page.locator("summary", has_text="Drop").click()
    page.locator("#drop").get_by_label("Reason").fill("no budget")
    page.locator("#drop").get_by_role("button").click()
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()


def test_a_refusal_keeps_what_was_typed_at_its_field(page: Page, site: Site) -> None:
    (task,) = site.plan("Measure the hill")
    page.goto(f"{site.work}?node={task}")
    page.locator("summary", has_text="Edit").click()
    page.locator("#edit").get_by_label("Summary").fill("Measure both hills")
    with site.open_as("ben") as ben:
        ben.call("work.update", updates=[{"node_id": task, "summary": "Measure the mountain"}])
    page.get_by_role("button", name="Save").click()

    expect(page.locator("#edit .refusal")).to_contain_text("read it again")
    expect(page.locator("#edit").get_by_label("Summary")).to_have_value("Measure both hills")
    expect(page.locator("#edit .theirs")).to_contain_text("Measure the mountain")
    expect(page.locator(".inspector h2")).to_have_text("Measure the mountain")
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.locator(".inspector h2")).to_have_text("Measure both hills")


def test_of_two_versions_a_person_can_take_that_of_the_other(page: Page, site: Site) -> None:
    (task,) = site.plan("Name the rivers")
    page.goto(f"{site.work}?node={task}")
    page.keyboard.press("e")
    page.locator("#edit").get_by_label("Summary").fill("Name all rivers")
    with site.open_as("ben") as ben:
        ben.call("work.update", updates=[{"node_id": task, "summary": "Name the lakes"}])
    page.keyboard.press("Control+Enter")
    page.get_by_role("link", name="Take theirs").click()

    expect(page.locator("#edit .refusal")).to_have_count(0)
    expect(page.locator("#edit").get_by_label("Summary")).to_have_value("Name the lakes")


def test_everything_about_a_task_is_edited_in_the_inspector(page: Page, site: Site) -> None:
    (task,) = site.plan("Dig the well")
    page.goto(f"{site.work}?node={task}")
    inspector = page.locator(".inspector")
    page.locator("summary", has_text="Set properties").click()
    page.locator("#properties textarea").fill("depth: 12\nfoo: bar")
    page.locator("#properties button").click()
    expect(inspector).to_contain_text("depth")
    page.get_by_role("button", name="Remove foo").click()
    expect(page.get_by_role("button", name="Remove foo")).to_have_count(0)
    page.locator("summary", has_text="Tags").click()
    page.locator("#tags input[name='tags|text']").fill("urgent, wet")
    page.locator("#tags button").click()
    expect(inspector).to_contain_text("#urgent")
    page.locator("summary", has_text="Add a section").click()
    page.locator("#section").get_by_label("Title").fill("Context Files")
    page.locator("#section textarea").fill("- src/well.py")
    page.locator("#section button").click()
    expect(inspector).to_contain_text("Nothing is known about src/well.py")
    page.locator("summary", has_text="Context Files").click()
    page.get_by_role("button", name="Delete the section Context Files").click()
    expect(page.locator("[data-id=known]")).to_have_count(0)
    page.locator("summary", has_text="Add files").click()
    page.locator("#files textarea").fill("docs/well.md")
    page.locator("#files button").click()
    page.get_by_role("button", name="Remove docs/well.md").click()
    expect(page.get_by_role("button", name="Remove docs/well.md")).to_have_count(0)
    page.locator("summary", has_text="Add evidence").click()
    page.locator("#evidence textarea").fill("https://example.org/photo")
    page.locator("#evidence button").click()
    link = page.get_by_role("link", name="https://example.org/photo")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(inspector).to_contain_text("example.org")


def test_a_task_goes_through_its_pipeline_and_is_blocked_with_a_reason(page: Page, site: Site) -> None:
    (task,) = site.plan("Line the well")
    with site.open_as("ada") as ada:
        ada.call("work.open", project=site.project, policies={"claim_minutes_people": 60})
    page.goto(f"{site.work}?node={task}")
    status = page.locator("[data-id=status]")
    page.get_by_role("button", name="To ACTIVE").click()
    expect(status).to_contain_text("step 2/4")
    page.get_by_role("button", name="Back to NEW").click()
    expect(status).to_contain_text("step 1/4")
    page.locator("summary", has_text="Block").click()
    page.locator("#block").get_by_label("Reason").fill("no stones")
    page.locator("#block button").click()
    expect(status).to_contain_text("no stones")
    page.get_by_role("button", name="Unblock").click()
    expect(status).not_to_contain_text("no stones")
    page.get_by_role("button", name="Claim", exact=True).click()
    page.get_by_role("button", name="Renew").click()
    expect(page.locator("#toasts")).to_contain_text("Renewed")
    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("button", name="Hold")).to_have_count(0)


def test_a_merge_asks_with_both_names_before_it_happens(page: Page, site: Site) -> None:
    one, other = site.plan("Count the wells", "Count all wells")
    page.goto(f"{site.work}?node={one}")
    page.locator("summary", has_text="Merge into another task").click()
    page.get_by_label("Words or id of the other task").fill(other)
    page.locator(".found").get_by_role("link", name="Count all wells").click()
    expect(page.locator("#merge")).to_contain_text("Count the wells")
    expect(page.locator("#merge")).to_contain_text("Count all wells")
    page.get_by_role("button", name="Merge the two").click()

    expect(page.locator(".inspector h2")).to_have_text("Count all wells")
    expect(page.locator(".tree")).not_to_contain_text("Count the wells")


def test_a_task_is_moved_by_dragging_and_by_keys(page: Page, site: Site) -> None:
    first, second, third = site.plan("The valley", "The bridge", "The road")
    page.goto(site.work)
    rows = {ref: page.locator(f".tree [data-id='{ref}']") for ref in (first, second, third)}
    rows[second].drag_to(rows[first])
    expect(rows[second]).to_have_count(0)
    expect(rows[first]).to_contain_text("0/1")
    rows[third].locator("a.title").focus()
    page.keyboard.press("M")
    rows[first].locator("a.title").focus()
    page.keyboard.press("P")
    expect(rows[first]).to_contain_text("0/2")
    page.keyboard.press("o")
    expect(rows[second]).to_have_attribute("aria-level", "2")
    rows[first].drag_to(rows[second])
    expect(page.locator("#move-row .refusal")).to_be_visible()  # a task cannot be within itself
    (fourth,) = site.plan("The well")
    expect(page.locator(f".tree [data-id='{fourth}']")).to_be_visible()
    expect(page.locator("#move-row .refusal")).to_be_visible()  # also after a change of others


def test_what_became_ready_draws_the_eye(page: Page, site: Site) -> None:
    with site.open_as("ada") as ada:
        nodes = [{"ref": "a", "summary": "First"}, {"ref": "b", "summary": "Second", "depends_on": ["a"]}]
        first, second = (one.id for one in ada.call("work.plan", project=site.project, nodes=nodes).created)
    page.goto(f"{site.work}?node={first}")
    page.keyboard.press("x")
    page.keyboard.type("done")
    page.keyboard.press("Control+Enter")

    row = page.locator(f".tree [data-id='{second}']")
    expect(row).to_have_class("level-0 pulse")
    expect(page.locator("#toasts")).to_contain_text("1 task became ready: Second")  # read aloud, too
    assert row.evaluate("one => getComputedStyle(one).animationName") == "flash"
    page.emulate_media(reduced_motion="reduce")
    assert row.evaluate("one => getComputedStyle(one).animationName") == "none"


def test_back_after_a_change_shows_the_page_as_it_is_now(page: Page, site: Site) -> None:
    (task,) = site.plan("Count the birds")
    page.goto(site.work)
    page.get_by_role("link", name="Count the birds").click()
    page.get_by_role("button", name="Claim", exact=True).click()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.go_back()
    expect(page.locator(".inspector")).to_have_count(0)
    expect(page.locator(f"[data-id='{task}']")).to_contain_text("ada")
    page.go_forward()
    expect(page.get_by_role("button", name="Release")).to_be_visible()


def test_search_and_filters_are_in_the_address(page: Page, site: Site) -> None:
    site.plan("Find the spring", "Find the mill")
    page.goto(site.work)
    page.keyboard.press("f")
    page.keyboard.type("spring")
    expect(page.locator(".list")).to_contain_text("Find the spring")
    expect(page.locator(".list")).not_to_contain_text("mill")
    page.get_by_role("button", name="Ready").click()
    page.wait_for_url("**filter=ready*")
    page.reload()
    expect(page.locator(".list")).to_contain_text("Find the spring")
    expect(page.locator(".list")).not_to_contain_text("mill")
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".tree")).to_contain_text("Find the mill")
    page.locator("summary", has_text="Add a filter").click()
    page.get_by_label("Within the task with this id").fill("zzzzzz")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("main .refusal")).to_contain_text("zzzzzz")
    page.get_by_role("button", name="Within zzzzzz").click()
    expect(page.locator(".tree")).to_contain_text("Find the mill")


def test_the_board_has_columns_by_state_and_by_status(page: Page, site: Site) -> None:
    site.plan("Paint the boat")
    page.goto(site.work)
    page.keyboard.press("3")
    expect(page.locator("[data-id=lane-Ready]")).to_contain_text("Paint the boat")
    page.get_by_role("link", name="By status").click()
    expect(page.locator("[data-id=lane-New]")).to_contain_text("Paint the boat")


def test_without_script_every_form_works(site: Site, chromium: Browser) -> None:
    site.create_project()
    context = chromium.new_context(base_url=site.address, java_script_enabled=False)
    context.add_cookies(site.cookies)
    page = context.new_page()
    page.goto(site.work)
    page.locator("#plan textarea").fill("Ask the elders")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("link", name="Ask the elders").click()
    page.get_by_role("button", name="Claim", exact=True).click()
    assert page.get_by_role("button", name="Release").is_visible()
    page.locator("summary", has_text="Resolve").click()
    page.locator("#resolve textarea").fill("their words")
    page.locator("#resolve button").click()
    assert page.get_by_role("button", name="Reopen").is_visible()
    context.close()


def test_the_page_fits_a_phone(site: Site, chromium: Browser) -> None:
    (task,) = site.plan(
        "A name that is much longer than a telephone is wide, and has averyveryveryverylongwordinit too"
    )
    context = chromium.new_context(base_url=site.address, viewport={"width": 320, "height": 640})
    context.add_cookies(site.cookies)
    page = context.new_page()
    work = ("work", f"work?node={task}&pick=merge&find=name", "work?view=board", "work?view=board&columns=status")
    for area in ("home", *work, "work?text=name&by=ada", "facts", "plan", "knowledge", "members"):
        page.goto(f"/p/{site.project}/{area}")
        too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not too_wide, area
    context.close()
