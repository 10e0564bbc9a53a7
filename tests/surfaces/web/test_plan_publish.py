"""Publishing on the page: the summary, what is refused in between, and starting and discarding a draft."""

from __future__ import annotations

import re

import pytest

from tests.engines import Engine
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.plan_pages import (
    AGENT,
    PLAN,
    fill_form,
    fill_theory,
    list_forms,
    open_as,
    read_fields,
    read_page,
    send,
)

PUBLISH = "view=publish"
NEW = {"op": "add_node", "node_type": "OUTCOME", "title": "Ben was here"}


def publish_and_begin(engine: Engine) -> None:
    """Publish the first version, and begin the next draft with changes."""
    ada = fill_theory(engine, is_ready=True)
    ada.call(
        "purpose.edit",
        project="atlas",
        operations=[{"op": "update_assumption", "assumption": "AS1", "risk_level": "LOW"}],
    )
    ada.call("purpose.publish", project="atlas")
    ada.call("purpose.draft", project="atlas")
    ada.call(
        "purpose.edit",
        project="atlas",
        operations=[
            {"op": "update_node", "node": "OP1", "title": "Twelve wells"},
            {"op": "update_assumption", "assumption": "AS1", "risk_level": "HIGH"},
            {"op": "remove_indicator", "indicator": "IN1"},
        ],
    )


def test_the_summary_names_every_change_and_begins_with_the_risks_that_rose(browser: Browser, engine: Engine) -> None:
    publish_and_begin(engine)
    browser.log_in()
    page = read_page(browser, PUBLISH)

    assert page.index("Risks that rose") < page.index("<del>Ten wells</del> → <ins>Twelve wells</ins>")
    assert re.search(r"<dt>risk</dt> <dd><del>low</del> → <ins>high</ins>", page)
    assert "<del>Households at a well</del>" in page


def test_publishing_leads_to_the_version_with_its_name_and_twice_is_refused_in_words(
    browser: Browser, engine: Engine
) -> None:
    fill_theory(engine, is_ready=True)
    browser.log_in()
    query = f"{PUBLISH}&version=draft"
    fields = read_fields(read_page(browser, query), "publish")
    first = send(browser, query, fields, label="Approved by the board")
    page = read_page(browser, PUBLISH)
    second = send(browser, query, fields, label="Again")
    again = second.body.decode()

    assert (first.status, first.headers["location"]) == (303, f"{PLAN}?{PUBLISH}")
    assert "Version 1 is published and final" in page
    assert "Approved by the board" in page
    assert "Start a draft from version 1" in page
    assert second.status == 409
    assert "Nothing to publish: the draft is gone" in again
    assert "unplaced" not in again
    assert [one.label for one in engine.session("ada").call("purpose.versions", project="atlas").versions] == [
        "Approved by the board"
    ]


def test_an_edit_of_another_person_after_the_summary_refuses_with_the_new_summary(
    browser: Browser, engine: Engine
) -> None:
    publish_and_begin(engine)
    browser.log_in()
    fields = read_fields(read_page(browser, PUBLISH), "publish")
    link = {"op": "add_edge", "source": "new", "target": "G1"}
    engine.session("ben").call("purpose.edit", project="atlas", operations=[{**NEW, "ref": "new"}, link])
    refused = send(browser, PUBLISH, fields, label="<Spring>")
    page = refused.body.decode()
    form = list_forms(page)["publish"]
    again = send(browser, PUBLISH, read_fields(page, "publish"), label="Spring")

    assert refused.status == 409
    assert "changed after you read this summary" in form
    assert "&lt;Spring&gt;" in form
    assert "Ben was here" in page
    assert "Take theirs" not in page
    assert again.status == 303


def test_a_gate_that_turned_red_after_the_summary_refuses_and_names_what_blocks(
    browser: Browser, engine: Engine
) -> None:
    fill_theory(engine, is_ready=True)
    browser.log_in()
    before = read_page(browser, PUBLISH)
    review = {"assumption": "AS1", "status": "refuted", "reason": "They do not"}
    engine.session("ben").call("purpose.record", project="atlas", reviews=[review])
    refused = send(browser, PUBLISH, read_fields(before, "publish"), label="Spring")
    page = refused.body.decode()

    assert '<button class="main">Publish</button>' in before
    assert refused.status == 422
    assert "a gate does not pass any more" in list_forms(page)["publish"]
    assert 'value="Spring"' in list_forms(page)["publish"]
    assert "Assumptions that turned out wrong, without a decision" in page
    assert '<button class="main">Publish</button>' not in page
    assert engine.session("ada").call("purpose.versions", project="atlas").versions[0].status == "DRAFT"


def test_a_draft_that_changes_nothing_is_not_published(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine, is_ready=True)
    ada.call("purpose.publish", project="atlas")
    ada.call("purpose.draft", project="atlas")
    browser.log_in()
    page = read_page(browser, PUBLISH)
    refused = fill_form(browser, PUBLISH, "publish")

    assert "Nothing: the draft is the same as version 1" in page
    assert (refused.status, "has the same content" in refused.body.decode()) == (409, True)


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("ada", {"publish", "discard", "decision"}),
        ("ben", {"decision"}),
        ("cleo", set()),
        (AGENT, {"decision"}),
    ],
)
def test_the_draft_offers_only_what_the_role_may_do(engine: Engine, who: str, expected: set[str]) -> None:
    fill_theory(engine, is_ready=True)
    with open_as(engine, who) as browser:
        page = read_page(browser, PUBLISH)

    assert {"publish", "discard", "decision", "start"} & set(list_forms(page)) == expected
    assert ("Owners of the project publish" in page) is (who != "ada")


def test_editors_publish_if_the_policy_of_the_project_says_so(engine: Engine) -> None:
    ada = fill_theory(engine, is_ready=True)
    ada.call("work.open", project="atlas", policies={"publish_role": "editor"})
    with open_as(engine, "ben") as ben:
        reply = fill_form(ben, PUBLISH, "publish")

    assert reply.status == 303
    assert ada.call("purpose.versions", project="atlas").versions[0].published_by == "ben"


def test_an_editor_who_sends_the_form_of_an_owner_is_refused(engine: Engine) -> None:
    fill_theory(engine, is_ready=True)
    with open_as(engine, "ben") as ben:
        fields = read_fields(read_page(ben, PUBLISH), "decision")
        replies = [send(ben, PUBLISH, {**fields, "operation": name}) for name in ("purpose.publish", "purpose.discard")]

    assert [reply.status for reply in replies] == [403, 403]


def test_discarding_asks_first_and_is_refused_after_an_edit_of_another_person(browser: Browser, engine: Engine) -> None:
    publish_and_begin(engine)
    browser.log_in()
    page = read_page(browser, PUBLISH)
    engine.session("ben").call("purpose.edit", project="atlas", operations=[NEW])
    refused = send(browser, PUBLISH, read_fields(page, "discard"))
    discarded = fill_form(browser, PUBLISH, "discard")

    assert "with 3 changes since version 1. There is no way back" in page
    assert (refused.status, "Not discarded" in refused.body.decode()) == (409, True)
    assert discarded.status == 303
    assert "Start a draft from version 1" in read_page(browser, PUBLISH)


def test_a_draft_starts_from_any_published_version_with_a_profile(browser: Browser, engine: Engine) -> None:
    publish_and_begin(engine)
    ada = engine.session("ada")
    ada.call("purpose.publish", project="atlas")
    browser.log_in()
    query = f"{PUBLISH}&version=1"
    started = fill_form(browser, query, "draft", profile="strict")
    opened = ada.call("purpose.open", project="atlas")

    assert (started.status, started.headers["location"]) == (303, PLAN)
    assert (opened.version.number, opened.version.source, opened.version.profile) == (3, 1, "strict")
    assert {node.title for node in opened.nodes} >= {"Ten wells"}
    assert "Open the draft of version 3" in read_page(browser, query)


@pytest.mark.parametrize(("who", "is_offered"), [("ada", True), ("ben", True), ("cleo", False), (AGENT, True)])
def test_a_published_version_offers_a_draft_to_who_may_write(engine: Engine, who: str, *, is_offered: bool) -> None:
    fill_theory(engine, is_ready=True).call("purpose.publish", project="atlas")
    with open_as(engine, who) as browser:
        forms = list_forms(read_page(browser, PUBLISH))

    assert ("draft" in forms) is is_offered
    assert {"publish", "discard"}.isdisjoint(forms)


def test_the_address_of_a_draft_that_is_gone_shows_the_version_in_force(browser: Browser, engine: Engine) -> None:
    fill_theory(engine, is_ready=True).call("purpose.publish", project="atlas")
    browser.log_in()

    assert "There is no draft any more" in read_page(browser, "version=draft")
    assert browser.get(f"{PLAN}?version=9").status == 404


def test_the_menu_lists_all_versions_with_day_and_publisher(browser: Browser, engine: Engine) -> None:
    publish_and_begin(engine)
    browser.log_in()
    page, old = read_page(browser, PUBLISH), read_page(browser, "version=1")
    menu = page[page.index('class="menu versions"') : page.index("</details>", page.index('class="menu versions"'))]

    assert "Draft of version 2</summary>" in menu
    assert 'href="/p/atlas/plan?view=publish&amp;version=1"' in menu
    assert re.search(r"\d{4}-\d\d-\d\d, ada", menu)
    assert 'class="pill final"' in old
