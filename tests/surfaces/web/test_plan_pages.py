"""The plan on the page: who may change it, what the canvas and the list show, and what the forms do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.engines import Engine, person
from tests.surfaces.http.client import Reply
from tests.surfaces.web.browser import CSRF, Browser
from tests.surfaces.web.test_pages import HOSTILE, Tags, open_page

PLAN = "/p/atlas/plan"
THEORY: list[dict[str, Any]] = [
    {"op": "add_node", "ref": "g", "node_type": "GOAL", "title": "Safe water"},
    {"op": "add_node", "ref": "oc", "node_type": "OUTCOME", "title": "Committees pay"},
    {"op": "add_node", "ref": "op", "node_type": "OUTPUT", "title": "Fee model agreed"},
    {"op": "add_node", "ref": "ac", "node_type": "ACTIVITY", "title": "Hold assemblies"},
    {"op": "add_edge", "source": "ac", "target": "op"},
    {"op": "add_edge", "source": "op", "target": "oc", "mechanism": "a fee makes upkeep possible"},
    {"op": "add_edge", "source": "oc", "target": "g", "confidence": "low"},
    {
        "op": "add_assumption",
        "node": "op",
        "assumption_text": "Households keep paying",
        "risk_level": "HIGH",
        "owner": "ben",
        "review_by": "2999-01-01",
    },
    {"op": "add_assumption", "source": "oc", "target": "g", "assumption_text": "Pumps can be mended"},
    {"op": "add_indicator", "node": "oc", "name": "Committees that pay", "baseline": 2, "target": 40},
]


def fill(engine: Engine, operations: list[dict[str, Any]] = THEORY) -> None:
    """Create a project with a draft, and members of three roles."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas", goal="Safe water")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    ada.call("purpose.draft", project="atlas")
    if operations:
        ada.call("purpose.edit", project="atlas", operations=operations)


def read_theory(engine: Engine) -> Any:
    return engine.session("ada").call("purpose.open", project="atlas", detail="full")


def submit(browser: Browser, path: str, form: str, **fields: str) -> Reply:
    """Send a form of a page, with its own hidden fields and with what a person types."""
    page = browser.get(path).body.decode()
    csrf = CSRF.search(page)
    assert csrf is not None
    found = re.search(rf'<form [^>]*id="{form}".*?</form>', page, re.DOTALL)
    hidden = {} if found is None else dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', found[0]))
    return browser.submit(path, {"csrf": csrf[1], "operation": "purpose.edit", "form": form, **hidden, **fields})


@pytest.mark.parametrize("view", ["canvas", "list"])
@pytest.mark.parametrize("key", ["OP1", "OC1-G1"])
def test_a_viewer_sees_everything_and_no_way_to_change_it(engine: Engine, view: str, key: str) -> None:
    fill(engine)
    name = "edge" if "-" in key else "key"
    with Browser(engine.store, actor=person("cleo")) as cleo:
        cleo.log_in()
        page = open_page(cleo, f"{PLAN}?view={view}&{name}={key}")
        refused = submit(
            cleo, PLAN, "x", project="atlas", **{"operations.0.op": "remove_node", "operations.0.node": "G1"}
        )

    assert page.operations == []
    assert "Fee model agreed" in page.text
    assert refused.status == 403
    assert len(read_theory(engine).nodes) == 4


def test_a_published_version_offers_a_new_draft_and_no_edit(browser: Browser, engine: Engine) -> None:
    fill(engine)
    ada = engine.session("ada")
    ada.call("purpose.publish", project="atlas", label="First")
    browser.log_in()
    page = open_page(browser, f"{PLAN}?key=OP1")
    started = submit(browser, PLAN, "draft", operation="purpose.draft")
    draft = open_page(browser, f"{PLAN}?key=OP1")
    earlier = open_page(browser, f"{PLAN}?key=OP1&version=1")

    assert page.operations == ["purpose.draft"]
    assert "Read only" in page.text
    assert started.status == 303
    assert "purpose.edit" in draft.operations
    assert earlier.operations == []  # the draft exists: the page leads there


@pytest.mark.parametrize(("least", "offered"), [("light", {"light", "standard", "strict"}), ("strict", {"strict"})])
def test_a_new_draft_is_offered_the_profiles_that_the_project_allows(
    browser: Browser, engine: Engine, least: str, offered: set[str]
) -> None:
    fill(engine)
    ada = engine.session("ada")
    ada.call("purpose.publish", project="atlas")
    ada.call("work.open", project="atlas", policies={"profile_min": least})
    browser.log_in()
    page = browser.get(PLAN).body.decode()

    (choice,) = re.findall(r'<select name="profile".*?</select>', page, re.DOTALL)
    assert set(re.findall(r'value="(\w+)"', choice)) == offered


def test_without_a_version_a_form_starts_the_first_draft(browser: Browser, engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    browser.log_in()
    before = open_page(browser, PLAN)
    submit(browser, PLAN, "draft", operation="purpose.draft")
    after = open_page(browser, PLAN)

    assert before.operations == ["purpose.draft"]
    assert "Add an output" in after.text
    assert sorted(set(after.operations)) == ["purpose.edit"]


@pytest.mark.parametrize("query", ["key=OP1", "key=AS1", "key=IN1", "edge=OC1-G1", "key=OC1-%3EG1", "key=AS2"])
def test_the_address_of_an_item_opens_it_with_everything_about_it(browser: Browser, engine: Engine, query: str) -> None:
    fill(engine)
    browser.log_in()
    page = browser.get(f"{PLAN}?{query}").body.decode()
    expected = {
        "key=OP1": "Households keep paying",
        "key=AS1": 'id="AS1"',
        "key=IN1": 'id="IN1"',
        "edge=OC1-G1": "Pumps can be mended",
        "key=OC1-%3EG1": "Pumps can be mended",  # as the history names a link
        "key=AS2": "OC1-G1",
    }

    assert 'id="inspector"' in page
    assert expected[query] in page
    assert "added" in page  # its history


@pytest.mark.parametrize("query", ["key=OC99", "edge=AC1-G1"])
def test_the_address_of_an_item_that_is_not_in_the_version_says_so(
    browser: Browser, engine: Engine, query: str
) -> None:
    fill(engine)
    browser.log_in()
    page = open_page(browser, f"{PLAN}?{query}")

    assert f"There is no item “{query.partition('=')[2]}” in this version" in page.text
    assert "Fee model agreed" in page.text


def test_what_depends_on_an_item_is_what_it_leads_to(browser: Browser, engine: Engine) -> None:
    fill(engine)
    ada = engine.session("ada")
    more = [
        {"op": "add_node", "ref": "permit", "node_type": "ACTIVITY", "title": "Get the permit"},
        {"op": "add_edge", "source": "AC1", "target": "permit", "edge_type": "DEPENDS_ON", "mechanism": "by law"},
    ]
    ada.call("purpose.edit", project="atlas", operations=more)
    browser.log_in()
    link, listed, permit = (
        browser.get(f"{PLAN}?{query}").body.decode() for query in ("edge=AC1-AC2-DEPENDS_ON", "view=list", "key=AC2")
    )

    assert "<h2>Get the permit → Hold assemblies</h2>" in link
    assert re.search(r"AC1</a> depends on <a [^>]*>AC2</a>", link)
    assert re.search(r'data-id="AC2".*?data-leads.*?key=AC1">AC1</a> <span class="quiet">by law', listed)
    assert re.search(r'data-id="effects">.*?Hold assemblies.*?data-id="causes">', permit, re.DOTALL)
    assert 'aria-label="AC2 leads to AC1"' in link


def test_a_card_says_in_words_what_it_shows(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    page = browser.get(PLAN).body.decode()

    assert 'aria-label="Output OP1, Fee model agreed, 1 assumption, high risk"' in page
    assert 'aria-label="OC1 leads to G1, 1 assumption, risk not said"' in page


def test_a_card_shows_how_much_of_the_work_that_serves_it_is_resolved(browser: Browser, engine: Engine) -> None:
    fill(engine)
    ada = engine.session("ada")
    nodes = [{"ref": ref, "summary": f"Visit {ref}", "serves": ["OP1"]} for ref in "abc"]
    first = ada.call("work.plan", project="atlas", nodes=nodes).created[0].id
    ada.call("work.update", updates=[{"node_id": first, "resolved": True}])
    browser.log_in()
    page = browser.get(f"{PLAN}?key=OP1").body.decode()

    assert "high risk, 1 of 3 tasks resolved" in page
    assert page.count('class="done"') == 1
    assert f"work?node={first}" in page
    assert "1/3" in browser.get(f"{PLAN}?view=list").body.decode()


def test_each_part_of_an_item_is_changed_by_its_form(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    path = f"{PLAN}?key=OC1"
    for form, fields in {
        "edit": {"operations.0.title|text": "Committees pay in time", "operations.0.owner|clear": "ben"},
        "assume": {"operations.0.assumption_text|text": "Fees are fair", "operations.0.risk_level|clear": "LOW"},
        "indicator": {"operations.0.name|text": "Fees paid", "operations.0.target|value": "90"},
        "indicator-IN1": {"operations.0.name|text": "Committees", "operations.0.baseline|value": ""},
        "effect": {"operations.0.title|text": "Health", "operations.0.node_type": "GOAL"},
        "cause": {"operations.0.title|text": "Books kept", "operations.0.node_type": "OUTPUT"},
        "to": {"operations.0.target": "G2"},
        "unlink-OC1-G1": {},
    }.items():
        reply = submit(browser, path, form, **fields)
        assert reply.status in (303, 409 if form == "to" else 303), (form, reply.body.decode()[-2000:])
    theory = read_theory(engine)
    node = next(one for one in theory.nodes if one.key == "OC1")

    assert (node.title, node.owner) == ("Committees pay in time", "ben")
    assert [(one.assumption_text, one.risk_level) for one in node.assumptions] == [("Fees are fair", "LOW")]
    assert [(one.name, one.baseline, one.target) for one in theory.indicators] == [
        ("Committees", None, 40),
        ("Fees paid", None, 90),
    ]
    assert {(edge.source, edge.target) for edge in theory.edges} == {
        ("AC1", "OP1"),
        ("OP1", "OC1"),
        ("OP2", "OC1"),
        ("OC1", "G2"),
    }


def test_two_editors_of_one_field_see_both_versions(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    path = f"{PLAN}?key=OP1"
    rename = {"op": "update_node", "node": "OP1", "title": "Fee agreed by Ben"}
    engine.session("ben").call("purpose.edit", project="atlas", operations=[rename])
    title = "operations.0.title|text"
    refused = submit(browser, path, "edit", **{title: "Fee agreed by Ada", f"was|{title}": "Fee model agreed"})
    page = refused.body.decode()

    assert refused.status == 409
    assert "Fee agreed by Ada</textarea>" in page
    assert "<b>Now:</b> Fee agreed by Ben" in page
    assert "Save mine over it" in page
    submit(browser, path, "edit", **{title: "Fee agreed by Ada"})
    assert next(one for one in read_theory(engine).nodes if one.key == "OP1").title == "Fee agreed by Ada"


def test_two_editors_of_different_items_or_fields_both_succeed(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    changes = [
        {"op": "update_node", "node": "OC1", "title": "Committees pay in full"},
        {"op": "update_node", "node": "OP1", "title": "Fee agreed by Ben"},
    ]
    engine.session("ben").call("purpose.edit", project="atlas", operations=changes)
    typed = {  # of a page that Ada opened before, with a title that she left as it was
        "operations.0.title|text": "Fee model agreed",
        "was|operations.0.title|text": "Fee model agreed",
        "operations.0.owner|clear": "ada",
    }
    assert submit(browser, f"{PLAN}?key=OP1", "edit", **typed).status == 303

    nodes = {node.key: node for node in read_theory(engine).nodes}
    assert (nodes["OP1"].title, nodes["OP1"].owner) == ("Fee agreed by Ben", "ada")
    assert nodes["OC1"].title == "Committees pay in full"


@pytest.mark.parametrize(
    "title", [HOSTILE, "x" * 500, "水" * 120, "خدمة مياه مأمونة " * 9, "a\u202eb", "<svg/onload=1>"]
)
@pytest.mark.parametrize("view", ["canvas", "list"])
def test_any_title_is_text_on_the_canvas_and_in_the_list(
    browser: Browser, engine: Engine, title: str, view: str
) -> None:
    fill(engine, [{"op": "add_node", "node_type": "GOAL", "title": title}])
    stored = read_theory(engine).nodes[0].title
    browser.log_in()
    page = open_page(browser, f"{PLAN}?view={view}&key=G1")

    assert page.names.count("script") == 1
    assert stored in page.text


def test_a_canvas_with_a_cycle_of_feedback_is_drawn(browser: Browser, engine: Engine) -> None:
    fill(engine, [*THEORY, {"op": "add_edge", "source": "g", "target": "ac", "edge_type": "FEEDBACK"}])
    browser.log_in()
    page = browser.get(f"{PLAN}?edge=G1-AC1-FEEDBACK").body.decode()

    assert 'data-from="G1" data-to="AC1"' in page
    assert "leads back to" in page


def test_a_link_that_is_not_allowed_says_why(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    refused = submit(browser, PLAN, "connect", **{"operations.0.source": "G1", "operations.0.target": "AC1"})

    assert refused.status == 422
    assert "refusal" in refused.body.decode()
    assert len(read_theory(engine).edges) == 3


def test_a_pathway_shows_only_what_is_on_it_and_a_risk_fades_the_rest(browser: Browser, engine: Engine) -> None:
    fill(engine, [*THEORY, {"op": "add_node", "node_type": "OUTPUT", "title": "Elsewhere"}])
    browser.log_in()
    page = browser.get(f"{PLAN}?pathway=OC1").body.decode()
    other = browser.get(f"{PLAN}?pathway=OC1&key=OP2").body.decode()
    rows = re.findall(r'<tr data-id="(\w+)"', browser.get(f"{PLAN}?pathway=OC1&view=list").body.decode())
    risky = re.findall(r'class="node [^"]*faded"[^>]* data-id="(\w+)"', browser.get(f"{PLAN}?risk=high").body.decode())

    on_it = ["AC1", "G1", "OC1", "OP1"]
    assert sorted(re.findall(r'class="node [^"]*"[^>]* data-id="(\w+)"', page)) == on_it
    assert sorted(rows) == on_it
    assert "faded" not in page
    assert "4 items of 5" in page
    assert 'role="button" data-key="Escape">Pathway of OC1' in page
    assert "OP2 is not on the pathway of OC1" in other
    assert sorted(risky) == ["AC1", "G1", "OC1", "OP2"]


def test_a_pathway_of_an_item_that_is_gone_shows_everything_and_says_so(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    for view in ("canvas", "list"):
        page = open_page(browser, f"{PLAN}?view={view}&pathway=%3Cb%3E")

        assert "There is no item “<b>” here, so no pathway is shown." in page.text
        assert "OC1" in page.text


def test_quick_entry_sent_again_with_more_adds_only_what_is_new(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    before = read_theory(engine)
    text = "Hold assemblies > fee model AGREED > Committees  pay > Safe water\r\nNew meters > output: Fee model agreed"
    assert submit(browser, PLAN, "quick", **{"operations|plan": text}).status == 303
    after = read_theory(engine)
    again = submit(browser, PLAN, "quick", **{"operations|plan": text})

    assert [node.title for node in after.nodes if node not in before.nodes] == ["New meters"]
    assert [(edge.source, edge.target) for edge in after.edges if edge not in before.edges] == [("AC2", "OP1")]
    assert (again.status, "already" in again.body.decode()) == (400, True)


def test_the_warning_before_a_removal_counts_the_assumptions_on_links(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()

    assert "With it go 1 links, 1 assumptions and 0 indicators" in open_page(browser, f"{PLAN}?key=G1").text
    assert "With it go 2 links, 1 assumptions and 1 indicators" in open_page(browser, f"{PLAN}?key=OC1").text
    assert 'title="Remove the link and its 1 assumption"' in browser.get(f"{PLAN}?key=OC1").body.decode()


def test_quick_entry_adds_all_lines_in_one_batch_or_none(browser: Browser, engine: Engine) -> None:
    fill(engine, [])
    browser.log_in()
    text = "Drill > Wells > Safe water > Health\r\noutput: Pumps > Safe water"
    assert submit(browser, PLAN, "quick", **{"operations|plan": text}).status == 303
    theory = read_theory(engine)
    refused = submit(browser, PLAN, "quick", **{"operations|plan": "Mend\r\ngoal: Joy > activity: Rest"})
    page = refused.body.decode()

    assert sorted((node.key, node.title) for node in theory.nodes) == [
        ("AC1", "Drill"),
        ("G1", "Health"),
        ("OC1", "Safe water"),
        ("OP1", "Wells"),
        ("OP2", "Pumps"),
    ]
    assert len(theory.edges) == 4
    assert refused.status == 422
    assert "Line 2: <code>goal: Joy &gt; activity: Rest</code>" in page
    assert len(read_theory(engine).nodes) == 5


def test_the_page_of_a_plan_has_no_style_of_its_own(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    page = browser.get(f"{PLAN}?key=OP1").body.decode()

    Tags(page)  # refuses attributes that the content policy forbids
    assert "<style" not in page


@pytest.mark.parametrize("area", ["history", "home"])
def test_a_link_in_the_history_and_on_the_start_page_opens_in_the_plan_also_after_it_got_another_type(
    browser: Browser, engine: Engine, area: str
) -> None:
    fill(engine)
    browser.log_in()
    ben = engine.session("ben")
    retype = {"op": "update_edge", "source": "OP1", "target": "OC1", "new_edge_type": "CAUSES"}
    add = {"op": "add_edge", "source": "G1", "target": "AC1", "edge_type": "FEEDBACK"}
    ben.call("purpose.edit", project="atlas", operations=[retype, add])

    page = browser.get(f"/p/atlas/{area}").body.decode()
    for name, opened in (("OP1-%3EOC1", "OP1-OC1-CAUSES"), ("G1-%3EAC1%2FFEEDBACK", "G1-AC1-FEEDBACK")):
        assert f"/p/atlas/plan?key={name}#" in page
        assert f'data-id="inspector-{opened}"' in browser.get(f"{PLAN}?key={name}").body.decode()


@pytest.mark.parametrize("area", ["history", "home"])
def test_a_version_in_the_history_and_on_the_start_page_opens_that_version(
    browser: Browser, engine: Engine, area: str
) -> None:
    fill(engine)
    browser.log_in()

    page = browser.get(f"/p/atlas/{area}").body.decode()

    assert 'href="/p/atlas/plan?version=1"' in page
    assert "key=v1" not in page
