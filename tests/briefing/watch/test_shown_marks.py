"""Marks in answers: their work, their paths, and the words for them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.briefing import watch
from groundplan.briefing import watch as find_marks_module
from groundplan.kernel.actors import Access, local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import NotFound
from groundplan.purpose.graph.paths import GoalSteps
from groundplan.session import Session
from tests.briefing.watch.watch_project import SIZE, Watch
from tests.purpose.client import add_edge, add_node, op


def test_the_work_of_a_mark_is_counted_in_full_and_listed_in_part(atlas: Watch) -> None:
    above, *_ = atlas.plan("above", *(f"above/n{number}" for number in range(40)))
    atlas.link(above, "serves", "AC1")
    atlas.review("refuted")

    (mark,) = atlas.marks()

    assert (len(mark.work), mark.work_total) == (20, 41)
    assert atlas.marks(with_work=False)[0].work_total == 0


def test_many_marks_are_listed_with_one_search_and_each_has_its_path(
    atlas: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 50
    names = ["G1", *(f"n{number}" for number in range(count))]
    atlas.purpose.edit(
        *(add_node("OUTCOME", name, ref=name) for name in names[1:]),
        *(add_edge(later, name) for name, later in pairwise(names)),
        *(op("add_assumption", node=name, assumption_text=name) for name in names[1:]),
    )
    reviews = [{"assumption": f"AS{n + 2}", "status": "at_risk", "reason": "r"} for n in range(count)]
    atlas.purpose.record(reviews=reviews)
    searches = []
    whole = GoalSteps

    def count_searches(*given: Any) -> Any:
        searches.append(given)
        return whole(*given)

    monkeypatch.setattr(watch, "GoalSteps", count_searches)
    for walk in ("trace_assumption", "trace_node"):
        monkeypatch.delattr(watch, walk)  # each would read the whole theory for one mark

    items = atlas.session.call("briefing.inbox", project="atlas", limit=100).items

    assert len(searches) == 1
    found = {one.ref: one.text for one in items if one.kind == "at_risk"}
    assert len(found) == count
    assert "on the way AS2 -> OC3 -> G1" in found["AS2"]


def test_a_long_path_keeps_its_ends(atlas: Watch) -> None:
    names = ["G1", *(f"n{number}" for number in range(60))]
    atlas.purpose.edit(
        *(add_node("OUTCOME", name, ref=name) for name in names[1:]),
        *(add_edge(later, name) for name, later in pairwise(names)),
        *(op("add_assumption", node=name, assumption_text=name) for name in names[1:]),
    )
    keys = [*(f"OC{number + 3}" for number in reversed(range(60))), "G1"]
    for number in (36, 37, 38, 59):
        atlas.review("refuted", f"AS{number + 2}")

    paths = {mark.ref: mark.path for mark in atlas.marks(with_work=False)}

    for number in (36, 37):  # at most 40 entries with the assumption and the goal
        assert paths[f"AS{number + 2}"] == [f"AS{number + 2}", *keys[59 - number :]]
    for number in (38, 59):
        whole = [f"AS{number + 2}", *keys[59 - number :]]
        assert paths[f"AS{number + 2}"] == [*whole[:20], "…", *whole[-20:]]


def test_the_analysis_lists_each_mark_with_the_open_work_it_touches_until_a_decision(atlas: Watch) -> None:
    assert atlas.purpose.check("analysis").marks is UNSET
    above, *below = atlas.plan("above", *(f"above/n{number}" for number in range(30)))
    atlas.commit(size=5)
    atlas.link(above, "serves", "AC1")
    atlas.link(below[0], "rests_on", SIZE)
    atlas.commit(size=6)
    atlas.link(below[1], "refutes", "AS1")

    assumption, fact = atlas.purpose.check("analysis").marks
    cut = atlas.purpose.check("analysis", limit=1)

    assert (assumption.ref, assumption.status, assumption.path) == ("AS1", "refuted", ["AS1", "OC1", "G1"])
    assert (len(assumption.work), assumption.work_total) == (20, 31)
    assert assumption.work[0].path == [above, "AC1", "OP1", "AS1"]
    assert (fact.ref, fact.status, fact.work_total) == (SIZE, "changed", 1)
    assert [(one.id, one.path) for one in fact.work] == [(below[0], [below[0], SIZE])]
    assert ([one.ref for one in cut.marks], cut.left_out["marks"]) == (["AS1"], 1)

    atlas.decide("AS1", SIZE)
    assert atlas.purpose.check("analysis").marks is UNSET


def test_onboarding_names_the_open_work_of_a_mark_in_a_small_project(
    atlas: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = atlas.plan(*(f"n{number}" for number in range(5)))
    for node in nodes:
        atlas.link(node, "serves", "AC1")
    atlas.review("refuted")

    (line,) = atlas.session.call("work.onboard", project="atlas").marks
    monkeypatch.setattr(find_marks_module, "NODES_READ_MAX", 5)  # the root is a node, too
    (without,) = atlas.session.call("work.onboard", project="atlas").marks

    assert line == f"AS1 is refuted, affects G1, OC1, open work {', '.join(nodes[:3])} and 2 more: It rains"
    assert without == "AS1 is refuted, affects G1, OC1: It rains"


def test_one_state_has_the_same_words_everywhere(atlas: Watch) -> None:
    (one,) = atlas.plan("one")
    atlas.link(one, "serves", "AC1")
    atlas.link(one, "refutes", "AS1")

    briefing = atlas.session.call("briefing.brief", node_id=one).briefing
    statuses = [note.status for step in briefing.why for note in step.assumptions or ()]
    (item,) = [item for item in atlas.session.call("briefing.inbox", project="atlas").items if item.ref == "AS1"]

    assert [statuses, [mark.status for mark in briefing.marks]] == [["refuted"], ["refuted"]]
    assert [mark.status for mark in atlas.purpose.check("analysis").marks] == ["refuted"]
    assert item.text.startswith("The assumption AS1 is refuted")
    assert atlas.session.call("work.onboard", project="atlas").marks[0].startswith("AS1 is refuted")


def test_onboarding_names_the_marks_within_its_limit(atlas: Watch) -> None:
    before = atlas.session.call("work.onboard", project="atlas")
    atlas.purpose.edit(
        *(op("add_assumption", node="OC1", assumption_text=f"{number} " + "long " * 300) for number in range(6))
    )
    for number in range(1, 8):
        atlas.review("at_risk", f"AS{number}")

    found = atlas.session.call("work.onboard", project="atlas")

    assert not before.marks
    assert [line.split()[0] for line in found.marks] == ["AS7", "AS6", "AS5"][: len(found.marks)]
    assert len(found.marks) + found.left_out["marks"] == 7
    assert count_tokens(encode(found)) <= 600


def test_a_viewer_sees_the_marks_and_a_stranger_nothing(atlas: Watch) -> None:
    atlas.review("refuted")
    atlas.session.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    cleo = Session(atlas.session.store, local_actor("cleo", access=Access.MEMBERS))

    assert Watch(cleo, atlas.clock).marked() == [("AS1", "refuted")]
    assert cleo.call("work.onboard", project="atlas").marks
    stranger = Session(atlas.session.store, local_actor("mallory", access=Access.MEMBERS))
    with pytest.raises(NotFound):
        stranger.call("work.onboard", project="atlas")
