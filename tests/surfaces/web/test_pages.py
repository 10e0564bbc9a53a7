"""Every area of a project is a page: for every role, empty and full, with hostile text, and only with a login."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from groundplan.surfaces.web.pages import AREAS
from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser

HOSTILE = """<script>alert(1)</script>"'`{{ 7*7 }}&lt;javascript:alert(1)"""
NODES: list[dict[str, Any]] = [
    {"ref": "a", "summary": "Walk the coast"},
    {"ref": "b", "summary": "Draw it", "depends_on": ["a"]},
]


NO_FORMS = dict.fromkeys(AREAS, 0)
FORMS_OF_EDITORS = {
    **NO_FORMS,
    **{"home": 2, "plan": 3, "work": 21, "knowledge": 2, "facts": 7, "inbox": 2, "throughline": 2},
}


class Tags(HTMLParser):
    """The elements of a page, its text, and the operations of its forms."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""
        self.operations: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        given = dict(attrs)
        # The content policy forbids both, so they would be dead.
        assert not [name for name in given if name.startswith("on") or name == "style"]
        if given.get("name") == "operation":
            self.operations.append(given["value"] or "")
        if tag == "a":
            self.links.append(given["href"] or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def open_page(browser: Browser, path: str) -> Tags:
    reply = browser.get(path)
    assert reply.status == 200, reply.body.decode()
    return Tags(reply.body.decode())


def fill(engine: Engine, text: str = "x") -> str:
    """Fill a project in every area, and return the id of a task."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas", goal=f"A map of everything {text}")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    nodes = [{**node, "summary": f"{node['summary']} {text}"} for node in NODES]
    task: str = ada.call("work.plan", project="atlas", nodes=nodes).created[0].id
    evidence = [{"type": "note", "ref": text}]
    ada.call("work.update", updates=[{"node_id": task, "add_evidence": evidence, "properties": {"colour": text}}])
    ada.call("section.add", entityType="TASK", entityId=task, title=text, content=text)
    ada.call("work.update", updates=[{"node_id": task, "add_context_links": [text]}])
    ada.call("purpose.draft", project="atlas")
    ada.call("purpose.edit", project="atlas", operations=[{"op": "add_node", "node_type": "GOAL", "title": text}])
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call(
        "context.edit",
        runId=run,
        inputs=[{"pointer": "/a", "label": text, "required": True, "domain": "d", "valueKind": "string"}],
    )
    ada.call("purpose.record", project="atlas", requests=[{"question": f"Which coast? {text}", "about": ["G1"]}])
    return task


def test_without_a_project_the_first_page_says_how_to_begin(browser: Browser) -> None:
    browser.log_in()

    assert "groundplan project create" in browser.get("/").body.decode()


def test_the_first_page_leads_to_the_project_that_changed_last(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    for name in ("atlas", "über all/es"):
        ada.call("project.create", name=name)
    # Both may have been created in the same millisecond.
    engine.as_owner("UPDATE projects SET updated_at = '2026-01-01T00:00:00.000Z' WHERE name = 'atlas'")
    browser.log_in()
    reply = browser.get("/")

    assert (reply.status, reply.headers["location"]) == (303, "/p/%C3%BCber%20all%2Fes/home")


@pytest.mark.parametrize("area", AREAS)
def test_an_area_of_an_empty_project_says_what_to_do_first(browser: Browser, engine: Engine, area: str) -> None:
    engine.session("ada").call("project.create", name="atlas")
    browser.log_in()
    page = open_page(browser, f"/p/atlas/{area}")

    assert page.names.count("h1") == 1
    assert page.names.count("main") == 1


@pytest.mark.parametrize("area", AREAS)
def test_stored_text_is_text_in_every_area(browser: Browser, engine: Engine, area: str) -> None:
    task = fill(engine, HOSTILE)
    browser.log_in()
    page = open_page(browser, f"/p/atlas/{area}?node={task}")

    assert page.names.count("script") == 1  # the script of the page itself
    assert area in ("knowledge", "members", "search") or HOSTILE in page.text
    assert not [link for link in page.links if link.startswith("javascript")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "ada",
            {
                **NO_FORMS,
                "home": 2,
                "plan": 3,
                "work": 22,  # a note of hers can be taken back
                "knowledge": 2,
                "facts": 7,
                "inbox": 2,
                "members": 5,
                "throughline": 2,
            },
        ),
        (
            "ben",
            FORMS_OF_EDITORS,
        ),
        ("cleo", NO_FORMS),
    ],
)
def test_a_page_offers_only_what_the_role_may_do(engine: Engine, name: str, expected: dict[str, int]) -> None:
    task = fill(engine)
    with Browser(engine.store, actor=person(name)) as browser:
        browser.log_in()
        offered = {area: len(open_page(browser, f"/p/atlas/{area}?node={task}").operations) for area in AREAS}

    assert offered == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ada", {"fact": 13, "constraint": 11, "source": 9, "policies": 12, "tokens": 1, "project": 2}),
        ("ben", {"fact": 13, "constraint": 11, "source": 9, "policies": 0, "tokens": 1, "project": 1}),
        ("cleo", {"fact": 0, "constraint": 0, "source": 0, "policies": 0, "tokens": 1, "project": 0}),
    ],
)
def test_the_views_of_facts_and_members_offer_only_what_the_role_may_do(
    engine: Engine, name: str, expected: dict[str, int]
) -> None:
    fill(engine)
    ada = engine.session("ada")
    run = ada.call("context.list", scopeId="atlas").runs[0].id
    made = ada.call(
        "context.edit",
        runId=run,
        sources=[{"kind": "manual", "title": "S", "uri": "shelf"}],
        constraints=[{"key": "k", "label": "K", "value": 1}],
    )
    paths = {
        "fact": "facts?fact=/a",
        "constraint": "facts?constraint=k",
        "source": f"facts?source={made.sources[0].id}",
        "policies": "members?view=policies",
        "tokens": "members?view=tokens",  # everybody may create tokens for themselves; a login ends by logging out
        "project": "members?view=project",
    }
    with Browser(engine.store, actor=person(name)) as browser:
        browser.log_in()
        offered = {view: len(open_page(browser, f"/p/atlas/{path}").operations) for view, path in paths.items()}

    assert offered == expected


def test_a_stranger_sees_that_there_is_no_such_project(engine: Engine) -> None:
    fill(engine)
    engine.session("ada").call("project.create", name="borealis")
    engine.session("ada").call("member.add", scopeId="borealis", userId="finn", role="owner")
    with Browser(engine.store, actor=person("finn")) as browser:
        browser.log_in()
        pages = [browser.get(f"/p/{name}/home") for name in ("atlas", "nothing")]

    assert [page.status for page in pages] == [404, 404]
    assert pages[0].body.replace(b"atlas", b"") == pages[1].body.replace(b"nothing", b"")


def test_nobody_sees_a_page_without_a_login(browser: Browser, engine: Engine) -> None:
    fill(engine)

    for area in AREAS:
        assert browser.get(f"/p/atlas/{area}").headers["location"] == "/login"
    assert browser.get("/p/atlas/files/plan.svg").headers["location"] == "/login"


def test_an_archived_project_is_shown_and_offers_no_change(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    engine.session("ada").call("project.archive", project="atlas")
    browser.log_in()
    page = open_page(browser, f"/p/atlas/work?node={task}")

    assert page.operations == []
    assert "archived" in page.text


def test_the_address_keeps_the_state_of_a_page(browser: Browser, engine: Engine) -> None:
    task = fill(engine)
    browser.log_in()
    page = open_page(browser, f"/p/atlas/work?view=board&node={task}")

    assert re.search(r"Blocked\s*1\b", page.text)
    assert any(f"view=board&node={task}" in link for link in page.links)
    found = open_page(browser, "/p/atlas/work?text=COAST&filter=ready")
    assert "Walk the coast" in found.text
    assert "Draw it" not in found.text


def test_the_tree_opens_where_the_selected_task_is_until_somebody_closes_it(browser: Browser, engine: Engine) -> None:
    fill(engine)
    nodes = [{"ref": "a", "summary": "North"}, {"ref": "b", "summary": "Walk the ridge", "parent_ref": "a"}]
    _, ridge = engine.session("ada").call("work.plan", project="atlas", nodes=nodes).created
    browser.log_in()
    rows = re.compile(r'role="treeitem".*?</li>', re.DOTALL)

    def list_rows(query: str) -> str:
        return "".join(rows.findall(browser.get(f"/p/atlas/work?{query}").body.decode()))

    assert "Walk the ridge" not in list_rows("")
    shown = list_rows(f"node={ridge.id}")
    assert "Walk the ridge" in shown
    close = re.search(r'data-twist href="([^"]+)" aria-label="Close North"', shown)
    assert close is not None
    assert "Walk the ridge" not in list_rows(close[1].partition("?")[2].replace("&amp;", "&"))


def test_a_claimed_task_is_in_progress_and_not_ready(browser: Browser, engine: Engine) -> None:
    fill(engine)
    ada = engine.session("ada")
    ready = ada.call("work.outline", project="atlas", lane="ready").total
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "One more"}])
    ada.call("work.claim", project="atlas")
    browser.log_in()

    assert f"{ready} ready" in open_page(browser, "/p/atlas/work").text
    assert re.search(rf"Ready now\s*{ready}\s", open_page(browser, "/p/atlas/home").text)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("property=colour:+x", 1),
        ("property=colour:", 2),
        ("evidence=note", 1),
        ("by=nobody", 0),
        ("filter=unclaimed", 3),
        ("under={root}", 2),
    ],
)
def test_filters_with_values_are_in_the_address(browser: Browser, engine: Engine, query: str, found: int) -> None:
    fill(engine)
    root = engine.session("ada").call("project.list").projects[0].id
    browser.log_in()
    page = open_page(browser, f"/p/atlas/work?{query.format(root=root)}")

    assert re.search(rf"\b{found} found", page.text)


def test_a_filter_that_names_no_task_says_so_on_the_page(browser: Browser, engine: Engine) -> None:
    fill(engine)
    browser.log_in()

    assert "zzzzzz" in open_page(browser, "/p/atlas/work?under=zzzzzz").text
    assert open_page(browser, "/p/atlas/work?text=a&cursor=nonsense").names.count("h1") == 1


def test_the_picture_runs_nothing_and_an_unknown_page_is_not_found(browser: Browser, engine: Engine) -> None:
    fill(engine, HOSTILE)
    browser.log_in()
    picture = browser.get("/p/atlas/files/plan.svg?show=1")

    assert (picture.status, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert "sandbox" in picture.headers["content-security-policy"]
    assert b"<script" not in picture.body
    for missing in (
        "/p/atlas/nothing",
        "/p/nothing/home",
        "/p/nothing/files/plan.svg",
        "/p/atlas/files/plan.exe",
        "/p/atlas/work?node=zzzzzz",
    ):
        assert browser.get(missing).status == 404


def test_no_page_waits_for_a_writer(browser: Browser, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that wrote would take the lock of its project on each visit."""
    task = fill(engine)
    engine.session("ada").call("work.update", updates=[{"node_id": task, "summary": "Walk it twice"}])
    event = engine.session("ada").call("event.list", project="atlas", limit=1).events[0].id
    browser.log_in()

    def refuse(*_given: Any, **_options: Any) -> None:
        raise AssertionError("a page wrote")

    monkeypatch.setattr(engine.store, "write", refuse)
    for area in AREAS:
        open_page(browser, f"/p/atlas/{area}?node={task}")
    for path in ("knowledge?view=coverage", "members?view=tokens", "members?view=project", f"history?event={event}"):
        open_page(browser, f"/p/atlas/{path}")
    assert open_page(browser, "/p/atlas/history").operations == ["briefing.undo"]


def test_a_dropped_task_has_a_sign_a_column_and_a_count_of_its_own_and_is_no_progress(
    browser: Browser, engine: Engine
) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    nodes: list[dict[str, Any]] = [
        {"ref": "trip", "summary": "Trip"},
        *({"ref": x, "summary": x, "parent_ref": "trip"} for x in "abc"),
    ]
    nodes.append({"ref": "waiting", "summary": "Waits", "depends_on": ["a"]})
    ids = {one.ref: one.id for one in ada.call("work.plan", project="atlas", nodes=nodes).created}
    browser.log_in()

    assert "1 task waits for it" in open_page(browser, f"/p/atlas/work?node={ids['a']}").text
    ada.call("work.restructure", operations=[{"op": "drop", "node_id": ids["a"], "reason": "no time"}])
    ada.call("work.update", updates=[{"node_id": ids["b"], "resolved": True}])

    home, tree = (open_page(browser, f"/p/atlas{path}") for path in ("/home", f"/work?node={ids['trip']}"))
    assert re.search(r"Resolved\s*1 of 4\b", home.text)
    assert re.search(r"Dropped\s*1\b", home.text)
    assert re.search(r"1 of 4 resolved\s*·\s*1 dropped", tree.text)
    assert re.search(r"Trip\s*1/2", tree.text)  # b, of b and c
    assert re.search(r"Within it\s*a\s*dropped\s*b\s*resolved", tree.text)
    board = open_page(browser, "/p/atlas/work?view=board").text
    assert re.search(r"Resolved\s*1\b.*Dropped\s*1\b", board, re.DOTALL)
    assert re.search(r"1 found\b.*\ba\b.*dropped", open_page(browser, "/p/atlas/work?filter=dropped").text, re.DOTALL)
