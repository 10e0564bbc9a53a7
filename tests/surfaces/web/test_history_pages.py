"""One change of the history in full, its filters, and the settings of members and projects."""

from __future__ import annotations

import pytest

from groundplan.kernel.audit import changed
from groundplan.surfaces.web.areas.history import fold_changes
from groundplan.surfaces.web.words import write_value
from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import submit
from tests.surfaces.web.test_pages import HOSTILE, fill, open_page

HISTORY = "/p/atlas/history"


def rename(engine: Engine, task: str, summary: str, name: str = "ada") -> str:
    """Change a task, and return the id of the event."""
    session = engine.session(name)
    session.call("work.update", updates=[{"node_id": task, "summary": summary}], decision="it is shorter")
    event: str = session.call("event.list", project="atlas", limit=1).events[0].id
    return event


def test_a_change_is_shown_in_full_with_the_item_as_it_was_then(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    first = rename(engine, task, f"Once {HOSTILE}")
    rename(engine, task, "Twice")
    browser.log_in()
    page = open_page(browser, f"{HISTORY}?event={first}")
    inspector = " ".join(page.text.partition("Before and after")[2].split())

    assert "it is shorter" in page.text
    assert f"Walk the coast xOnce {HOSTILE}" in inspector
    assert "The item as it was then" in inspector
    assert page.names.count("script") == 1
    assert f"{HISTORY}?event={first}&subject={task}&until={first}" in page.links


def test_an_owner_may_undo_the_change_of_another_and_an_editor_only_their_own(engine: Engine) -> None:
    task = fill(engine)
    event = rename(engine, task, "By Ben", "ben")
    offered = {}
    for name in ("ada", "ben", "cleo"):
        with Browser(engine.store, actor=person(name)) as browser:
            browser.log_in()
            offered[name] = open_page(browser, f"{HISTORY}?event={event}&op=work").operations
    mine = rename(engine, task, "By Ada")
    with Browser(engine.store, actor=person("ben")) as ben:
        ben.log_in()
        of_ada = open_page(ben, f"{HISTORY}?event={mine}&op=work").operations
        refused = submit(ben, HISTORY, "briefing.undo", project="atlas", event=mine)

    assert offered == {"ada": ["briefing.undo"], "ben": ["briefing.undo"], "cleo": []}
    assert (of_ada, refused.status) == ([], 403)


@pytest.mark.parametrize("event", ["0.0", "99999.0", "x", HOSTILE, "1.999"])
def test_a_change_that_does_not_exist_is_said(browser: Browser, engine: Engine, event: str) -> None:
    from urllib.parse import quote

    fill(engine)
    browser.log_in()

    assert "There is no such change." in open_page(browser, f"{HISTORY}?event={quote(event)}").text


def test_the_plan_of_the_day_is_linked_from_its_changes(browser: Browser, engine: Engine) -> None:
    fill(engine)
    event = engine.session("ada").call("event.list", project="atlas", op="purpose.node_added", limit=1).events[0]
    browser.log_in()

    assert f"/p/atlas/plan?as_of={event.at[:10]}" in open_page(browser, f"{HISTORY}?event={event.id}").links


def test_an_area_is_a_filter_and_days_lead_to_their_neighbours(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    plan = open_page(browser, f"{HISTORY}?op=purpose")
    day = open_page(browser, f"{HISTORY}?day=2024-02-29")

    assert "added to the plan" in plan.text
    assert "planned" not in plan.text
    assert f"{HISTORY}?day=2024-02-28" in day.links
    assert f"{HISTORY}?day=2024-03-01" in day.links


def test_the_last_value_of_a_field_is_the_one_that_counts() -> None:
    newest_first = [[changed("a", 1, 2)], [changed("a", None, 1), changed("b", None, ["x", "y"])]]

    assert fold_changes(newest_first) == {"a": 2, "b": ["x", "y"]}
    assert [write_value(one) for one in (None, [], ["x", "y"], {"n": 1}, "x" * 5_000)][:4] == [
        "",
        "",
        "x\ny",
        '{\n "n": 1\n}',
    ]
    assert len(write_value("x" * 5_000)) == 4_001


def test_a_member_without_a_token_was_last_seen_with_their_last_change(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    rename(engine, task, "By Ben", "ben")
    browser.log_in()
    words = " ".join(open_page(browser, "/p/atlas/members").text.split())

    assert "last change" in words.partition("ben person")[2].partition("cleo person")[0]
    assert "not known" in words.partition("cleo person")[2]


def test_somebody_who_writes_without_being_a_member_is_named(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    browser.log_in()
    assert "Not members, and active lately" not in open_page(browser, "/p/atlas/members").text
    rename(engine, task, "By a visitor", "<b>scout")
    words = " ".join(open_page(browser, "/p/atlas/members").text.split())

    assert "<b>scout last change" in words.partition("Not members, and active lately")[2]


def test_an_agent_with_a_larger_role_than_agents_have_is_explained(browser: Browser, engine: Engine) -> None:
    fill(engine)
    engine.session("ada").call("member.add", scopeId="atlas", userId="scout", role="owner", kind="agent")
    browser.log_in()

    assert "Acts as editor at most" in open_page(browser, "/p/atlas/members").text


def test_a_project_is_archived_restored_and_given_a_goal(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    path = "/p/atlas/members?view=project"
    project = engine.session("ada").call("project.list").projects[0]
    goal = {"containerType": "project", "id": project.id, "version": "1", "summary": "A better map"}

    assert submit(browser, path, "container.update", **goal).status == 303
    assert "A better map" in open_page(browser, path).text
    assert submit(browser, path, "container.update", **goal).status == 409
    assert submit(browser, path, "project.archive", project="atlas").status == 303
    assert open_page(browser, path).operations == ["project.restore"]
    assert submit(browser, path, "project.restore", project="atlas").status == 303
    assert open_page(browser, path).operations == ["container.update", "project.archive"]
