"""graph_onboard: a summary of any project for a newcomer, in at most 600 tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.kernel.actors import local_actor
from groundplan.kernel.answers import count_tokens
from groundplan.kernel.errors import NotFound
from groundplan.session import Session
from tests.engines import Engine, person
from tests.manual_clock import ManualClock
from tests.proof import scaled
from tests.work.graph.plans import add_children, encode_text, plan, session_with_cap

TOKENS_MAX = 600


@pytest.fixture
def ada(engine: Engine) -> Session:
    return engine.session("ada")


def resolve(session: Session, *nodes: str, **call: Any) -> None:
    session.call("work.update", updates=[{"node_id": node, "resolved": True} for node in nodes], **call)


def texts(answer: Any) -> Iterator[tuple[str, str]]:
    """Return all pairs of id and summary in an answer, and the goal."""
    match answer:
        case dict():
            if "summary" in answer:
                yield answer["id"], answer["summary"]
            if "goal" in answer:
                yield answer["id"], answer["goal"]
            for value in answer.values():
                yield from texts(value)
        case list():
            for value in answer:
                yield from texts(value)


def test_a_newcomer_learns_goal_state_and_next_steps_in_one_call(engine: Engine, ada: Session) -> None:
    ada.call("work.open", project="atlas", goal="A map that every walker trusts")
    ids = plan(
        ada,
        "atlas",
        {"ref": "survey"},
        {"ref": "north", "parent_ref": "survey", "properties": {"priority": 2}},
        {"ref": "south", "parent_ref": "survey", "properties": {"priority": 1}},
        {"ref": "draw", "depends_on": ["survey"]},
        {"ref": "buy paper"},
        {"ref": "buy ink"},
    )
    resolve(ada, ids["buy paper"], decision="the shop had it")
    dropped = {"op": "drop", "node_id": ids["buy ink"], "reason": "there is some"}
    engine.session("ben").call("work.restructure", operations=[dropped])
    ada.call("work.claim", project="atlas", claim=True)

    found = msgspec.to_builtins(ada.call("work.onboard", project="atlas"))

    project = found.pop("project")
    assert (project["name"], project["goal"]) == ("atlas", "A map that every walker trusts")
    assert found["counts"] == {"total": 7, "resolved": 2, "unresolved": 5, "blocked": 1, "actionable": 2, "dropped": 1}
    assert [one["summary"] for one in found["next"]] == ["north", "south"]
    assert [one["summary"] for one in found["my_claims"]] == ["north"]
    assert found["my_claims"][0]["claimed_at"]
    assert found["blocked"] == [
        {"id": ids["draw"], "summary": "draw", "waits_for": [{"id": ids["survey"], "summary": "survey"}]}
    ]
    assert found["tree"] == [
        {"id": ids["survey"], "summary": "survey", "open_children": 2},
        {"id": ids["draw"], "summary": "draw"},
        {"id": ids["buy paper"], "summary": "buy paper", "resolved": True, "outcome": "done"},
        {"id": ids["buy ink"], "summary": "buy ink", "resolved": True, "outcome": "dropped"},
    ]
    assert [(one["action"], one["summary"], one["agent"], one.get("decision")) for one in found["recent"]] == [
        ("dropped", "buy ink", "ben", None),
        ("resolved", "buy paper", "ada", "the shop had it"),
    ]
    assert found.keys() == {"counts", "next", "my_claims", "blocked", "tree", "recent"}


def test_what_is_next_is_what_graph_next_offers_to_this_caller(engine: Engine, ada: Session) -> None:
    ada.call("work.open", project="atlas")
    plan(ada, "atlas", *({"ref": f"n{number}", "properties": {"priority": number}} for number in range(6)))
    ada.call("work.claim", project="atlas", claim=True, count=2)

    for name in ("ada", "ben"):
        session = engine.session(name)
        offered = [one.node.id for one in session.call("work.next", project="atlas", count=3).nodes]
        found = session.call("work.onboard", project="atlas")
        assert [one.id for one in found.next] == offered
        assert len(found.my_claims) == (2 if name == "ada" else 0)


def test_a_node_held_back_by_an_ancestor_says_through_which(ada: Session) -> None:
    ada.call("work.open", project="atlas", policies={"inherit_dependencies": True})
    ids = plan(ada, "atlas", {"ref": "first"}, {"ref": "later", "depends_on": ["first"]})
    below = plan(ada, "atlas", {"ref": "part", "parent_ref": ids["later"]})

    blocked = {one.id: one for one in ada.call("work.onboard", project="atlas").blocked}

    assert blocked[ids["later"]].through is UNSET
    assert blocked[below["part"]].through == ids["later"]
    assert [one.id for one in blocked[below["part"]].waits_for] == [ids["first"]]


def test_the_reason_for_a_change_is_told_once_for_a_whole_batch(ada: Session) -> None:
    ada.call("work.open", project="atlas")
    plan(ada, "atlas", *({"ref": f"n{number}"} for number in range(30)), decision="thirty small steps")

    recent = ada.call("work.onboard", project="atlas").recent

    assert [(one.action, one.decision) for one in recent] == [("created", "thirty small steps")] * 2


def test_a_large_plan_does_not_hide_what_was_done_before_it(ada: Session) -> None:
    ada.call("work.open", project="atlas")
    ids = plan(ada, "atlas", {"ref": "done"})
    resolve(ada, ids["done"])
    plan(ada, "atlas", *({"ref": f"n{number}"} for number in range(1_000)))

    assert [one.id for one in ada.call("work.onboard", project="atlas").recent] == [ids["done"]]


def test_without_a_project_the_only_one_is_meant(ada: Session) -> None:
    ada.call("work.open", project="atlas")

    assert ada.call("work.onboard").project.name == "atlas"


def test_without_a_project_several_are_named_the_latest_first(engine: Engine) -> None:
    clock = ManualClock()
    ada = Session(engine.store_with_clock(clock), local_actor("ada"))
    for name in ("atlas", "borealis", "cetus"):
        ada.call("work.open", project=name, goal=f"goal of {name}")
    clock.move(minutes=1)
    plan(ada, "atlas", {"ref": "a"})

    found = ada.call("work.onboard")

    assert found.projects[0].name == "atlas"
    assert {(one.name, one.summary, one.unresolved, one.actionable) for one in found.projects} == {
        ("atlas", "goal of atlas", 2, 1),
        ("borealis", "goal of borealis", 1, 0),
        ("cetus", "goal of cetus", 1, 0),
    }
    assert "project" in found.hint
    assert found.project is UNSET


def test_where_there_is_no_project_the_way_to_make_one_is_told(ada: Session) -> None:
    found = ada.call("work.onboard")

    assert found.projects == []
    assert "work.open" in found.hint


def test_an_empty_project_says_how_to_begin(ada: Session) -> None:
    ada.call("work.open", project="atlas")

    assert "work.plan" in ada.call("work.onboard").hint


def test_a_member_is_shown_only_projects_they_are_in(engine: Engine, ada: Session) -> None:
    for name in ("atlas", "borealis"):
        ada.call("work.open", project=name)
    ada.call("member.add", scopeId="atlas", userId="ben", role="viewer")
    ben = engine.session(person("ben"))

    assert ben.call("work.onboard").project.name == "atlas"
    with pytest.raises(NotFound):
        ben.call("work.onboard", project="borealis")


def test_an_archived_project_says_that_it_is(ada: Session) -> None:
    ada.call("work.open", project="atlas")
    ada.call("project.archive", project="atlas")

    assert ada.call("work.onboard", project="atlas").project.archived_at is not UNSET
    assert ada.call("work.onboard").projects == []


def test_a_lean_orientation_has_no_empty_and_no_bookkeeping_fields(ada: Session) -> None:
    ada.call("work.open", project="atlas")
    ids = plan(ada, "atlas", {"ref": "a"}, {"ref": "b"})
    resolve(ada, ids["a"])

    found = msgspec.to_builtins(ada.call("work.onboard", project="atlas", lean=True))

    assert found.keys() == {"project", "counts", "next", "tree", "recent"}
    assert found["recent"] == [{"id": ids["a"], "summary": "a", "action": "resolved"}]


NASTY = {
    "plain": "w",
    "quotes": '"',
    "backslashes": "\\",
    "line breaks": "\n",
    "separators": "\N{LINE SEPARATOR}",
    "letters beyond ASCII": "é",
    "letters beyond the first plane": "\N{GRINNING FACE}",
}


@pytest.mark.proof
@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("count", [1, scaled(10, 40)])  # more than any list shows
def test_no_text_makes_it_longer_than_six_hundred_tokens(engine: Engine, kind: str, count: int) -> None:
    char = NASTY[kind]
    long = char * (4_090 // len(char.encode()))
    name = '"' * 255
    ada = engine.session("\\" * 255)
    ada.call("work.open", project=name, goal=f"g{long}")
    refs = [f"n{number}" for number in range(count)]
    ids = plan(
        ada,
        name,
        *({"ref": ref, "summary": f"s{long}"} for ref in refs),
        *({"ref": f"b{ref}", "summary": f"b{long}", "depends_on": refs[:3]} for ref in refs),
        *({"ref": f"d{ref}", "summary": f"d{long}"} for ref in refs),
        decision=f"d{long}",
    )
    ada.call("work.claim", project=name, claim=True, count=count)
    for ref in refs[:6]:
        resolve(ada, ids[f"d{ref}"], decision=f"r{long}")

    for lean in (False, True):
        found = ada.call("work.onboard", lean=lean)
        answer = encode_text(found)
        assert TOKENS_MAX * 0.6 < count_tokens(answer) <= TOKENS_MAX, answer
        assert found.next
        assert not list(texts(msgspec.to_builtins(found)))
        assert found.project.goal_excerpt.startswith("g")
        assert found.project.goal_excerpt.endswith("…")


def test_short_texts_stay_whole_and_long_ones_become_excerpts(ada: Session) -> None:
    ada.call("work.open", project="atlas", goal="A map")
    long = "long " + "x" * 4_000
    ids = plan(ada, "atlas", {"ref": "short"}, {"ref": "long", "summary": long})

    found = ada.call("work.onboard")
    tree = {one.id: one for one in found.tree}

    assert found.project.goal == "A map"
    assert (tree[ids["short"]].summary, tree[ids["short"]].excerpt) == ("short", UNSET)
    assert tree[ids["long"]].summary is UNSET
    assert long.startswith(tree[ids["long"]].excerpt[:-1])
    assert count_tokens(encode_text(found)) > TOKENS_MAX * 0.9  # the budget is used


def test_many_projects_with_long_names_still_fit(ada: Session) -> None:
    for number in range(25):
        ada.call("work.open", project=f"{number:02}" + '"' * 253, goal="g" * 4_000)

    found = ada.call("work.onboard")

    assert count_tokens(encode_text(found)) <= TOKENS_MAX
    assert found.projects
    assert len(found.projects) + found.left_out["projects"] == 25


@pytest.mark.proof
def test_a_wide_project_is_answered_in_bounds_and_says_how_much_is_open(engine: Engine, ada: Session) -> None:
    count = scaled(5_000, 50_000)
    ada.call("work.open", project="atlas", goal="g" * 4_000)
    add_children(engine, "atlas", 1, count, summary="s" * 100)

    found = ada.call("work.onboard")

    assert count_tokens(encode_text(found)) <= TOKENS_MAX
    assert found.counts.total == count + 1
    assert len(found.tree) + found.left_out["tree"] == count
    assert len(found.next) >= 2


@pytest.mark.parametrize("tokens_max", [200, 300, 20_000])
def test_a_smaller_cap_of_the_caller_counts_too(engine: Engine, ada: Session, tokens_max: int) -> None:
    ada.call("work.open", project="atlas", goal="g" * 300)
    plan(ada, "atlas", *({"ref": f"n{number}", "summary": "s" * 100} for number in range(30)))

    answer = encode_text(session_with_cap(engine, tokens_max).call("work.onboard"))

    assert count_tokens(answer) <= min(tokens_max, TOKENS_MAX)


def test_more_claims_than_are_shown_are_counted(engine: Engine, ada: Session) -> None:
    ada.call("work.open", project="atlas")
    plan(ada, "atlas", *({"ref": f"n{number}"} for number in range(40)))
    ada.call("work.claim", project="atlas", claim=True, count=40)

    found = ada.call("work.onboard")

    assert len(found.my_claims) + found.left_out["my_claims"] == 40
