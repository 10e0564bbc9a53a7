"""Two people on one fact: the second sees both versions and chooses; a change of another fact is no conflict."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from tests.engines import Engine
from tests.surfaces.http.client import Reply
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import begin, read_fact

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
