"""The watch marks what rests on a fact that has changed, until a decision clears it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan.context import history, values
from tests.briefing.watch.watch_project import SIZE, Watch


def test_a_changed_fact_marks_those_that_rested_on_its_former_value(atlas: Watch) -> None:
    well, first, other = atlas.plan("well", "well/first", "other")
    atlas.commit(size=5, depth=1)
    atlas.link(well, "rests_on", SIZE)
    atlas.link("OC1", "rests_on", SIZE)
    atlas.link(other, "serves", "AC1")
    assert atlas.marks() == []

    atlas.commit(size=5, depth=2)  # another fact changed
    assert atlas.marks() == []
    atlas.commit(size=6, depth=2)

    (mark,) = atlas.marks()
    assert (mark.kind, mark.ref, mark.status) == ("fact", SIZE, "changed")
    assert (mark.purpose, mark.edges, mark.path) == (["G1", "OC1"], ["OC1->G1"], [SIZE, "OC1", "G1"])
    assert (mark.work, mark.work_total) == ([well, first, other], 3)
    assert mark.work_paths[first] == [first, well, SIZE]
    assert mark.work_paths[other] == [other, "AC1", "OP1", "OC1", SIZE]


def test_a_changed_fact_is_cleared_by_a_decision_and_marked_again_by_the_next_change(atlas: Watch) -> None:
    (well,) = atlas.plan("well")
    seen = []
    atlas.commit(size=5)
    atlas.link(well, "rests_on", SIZE)
    steps: list[Callable[[], str]] = [
        lambda: atlas.commit(size=6),
        lambda: atlas.decide(well),
        lambda: atlas.commit(size=6),
        lambda: atlas.commit(size=7),
        lambda: atlas.commit(size=6),  # as decided
        lambda: atlas.commit(depth=1),
        lambda: atlas.decide(SIZE),  # it is gone, and can be named as long as something rests on it
    ]
    for step in steps:
        step()
        seen.append([status for _, status in atlas.marked()])

    assert seen == [["changed"], [], [], ["changed"], [], ["removed"], []]


@pytest.mark.parametrize("looked_back", [20, 2])
def test_a_change_counts_from_when_the_value_is_another_one(
    atlas: Watch, looked_back: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PERIODS_LOOKED_BACK_MAX", looked_back)
    (well,) = atlas.plan("well")
    atlas.commit(size=5)
    atlas.link(well, "rests_on", SIZE)
    atlas.commit(size=6)
    first = atlas.marks()[0]
    atlas.commit(size=5)
    atlas.commit(size=7)
    again = atlas.marks()[0]
    for depth in range(3):
        atlas.commit(size=8, depth=depth)
    (last,) = atlas.marks()

    assert again.rev > first.rev
    # Where the change is too long ago, it counts from the first run after the link.
    assert (last.rev, last.since) == ((again.rev, again.since) if looked_back == 20 else (first.rev, first.since))


def test_only_the_values_at_the_links_and_in_force_are_read(atlas: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = atlas.plan("a", "b", "c")
    names = [f"f{number}" for number in range(10)]
    atlas.commit(**dict.fromkeys(names, 1))
    for node in nodes:
        atlas.link(node, "rests_on", *(f"/site/{name}" for name in names))
    for number in range(6):
        atlas.commit(**dict.fromkeys(names, 1), other=number)
    read: list[int] = []
    whole = values.load_rows

    def count_rows(*given: Any, **named: Any) -> list[Any]:
        rows = whole(*given, **named)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(history, "load_rows", count_rows)

    assert atlas.marks() == []
    assert read == [2 * len(names)]


def test_a_node_that_was_linked_later_rests_on_the_later_value(atlas: Watch) -> None:
    early, late = atlas.plan("early", "late")
    atlas.commit(size=5)
    atlas.link(early, "rests_on", SIZE)
    atlas.commit(size=6)
    atlas.link(late, "rests_on", SIZE)

    (mark,) = atlas.marks()

    assert mark.work == [early]


def test_links_that_are_set_with_the_tools_are_watched(atlas: Watch) -> None:
    atlas.commit(size=5)
    node = {"ref": "a", "summary": "Dig", "serves": ["AC1"], "rests_on": [SIZE]}
    (made,) = atlas.session.call("work.plan", project="atlas", nodes=[node]).created
    atlas.commit(size=6)
    atlas.session.call("work.connect", edges=[{"from": made.id, "to": "AS1", "type": "refutes"}])

    assert atlas.marked() == [("AS1", "refuting_evidence"), (SIZE, "changed")]
    assert [mark.work for mark in atlas.marks()] == [[made.id], [made.id]]

    atlas.decide("AS1", SIZE)
    assert atlas.marks() == []


def test_a_fact_without_a_committed_value_when_it_was_linked_has_not_changed(atlas: Watch) -> None:
    (well,) = atlas.plan("well")
    atlas.link(well, "rests_on", SIZE)
    atlas.commit(size=5)
    assert atlas.marks() == []


def test_deleting_the_run_in_force_brings_the_former_value_back(atlas: Watch) -> None:
    (well,) = atlas.plan("well")
    atlas.commit(size=5)
    atlas.link(well, "rests_on", SIZE)
    second = atlas.commit(size=6)
    assert atlas.marked() == [(SIZE, "changed")]

    atlas.session.call("context.delete", runId=second)

    assert atlas.marks() == []
