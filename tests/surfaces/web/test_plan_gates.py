"""The gates on the page: each finding in plain words, at its place, with the edit that mends it; waivers."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from groundplan.purpose.gates.gates import list_codes
from groundplan.surfaces.web.areas.plan.gate_words import CHECKS
from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.plan_pages import AGENT, PLAN, fill_form, fill_theory, list_forms, open_as, read_fields, send
from tests.surfaces.web.plan_pages import read_page as read
from tests.surfaces.web.test_pages import HOSTILE, Tags

GATES = "view=gates"
WAIVE = "waive-GA_HIGH_RISK"
WAIVED = {"waivers__0__reason": "Known", "waivers__0__owner": "ada", "waivers__0__due": "2999-01-01"}


def check(engine: Engine, gate: str) -> dict[str, Any]:
    """Return the results of a gate by code."""
    return {one.code: one for one in engine.session("ada").call("purpose.check", project="atlas", gate=gate).checks}


def test_every_check_has_plain_words() -> None:
    assert sorted(CHECKS) == list_codes()


def test_a_finding_leads_to_its_place_and_its_form_mends_it(browser: Browser, engine: Engine) -> None:
    fill_theory(engine)
    browser.log_in()
    page = read(browser, GATES)
    sent = fill_form(
        browser, GATES, "mend-GA-HIGH-RISK-AS1", operations__0__owner="ben", operations__0__review_by="2999-01-01"
    )

    assert "1 check blocks publishing" in page
    assert f'href="{PLAN}?key=AS1"' in page
    assert (sent.status, sent.headers["location"]) == (303, f"{PLAN}?{GATES}")
    assert "Nothing blocks publishing" in read(browser, GATES)
    assert check(engine, "A")["GA_HIGH_RISK"].result == "passed"


def test_a_partial_commit_of_facts_has_the_same_words_on_the_page_and_in_the_gate(
    browser: Browser, engine: Engine
) -> None:
    fill_theory(engine)
    ada = engine.session("ada")
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.edit", runId=run, inputs=[{"pointer": "/a", "valueKind": "number", "required": True}])
    ada.call("context.commit", runId=run, allowPartial=True)
    browser.log_in()

    assert "committed in part" in check(engine, "A")["GA_CONTEXT"].message
    assert "committed in part" in read(browser, GATES)
    assert "Committed in part" in browser.get("/p/atlas/facts").body.decode()


def test_the_inspector_of_a_card_stays_at_the_canvas_and_the_list(browser: Browser, engine: Engine) -> None:
    fill_theory(engine)
    browser.log_in()
    views = {
        re.sub(r".*view=(\w+).*", r"\1", link): "key=OC1" in link
        for link in re.findall(r'href="([^"]*view=[^"]*)" data-key', read(browser, "key=OC1"))
    }

    assert {view for view, has_item in views.items() if has_item} == {"canvas", "list"}
    assert len(views) > 6


def test_every_form_of_a_finding_mends_it(browser: Browser, engine: Engine, subtests: pytest.Subtests) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("purpose.draft", project="atlas", profile="strict")
    browser.log_in()
    first = {"op": "add_node", "node_type": "OUTPUT", "title": "Ten wells"}
    ada.call("purpose.edit", project="atlas", operations=[first, first | {"node_type": "ACTIVITY", "title": "Drill"}])
    values = {"review_by": "2999-01-01", "baseline": "2", "target": "8"}
    seen = set()
    for number in range(60):
        page = read(browser, GATES)
        form = next((one for one in list_forms(page) if one.startswith("mend-")), None)
        if form is None:
            break
        seen.add(form)
        body = list_forms(page)[form]
        typed = {
            name: values.get(name.rpartition(".")[2], f"Text {number}")
            for name in re.findall(r'<input name="([^"]+)"', body)
        }
        for name, choices in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', body, re.DOTALL):
            typed[name] = html.unescape(re.findall(r'<option value="([^"]*)"', choices)[0])
        reply = browser.submit(f"{PLAN}?{GATES}", {**read_fields(page, form), **typed})
        with subtests.test(form=form):
            assert reply.status == 303, reply.body.decode()
            assert form not in list_forms(read(browser, GATES))

    left = {code for gate in "AB" for code, one in check(engine, gate).items() if one.result == "failed"}
    assert left == {"GA_CONTEXT"}
    assert len(seen) > 10
    assert "Open the facts" in read(browser, GATES)


def test_a_form_of_a_finding_overwrites_nothing_that_somebody_wrote_meanwhile(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    browser.log_in()
    fields = read_fields(read(browser, GATES), "mend-GA-HIGH-RISK-AS1")
    mine = {"op": "update_assumption", "assumption": "AS1", "owner": "ada"}
    ada.call("purpose.edit", project="atlas", operations=[mine])

    sent = send(browser, GATES, fields, operations__0__owner="ben", operations__0__review_by="2999-01-01")

    assert sent.status == 409
    assert ada.call("purpose.items", project="atlas", keys="AS1").edges[0].assumptions[0].owner == "ada"


def test_only_the_baseline_that_was_shown_is_verified(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    unverified = {"baseline": 5, "baseline_verified": False}
    ada.call("purpose.edit", project="atlas", operations=[{"op": "update_indicator", "indicator": "IN1", **unverified}])
    browser.log_in()
    fields = read_fields(read(browser, GATES), "mend-GB-VERIFIED-IN1")
    changed = {"op": "update_indicator", "indicator": "IN1", "baseline": 9}
    ada.call("purpose.edit", project="atlas", operations=[changed])

    assert send(browser, GATES, fields).status == 409
    assert fill_form(browser, GATES, "mend-GB-VERIFIED-IN1").status == 303
    (indicator,) = ada.call("purpose.items", project="atlas", keys="IN1").indicators
    assert (indicator.baseline, indicator.baseline_verified) == (9, True)


def test_structure_in_metadata_is_removed_by_its_form_at_any_depth_and_the_rest_stays(
    browser: Browser, engine: Engine
) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    stored = {
        "OP1": ({"parent_id": "G1", "path": "/G1", "note": "x"}, {"note": "x"}),
        "OP2": ({"sites": {"2024": 3, "Parent-ID": "G1"}, "note": "x"}, {"sites": {"2024": 3}, "note": "x"}),
    }
    nodes = [
        {"key": key, "node_type": "OUTPUT", "title": key, "metadata": metadata} for key, (metadata, _) in stored.items()
    ]
    ada.call("purpose.import", project="atlas", document={"format": 1, "nodes": nodes})
    browser.log_in()

    for key, (_, left) in stored.items():
        fill_form(browser, GATES, f"mend-GA-STRUCTURE-{key}")
        assert ada.call("purpose.items", project="atlas", keys=key).nodes[0].metadata == left
    assert check(engine, "A")["GA_STRUCTURE"].result == "passed"


def test_structure_that_somebody_mended_meanwhile_is_not_removed(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    nodes = [{"key": "OP1", "node_type": "OUTPUT", "title": "x", "metadata": {"children": ["OC1"]}}]
    ada.call("purpose.import", project="atlas", document={"format": 1, "nodes": nodes})
    browser.log_in()
    fields = read_fields(read(browser, GATES), "mend-GA-STRUCTURE-OP1")
    mine = {"op": "update_node", "node": "OP1", "metadata": {"children": 3}}
    ada.call("purpose.edit", project="atlas", operations=[mine])

    assert send(browser, GATES, fields).status == 409
    assert ada.call("purpose.items", project="atlas", keys="OP1").nodes[0].metadata == {"children": 3}


@pytest.mark.parametrize(
    ("who", "mends", "waives"),
    [("ada", True, True), ("ben", True, False), ("cleo", False, False), (AGENT, True, False)],
)
def test_the_gates_offer_only_what_the_role_may_do(engine: Engine, who: str, *, mends: bool, waives: bool) -> None:
    fill_theory(engine)
    with open_as(engine, who) as browser:
        forms = list_forms(read(browser, GATES))

    assert any(form.startswith("mend-") for form in forms) is mends
    assert any(form.startswith("waive-") for form in forms) is waives


def test_an_editor_who_sends_a_waiver_is_refused(engine: Engine) -> None:
    fill_theory(engine)
    with Browser(engine.store, actor=person("ada")) as ada:
        ada.log_in()
        fields = read_fields(read(ada, GATES), WAIVE)
    with open_as(engine, "ben") as ben:
        own = {**fields, "csrf": read_fields(read(ben, GATES), "mend-GA-HIGH-RISK-AS1")["csrf"]}
        reply = send(ben, GATES, own, **WAIVED, **{"waivers.0.refs|list": "AS1"})

    assert reply.status == 403
    assert check(engine, "A")["GA_HIGH_RISK"].result == "failed"


def test_a_waiver_until_a_past_day_is_refused_at_its_form_with_what_was_typed(browser: Browser, engine: Engine) -> None:
    fill_theory(engine)
    browser.log_in()
    typed = {
        **WAIVED,
        "waivers__0__due": "2020-01-01",
        "waivers__0__reason": "<So it is>",
        "waivers.0.refs|list": "AS1",
    }
    reply = fill_form(browser, GATES, WAIVE, **typed)
    form = list_forms(reply.body.decode())[WAIVE]

    assert reply.status == 400
    assert 'role="alert"' in form
    assert "2020-01-01 is past" in html.unescape(form).replace('"', "").replace("'", "")
    assert "&lt;So it is&gt;" in form
    assert re.search(r'name="waivers\.0\.due"[^>]*value="2020-01-01" aria-invalid="true"', form)
    assert "unplaced" not in reply.body.decode()


def test_a_waiver_lets_the_check_pass_until_it_is_ended(browser: Browser, engine: Engine) -> None:
    fill_theory(engine)
    browser.log_in()
    assert fill_form(browser, GATES, WAIVE, **WAIVED, **{"waivers.0.refs|list": "AS1"}).status == 303
    page = read(browser, GATES)
    today = re.search(r'name="waivers\.0\.due" min="([^"]+)"', page)
    assert today is not None
    ended = fill_form(browser, GATES, "end-GA_HIGH_RISK-1", waivers__0__reason="Watched now", waivers__0__due=today[1])

    assert "Nothing blocks publishing" in page
    assert '<time datetime="2999-01-01">' in page
    assert ended.status == 303
    assert engine.session("ada").call("purpose.open", project="atlas").waivers[0].due == today[1]


def test_a_waiver_without_places_covers_what_is_found_later(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    browser.log_in()
    assert fill_form(browser, GATES, WAIVE, **WAIVED, **{"waivers.0.refs|list": ""}).status == 303
    more = {"op": "add_assumption", "node": "AC1", "assumption_text": "Rigs come", "risk_level": "HIGH"}
    ada.call("purpose.edit", project="atlas", operations=[more])

    assert check(engine, "A")["GA_HIGH_RISK"].result == "waived"


def test_a_check_that_the_database_enforces_offers_no_waiver(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine, is_ready=True)
    browser.log_in()
    ada.call("purpose.edit", project="atlas", operations=[{"op": "add_node", "node_type": "OUTPUT", "title": "Loose"}])
    forms = list_forms(read(browser, GATES))

    assert "waive-GA_ORPHANS" in forms
    assert not [form for form in forms if form.removeprefix("waive-") in ("GA_RLS", "GA_DUP_EDGE")]


def test_many_places_are_shown_when_asked_for(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    browser.log_in()
    loose = [{"op": "add_node", "node_type": "OUTPUT", "title": f"Loose {n}"} for n in range(120)]
    ada.call("purpose.edit", project="atlas", operations=loose)
    page, whole = read(browser, GATES), read(browser, f"{GATES}&check=GA_ORPHANS")

    assert "112 more" in page
    assert "Loose 50" not in page
    assert "Loose 50" in whole
    # A waiver names at most 100 places, so only the whole check is offered.
    assert "The whole check" in list_forms(page)["waive-GA_ORPHANS"]
    assert "places found now" not in list_forms(page)["waive-GA_ORPHANS"]


def test_the_checklist_says_whether_publishing_may_proceed_and_can_be_copied(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine)
    browser.log_in()
    blocked = read(browser, GATES)
    watch = {"op": "update_assumption", "assumption": "AS1", "owner": "ben", "review_by": "2999-04-01"}
    ada.call("purpose.edit", project="atlas", operations=[watch])
    approved = read(browser, GATES)

    assert "BLOCKED</span>" in blocked
    assert "APPROVED</span>" in approved
    assert approved.count('data-id="section-') == 8
    assert re.search(r'<textarea id="compliance-markdown"[^>]*readonly>## ToC Graph Engine Compliance', approved)


def test_the_gates_of_a_published_version_offer_no_edit(browser: Browser, engine: Engine) -> None:
    ada = fill_theory(engine, is_ready=True)
    ada.call("purpose.publish", project="atlas")
    browser.log_in()
    page = read(browser, GATES)

    assert "This version is published" in page
    assert not [form for form in list_forms(page) if "purpose.edit" in list_forms(page)[form]]


@pytest.mark.parametrize("view", ["gates", "publish", "measures", "health"])
def test_stored_text_is_text_in_the_views_of_the_plan(browser: Browser, engine: Engine, view: str) -> None:
    ada = fill_theory(engine, is_ready=True)
    title = {"op": "update_node", "node": "OP1", "title": HOSTILE}
    text = {"op": "update_assumption", "assumption": "AS1", "assumption_text": HOSTILE}
    name = {"op": "update_indicator", "indicator": "IN1", "name": HOSTILE}
    ada.call("purpose.publish", project="atlas")
    ada.call("purpose.draft", project="atlas")
    ada.call("purpose.edit", project="atlas", operations=[title, text, name])
    ada.call("purpose.record", project="atlas", measurements=[{"indicator": "IN1", "value": 3, "as_of": "2026-01-01"}])
    browser.log_in()
    page = Tags(read(browser, f"view={view}"))

    assert HOSTILE in page.text
    assert page.names.count("script") == 1
    assert not [link for link in page.links if link.startswith("javascript")]
