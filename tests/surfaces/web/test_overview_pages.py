"""Home, inbox, search and history: what waits, what is found and what happened, in plain words with links."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest

from groundplan.context.events import Op as ContextOp
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.audit import KernelOp
from groundplan.knowledge.events import Op as KnowledgeOp
from groundplan.purpose.tables import Op as PurposeOp
from groundplan.surfaces.web.areas.plan.gate_words import CHECKS
from groundplan.surfaces.web.words import VERBS
from groundplan.work.events import WorkOp
from tests.context.client import ContextClient, value_of
from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import submit
from tests.surfaces.web.test_pages import HOSTILE, fill, open_page

FORM = re.compile(r'<form [^>]*id="(settle-[0-9a-f]+)".*?</form>', re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


def find_form(browser: Browser, path: str) -> dict[str, str]:
    """Return the hidden fields of the first form of the inbox."""
    found = FORM.search(browser.get(path).body.decode())
    assert found is not None
    return {name: html.unescape(value) for name, value in HIDDEN.findall(found[0])}


@pytest.mark.parametrize("ops", [WorkOp, KnowledgeOp, PurposeOp, ContextOp, KernelOp])
def test_every_event_has_plain_words(ops: type[StrEnum]) -> None:
    assert [op.value for op in ops if op.value not in VERBS] == []


@pytest.mark.parametrize("area", ["inbox", "home"])
@pytest.mark.parametrize(("form", "value"), [("", 2), ("-other", 1)])
def test_a_suggestion_is_accepted_or_rejected_where_it_waits_and_its_link_opens_its_draft(
    browser: Browser, engine: Engine, area: str, form: str, value: int
) -> None:
    ada, scout = engine.session("ada"), engine.session(local_actor("scout", kind=ActorKind.AGENT))
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.edit", runId=run, inputs=[{"pointer": "/a", "label": "a", "value": 1}])
    scout.call("context.edit", runId=run, inputs=[{"pointer": "/a", "value": 2}])
    browser.log_in()
    page = browser.get(f"/p/atlas/{area}").body.decode()
    found = re.search(rf'<form [^>]*id="settle-[0-9a-f]+{form}".*?</form>', page, re.DOTALL)
    assert found is not None
    fields = {name: html.unescape(text) for name, text in HIDDEN.findall(found[0])}

    assert f'href="/p/atlas/facts?run={run}&amp;fact=%2Fa"' in page
    assert "scout (agent) suggests 2 (model-inferred) for /a, now 1 (user-entered)" in page
    assert browser.submit(f"/p/atlas/{area}", fields).status == 303

    view = ada.call("context.view", scopeId="atlas", runId=run)
    assert view.inputs_by_pointer["/a"].value_number == value
    assert not view.suggestions


def test_a_suggestion_in_a_run_that_an_agent_committed_waits_on_the_page_and_is_decided_in_a_draft_of_it(
    browser: Browser, engine: Engine
) -> None:
    ada, scout = engine.session("ada"), engine.session(local_actor("scout", kind=ActorKind.AGENT))
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.edit", runId=run, inputs=[{"pointer": "/a", "value": 1}])
    scout.call("context.edit", runId=run, inputs=[{"pointer": "/a", "value": 2}])
    scout.call("context.commit", runId=run)
    browser.log_in()

    page = browser.get("/p/atlas/inbox").body.decode()
    assert f'href="/p/atlas/facts?run={run}&amp;fact=%2Fa"' in page
    for _ in ("begin a draft", "accept"):
        assert browser.submit("/p/atlas/inbox", find_form(browser, "/p/atlas/inbox")).status == 303

    (draft,) = ada.call("context.list", scopeId="atlas", status="draft").runs
    assert value_of(ada.call("context.view", scopeId="atlas", runId=draft.id).inputs_by_pointer["/a"]) == 2
    assert "Nothing waits for you" in open_page(browser, "/p/atlas/inbox").text


def test_an_item_of_the_inbox_is_settled_by_its_form_and_is_gone(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    fields = find_form(browser, "/p/atlas/inbox")
    typed = {"decisions.0.text": "The north", "decisions.0.rationale": "Nobody drew it"}
    reply = browser.submit("/p/atlas/inbox", {**fields, **typed})

    assert (reply.status, reply.headers["location"]) == (303, "/p/atlas/inbox")
    assert "Which coast?" not in open_page(browser, "/p/atlas/inbox").text


@pytest.mark.parametrize("area", ["inbox", "home"])
@pytest.mark.parametrize(
    ("kind", "field", "typed", "value"),
    [
        ("string", "inputs.0.value", "blue", "blue"),
        ("number", "inputs.0.value", "7", 7),
        ("enum", "inputs.0.valueEnum", "red", "red"),
        ("json", "inputs.0.valueJson|json", '{"a": [1]}', {"a": [1]}),
    ],
)
def test_a_missing_fact_is_filled_in_where_it_waits(
    browser: Browser, engine: Engine, area: str, kind: str, field: str, typed: str, value: Any
) -> None:
    facts = ContextClient(engine.session("ada"))
    facts.call("project.create", name="atlas")
    facts.draft()
    options = {"options": ["red", "blue"]} if kind == "enum" else {}
    facts.write("/colour", label="Colour", required=True, valueKind=kind, **options)
    browser.log_in()

    path = f"/p/atlas/{area}"
    assert "Fact missing" in open_page(browser, path).text
    reply = browser.submit(path, {**find_form(browser, path), field: typed})

    assert (reply.status, reply.headers["location"]) == (303, path)
    assert value_of(facts.input("/colour")) == value
    assert "Nothing waits for you" in open_page(browser, "/p/atlas/inbox").text


def test_a_refusal_stays_at_its_item_with_what_was_typed(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    fields = find_form(browser, "/p/atlas/inbox")
    reply = browser.submit("/p/atlas/inbox", {**fields, "decisions.0.text": "<The north>"})
    page = reply.body.decode()
    form = next(one[0] for one in FORM.finditer(page) if one[1] == fields["form"])

    assert reply.status == 400
    assert 'role="alert"' in form
    assert "&lt;The north&gt;" in form
    assert "unplaced" not in page


def test_the_refusal_of_an_item_that_is_gone_is_shown_on_the_page(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    fields = {**find_form(browser, "/p/atlas/inbox"), "decisions.0.text": "Mine", "decisions.0.rationale": "So"}
    assert browser.submit("/p/atlas/inbox", fields).status == 303
    reply = browser.submit("/p/atlas/inbox", {**fields, "decisions.0.answers": "99.0"})

    assert reply.status >= 400
    assert 'unplaced" role="alert"' in reply.body.decode()


def test_a_viewer_can_look_at_what_waits(engine: Engine) -> None:
    fill(engine)
    with Browser(engine.store, actor=person("cleo")) as browser:
        browser.log_in()
        page = open_page(browser, "/p/atlas/inbox")

    assert "Which coast?" in page.text
    assert page.operations == []


def test_the_inbox_has_pages_and_its_number_is_in_the_rail(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("purpose.draft", project="atlas")
    questions = [{"question": f"Question {n}?"} for n in range(40)]
    ada.call("purpose.record", project="atlas", requests=questions)
    kinds = [item.kind for item in ada.call("briefing.inbox", project="atlas", limit=100).items]
    total = len(questions) + len(set(kinds) - {"request"})  # the checks of a draft are one item
    browser.log_in()
    first = open_page(browser, "/p/atlas/inbox")
    (link,) = [link for link in first.links if "cursor=" in link]
    second = open_page(browser, link)

    assert f"{total} waiting" in first.text
    seen = re.findall(r"Question \d+\?", first.text + second.text)
    assert sorted(seen) == sorted(one["question"] for one in questions)


def test_the_checks_that_block_publishing_are_one_item_with_their_number(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("purpose.draft", project="atlas")
    checks = [one for one in ada.call("briefing.inbox", project="atlas").items if one.kind == "gate_blocks"]
    browser.log_in()
    for path in ("/p/atlas/inbox", "/p/atlas/home"):
        page = open_page(browser, path)
        assert page.text.count("Blocks publishing") == 1
        assert f"{len(checks)} checks keep the draft from being published" in page.text
        assert all(CHECKS[one.ref].title in page.text for one in checks)
        assert not re.search(r"\dT\d\d:\d\d:", page.text)  # times are written for people
        assert "/p/atlas/plan?view=gates" in page.links
    assert "1 waiting" in page.text


def test_search_finds_all_slices_and_leads_to_the_place_of_each_hit(browser: Browser, engine: Engine) -> None:
    task = fill(engine, "reef")
    browser.log_in()
    page = open_page(browser, "/p/atlas/search?text=reef")

    assert f"/p/atlas/work?node={task}" in page.links
    assert "/p/atlas/plan?key=G1#G1" in page.links
    assert "/p/atlas/facts?fact=%2Fa" in page.links
    for link in page.links:
        if link.startswith("/p/"):
            assert browser.get(link.partition("#")[0]).status == 200


@pytest.mark.parametrize("text", [HOSTILE, "%", "a" * 401, " ", "ß" * 60])
def test_whatever_is_searched_the_answer_is_a_page(browser: Browser, engine: Engine, text: str) -> None:
    from urllib.parse import quote

    fill(engine)
    browser.log_in()
    page = open_page(browser, f"/p/atlas/search?text={quote(text)}")

    assert page.names.count("h1") == 1
    assert page.names.count("script") == 1


def test_the_history_says_who_did_what_to_which_item_and_why(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    change = {"node_id": task, "summary": "Walk it twice"}
    engine.session("ada").call("work.update", updates=[change], decision="once is not enough")
    browser.log_in()
    page = open_page(browser, "/p/atlas/history?actor=ada")
    words = " ".join(page.text.split())

    assert "ada changed Walk it twice" in words
    assert "once is not enough" in words
    assert "summaryWalk the coast x → Walk it twice" in words
    assert "ada created the project atlas" in words
    assert f"/p/atlas/work?node={task}" in page.links
    of_task = open_page(browser, f"/p/atlas/history?subject={task}")
    assert "ada planned Walk it twice" in " ".join(of_task.text.split())
    assert "member" not in of_task.text.partition("Show")[2]
    today = datetime.now(UTC).date().isoformat()
    assert "planned" in open_page(browser, f"/p/atlas/history?day={today}").text
    assert "Nothing here" in open_page(browser, "/p/atlas/history?day=2001-01-01").text
    assert "Nothing here" in open_page(browser, "/p/atlas/history?actor=nobody").text


def test_pages_say_of_which_kind_an_actor_is_unless_it_is_a_person(browser: Browser, engine: Engine) -> None:
    fill(engine)
    scout = engine.session(local_actor("scout", kind=ActorKind.AGENT))
    (task,) = scout.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Walk south"}]).created
    scout.call("work.claim", project="atlas", node_id=task.id)
    browser.log_in()

    texts = {path: open_page(browser, f"/p/atlas/{path}").text for path in ("home", "history", f"work?node={task.id}")}

    assert [path for path, text in texts.items() if "scout (agent)" not in " ".join(text.split())] == []
    assert "ada (" not in texts["history"]


def test_a_person_becomes_the_owner_of_a_project_that_an_agent_made_from_the_inbox(
    browser: Browser, engine: Engine
) -> None:
    engine.session(local_actor("scout", kind=ActorKind.AGENT)).call("project.create", name="atlas")
    browser.log_in()

    page = open_page(browser, "/p/atlas/inbox")
    assert "Become its owner" in page.text
    assert browser.submit("/p/atlas/inbox", find_form(browser, "/p/atlas/inbox")).status == 303

    owners = engine.session("ada").call("member.list", scopeId="atlas").members
    assert [(one.user_id, one.role) for one in owners] == [("ada", "owner"), ("scout", "owner")]
    assert "Become its owner" not in open_page(browser, "/p/atlas/inbox").text


@pytest.mark.parametrize("query", ["day=tomorrow", "until=x", "cursor=x"])
def test_a_filter_that_cannot_be_read_is_said_on_the_page(browser: Browser, engine: Engine, query: str) -> None:
    fill(engine)
    browser.log_in()
    reply = browser.get(f"/p/atlas/history?{query}")

    assert reply.status == 200
    assert 'class="refusal" role="alert"' in reply.body.decode()


def test_the_last_own_change_can_be_undone_from_the_history(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    engine.session("ada").call("work.update", updates=[{"node_id": task, "summary": "Walk it twice"}])
    browser.log_in()
    page = open_page(browser, "/p/atlas/history")
    event = engine.session("ada").call("event.list", project="atlas", limit=1).events[0].id

    assert page.operations == ["briefing.undo"]
    assert submit(browser, "/p/atlas/history", "briefing.undo", project="atlas", event=event).status == 303
    assert engine.session("ada").call("work.context", node_id=task).node.summary == "Walk the coast x"


def test_no_undo_is_offered_for_what_has_none_or_to_a_viewer(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()

    assert open_page(browser, "/p/atlas/history").operations == []  # what was recorded stays
    engine.session("cleo").call("project.create", name="borealis")
    with Browser(engine.store, actor=person("cleo")) as cleo:
        cleo.log_in()
        assert open_page(cleo, "/p/atlas/history").operations == []


def test_home_groups_what_changed_by_actor_and_item(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    nodes = [{"ref": f"n{n}", "summary": f"Sheet {n}"} for n in range(9)]
    engine.session("ben").call("work.plan", project="atlas", nodes=nodes)
    engine.session("ben").call("work.claim", node_id=task)
    browser.log_in()
    words = " ".join(open_page(browser, "/p/atlas/home").text.split())

    assert "ben claimed Walk the coast x" in words
    assert "ben planned Sheet 8, Sheet 7, Sheet 6 and 6 more" in words
