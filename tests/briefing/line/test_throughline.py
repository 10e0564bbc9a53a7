"""A throughline leads from work to the goals, and from a purpose node to its causes, work and measurements."""

from __future__ import annotations

import msgspec
import pytest

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.links import LinkType
from groundplan.session import Session
from tests.briefing.line.client import PlanClient
from tests.engines import person
from tests.purpose.client import add_edge, add_node, op


def test_work_is_followed_over_the_ancestor_that_has_the_links(plan: PlanClient) -> None:
    plan.link(phase="AC1")

    line = plan.line("rent")

    assert plan.steps(line) == ["rent", "drill", "phase", "AC1", "OP1", "OC1", "G1"]
    assert [step.level for step in line.chain] == [0, 1, 2, 3, 4, 5, 6]
    assert [(link.by, plan.work.name(link.ref)) for step in line.chain for link in step.to] == [
        ("PART_OF", "drill"),
        ("PART_OF", "phase"),
        ("SERVES", "AC1"),
        ("CONTRIBUTES_TO", "OP1"),
        ("CONTRIBUTES_TO", "OC1"),
        ("CONTRIBUTES_TO", "G1"),
    ]
    assert (line.direction, line.goals, line.dead_ends) == ("up", ["G1"], [])


def test_a_dependency_leads_from_what_is_needed_to_what_needs_it(plan: PlanClient) -> None:
    plan.purpose.edit(add_node("OUTCOME", "near", ref="near"), add_edge("OC1", "near", edge_type="DEPENDS_ON"))

    line = plan.line("OC2", "up")

    assert [(step.ref, link.by, link.ref) for step in line.chain for link in step.to] == [
        ("OC2", "NEEDED_BY", "OC1"),
        ("OC1", "CONTRIBUTES_TO", "G1"),
    ]
    assert "OC2 to OC1, is needed by" in plan.line("OC2", "up", format="svg").svg
    assert "is needed by" in plan.line("OC2", "up", format="markdown").markdown


def test_own_links_count_before_those_of_an_ancestor(plan: PlanClient) -> None:
    plan.link(phase="AC1", drill="OC1")

    assert plan.steps(plan.line("rent")) == ["rent", "drill", "OC1", "G1"]
    assert plan.steps(plan.line("pump")) == ["pump", "phase", "AC1", "OP1", "OC1", "G1"]


def test_work_that_serves_nothing_is_a_dead_end(plan: PlanClient) -> None:
    line = plan.line("loose")

    assert (plan.steps(line), plan.dead_ends(line)) == (["loose"], [("loose", "serves_nothing")])


def test_a_link_to_a_key_that_no_version_has_is_shown_as_dangling(plan: PlanClient) -> None:
    plan.link(drill="OC9 OC1")

    line = plan.line("rent")

    assert plan.steps(line) == ["rent", "drill", "OC1", "G1"]
    assert [(one.ref, one.reason, plan.work.name(one.source)) for one in line.dead_ends] == [
        ("OC9", "dangling", "drill")
    ]


def test_a_project_without_a_purpose_has_only_dangling_links(plan: PlanClient) -> None:
    plan.purpose.discard()
    plan.link(drill="AC1")

    assert plan.dead_ends(plan.line("drill")) == [("AC1", "dangling")]
    assert plan.coverage().unserved == []


def test_what_leads_to_no_goal_is_a_dead_end_with_everything_before_it(plan: PlanClient) -> None:
    plan.purpose.edit(add_node("OUTPUT", "brochure", ref="a"), add_node("OUTCOME", "fame", ref="b"), add_edge("a", "b"))
    plan.link(loose="OP2 OC1")

    line = plan.line("loose")

    assert set(plan.steps(line)) == {"loose", "OP2", "OC2", "OC1", "G1"}
    assert set(plan.dead_ends(line)) == {("OP2", "reaches_no_goal"), ("OC2", "reaches_no_goal")}
    assert plan.dead_ends(plan.line("OC2"))[0] == ("OC2", "reaches_no_goal")


def test_paths_that_meet_again_are_one_chain_in_which_each_step_stands_once(plan: PlanClient) -> None:
    plan.purpose.edit(
        add_node("OUTCOME", "time", ref="t"), add_edge("OP1", "t"), add_edge("t", "G1"), add_edge("OP1", "G1")
    )

    line = plan.line("AC1", "up")

    assert plan.steps(line) == ["AC1", "OP1", "OC1", "OC2", "G1"]  # a step comes after all that lead to it
    assert [link.ref for link in line.chain[1].to] == ["G1", "OC1", "OC2"]


def test_an_edge_shows_its_mechanism_and_what_it_assumes(plan: PlanClient) -> None:
    plan.purpose.edit(
        op("update_edge", source="AC1", target="OP1", mechanism="a hole fills", confidence="high"),
        op("add_assumption", source="AC1", target="OP1", assumption_text="ground water", risk_level="HIGH"),
        op("add_assumption", node="OC1", assumption_text="nobody sells it"),
    )
    plan.purpose.record(reviews=[{"assumption": "AS1", "status": "at_risk", "reason": "a dry year"}])

    dig, _, water, _ = plan.line("AC1", "up").chain

    (link,) = dig.to
    assert (link.mechanism, link.confidence) == ("a hole fills", "high")
    assert [(one.key, one.status, one.risk) for one in link.assumptions] == [("AS1", "at_risk", "HIGH")]
    assert [(one.key, one.status) for one in water.assumptions] == [("AS2", "untested")]


def test_an_assumption_that_evidence_of_work_refutes_is_shown_as_refuted(plan: PlanClient) -> None:
    plan.purpose.edit(op("add_assumption", node="AC1", assumption_text="ground water"))
    plan.work.call("work.connect", edges=[{"from": plan.work["rent"], "to": "AS1", "type": "refutes"}])

    assert [one.status for one in plan.line("AC1", "up").chain[0].assumptions] == ["refuted"]


def test_a_purpose_node_is_followed_down_to_work_and_measurements(plan: PlanClient) -> None:
    plan.purpose.edit(op("add_indicator", node="OC1", name="litres", target=20, unit="l"))
    plan.purpose.record(measurements=[{"indicator": "IN1", "value": 5, "as_of": "2026-01-01"}])
    plan.link(phase="AC1", loose="OC1")
    plan.work.update("rent", resolved=True, add_evidence=[{"type": "git", "ref": "abc"}])

    line = plan.line("G1")

    assert plan.steps(line) == ["G1", "OC1", "OP1", "loose", "AC1", "phase"]
    assert (line.work.total, line.work.open, line.work.resolved) == (6, 5, 1)
    by_name = dict(zip(plan.steps(line), line.chain, strict=True))
    assert [(one.value, one.target) for one in by_name["OC1"].indicators] == [(5, 20)]
    assert (by_name["phase"].work.total, by_name["phase"].resolved) == (5, False)
    assert [(one.ref, plan.work.name(one.node)) for one in by_name["phase"].evidence] == [("abc", "rent")]
    assert not by_name["loose"].work
    assert line.dead_ends == []


def test_causes_without_work_are_dead_ends_of_a_line_down(plan: PlanClient) -> None:
    plan.link(loose="OP1")

    assert plan.dead_ends(plan.line("G1")) == [("AC1", "no_work")]


def test_work_is_followed_down_to_its_parts_and_their_evidence(plan: PlanClient) -> None:
    for index in range(5):
        plan.work.update("pump", add_evidence=[{"type": "git", "ref": f"c{index}"}])
    plan.link(phase="AC1")

    line = plan.line("phase", "down")

    assert plan.steps(line) == ["phase", "drill", "pump"]
    assert [step.work.total if step.work else 1 for step in line.chain] == [5, 3, 1]
    pump = line.chain[2]
    assert ([one.ref for one in pump.evidence], pump.evidence_total) == (["c2", "c3", "c4"], 5)


def test_dropped_work_is_counted_apart_and_serves_nothing(plan: PlanClient) -> None:
    plan.link(drill="AC1")
    plan.work.drop("drill")

    line = plan.line("AC1")

    assert (line.work.total, line.work.open, line.work.dropped) == (3, 0, 3)
    assert plan.dead_ends(line) == [("AC1", "no_work")]


def test_a_claim_shows_who_holds_it_until_it_ends(plan: PlanClient) -> None:
    plan.link(phase="AC1")
    (name,) = plan.work.by("ben").claim()

    assert plan.line(name).chain[0].claimed_by == "ben"
    assert plan.line("AC1").work.claimed == 1


def test_the_published_version_is_in_force_and_a_key_of_the_draft_is_found_there(plan: PlanClient) -> None:
    plan.purpose.publish()
    plan.purpose.draft()
    plan.purpose.edit(add_node("OUTCOME", "school", ref="s"), add_edge("s", "G1"), add_edge("AC1", "s"))
    plan.link(loose="OC2", drill="AC1")

    from_published, from_draft = plan.line("drill"), plan.line("loose")

    assert plan.steps(from_published) == ["drill", "AC1", "OP1", "OC1", "G1"]
    assert plan.steps(from_draft) == ["loose", "OC2", "G1"]
    assert [step.ref for step in from_draft.chain if step.draft] == ["OC2"]
    assert (from_published.version, from_draft.version) == (1, 1)


def test_a_version_that_is_discarded_between_two_calls_leaves_a_dangling_link(plan: PlanClient) -> None:
    plan.purpose.publish()
    plan.purpose.draft()
    plan.purpose.edit(add_node("OUTCOME", "school", ref="s"), add_edge("s", "G1"))
    plan.link(loose="OC2")
    assert plan.steps(plan.line("loose")) == ["loose", "OC2", "G1"]

    plan.purpose.discard()

    assert plan.dead_ends(plan.line("loose")) == [("OC2", "dangling")]
    with pytest.raises(NotFound):
        plan.line("OC2")


@pytest.mark.parametrize(
    ("wrong", "near"), [("oc1", ["OC1"]), ("AS1", ["OC1"]), ("IN1", ["G1"]), ("OC7", ["OC1"])], ids=str
)
def test_an_unknown_start_is_answered_with_similar_keys(plan: PlanClient, wrong: str, near: list[str]) -> None:
    plan.purpose.edit(
        op("add_assumption", node="OC1", assumption_text="it rains"), op("add_indicator", node="G1", name="years")
    )

    with pytest.raises(NotFound) as refused:
        plan.line(wrong)

    assert refused.value.details["near"][:1] == near


def test_an_unknown_start_is_answered_with_similar_ids(plan: PlanClient) -> None:
    node_id = plan.work["drill"]

    with pytest.raises(NotFound) as refused:
        plan.line(node_id[:-1] + ("a" if node_id[-1] != "a" else "b"))

    assert node_id in refused.value.details["near"]


def test_a_start_in_another_project_is_refused(plan: PlanClient) -> None:
    other = PlanClient(plan.session, "bridges")
    other.work.open()
    other.purpose.draft()

    with pytest.raises(NotFound):
        other.line("AC1")
    with pytest.raises(Invalid) as refused:
        other.session.call("briefing.throughline", project="bridges", **{"from": plan.work["drill"]})
    assert refused.value.code == "mixed_projects"


def test_a_viewer_may_read_both_and_a_stranger_finds_nothing(plan: PlanClient) -> None:
    plan.session.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    cleo = PlanClient(Session(plan.session.store, person("cleo")))
    mallory = PlanClient(Session(plan.session.store, person("mallory")))

    assert cleo.line("G1").direction == "down"
    assert cleo.coverage().counts.unserved == 4
    for operation, arguments in (("throughline", {"from": "G1"}), ("coverage", {})):
        with pytest.raises(NotFound) as refused:
            mallory.session.call(f"briefing.{operation}", project="atlas", **arguments)
        assert refused.value.code == "not_found"


def test_the_outline_has_each_step_once_and_stored_text_is_no_markup(plan: PlanClient) -> None:
    plan.purpose.edit(
        op("update_node", node="OC1", title="**bold** [x](y)"), add_node("OUTCOME", "t", ref="t"), add_edge("OP1", "t")
    )
    plan.purpose.edit(add_edge("OC2", "G1"))
    plan.link(phase="AC1")

    text = plan.line("drill", format="markdown").markdown

    assert text.count("- **G1**") == 1
    assert "- G1, see above" in text
    assert r"\*\*bold\*\* \[x\](y)" in text
    assert [line.strip().split("**")[1] for line in text.splitlines() if "- **" in line] == [
        plan.work["drill"],
        plan.work["phase"],
        *("AC1", "OP1", "OC1", "G1", "OC2"),
    ]


def test_an_edge_to_a_step_that_was_shown_keeps_its_mechanism_and_assumptions(plan: PlanClient) -> None:
    plan.purpose.edit(
        add_node("OUTCOME", "t", ref="t"),
        add_edge("OP1", "t", mechanism="Wells are near."),
        add_edge("t", "G1", mechanism="Less illness.", confidence="high"),
        op("add_assumption", source="t", target="G1", assumption_text="Nobody boils it"),
    )

    text = plan.line("OP1", direction="up", format="markdown").markdown

    [shown] = [line.strip() for line in text.splitlines() if "see above" in line]
    assert shown == "- G1, see above: Less illness, high confidence"
    assert text.index("Nobody boils it") > text.index("see above")


def test_a_step_names_the_facts_that_it_rests_on(plan: PlanClient) -> None:
    run = plan.session.call("context.create_draft", scopeId="atlas").run.id
    fact = {"pointer": "/site/depth", "label": "Depth", "domain": "site", "valueKind": "number", "value": 45}
    plan.session.call("context.edit", runId=run, inputs=[fact])
    plan.session.call("context.commit", runId=run)
    plan.link(phase="AC1")
    plan.link_nodes({"phase": ["/site/depth", "/site/gone"]}, LinkType.RESTS_ON)

    line = plan.line("drill")
    text = plan.line("drill", format="markdown").markdown

    found = {plan.work.name(step.ref): [(one.pointer, one.label) for one in step.facts or ()] for step in line.chain}
    assert found["phase"] == [("/site/depth", "Depth"), ("/site/gone", msgspec.UNSET)]
    assert found["drill"] == []
    assert "- rests on /site/depth (Depth)" in text
