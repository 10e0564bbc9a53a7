"""A form on a page is one operation: it changes the project, or shows its refusal with what was typed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.surfaces.web.areas.work import host_of
from groundplan.surfaces.web.forms import InvalidForm, read_arguments, read_outline, read_pairs, write_pairs
from tests.engines import Engine, person
from tests.surfaces.http.client import Reply
from tests.surfaces.web.browser import CSRF, Browser


def begin(browser: Browser, engine: Engine) -> str:
    """Create a project with one task, log in, and return the id of the task."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    planned = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Walk the coast"}])
    browser.log_in()
    return str(planned.created[0].id)


def submit(browser: Browser, path: str, operation: str, **fields: str) -> Reply:
    found = CSRF.search(browser.get(path).body.decode())
    assert found is not None
    return browser.submit(path, {"csrf": found[1], "operation": operation, "form": "f", **fields})


def test_a_form_runs_its_operation_and_leads_back_to_the_same_state(browser: Browser, engine: Engine) -> None:
    task = begin(browser, engine)
    path = f"/p/atlas/work?view=board&node={task}"
    fields = {"updates.0.node_id": task, "updates.0.summary": "Walk it twice", "decision": "once is not enough"}
    reply = submit(browser, path, "work.update", **fields)

    assert (reply.status, reply.headers["location"]) == (303, path)
    node = engine.session("ada").call("work.context", node_id=task).node
    assert node.summary == "Walk it twice"
    events = engine.session("ada").call("work.history", node_id=task).events
    assert (events[0].agent, events[0].decision) == ("ada", "once is not enough")


def test_a_refused_form_keeps_what_was_typed_and_says_why(browser: Browser, engine: Engine) -> None:
    task = begin(browser, engine)
    path = f"/p/atlas/work?node={task}"
    fields = {"form": "edit", "updates.0.node_id": task, "updates.0.expected_rev": "99", "updates.0.summary": "<Mine>"}
    reply = submit(browser, path, "work.update", **fields)
    page = reply.body.decode()

    assert reply.status == 409
    assert 'role="alert"' in page
    assert "&lt;Mine&gt;" in page
    assert engine.session("ada").call("work.context", node_id=task).node.summary == "Walk the coast"


def test_an_outline_plans_a_tree_with_dependencies(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    outline = "North\n  Walk\n  - Draw after: Walk\nSouth"
    assert submit(browser, "/p/atlas/work", "work.plan", project="atlas", **{"nodes|outline": outline}).status == 303

    found = engine.session("ada").call("work.query", project="atlas", sort="created").nodes
    assert [node.summary for node in found[2:]] == ["North", "Walk", "Draw", "South"]
    assert engine.session("ada").call("work.query", project="atlas", filter={"is_blocked": True}).total == 1


def test_a_form_without_the_proof_of_the_page_changes_nothing(browser: Browser, engine: Engine) -> None:
    task = begin(browser, engine)
    form = {"operation": "work.update", "updates.0.node_id": task, "updates.0.summary": "Mine"}

    assert browser.submit("/p/atlas/work", form).status == 403
    assert browser.submit("/p/atlas/work", {**form, "csrf": "0" * 64}).status == 403
    assert engine.session("ada").call("work.context", node_id=task).node.summary == "Walk the coast"


def test_a_viewer_who_sends_the_form_of_an_editor_is_refused(browser: Browser, engine: Engine) -> None:
    task = begin(browser, engine)
    engine.session("ada").call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    with Browser(engine.store, actor=person("cleo")) as cleo:
        cleo.log_in()
        reply = submit(cleo, "/p/atlas/work", "work.update", **{"updates.0.node_id": task, "updates.0.summary": "Mine"})

    assert reply.status == 403
    assert engine.session("ada").call("work.context", node_id=task).node.summary == "Walk the coast"


@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example/", "/logout", "javascript:alert(1)", "/p/a\r\nset-cookie: a=b"]
)
def test_a_form_never_leads_to_another_server(browser: Browser, engine: Engine, to: str) -> None:
    task = begin(browser, engine)
    fields = {"updates.0.node_id": task, "updates.0.summary": "Mine", "to": to}

    assert submit(browser, "/p/atlas/work", "work.update", **fields).headers["location"] == "/p/atlas/work"


def test_a_form_may_lead_to_what_it_made(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    fields = {"nodes.0.ref": "n", "nodes.0.summary": "New", "project": "atlas", "to": "/p/atlas/work?filter=ready"}

    assert submit(browser, "/p/atlas/work", "work.plan", **fields).headers["location"] == "/p/atlas/work?filter=ready"


@pytest.mark.parametrize(
    "fields", [{"a|shout": "x"}, {"a..b": "x"}, {"a": "x", "a.b": "y"}, {"ü": "x"}, {f"a{'.a' * 9_999}": "x"}]
)
def test_fields_that_are_no_arguments_are_refused_as_a_page(
    browser: Browser, engine: Engine, fields: dict[str, str]
) -> None:
    begin(browser, engine)

    assert submit(browser, "/p/atlas/work", "work.update", **fields).status == 400


def test_an_unknown_operation_is_refused(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)

    assert submit(browser, "/p/atlas/work", "work.nothing").status == 400


# --- Facts ------------------------------------------------------------------------------------------------------------


def begin_facts(browser: Browser, engine: Engine) -> str:
    """Create a draft with one fact of text, log in, and return the id of the draft."""
    begin(browser, engine)
    ada = engine.session("ada")
    run: str = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.edit", runId=run, inputs=[{"pointer": "/a", "label": "A", "valueKind": "string"}])
    return run


def read_fact(engine: Engine, run: str, pointer: str = "/a") -> Any:
    view = engine.session("ada").call("context.view", scopeId="atlas", runId=run)
    return view.inputs_by_pointer[pointer]


def test_a_value_the_empty_text_and_no_value_are_three_things(browser: Browser, engine: Engine) -> None:
    run = begin_facts(browser, engine)
    path = f"/p/atlas/facts?run={run}&fact=/a"
    seen = []
    for field, text in (("value", "x"), ("value|text", ""), ("value|null", "x")):
        fields = {"runId": run, "inputs.0.pointer": "/a", f"inputs.0.{field}": text}
        assert submit(browser, path, "context.edit", **fields).status == 303
        fact = read_fact(engine, run)
        seen.append((fact.value_string, fact.provenance.value))

    assert seen == [("x", "user-entered"), ("", "user-entered"), (None, "user-entered")]


@pytest.mark.parametrize(
    ("kind", "field", "text", "expected"),
    [
        ("number", "value", "12.5", 12.5),
        ("boolean", "value", "false", False),
        ("json", "value|json", '{"a": [1]}', {"a": [1]}),
        ("json", "value|json", '"12"', "12"),
        ("enum", "valueEnum", "red", "red"),
    ],
)
def test_a_value_is_read_by_its_kind(
    browser: Browser, engine: Engine, kind: str, field: str, text: str, expected: Any
) -> None:
    run = begin_facts(browser, engine)
    new = {"pointer": "/b", "label": "B", "valueKind": kind, **({"options": ["red"]} if kind == "enum" else {})}
    engine.session("ada").call("context.edit", runId=run, inputs=[new])
    path = f"/p/atlas/facts?run={run}&fact=/b"
    fields = {"runId": run, "inputs.0.pointer": "/b", f"inputs.0.{field}": text}
    assert submit(browser, path, "context.edit", **fields).status == 303

    assert getattr(read_fact(engine, run, "/b"), f"value_{kind}") == expected


@pytest.mark.parametrize(
    ("kind", "field", "text"),
    [("number", "value", "many"), ("json", "value|json", "{a: 1}"), ("enum", "valueEnum", "blue")],
)
def test_a_value_of_another_kind_is_refused_at_its_field(
    browser: Browser, engine: Engine, kind: str, field: str, text: str
) -> None:
    run = begin_facts(browser, engine)
    options = {"options": ["red", "blue <b>"]} if kind == "enum" else {}
    engine.session("ada").call(
        "context.edit", runId=run, inputs=[{"pointer": "/b", "label": "B", "valueKind": kind, **options}]
    )
    path = f"/p/atlas/facts?run={run}&fact=/b"
    fields = {"form": "value", "runId": run, "inputs.0.pointer": "/b", f"inputs.0.{field}": text}
    reply = submit(browser, path, "context.edit", **fields)
    page = reply.body.decode()

    assert reply.status in (400, 422)
    assert 'aria-invalid="true"' in page
    assert kind == "enum" or text in page
    assert read_fact(engine, run, "/b").provenance == "unknown"


def test_a_commit_without_what_is_missing_says_so_until_the_next_one(browser: Browser, engine: Engine) -> None:
    run = begin_facts(browser, engine)
    engine.session("ada").call("context.edit", runId=run, inputs=[{"pointer": "/a", "required": True}])
    path = f"/p/atlas/facts?run={run}"
    assert submit(browser, path, "context.commit", runId=run).status == 422
    reply = submit(browser, path, "context.commit", runId=run, allowPartial="true", to="/p/atlas/facts")
    page = browser.get(reply.headers["location"]).body.decode()

    assert "1 required fact has no value" in page
    assert "Start a draft from this run" in page


def test_a_source_of_the_web_is_a_link_and_a_script_is_text(browser: Browser, engine: Engine) -> None:
    run = begin_facts(browser, engine)
    ids = []
    for uri in ("https://example.org/a", "javascript:alert(1)", "x" * 4096):
        made = engine.session("ada").call(
            "context.edit", runId=run, sources=[{"kind": "url", "title": "S", "uri": uri}]
        )
        ids.append(made.sources[0].id)
    pages = [browser.get(f"/p/atlas/facts?run={run}&source={one}").body.decode() for one in ids]

    assert 'href="https://example.org/a" rel="noopener noreferrer"' in pages[0]
    assert 'href="javascript' not in pages[1]
    assert "javascript:alert(1)" in pages[1]
    assert "x" * 4096 in pages[2]


def test_what_a_run_does_not_have_is_not_shown(browser: Browser, engine: Engine) -> None:
    run = begin_facts(browser, engine)

    for query in ("fact=/nothing", "constraint=nothing", "source=nothing", "page=99999", "page=x", "fact=%00"):
        assert browser.get(f"/p/atlas/facts?run={run}&{query}").status == 200
    for query in ("run=nothing", f"run={run}&compare=nothing"):
        assert browser.get(f"/p/atlas/facts?{query}").status in (400, 404)


# --- Members ----------------------------------------------------------------------------------------------------------


def test_the_secret_of_a_token_is_shown_once(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    path = "/p/atlas/members?view=tokens"
    fields = {"kind": "agent", "name": "builder", "role": "editor", "projects.0": "atlas", "label": "the builder"}
    reply = submit(browser, path, "token.create", **fields)
    page = reply.body.decode()
    secret = re.search(r"gpt_[A-Za-z0-9_-]+", page)

    assert reply.status == 200
    assert secret is not None
    assert reply.headers["cache-control"] == "private, no-store"
    again = browser.get(path).body.decode()
    assert "the builder" in again
    assert secret[0] not in again
    assert browser.get("/v1/projects", authorization=f"Bearer {secret[0]}").status == 200


def test_the_last_owner_is_explained_and_offered_no_form(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    alone = browser.get("/p/atlas/members").body.decode()
    engine.session("ada").call("member.add", scopeId="atlas", userId="ben", role="owner")
    both = browser.get("/p/atlas/members").body.decode()

    assert "The last owner" in alone
    assert "member.remove" not in alone
    assert "The last owner" not in both
    assert both.count("member.remove") == 2
    assert submit(browser, "/p/atlas/members", "member.remove", scopeId="atlas", userId="ben").status == 303
    assert submit(browser, "/p/atlas/members", "member.remove", scopeId="atlas", userId="ada").status == 422


def test_a_policy_is_changed_and_reset_by_its_form(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    path = "/p/atlas/members?view=policies"
    for field, value in (("evidence", "require"), ("auto_resolve_parents", "true"), ("claim_ttl_minutes", "30")):
        assert submit(browser, path, "work.open", project="atlas", **{f"policies.{field}": value}).status == 303
    policies = engine.session("ada").call("work.open", project="atlas").policies
    assert (policies.evidence, policies.auto_resolve_parents, policies.claim_ttl_minutes) == ("require", True, 30)
    submit(browser, path, "work.open", project="atlas", **{"policies.claim_ttl_minutes|null": "x"})

    assert engine.session("ada").call("work.open", project="atlas").policies.claim_ttl_minutes is None
    assert submit(browser, path, "work.open", project="atlas", **{"policies.evidence": "much"}).status == 400


# --- Fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "arguments"),
    [
        ({"a": "x", "b": " ", "c|text": ""}, {"a": "x", "c": ""}),
        ({"u.0.x": "1", "u.1.x": "2"}, {"u": [{"x": "1"}, {"x": "2"}]}),
        ({"u.10.x": "b", "u.2.x": "a"}, {"u": [{"x": "a"}, {"x": "b"}]}),
        ({"links|lines": "a\r\n\r\n b "}, {"links": ["a", "b"]}),
        ({"links|lines": " "}, {}),
        ({"serves|list": "\n"}, {"serves": []}),
        (
            {"state|clear": " ", "p.priority|value": "3", "p.x|value": ""},
            {"state": None, "p": {"priority": 3, "x": None}},
        ),
        ({"p|pairs": 'a: 1\nb: two words\nc:\nd: "1"'}, {"p": {"a": 1, "b": "two words", "c": None, "d": "1"}}),
        ({"p|pairs": "\n"}, {}),
        ({"a|json": '{"b": [1, null]}', "c|json": " ", "d|json": "null"}, {"a": {"b": [1, None]}, "d": None}),
        # Names that are numbers make a list in a path alone.
        ({"a.0.b|json": '{"2024": 5}', "a.0.c|pairs": "1: x"}, {"a": [{"b": {"2024": 5}, "c": {"1": "x"}}]}),
        ({"a.b|null": "x"}, {"a": {"b": None}}),
        ({"csrf": "c", "operation": "o", "form": "f", "to": "t"}, {}),
        ({"p.priority": "3"}, {"p": {"priority": "3"}}),
        (
            {
                "compare": "p",
                "p.a|text": "x\r\ny",
                "was|p.a|text": "x\ny",
                "p.b|clear": "",
                "was|p.b|clear": "z",
                "q": "1",
            },
            {"p": {"b": None, "was": {"b": "z"}}, "q": "1"},
        ),
        (
            {"compare": "p", "p.n|value": "4", "was|p.n|value": "3", "p.o|clear": "me", "was|p.o|clear": ""},
            {"p": {"n": 4, "o": "me", "was": {"n": 3, "o": None}}},
        ),
    ],
)
def test_fields_become_arguments_by_their_paths(fields: dict[str, str], arguments: dict[str, Any]) -> None:
    assert read_arguments(fields) == arguments


def test_two_fields_of_one_argument_are_refused() -> None:
    with pytest.raises(InvalidForm):
        read_arguments({"a": "1", "a|lines": "2"})


@given(
    st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.integers() | st.text(max_size=8), max_size=4)
)
def test_properties_are_written_as_lines_that_mean_the_same(properties: dict[str, Any]) -> None:
    read = read_pairs(write_pairs(properties))

    assert read.items() <= properties.items()
    assert {name for name in properties if name.isalpha() and properties[name]} <= read.keys()


def test_a_refused_outline_shows_the_line(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    fields = {"form": "plan", "project": "atlas", "nodes|outline": "North\n\n  Draw <it> after: the snow"}
    reply = submit(browser, "/p/atlas/work", "work.plan", **fields)

    assert reply.status == 404
    assert "Line 3: <code>Draw &lt;it&gt; after: the snow</code>" in reply.body.decode()


def test_a_conflict_shows_both_versions_and_sends_mine_over_the_present_one(browser: Browser, engine: Engine) -> None:
    task = begin(browser, engine)
    path = f"/p/atlas/work?node={task}"
    engine.session("ada").call("work.update", updates=[{"node_id": task, "summary": "Walk with <care>"}])
    fields = {"form": "edit", "updates.0.node_id": task, "updates.0.expected_rev": "1", "updates.0.summary": "Walk far"}
    page = submit(browser, path, "work.update", **fields).body.decode()

    assert "<b>Now:</b> Walk with &lt;care&gt;" in page
    assert "Walk far</textarea>" in page
    assert "Take theirs" in page
    rev = engine.session("ada").call("work.context", node_id=task, lean=False).node.rev
    form = page[page.index('id="edit"') :]
    assert f'name="updates.0.expected_rev" value="{rev}"' in form[: form.index("</form>")]


def test_a_field_that_nobody_typed_into_keeps_what_another_wrote(browser: Browser, engine: Engine) -> None:
    task = begin(browser, engine)
    engine.session("ada").call("work.update", updates=[{"node_id": task, "state": "halfway"}])
    fields = {"form": "edit", "updates.0.node_id": task, "updates.0.expected_rev": "1", "updates.0.summary": "Walk far"}
    fields |= {"updates.0.state|clear": "", "was|updates.0.state|clear": "", "was|updates.0.summary": "Walk the coast"}
    page = submit(browser, f"/p/atlas/work?node={task}", "work.update", **fields).body.decode()

    assert 'name="updates.0.state|clear" value="halfway"' in page
    assert "Walk far</textarea>" in page


def test_an_emptied_field_empties_what_it_stands_for(browser: Browser, engine: Engine) -> None:
    task = begin(browser, engine)
    ada = engine.session("ada")
    ada.call("work.update", updates=[{"node_id": task, "state": "halfway", "properties": {"priority": 2}}])
    fields = {"updates.0.node_id": task, "updates.0.state|clear": "", "updates.0.properties.priority|value": ""}
    assert submit(browser, "/p/atlas/work", "work.update", **fields).status == 303

    node = ada.call("work.context", node_id=task, lean=False).node
    assert (node.state or None, node.properties) == (None, {})


@pytest.mark.parametrize(
    ("ref", "host"),
    [
        ("https://example.org/a", "example.org"),
        ("http://good.example@evil.example/", "evil.example"),
        ("javascript:alert(1)", None),
        ("https://exa mple.org", None),
        ("data:text/html,x", None),
        ("http://[", None),
        ("a sentence", None),
    ],
)
def test_only_addresses_of_the_web_become_links_and_name_their_host(ref: str, host: str | None) -> None:
    assert host_of(ref) == host


def test_an_outline_may_name_later_lines_and_ids() -> None:
    nodes = read_outline("A after: B, k7m2qp\n\tB\nB")
    assert nodes is not None

    assert [node["summary"] for node in nodes] == ["A", "B", "B"]
    assert nodes[0]["depends_on"] == [nodes[1]["ref"], "k7m2qp"]
    assert nodes[1]["parent_ref"] == nodes[0]["ref"]
