"""The graph of work: a bounded picture with a list twin, what blocks a task, and the critical path."""

from __future__ import annotations

import re
from typing import Any

import pytest

from groundplan.surfaces.web.areas.work_graph import HEIGHT, SHOWN_MAX, WIDTH, draw_graph
from groundplan.work.graph.dependency_graph import GraphLink, GraphNode
from groundplan.work.graph.outline import NodeState
from tests.engines import Engine, person
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_pages import HOSTILE, open_page

PLAN: list[dict[str, Any]] = [
    {"ref": "survey", "summary": "Survey the site"},
    {"ref": "wells", "summary": "Wells", "depends_on": ["survey"]},
    {"ref": "drill", "summary": "Drill", "parent_ref": "wells"},
    {"ref": "pump", "summary": "Install the pump", "depends_on": ["drill", "survey"]},
    {"ref": "test", "summary": "Test the water", "depends_on": ["pump", "drill"]},
]
VERTEX = re.compile(r'<a class="vertex ([^"]*)" id="vertex-(\w+)"(.*?)>', re.DOTALL)
EDGE = re.compile(r'data-id="edge-(\w+)-(\w+)"')


def plan(engine: Engine, nodes: list[dict[str, Any]] = PLAN) -> dict[str, str]:
    """Create a project with tasks, and return their ids by ref."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    return {one.ref: one.id for one in ada.call("work.plan", project="atlas", nodes=nodes).created}


def get(browser: Browser, query: str = "") -> str:
    reply = browser.get(f"/p/atlas/work?view=graph{query}")
    assert reply.status == 200, reply.body.decode()
    return reply.body.decode()


def names(page: str) -> set[str]:
    return {match[1] for match in VERTEX.findall(page)}


def test_the_picture_has_the_links_that_others_do_not_imply_and_says_how_many_they_are(
    browser: Browser, engine: Engine
) -> None:
    ids = plan(engine)
    browser.log_in()
    page = get(browser)

    assert names(page) == {ids[ref] for ref in ("survey", "wells", "drill", "pump", "test")}
    assert set(EDGE.findall(page)) == {
        (ids["survey"], ids["wells"]),
        (ids["survey"], ids["pump"]),
        (ids["drill"], ids["pump"]),
        (ids["pump"], ids["test"]),
    }
    assert "1 implied link is not drawn" in page


def test_the_picture_is_one_stop_of_the_tab_key_and_every_task_says_its_state_and_links(
    browser: Browser, engine: Engine
) -> None:
    ids = plan(engine)
    engine.session("ben").call("work.claim", node_id=ids["survey"])
    browser.log_in()
    page = get(browser)
    cards = {id_: attributes for _, id_, attributes in VERTEX.findall(page)}

    assert [id_ for id_, attributes in cards.items() if 'tabindex="0"' in attributes] == [next(iter(cards))]
    assert 'aria-label="Survey the site, claimed, claimed by ben, waits for 0, holds up 2"' in cards[ids["survey"]]
    assert f'data-right="{ids["pump"]}"' in cards[ids["drill"]]
    assert f'data-left="{ids["pump"]}"' in cards[ids["test"]]


def test_the_selected_task_is_lit_with_its_lineage_only(browser: Browser, engine: Engine) -> None:
    ids = plan(engine)
    browser.log_in()
    classes = {id_: given.split() for given, id_, _ in VERTEX.findall(get(browser, f"&node={ids['test']}"))}

    assert "selected" in classes[ids["test"]]
    assert [ref for ref, id_ in ids.items() if "faded" in classes[id_]] == ["wells"]


def test_the_list_has_the_same_links_as_the_picture(browser: Browser, engine: Engine) -> None:
    plan(engine)
    browser.log_in()
    page = get(browser)
    row = page[page.index("<tbody data-list>") :]
    row = row[row.index("Test the water</a> <code") :]
    words = re.sub(r"<[^>]+>|\s+", " ", row[: row.index("</tr>")])

    assert re.search(r"Install the pump *, +Drill +implied|Drill +implied *, +Install the pump", words), words
    assert re.search(r"Holds up: +nothing", words)


def test_a_large_plan_is_drawn_in_part_with_exact_counts_and_a_way_to_the_rest(
    browser: Browser, engine: Engine
) -> None:
    many = [{"ref": f"n{n}", "summary": f"Task {n}", "depends_on": ["hub"]} for n in range(200)]
    ids = plan(engine, [{"ref": "hub", "summary": "Hub"}, *many])
    browser.log_in()
    page = get(browser)

    assert len(names(page)) == SHOWN_MAX
    left = 200 - (SHOWN_MAX - 1)
    assert f"{left} more tasks are blocked" in page
    assert '<a href="/p/atlas/work?filter=blocked">list them all</a>' in page
    assert f"{left} not drawn" in page
    assert f"around={ids['hub']}" in page
    assert ids["n199"] in names(get(browser, f"&node={ids['n199']}"))  # a selected task is always drawn


@pytest.mark.parametrize(("ref", "expected"), [("test", "Drill"), ("drill", "Survey the site")])
def test_what_blocks_a_task_is_listed_also_if_a_task_above_it_waits(
    browser: Browser, engine: Engine, ref: str, expected: str
) -> None:
    ids = plan(engine)
    engine.session("ada").call("work.open", project="atlas", policies={"inherit_dependencies": True})
    browser.log_in()
    page = get(browser, f"&show=blockers&node={ids[ref]}")
    listed = page[page.index('id="blockers-title"') : page.index("data-graph>")]

    assert expected in listed
    assert ("It is within" in listed) is (ref == "drill")
    assert 'data-key="b"' in get(browser, f"&node={ids[ref]}")


def test_a_task_that_nothing_blocks_says_so(browser: Browser, engine: Engine) -> None:
    ids = plan(engine)
    browser.log_in()

    for ref in ("survey", "drill"):  # tasks do not inherit dependencies unless a policy says so
        assert "No open task blocks it." in get(browser, f"&show=blockers&node={ids[ref]}")


def test_the_critical_path_is_a_list_and_a_picture_of_its_tasks(browser: Browser, engine: Engine) -> None:
    ids = plan(engine)
    engine.session("ada").call("work.plan", project="atlas", nodes=[{"ref": "aside", "summary": "Aside"}])
    browser.log_in()
    page = get(browser, "&show=path")
    analysis = engine.session("ada").call("work.analyse", project="atlas", what="critical_path")
    listed = re.findall(r'data-id="step-(\w+)"', page)

    assert listed == [row.id for row in analysis.rows]
    assert {ids["survey"], ids["pump"], ids["test"]} <= names(page) == set(listed)
    assert f"{analysis.total} long" in page


def test_a_branch_and_a_plan_without_links_have_their_own_pictures(browser: Browser, engine: Engine) -> None:
    ids = plan(engine)
    ada = engine.session("ada")
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Alone"}])
    ada.call("project.create", name="empty")
    browser.log_in()

    assert names(get(browser, f"&branch={ids['wells']}")) == {ids["wells"], ids["survey"]}
    assert "No task waits for another" in open_page(browser, "/p/empty/work?view=graph").text
    for query in ("&around=zzzzzz", "&branch=zzzzzz"):
        assert browser.get(f"/p/atlas/work?view=graph{query}").status == 404


def test_a_hostile_title_is_text_in_the_picture_and_a_viewer_sees_no_form(engine: Engine) -> None:
    nodes: list[dict[str, Any]] = [
        {"ref": "a", "summary": HOSTILE},
        {"ref": "b", "summary": "b \u202e" + "x" * 4000, "depends_on": ["a"]},
    ]
    ids = plan(engine, nodes)
    engine.session("ada").call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    with Browser(engine.store, actor=person("cleo")) as browser:
        browser.log_in()
        page = open_page(browser, f"/p/atlas/work?view=graph&node={ids['b']}&show=blockers")

    assert page.names.count("script") == 1
    assert HOSTILE in page.text
    assert page.operations == []


def test_no_card_lies_on_another_and_links_lead_to_the_right() -> None:
    nodes = [
        GraphNode(id=f"n{n}", summary="x", state=NodeState.READY, waits_for=0, waits_for_open=0, holds_up=0)
        for n in range(40)
    ]
    links = [GraphLink(f"n{n}", f"n{n // 3}") for n in range(1, 40)]
    drawing = draw_graph(nodes, links)
    boxes = {task.node.id: task.box for task in drawing.tasks}

    for a in boxes.values():
        assert not any(a != b and abs(a.x - b.x) < WIDTH and abs(a.y - b.y) < HEIGHT for b in boxes.values())
    assert all(boxes[link.waits_for].x < boxes[link.node].x for link in links)
    assert draw_graph(nodes, links) == drawing


def test_each_column_of_the_board_leads_to_its_whole_list_with_an_exact_count(browser: Browser, engine: Engine) -> None:
    ids = plan(engine, [{"ref": f"n{n}", "summary": f"Task {n}"} for n in range(60)])
    browser.log_in()
    board = open_page(browser, "/p/atlas/work?view=board&columns=status")
    (link,) = [one for one in board.links if "status=" in one and "view=" not in one]
    assert re.search(r"\b10 more in ", board.text)
    first = open_page(browser, link)
    assert re.search(r"\b60 found", first.text)
    (following,) = [one for one in first.links if "cursor=" in one]
    second = open_page(browser, following)
    seen = {one for page in (first, second) for one in page.links if "node=" in one}

    assert {one.partition("node=")[2][:6] for one in seen} == set(ids.values())
    assert "status=" not in open_page(browser, "/p/atlas/work?view=board").text
    assert 'role="alert"' in browser.get("/p/atlas/work?status=nonsense").body.decode()
    assert open_page(browser, f"{link}&cursor=x").names.count("h1") == 1
