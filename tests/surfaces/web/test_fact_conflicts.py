"""Two people on one fact: the second sees both versions and chooses; a change of another fact is no conflict."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from groundplan.kernel.errors import Forbidden, NotFound
from tests.engines import Engine, person
from tests.surfaces.http.client import Reply
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import begin, read_fact, submit

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
INPUTS = [
    {"pointer": "/owner", "label": "Owner", "valueKind": "string", "value": "The council"},
    {"pointer": "/pump", "label": "Pump", "valueKind": "enum", "options": ["hand", "foot", "solar"], "value": "foot"},
    {"pointer": "/size", "label": "Size", "valueKind": "number", "value": 3},
]


def write_facts(browser: Browser, engine: Engine) -> str:
    """Write facts into a shared draft, log in, and return the id of the draft."""
    begin(browser, engine)
    run: str = engine.session("ada").call("context.create_draft", scopeId="atlas", ownership="shared").run.id
    edit(
        engine,
        run,
        inputs=INPUTS,
        constraints=[{"key": "walk", "label": "Way", "value": 10}],
        sources=[{"kind": "manual", "title": "Register", "uri": "shelf"}],
        artifacts=[{"type": "report", "title": "A report", "payload": {"a": 1}}],
    )
    return run


def edit(engine: Engine, run: str, **changes: object) -> None:
    engine.session("ada").call("context.edit", runId=run, **changes)


def read_form(page: str, form: str) -> dict[str, str]:
    """Return the hidden fields of a form."""
    text = page[page.index(f'id="{form}"') :]
    return {name: html.unescape(value) for name, value in HIDDEN.findall(text[: text.index("</form>")])}


def open_form(browser: Browser, path: str, form: str) -> dict[str, str]:
    return read_form(browser.get(path).body.decode(), form)


def send(browser: Browser, path: str, form: dict[str, str], **typed: str) -> Reply:
    return browser.submit(path, {**form, **{name.replace("__", "."): value for name, value in typed.items()}})


def test_a_changed_fact_shows_both_values_and_the_second_try_saves_mine_over_it(
    browser: Browser, engine: Engine
) -> None:
    run = write_facts(browser, engine)
    path = f"/p/atlas/facts?run={run}&fact=/owner"
    form = open_form(browser, path, "value")
    edit(engine, run, inputs=[{"pointer": "/owner", "value": "The <village>"}])
    refused = send(browser, path, form, inputs__0__value="The school")
    page = refused.body.decode()

    assert refused.status == 409
    assert "<b>Now:</b> The &lt;village&gt;" in page
    assert 'value="The school"' in page
    assert "Take theirs" in page
    assert read_fact(engine, run, "/owner").value_string == "The <village>"
    assert send(browser, path, read_form(page, "value"), inputs__0__value="The school").status == 303
    assert read_fact(engine, run, "/owner").value_string == "The school"


def test_a_chosen_value_in_conflict_is_shown_beside_the_present_one(browser: Browser, engine: Engine) -> None:
    run = write_facts(browser, engine)
    path = f"/p/atlas/facts?run={run}&fact=/pump"
    form = open_form(browser, path, "value")
    edit(engine, run, inputs=[{"pointer": "/pump", "value": "hand"}])
    page = send(browser, path, form, inputs__0__valueEnum="solar").body.decode()

    assert "<b>Now:</b> hand" in page
    assert '<option value="solar" selected>' in page


def test_changes_of_other_facts_do_not_stop_a_person_from_saving(browser: Browser, engine: Engine) -> None:
    run = write_facts(browser, engine)
    path = f"/p/atlas/facts?run={run}&fact=/owner"
    form = open_form(browser, path, "value")
    edit(engine, run, inputs=[{"pointer": "/size", "value": 4}])

    assert send(browser, path, form, inputs__0__value="The school").status == 303
    assert read_fact(engine, run, "/owner").value_string == "The school"


@pytest.mark.parametrize(
    ("query", "form", "field", "change"),
    [
        ("constraint=walk", "value", "constraints.0.value", {"constraints": [{"key": "walk", "value": 12}]}),
        ("source={source}", "source-edit", "sources.0.title", {"sources": [{"id": "{source}", "title": "Theirs"}]}),
        (
            "artifact={artifact}",
            "artifact-edit",
            "artifacts.0.title",
            {"artifacts": [{"id": "{artifact}", "title": "Theirs"}]},
        ),
    ],
)
def test_constraints_sources_and_artifacts_have_conflicts_too(
    browser: Browser, engine: Engine, query: str, form: str, field: str, change: dict[str, list[dict[str, object]]]
) -> None:
    run = write_facts(browser, engine)
    view = engine.session("ada").call("context.view", scopeId="atlas", runId=run)
    ids = {"source": next(iter(view.sources_by_id)), "artifact": view.artifacts_by_type["report"][0].id}
    path = f"/p/atlas/facts?run={run}&{query.format(**ids)}"
    fields = open_form(browser, path, form)
    (part, (row,)) = next(iter(change.items()))
    edit(engine, run, **{part: [{k: v.format(**ids) if isinstance(v, str) else v for k, v in row.items()}]})
    reply = browser.submit(path, {**fields, field: "14"})

    assert reply.status == 409
    assert "<b>Now:</b>" in reply.body.decode()


def test_an_artifact_is_added_changed_and_removed_by_forms(browser: Browser, engine: Engine) -> None:
    run = write_facts(browser, engine)
    path = f"/p/atlas/facts?run={run}"
    add = open_form(browser, path, "add-artifact")
    typed = {"artifacts.0.title": "Plan <b>", "artifacts.0.type": "map", "artifacts.0.payload|json": '{"scale": 5}'}
    assert browser.submit(path, {**add, **typed}).status == 303

    def read() -> Any:
        made = engine.session("ada").call("context.view", scopeId="atlas", runId=run).artifacts_by_type.get("map", [])
        return made[0] if made else None

    made = read()
    path = f"{path}&artifact={made.id}"
    page = browser.get(path).body.decode()
    assert "Plan &lt;b&gt;" in page
    assert "&#34;scale&#34;: 5" in page
    edited = {**read_form(page, "artifact-edit"), "artifacts.0.title": "Map", "artifacts.0.payload|json": "{}"}
    assert browser.submit(path, edited).status == 303
    assert (read().title, read().payload) == ("Map", {})
    refused = browser.submit(path, {**open_form(browser, path, "artifact-edit"), "artifacts.0.payload|json": "[1"})
    assert (refused.status, 'aria-invalid="true"' in refused.body.decode()) == (400, True)
    assert browser.submit(path, open_form(browser, path, "artifact-remove")).status == 303
    assert read() is None


# --- Commits ---


def commit_first_facts(browser: Browser, engine: Engine, **given: object) -> None:
    run = write_facts(browser, engine)
    engine.session("ada").call("context.commit", runId=run, **given)


def begin_draft(engine: Engine, owner: str) -> str:
    """Return a new draft with another owner of the site."""
    run: str = engine.session("ada").call("context.create_draft", scopeId="atlas", ownership="shared").run.id
    edit(engine, run, inputs=[{"pointer": "/owner", "value": owner}])
    return run


@pytest.mark.parametrize(("side", "owner"), [("mine", "The school"), ("theirs", "The <village>")])
def test_a_commit_that_contradicts_another_shows_both_values_and_one_button_settles_it(
    browser: Browser, engine: Engine, side: str, owner: str
) -> None:
    commit_first_facts(browser, engine)
    theirs, mine = begin_draft(engine, "The <village>"), begin_draft(engine, "The school")
    path = f"/p/atlas/facts?run={mine}"
    form = open_form(browser, path, "commit")
    engine.session("ada").call("context.commit", runId=theirs)

    refused = send(browser, path, form)

    page = refused.body.decode()
    assert refused.status == 409
    assert "<td>The council</td><td>The &lt;village&gt;</td><td>The school</td>" in page
    assert send(browser, path, read_form(page, f"settle-{side}")).status == 303
    view = engine.session("ada").call("context.view", scopeId="atlas")
    assert (view.run.id, view.inputs_by_pointer["/owner"].value_string) == (mine, owner)


def test_a_draft_that_began_empty_drops_facts_by_a_second_button(browser: Browser, engine: Engine) -> None:
    commit_first_facts(browser, engine)
    run = engine.session("ada").call("context.create_draft", scopeId="atlas", copyFrom="none").run.id
    path = f"/p/atlas/facts?run={run}"

    refused = send(browser, path, open_form(browser, path, "commit"))

    assert refused.status == 409
    assert send(browser, path, read_form(refused.body.decode(), "drop")).status == 303


def test_a_refusal_has_the_words_of_the_operation(browser: Browser, engine: Engine) -> None:
    run = write_facts(browser, engine)
    ada = engine.session("ada")
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    with pytest.raises(Forbidden) as refused:
        engine.session(person("cleo")).call("context.commit", runId=run)

    with Browser(engine.store, actor=person("cleo")) as viewer:
        viewer.log_in()
        reply = submit(viewer, f"/p/atlas/facts?run={run}", "context.commit", runId=run)

    assert reply.status == 403
    assert html.escape(refused.value.message, quote=False) in html.unescape(reply.body.decode())


def test_a_hidden_scope_has_the_words_of_the_operation(browser: Browser, engine: Engine) -> None:
    run = write_facts(browser, engine)
    engine.session("ada").call("project.create", name="borealis")
    engine.session("ada").call("member.add", scopeId="borealis", userId="cleo", role="viewer")
    with pytest.raises(NotFound) as hidden:
        engine.session(person("cleo")).call("context.view", scopeId="atlas")

    with Browser(engine.store, actor=person("cleo")) as stranger:
        stranger.log_in()
        replies = [stranger.get(path) for path in ("/p/atlas/facts", f"/p/atlas/facts?run={run}", "/p/nowhere/facts")]

    assert [reply.status for reply in replies] == [404] * 3
    texts = [html.unescape(reply.body.decode()) for reply in replies]
    assert [hidden.value.message in text for text in texts] == [True, True, False]
    assert hidden.value.message.replace("atlas", "nowhere") in texts[-1]  # so nobody learns which of them exist


def test_what_a_partial_run_lacks_is_filled_in_by_one_form_that_opens_a_draft(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    run = engine.session("ada").call("context.create_draft", scopeId="atlas", ownership="shared").run.id
    edit(engine, run, inputs=[{"pointer": "/owner", "label": "Owner", "valueKind": "string", "required": True}])
    engine.session("ada").call("context.commit", runId=run, allowPartial=True)
    path = "/p/atlas/facts?fact=/owner"

    reply = send(browser, path, open_form(browser, path, "value"), inputs__0__value="The school")

    assert reply.status == 303
    assert reply.headers["location"] == "/p/atlas/facts?run=draft&fact=%2Fowner"
    (draft,) = engine.session("ada").call("context.list", scopeId="atlas", status="draft").runs
    assert read_fact(engine, draft.id, "/owner").value_string == "The school"
    assert read_fact(engine, run, "/owner").value_string is None
