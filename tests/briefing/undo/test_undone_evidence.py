"""Evidence of a write that was undone stays, and every answer marks it as undone. Notes go; see test_undone_notes."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from tests.briefing.client import BriefingClient

HINT = {"type": "hint", "ref": "the tide was out"}
OTHER = {"type": "git", "ref": "abc"}


def marks(evidence: list[Any]) -> list[tuple[str, bool]]:
    """Return the references of some evidence, each with whether it is marked as undone."""
    return [(entry.ref, entry.undone is not UNSET) for entry in evidence]


def test_evidence_is_marked_while_its_write_is_undone(plan: BriefingClient) -> None:
    plan.update("walk", add_evidence=[OTHER])
    plan.update("walk", add_evidence=[HINT], state="wet")
    undone = [("abc", False), ("the tide was out", True)]
    in_effect = [("abc", False), ("the tide was out", False)]

    for redo, expected in ((False, undone), (True, in_effect), (False, undone)):
        plan.call("briefing.undo", project=plan.project, redo=redo)
        for lean in (False, True):
            assert marks(plan.context("walk", lean=lean).node.evidence) == expected
    assert plan.node("walk").evidence[-1].undone is True


def test_evidence_of_a_drop_that_was_undone_is_marked(plan: BriefingClient) -> None:
    plan.drop("task", "not needed")
    plan.call("briefing.undo", project=plan.project)

    assert marks(plan.node("task").evidence) == [("not needed", True)]


def test_a_merge_keeps_the_mark(plan: BriefingClient) -> None:
    plan.plan("a\nb")
    plan.update("a", add_evidence=[HINT], state="wet")
    plan.call("briefing.undo", project=plan.project)

    plan.merge("a", "b")

    assert marks(plan.node("b").evidence) == [("the tide was out", True)]


def test_an_offer_the_briefing_and_the_line_to_the_goal_mark_what_was_undone(plan: BriefingClient) -> None:
    plan.update("survey", add_evidence=[HINT], state="wet")
    plan.call("briefing.undo", project=plan.project)
    expected = [("the north is wrong", False), ("the tide was out", True)]

    [offer] = [
        one for one in plan.call("work.next", project=plan.project, count=9).nodes if one.node.id == plan["task"]
    ]
    [before] = [one for one in plan.brief("task").before if one.id == plan["survey"]]
    line = plan.call("briefing.throughline", **{"project": plan.project, "from": plan["survey"]})
    markdown = plan.call("briefing.brief", node_id=plan["task"], markdown=True).markdown

    assert marks(offer.resolved_deps[0].evidence) == marks(before.evidence) == expected
    assert marks(next(step for step in line.chain if step.ref == plan["survey"]).evidence) == expected
    assert "hint: the tide was out undone" in markdown


def test_a_briefing_with_little_room_for_evidence_prefers_what_is_in_effect(plan: BriefingClient) -> None:
    for ref in ("1", "2", "3"):
        plan.update("survey", add_evidence=[{"type": "hint", "ref": ref}], state=ref)
        plan.call("briefing.undo", project=plan.project)
    plan.update("survey", add_evidence=[OTHER])

    [before] = [one for one in plan.brief("task").before if one.id == plan["survey"]]

    assert marks(before.evidence) == [("the north is wrong", False), ("3", True), ("abc", False)]
