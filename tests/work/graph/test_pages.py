"""Pages of a query: each node once, whatever changes in between, and each page within its limits."""

from __future__ import annotations

import string
from itertools import product, repeat
from typing import Any

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.engines import Engine
from tests.proof import scaled
from tests.work.graph.random_project import RandomProject, find_expected, make_random_project, pages

SORTS = ("readiness", "depth", "recent", "created")


@pytest.fixture
def project(engine: Engine) -> RandomProject:
    return make_random_project(engine, 7)


def code_of(session: Session, **query: Any) -> str:
    with pytest.raises(GroundplanError) as refused:
        session.call("work.query", **{"project": "atlas", **query})
    assert refused.value.status == 400
    return refused.value.code


FILTERS: tuple[dict[str, Any], ...] = ({}, {"text": "log"}, {"is_leaf": True})


@pytest.mark.proof
def test_the_pages_of_any_size_are_the_whole_list(project: RandomProject) -> None:
    nodes = project.nodes()
    for sort, filter_, size in product(SORTS, FILTERS, (scaled(3, 1), 7, 100)):
        wanted = [node.id for node in find_expected(nodes, filter_, sort)]
        answers = list(pages(project.ada, limits=repeat(size), project="atlas", filter=filter_, sort=sort))
        assert [node.id for answer in answers for node in answer.nodes] == wanted
        assert [len(answer.nodes) for answer in answers[:-1]] == [size] * (len(answers) - 1)


@pytest.mark.proof
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("filter_", [{}, {"text": "log"}], ids=["all", "text"])
def test_nodes_that_stay_as_they_are_appear_once_while_others_change(
    project: RandomProject, sort: str, filter_: dict[str, Any]
) -> None:
    root = project.root
    size = scaled(10, 6) if not filter_ else 6
    before = [node.id for node in find_expected(project.nodes(), filter_, sort)]
    seen: list[str] = []
    touched: set[str] = set()
    page = project.ada.call("work.query", project="atlas", filter=filter_, sort=sort, limit=size)
    while True:
        seen += [node.id for node in page.nodes]
        if not page.next_cursor:
            break
        project.clock.move(milliseconds=1)
        # A node of an earlier page, one of a later page, and a new one.
        for node_id in (page.nodes[-1].id, next((one for one in before if one not in seen), None)):
            if node_id is not None and node_id != before[0]:
                project.ada.call("work.update", updates=[{"node_id": node_id, "properties": {"priority": len(seen)}}])
                touched.add(node_id)
        made = project.ada.call(
            "work.plan", project="atlas", nodes=[{"ref": "a", "summary": "login", "properties": {}}]
        )
        touched |= {made.created[0].id, root}
        page = project.ada.call(
            "work.query", project="atlas", filter=filter_, sort=sort, limit=size, cursor=page.next_cursor
        )
    untouched = [node_id for node_id in before if node_id not in touched]
    assert len(untouched) > 5
    assert [node_id for node_id in seen if node_id not in touched] == untouched


def test_a_cursor_goes_on_with_another_size_and_another_name_of_the_project(project: RandomProject) -> None:
    first = project.ada.call("work.query", project="atlas", sort="created", limit=5)
    second = project.ada.call(
        "work.query", project=project.root, sort="created", limit=100, lean=True, cursor=first.next_cursor
    )
    wanted = find_expected(project.nodes(), {}, "created")
    assert [node.id for node in [*first.nodes, *second.nodes]] == [node.id for node in wanted]


def test_a_cursor_is_of_one_query_and_one_caller(project: RandomProject) -> None:
    query: dict[str, Any] = {"filter": {"is_leaf": True}, "sort": "recent", "limit": 2}
    cursor = project.ada.call("work.query", project="atlas", **query).next_cursor
    others: list[dict[str, Any]] = [
        {"filter": {"is_leaf": False}},
        {"filter": {"is_leaf": True, "claimed_by": None}},
        {"filter": None},
        {"sort": "depth"},
        {"project": "neighbour"},
    ]
    assert {code_of(project.ada, **{**query, "cursor": cursor, **other}) for other in others} == {"invalid_cursor"}
    assert code_of(project.ben, **query, cursor=cursor) == "invalid_cursor"


def test_a_cursor_with_any_character_altered_is_refused(project: RandomProject) -> None:
    for sort in SORTS:
        cursor = project.ada.call("work.query", project="atlas", sort=sort, limit=2).next_cursor
        altered = [cursor[:at] + chr(ord(char) ^ 1) + cursor[at + 1 :] for at, char in enumerate(cursor)]
        altered += [cursor[:-1], cursor[1:], f"{cursor}A", "1", "ü", string.printable.strip()]
        assert {code_of(project.ada, sort=sort, cursor=wrong) for wrong in altered} == {"invalid_cursor"}


def test_a_page_keeps_the_callers_cap_and_the_rest_follows(project: RandomProject) -> None:
    capped = Session(project.store, local_actor("ada"), preferences=Preferences(answer_tokens_max=600))
    for sort in SORTS:
        answers = list(pages(capped, limits=repeat(100), project="atlas", sort=sort))
        assert len(answers) > 2
        assert max(count_tokens(encode(answer)) for answer in answers) <= 600
        wanted = [node.id for node in find_expected(project.nodes(), {}, sort)]
        assert [node.id for answer in answers for node in answer.nodes] == wanted
        assert {answer.total for answer in answers} == {len(wanted)}


def test_a_node_that_is_larger_than_the_cap_goes_out_alone(project: RandomProject) -> None:
    large = [{"ref": str(at), "summary": "xxxx", "properties": {"note": "y" * 4000}} for at in range(3)]
    project.ada.call("work.plan", project="atlas", nodes=large)
    for cap in (100, 200, 300):
        capped = Session(project.store, local_actor("ada"), preferences=Preferences(answer_tokens_max=cap))
        answers = list(pages(capped, limits=repeat(100), project="atlas", filter={"text": "xxxx"}))
        assert [len(answer.nodes) for answer in answers] == [1, 1, 1]
        assert [node.left_out for answer in answers for node in answer.nodes] == [{"properties": 1}] * 3
