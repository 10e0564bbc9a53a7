"""A person works through a plan, by mouse and by keyboard alone, with and without script."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.surfaces.web.journeys.conftest import Site


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
    page.keyboard.press("m")
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.keyboard.press("x")
    page.keyboard.press("Tab")
    page.keyboard.type("the log of the day")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
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
    page.get_by_label("Id of the task").fill(first)
    page.get_by_role("button", name="Connect").click()
    expect(page.locator(".inspector")).to_contain_text("Waits for")
    page.get_by_text("Add a task within it").click()
    page.locator("#child").get_by_label("Summary").fill("Buy paint")
    page.locator("#child").get_by_role("button").click()
    expect(page.locator(".inspector")).to_contain_text("Buy paint")
    page.locator("summary", has_text="Move").click()
    page.get_by_label("Id of the new parent").fill(first)
    page.locator("#move").get_by_role("button").click()
    expect(page.locator(".inspector .refusal")).to_be_visible()  # it waits for what would then wait for it
    page.locator("summary", has_text="Drop").click()
    page.get_by_label("Reason").fill("no budget")
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
    expect(page.locator(".inspector h2")).to_have_text("Measure the mountain")


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
    page.keyboard.press("/")
    page.keyboard.type("spring")
    page.keyboard.press("Enter")
    expect(page.locator(".list")).to_contain_text("Find the spring")
    expect(page.locator(".list")).not_to_contain_text("mill")
    page.get_by_role("button", name="Ready").click()
    page.wait_for_url("**filter=ready*")
    page.reload()
    expect(page.locator(".list")).to_contain_text("Find the spring")
    expect(page.locator(".list")).not_to_contain_text("mill")
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".tree")).to_contain_text("Find the mill")


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
    for area in ("home", "work", f"work?node={task}", "facts", "plan", "knowledge", "members"):
        page.goto(f"/p/{site.project}/{area}")
        too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not too_wide, area
    context.close()
