"""The watch marks what depends on an assumption in doubt, until a decision clears it."""

from __future__ import annotations

from tests.briefing.watch.watch_project import SIZE, Watch
from tests.linking import unlink
from tests.purpose.client import failing, op


def test_nothing_is_marked_where_nothing_is_in_doubt(atlas: Watch) -> None:
    atlas.review("holding")
    assert atlas.marks() == []


def test_a_refuted_assumption_marks_what_depends_on_it_with_the_path(atlas: Watch) -> None:
    well, first, posters, done = atlas.plan("well", "well/first", "posters", "done")
    atlas.link(well, "serves", "AC1")
    atlas.link(posters, "serves", "OP2")
    atlas.link(done, "serves", "OC1")
    atlas.session.call("work.update", updates=[{"node_id": done, "resolved": True}])
    atlas.review("refuted")

    (mark,) = atlas.marks()

    assert (mark.kind, mark.ref, mark.status, mark.text) == ("assumption", "AS1", "refuted", "It rains")
    assert (mark.purpose, mark.edges) == (["G1", "OC1"], ["OC1->G1", "OP1->OC1"])
    assert mark.path == ["AS1", "OC1", "G1"]
    assert (mark.work, mark.work_total) == ([well, first], 2)
    assert mark.work_paths == {
        well: [well, "AC1", "OP1", "AS1"],
        first: [first, well, "AC1", "OP1", "AS1"],
    }


def test_a_mark_is_cleared_by_a_decision_and_comes_back_with_a_new_review(atlas: Watch) -> None:
    seen = []
    for step in (
        lambda: atlas.review("refuted"),
        lambda: atlas.decide("AS1"),
        lambda: atlas.review("refuted"),
        lambda: atlas.review("holding"),
        lambda: atlas.review("at_risk"),
        lambda: atlas.decide("OC1"),  # about something else
        lambda: atlas.decide("AS1"),
    ):
        step()
        seen.append([status for _, status in atlas.marked()])

    assert seen == [["refuted"], [], ["refuted"], [], ["at_risk"], ["at_risk"], []]


def test_a_decision_that_is_superseded_by_one_about_something_else_clears_no_more(atlas: Watch) -> None:
    atlas.review("refuted")
    first = atlas.decide("AS1")
    assert atlas.marked() == []
    atlas.decide("OC1", supersedes=first)
    assert atlas.marked() == [("AS1", "refuted")]


def test_evidence_that_refutes_marks_until_a_newer_review_or_decision(atlas: Watch) -> None:
    one, two = atlas.plan("one", "two")
    seen = []
    for step in (
        lambda: atlas.review("holding"),
        lambda: atlas.link(one, "refutes", "AS1"),
        lambda: atlas.review("holding"),
        lambda: atlas.link(two, "refutes", "AS1"),
        lambda: atlas.decide("AS1"),
        lambda: unlink(atlas.session, two, "refutes", "AS1"),
        lambda: atlas.link(two, "refutes", "AS1"),
    ):
        step()
        seen.append([status for _, status in atlas.marked()])

    evidence = ["refuting_evidence"]
    assert seen == [[], evidence, [], evidence, [], [], evidence]


def test_gate_a_sees_refuting_evidence_until_a_decision_and_keeps_what_it_saw_at_publication(atlas: Watch) -> None:
    (one,) = atlas.plan("one")
    assert "GA_REFUTED" not in failing(atlas.purpose.check("A"))
    atlas.link(one, "refutes", "AS1")
    assert failing(atlas.purpose.check("A"))["GA_REFUTED"] == ["AS1"]
    atlas.decide("AS1")
    assert "GA_REFUTED" not in failing(atlas.purpose.check("A"))
    atlas.purpose.publish()
    unlink(atlas.session, one, "refutes", "AS1")
    atlas.link(one, "refutes", "AS1")
    atlas.purpose.draft()

    assert "GA_REFUTED" not in failing(atlas.purpose.check("A", version=1))
    assert failing(atlas.purpose.check("A", version="draft"))["GA_REFUTED"] == ["AS1"]


def test_a_clock_that_jumps_changes_no_mark(atlas: Watch) -> None:
    (well,) = atlas.plan("well")
    atlas.commit(size=5)
    atlas.link(well, "rests_on", SIZE)
    atlas.review("refuted")
    atlas.clock.move(days=-400)
    atlas.decide("AS1")
    atlas.clock.move(days=800)
    assert atlas.marked() == []
    atlas.review("at_risk")
    atlas.clock.move(days=-300)

    assert atlas.marked() == [("AS1", "at_risk")]


def test_an_assumption_that_the_published_version_has_no_more_marks_nothing(atlas: Watch) -> None:
    atlas.review("at_risk")
    atlas.purpose.publish()
    assert atlas.marked() == [("AS1", "at_risk")]
    atlas.purpose.draft()
    atlas.purpose.edit(op("remove_assumption", assumption="AS1"))
    assert atlas.marked() == [("AS1", "at_risk")]  # the draft is not in force
    atlas.purpose.publish()

    assert atlas.marks() == []
