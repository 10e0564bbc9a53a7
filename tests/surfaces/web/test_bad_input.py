"""What goes wrong in practice: hostile text on every screen, a form sent twice or too late, names that are too long."""

from __future__ import annotations

import html
import re

from groundplan.surfaces.web.pages import AREAS
from tests.engines import Engine
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_pages import HOSTILE, fill, open_page

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
LONG_NAME = "x" * 4_096


def read_form(browser: Browser, path: str, form: str) -> dict[str, str]:
    """Return the hidden fields of a form on a page."""
    page = browser.get(path).body.decode()
    text = page[page.index(f'id="{form}"') :]
    return {name: html.unescape(value) for name, value in HIDDEN.findall(text[: text.index("</form>")])}


def fill_every_field(engine: Engine, text: str) -> tuple[str, str, str, str]:
    """Write a text into every field that a page shows; return ids of a task, a run, a source and an artifact."""
    task = fill(engine, text)
    ada = engine.session("ada")
    ada.call("work.update", updates=[{"node_id": task, "state": text, "properties": {text: text}}])
    ada.call("work.claim", node_id=task)
    ada.call("work.plan", project="atlas", nodes=[{"ref": "c", "summary": text, "parent_ref": task}], decision=text)
    run = ada.call("context.list", scopeId="atlas").runs[0].id
    source = {"kind": "url", "title": text, "uri": f"javascript:{text}", "excerpt": text}
    made = ada.call(
        "context.edit",
        runId=run,
        sources=[source],
        inputs=[
            {"pointer": "/b", "label": text, "domain": text, "valueKind": "enum", "options": [text], "value": text},
            {"pointer": "/c", "label": text, "domain": text, "valueKind": "json", "value": {text: [text]}},
        ],
        constraints=[{"key": "k", "label": text, "domain": text, "value": text}],
        artifacts=[{"type": text, "title": text, "payload": {text: text}}],
    )
    other = ada.call("context.create_draft", scopeId="atlas", copyFrom=run).run.id
    ada.call("context.edit", runId=other, inputs=[{"pointer": "/b", "label": f"{text} again"}])
    ada.call("purpose.record", project="atlas", decisions=[{"text": text, "rationale": text}])
    ada.call("token.create", kind="agent", name="builder", role="editor", label=text)
    return task, run, made.sources[0].id, made.artifacts[0].id


def test_stored_text_is_text_on_every_screen(browser: Browser, engine: Engine) -> None:
    task, run, source, artifact = fill_every_field(engine, HOSTILE)
    browser.log_in()
    work = [f"view={view}&node={task}" for view in ("tree", "graph", "board", "board&columns=status")]
    work += [f"text=coast&node={task}", "status=ACTIVE", f"view=graph&show=path&node={task}", f"open={task}"]
    work += [f"view=graph&show=blockers&node={task}", f"node={task}&pick=wait&find=draw", f"by={task}&evidence=note"]
    facts = [f"run={run}&{query}" for query in ("fact=/a", "fact=/b", "fact=/c", "constraint=k", f"source={source}")]
    facts += [f"run={run}&artifact={artifact}", f"compare={run}"]
    screens = [f"/p/atlas/{area}" for area in AREAS]
    screens += [f"/p/atlas/work?{query}" for query in work] + [f"/p/atlas/facts?{query}" for query in facts]
    screens += ["/p/atlas/members?view=tokens", "/p/atlas/members?view=policies", "/p/atlas/search?text=coast"]
    screens += [f"/p/atlas/history?subject={task}", "/p/atlas/plan?view=list&key=G1"]
    for screen in screens:
        page = open_page(browser, screen)
        assert page.names.count("script") == 1, screen  # the script of the page itself
        assert not [link for link in page.links if link.lower().strip().startswith("javascript")], screen


def test_a_form_that_is_sent_twice_has_one_effect(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    browser.log_in()
    form = {**read_form(browser, "/p/atlas/work", "plan"), "nodes|outline": "Only once"}
    replies = [browser.submit("/p/atlas/work", form) for _ in range(2)]

    assert [reply.status for reply in replies] == [303, 303]
    assert engine.session("ada").call("work.query", project="atlas", filter={"text": "Only once"}).total == 1
    other = {**form, "nodes|outline": "Something else"}
    assert browser.submit("/p/atlas/work", other).status == 409  # it is not lost silently
    assert read_form(browser, "/p/atlas/work", "plan")["op_id"] != form["op_id"]
    path = f"/p/atlas/work?node={task}"
    claim = read_form(browser, path, "claim")
    assert [browser.submit(path, claim).status for _ in range(2)] == [303, 303]


def test_a_token_that_is_created_by_a_form_sent_twice_is_one(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()
    path = "/p/atlas/members?view=tokens"
    form = {**read_form(browser, path, "token"), "kind": "agent", "name": "builder", "role": "viewer"}
    pages = [browser.submit(path, form).body.decode() for _ in range(2)]

    assert "gpt_" in pages[0]
    assert "gpt_" not in pages[1]
    assert "sent twice" in pages[1]


def test_after_a_resolve_the_back_button_shows_the_present_and_its_old_form_adds_nothing(
    browser: Browser, engine: Engine
) -> None:
    task = fill(engine)
    browser.log_in()
    path = f"/p/atlas/work?node={task}"
    form = {**read_form(browser, path, "resolve"), "updates.0.add_evidence.0.ref": "walked twice"}
    form["updates.0.add_evidence.0.type"] = "note"
    reply = browser.submit(path, form)
    assert (reply.status, reply.headers["location"]) == (303, path)  # so there is no form to send in the history
    page = open_page(browser, path)
    assert "Reopen" in page.text
    assert browser.get(path).headers["cache-control"] == "private, no-store"
    assert browser.submit(path, form).status == 303  # the page of before, kept by the browser

    evidence = engine.session("ada").call("work.context", node_id=task, lean=False).node.evidence
    assert [one.ref for one in evidence].count("walked twice") == 1


def test_a_form_of_a_login_that_was_revoked_leads_to_the_login_and_changes_nothing(
    browser: Browser, engine: Engine
) -> None:
    task = fill(engine)
    browser.log_in()
    path = f"/p/atlas/work?node={task}"
    form = {**read_form(browser, path, "edit"), "updates.0.summary": "Too late"}
    cookies = dict(browser.cookies)
    assert browser.submit("/logout", {"csrf": form["csrf"]}).status == 303
    browser.cookies = cookies
    reply = browser.submit(path, form)

    assert (reply.status, reply.headers["location"]) == (303, "/login")
    assert engine.session("ada").call("work.context", node_id=task).node.summary == "Walk the coast x"


def test_a_file_name_of_4096_characters_is_kept_or_refused_at_its_field(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    browser.log_in()
    path = f"/p/atlas/work?node={task}"
    form = read_form(browser, path, "section")
    reply = browser.submit(path, {**form, "title": "Context Files", "content|text": f"- {LONG_NAME}"})
    assert reply.status == 303
    assert LONG_NAME in open_page(browser, path).text
    for name in (LONG_NAME, LONG_NAME * 2):
        links = {"operation": "work.update", "form": "files", "csrf": form["csrf"], "updates.0.node_id": task}
        reply = browser.submit(path, {**links, "updates.0.add_context_links|lines": name})
        assert reply.status in (303, 400), reply.body.decode()
        if reply.status == 400:
            assert 'role="alert"' in reply.body.decode()


def test_a_page_says_the_time_of_the_server_for_a_browser_whose_clock_is_wrong(
    browser: Browser, engine: Engine
) -> None:
    fill(engine)
    browser.log_in()
    page = browser.get("/p/atlas/history").body.decode()
    now = re.search(r'data-now="([^"]+)"', page)
    assert now is not None
    times = re.findall(r'<time datetime="([^"]+)"', page)

    assert times
    assert max(times) <= now[1]
