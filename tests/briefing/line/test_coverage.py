"""Coverage finds what is missing between purpose, work, facts and knowledge."""

from __future__ import annotations

from groundplan.briefing import coverage
from tests.briefing.line.client import PlanClient
from tests.purpose.client import add_node, op


def test_a_purpose_node_is_covered_if_work_serves_it_or_a_cause_of_it(plan: PlanClient) -> None:
    assert plan.coverage().unserved == ["AC1", "OP1", "OC1", "G1"]  # activities first

    plan.link(loose="OP1")

    assert plan.coverage().unserved == ["AC1"]


def test_dropped_work_covers_nothing(plan: PlanClient) -> None:
    plan.link(loose="AC1")
    assert plan.coverage().counts.unserved == 0

    plan.work.drop("loose")

    assert plan.coverage().counts.unserved == 4


def test_open_work_without_open_parts_serves_nothing_unless_it_or_an_ancestor_is_linked(plan: PlanClient) -> None:
    assert plan.names(plan.coverage().serving_nothing) == ["rent", "train", "pump", "loose"]

    plan.link(drill="AC1")
    assert plan.names(plan.coverage().serving_nothing) == ["pump", "loose"]

    plan.work.resolve("pump")
    plan.link(root="G1")
    assert plan.coverage().serving_nothing == []


def test_an_indicator_without_a_measurement_has_no_evidence(plan: PlanClient) -> None:
    plan.purpose.edit(op("add_indicator", node="OC1", name="litres"), op("add_indicator", node="G1", name="years"))
    plan.purpose.record(measurements=[{"indicator": "IN1", "value": 5, "as_of": "2026-01-01"}])

    assert plan.coverage().without_evidence == ["IN2"]


def test_resolved_work_needs_evidence_unless_it_has_parts_or_was_dropped(plan: PlanClient) -> None:
    plan.work.update("rent", resolved=True, add_evidence=[{"type": "git", "ref": "abc"}])
    plan.work.resolve("train")
    plan.work.drop("loose")

    found = plan.coverage()

    assert plan.names(found.resolved_without_evidence) == ["train"]
    assert found.counts.resolved_without_evidence == 1


def test_required_facts_without_a_value_are_those_of_the_run_in_force(plan: PlanClient) -> None:
    run = plan.session.call("context.create_draft", scopeId="atlas").run.id
    fact = {
        "label": "Depth",
        "domain": "well",
        "fieldType": "number",
        "valueKind": "number",
        "required": True,
        "provenance": "unknown",
    }
    plan.session.call("context.edit", runId=run, inputs=[{"pointer": "/depth", **fact}])
    assert plan.coverage().required_unset == []

    plan.session.call("context.commit", runId=run, allowPartial=True)

    assert plan.coverage().required_unset == ["/depth"]


def test_files_of_recent_work_are_covered_by_atoms(plan: PlanClient) -> None:
    plan.work.update("rent", add_context_links=["src/drill.py", "src/pump.py", "https://example.org/a.py", "/etc/x"])
    task = plan.session.call("container.create", containerType="task", title="Map it", projectId="atlas")
    section = {"title": "Context Files", "content": "- docs/map.md\n- src/drill.py\n"}
    plan.session.call("section.add", entityType="TASK", entityId=task.task.id, **section)
    atom = {"entityType": "atom", "projectId": "atlas", "name": "Drills", "knowledge": "They drill."}
    plan.session.call("knowledge.create", **atom, paths=["src/drill*"], createdByTaskId=task.task.id)

    assert plan.coverage().uncovered_files == ["docs/map.md", "src/pump.py"]


def test_a_pattern_of_work_is_the_folder_that_it_begins_with(plan: PlanClient) -> None:
    links = ["src/web/**", "src/drill/*.py", "docs/", "**/*.md", "*.toml"]
    plan.work.update("rent", add_context_links=links)
    task = plan.work["rent"]
    atom = {"entityType": "atom", "projectId": "atlas", "name": "Drills", "knowledge": "They drill."}
    plan.session.call("knowledge.create", **atom, paths=["src/drill/deep.py"], createdByTaskId=task)

    assert plan.coverage().uncovered_files == ["docs/", "src/web/"]
    (note,) = plan.session.call("work.context", node_id=task, budget=800).briefing.knowledge
    assert note.name == "Drills"


def test_the_version_in_force_decides_and_a_draft_beside_it_does_not_count(plan: PlanClient) -> None:
    plan.purpose.publish()
    plan.purpose.draft()
    plan.purpose.edit(add_node("GOAL", "school"))

    found = plan.coverage()

    assert (found.version, found.unserved) == (1, ["AC1", "OP1", "OC1", "G1"])


def test_lists_are_cut_and_counts_stay_exact(plan: PlanClient) -> None:
    names = [f"n{index}" for index in range(coverage.LIST_MAX + 30)]
    plan.work.plan("\n".join(names))

    found = plan.coverage()

    assert len(found.serving_nothing) == coverage.LIST_MAX
    assert found.counts.serving_nothing == len(names) + 4
    assert found.left_out["serving_nothing"] == len(names) + 4 - coverage.LIST_MAX


def test_work_that_serves_a_purpose_node_is_counted_with_its_parts_but_not_if_it_was_dropped(plan: PlanClient) -> None:
    plan.link(drill="AC1 OP1", loose="AC1", pump="G1")
    plan.work.resolve("rent")
    plan.work.drop("pump")

    served = plan.session.call("briefing.serving", project=plan.project).served

    assert [(one.key, one.resolved, one.total) for one in served] == [("OP1", 1, 3), ("AC1", 1, 4)]
