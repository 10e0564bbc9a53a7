"""A briefing joins all four slices: why, facts, knowledge, what came before, what else goes on, what was decided."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from groundplan.briefing.briefing import Briefing
from groundplan.kernel.actors import ActorKind
from tests.briefing.client import BriefingClient, count_tokens
from tests.manual_clock import ManualClock
from tests.purpose.client import add_edge, add_node, op


def test_why_is_the_path_from_what_the_task_serves_to_the_goal_with_each_mechanism(plan: BriefingClient) -> None:
    why = plan.brief().why

    assert [(step.key, step.type, step.title) for step in why] == [
        ("OP1", "OUTPUT", "a printed map"),
        ("OC1", "OUTCOME", "walkers use the map"),
        ("G1", "GOAL", "nobody gets lost"),
    ]
    assert [(step.via.to, step.via.mechanism, step.via.confidence) for step in why[:2]] == [
        ("OC1", "shops give it away", "high"),
        ("G1", "they see the path", "low"),
    ]
    assert why[2].via is UNSET


def test_assumptions_stand_at_their_step_with_the_status_of_the_latest_review(plan: BriefingClient) -> None:
    plan.purpose.call("purpose.record", reviews=[{"assumption": "AS1", "status": "refuted", "reason": "nobody does"}])

    steps = {step.key: step for step in plan.brief().why}

    assert [(one.key, one.risk, one.status) for one in steps["OP1"].assumptions] == [("AS2", "HIGH", "untested")]
    assert [(one.key, one.text, one.status) for one in steps["OC1"].assumptions] == [
        ("AS1", "walkers read maps", "refuted")
    ]


def test_an_assumption_is_refuted_by_evidence_of_work_until_a_later_review(plan: BriefingClient) -> None:
    def read_status() -> str:
        (note,) = next(step for step in plan.brief().why if step.key == "OC1").assumptions
        return str(note.status)

    plan.purpose.call("purpose.record", reviews=[{"assumption": "AS1", "status": "holding", "reason": "most do"}])
    plan.call("work.connect", edges=[{"from": plan["survey"], "to": "AS1", "type": "refutes"}])
    refuted = read_status()
    plan.purpose.call("purpose.record", reviews=[{"assumption": "AS1", "status": "at_risk", "reason": "some do"}])

    assert (refuted, read_status()) == ("refuted", "at_risk")


def test_a_decision_about_an_assumption_on_the_way_to_the_goal_binds_the_task(plan: BriefingClient) -> None:
    decision = {"text": "Draw symbols, not words", "rationale": "nobody reads", "about": ["AS1"]}
    plan.purpose.call("purpose.record", decisions=[decision])

    assert "Draw symbols, not words" in [one.text for one in plan.brief().decisions]


def test_what_a_task_serves_is_inherited_from_the_nodes_above_it(plan: BriefingClient) -> None:
    plan.plan("step", under="task")

    assert [step.key for step in plan.brief("step").why] == ["OP1", "OC1", "G1"]


def test_of_several_paths_the_shortest_comes_first_and_shared_steps_stand_once(plan: BriefingClient) -> None:
    plan.purpose.edit(
        add_node("OUTPUT", "a sign at each fork", ref="signs"),
        add_edge("signs", "G1", mechanism="it shows the way", confidence="low"),
        add_node("ACTIVITY", "draw", ref="draw"),
        add_edge("draw", "OP1", confidence="high"),
    )
    plan.serve("task", "OP2", "AC1")

    assert [step.key for step in plan.brief().why] == ["OP2", "G1", "OP1", "OC1", "AC1"]


def test_a_key_that_the_purpose_lost_is_dangling_and_stays(plan: BriefingClient) -> None:
    plan.purpose.edit(op("remove_node", node="OP1"))

    (step,) = plan.brief().why

    assert (step.key, step.dangling, step.title) == ("OP1", True, UNSET)


def test_the_published_version_counts_and_the_draft_only_for_new_keys(plan: BriefingClient) -> None:
    plan.purpose.publish()
    plan.purpose.draft()
    plan.purpose.edit(
        op("update_node", node="OP1", title="a map in a drawer"),
        add_node("OUTPUT", "an app", ref="app"),
        add_edge("app", "OC1"),
    )
    plan.serve("task", "OP2")

    titles = {step.key: step.title for step in plan.brief().why}

    assert titles["OP1"] == "a printed map"
    assert titles["OP2"] == "an app"


def test_a_briefing_follows_the_version_that_was_published_or_discarded_since_the_last_call(
    plan: BriefingClient,
) -> None:
    before = plan.brief().why[0].title
    plan.purpose.edit(op("update_node", node="OP1", title="a better map"))
    edited = plan.brief().why[0].title
    plan.purpose.publish()
    published = plan.brief().why[0].title
    plan.purpose.draft()
    plan.purpose.edit(op("remove_node", node="OP1"))
    plan.purpose.call("purpose.discard")

    assert (before, edited, published) == ("a printed map", "a better map", "a better map")
    assert plan.brief().why[0].title == "a better map"


def test_facts_that_the_task_or_its_purpose_rests_on_come_first(plan: BriefingClient) -> None:
    assert [one.pointer for one in plan.brief().facts] == ["/area", "/scale"]

    plan.rest("OC1", "/scale")

    scale, area = plan.brief().facts
    assert (scale.pointer, scale.label, scale.value, scale.provenance) == ("/scale", "Scale", 25_000, "user-entered")
    assert area.value == "the island"


def commit_facts(plan: BriefingClient, clock: ManualClock, **values: Any) -> None:
    """Commit a run with these facts in place of all others."""
    clock.move(seconds=1)
    plan.facts.draft(copyFrom="none")
    for name, value in values.items():
        plan.facts.write(f"/{name}", value, label=name.title())
    plan.facts.commit(allowPartial=True, allowDrop=True)


def test_a_fact_that_changed_under_the_task_comes_first_with_its_former_value_until_a_decision(
    plan: BriefingClient, clock: ManualClock
) -> None:
    plan.rest("phase", "/scale")
    plan.rest("OC1", "/area")
    commit_facts(plan, clock, area="the island", scale=50_000)

    briefing = plan.brief()
    other = plan.brief("survey")

    (mark,) = briefing.marks
    assert (mark.ref, mark.status, mark.path) == ("/scale", "changed", [plan["phase"], "/scale"])
    scale, area = briefing.facts
    assert (scale.pointer, scale.value, scale.changed, scale.changed_from) == ("/scale", 50_000, True, 25_000)
    assert area.changed is area.changed_from is UNSET
    assert other.marks is UNSET
    assert {one.changed for one in other.facts} == {UNSET}
    text = plan.call("briefing.brief", node_id=plan["task"], markdown=True).markdown
    assert "changed from `25000`" in text

    plan.purpose.call("purpose.record", decisions=[{"text": "go on", "rationale": "r", "about": ["/scale"]}])

    assert plan.brief().marks is UNSET
    assert {one.changed for one in plan.brief().facts} == {UNSET}


def test_a_fact_of_the_purpose_that_changed_or_went_marks_the_task(plan: BriefingClient, clock: ManualClock) -> None:
    plan.rest("OC1", "/area")
    commit_facts(plan, clock, area="the coast " * 100, scale=25_000)
    changed = plan.brief()
    plan.purpose.call("purpose.record", decisions=[{"text": "go on", "rationale": "r", "about": ["/area"]}])
    commit_facts(plan, clock, area="the sea", scale=25_000)
    again = plan.brief()
    commit_facts(plan, clock, scale=25_000)
    removed = plan.brief()

    assert [(one.ref, one.status, one.path) for one in changed.marks] == [("/area", "changed", ["OP1", "OC1", "/area"])]
    assert changed.facts[0].changed_from == "the island"
    assert (again.facts[0].changed, again.facts[0].changed_from) == (True, UNSET)  # too long
    assert [(one.ref, one.status) for one in removed.marks] == [("/area", "removed")]


def test_marks_of_a_task_are_those_before_and_behind_what_it_serves(plan: BriefingClient) -> None:
    plan.purpose.edit(
        add_node("OUTCOME", "schools use it", ref="s"),
        add_edge("OP1", "s"),
        add_edge("s", "G1"),
        add_node("ACTIVITY", "print", ref="p"),
        add_edge("p", "OP1"),
        add_node("OUTPUT", "a poster", ref="o"),
        add_edge("o", "s"),
        op("add_assumption", node="s", assumption_text="schools have walls"),
        op("add_assumption", node="p", assumption_text="ink is there"),
        op("add_assumption", node="o", assumption_text="beside the way"),
    )
    for key in ("AS3", "AS4", "AS5"):
        plan.purpose.call("purpose.record", reviews=[{"assumption": key, "status": "at_risk", "reason": "r"}])
    plan.call("work.connect", edges=[{"from": plan["survey"], "to": "AS1", "type": "refutes"}])

    marks = plan.brief().marks

    assert [(one.ref, one.status, one.path) for one in marks] == [
        ("AS1", "refuted", ["OP1", "OC1", "AS1"]),
        ("AS4", "at_risk", ["OP1", "AC1", "AS4"]),
        ("AS3", "at_risk", ["OP1", "OC2", "AS3"]),
    ]


def test_marks_stay_within_the_budget_and_are_counted(plan: BriefingClient) -> None:
    plan.purpose.edit(*(op("add_assumption", node="OC1", assumption_text=f"{number}") for number in range(30)))
    reviews = [{"assumption": f"AS{number}", "status": "at_risk", "reason": "r"} for number in range(3, 33)]
    plan.purpose.call("purpose.record", reviews=reviews)

    for budget in (*range(200, 800, 17), 20_000):
        answer = plan.call("briefing.brief", node_id=plan["task"], budget=budget)
        assert count_tokens(answer) <= budget
        if isinstance(answer.briefing, Briefing):
            left_out = (answer.briefing.left_out or {}).get("marks", 0)
            assert len(answer.briefing.marks or ()) + left_out == 30


def test_required_facts_without_a_value_are_missing_and_those_the_task_rests_on_come_first(
    plan: BriefingClient,
) -> None:
    plan.rest("task", "/wind")

    assert plan.brief().missing == ["/wind", "/colour"]


def test_constraints_of_the_run_in_force_apply(plan: BriefingClient) -> None:
    assert [(one.key, one.value) for one in plan.brief().constraints] == [("paper", "A2")]


def test_knowledge_of_the_tasks_own_files_comes_before_that_of_inherited_ones(plan: BriefingClient) -> None:
    assert [(one.name, one.text) for one in plan.brief().knowledge] == [
        ("Map", "Longitude comes first."),
        ("Plan", "The plan has three phases."),
    ]


def test_every_high_risk_is_urgent_also_one_that_holds(plan: BriefingClient) -> None:
    plan.purpose.call("purpose.record", reviews=[{"assumption": "AS2", "status": "holding", "reason": "they do"}])
    low = [op("add_assumption", node="OP1", assumption_text=f"a small doubt {number}") for number in range(30)]
    plan.purpose.edit(*low)

    briefing = plan.context("task", budget=700).briefing

    shown = [note.key for step in briefing.why for note in step.assumptions or ()]
    assert shown[0] == "AS2"
    assert briefing.left_out["assumptions"] > 0


def test_a_tight_briefing_has_knowledge_facts_and_the_goal_before_the_rest_of_why(plan: BriefingClient) -> None:
    long_titles = [op("update_node", node=key, title=f"{key} {'a long title ' * 12}") for key in ("OP1", "OC1")]
    plan.purpose.edit(*long_titles)
    plan.know("Maps", "src/**", "Draw the coast first. " * 12)

    briefing = plan.brief(budget=420)

    assert [atom.name for atom in briefing.knowledge][:1] == ["Map"]
    assert briefing.missing == ["/colour"]
    assert [step.key for step in briefing.why] == ["G1"]
    assert briefing.left_out["why"] == 2


def test_the_knowledge_of_the_molecule_stands_with_that_of_its_atoms_and_once(plan: BriefingClient) -> None:
    molecule = plan.call(
        "knowledge.create",
        projectId="atlas",
        entityType="molecule",
        name="Cartography",
        knowledge="North is up.",
        createdByTaskId=plan["task"],
    ).molecule
    for name in ("Ink", "Paper"):
        plan.call(
            "knowledge.create",
            projectId="atlas",
            entityType="atom",
            name=name,
            paths=["src/map.py"],
            knowledge=f"{name} is wet.",
            moleculeId=molecule.id,
            createdByTaskId=plan["task"],
        )

    knowledge = plan.brief().knowledge

    assert [(note.name, note.type or "atom", note.molecule or None) for note in knowledge] == [
        ("Ink", "atom", "Cartography"),
        ("Cartography", "molecule", None),
        ("Map", "atom", None),
        ("Paper", "atom", "Cartography"),
        ("Plan", "atom", None),
    ]
    assert knowledge[1].text == "North is up."
    text = plan.call("briefing.brief", node_id=plan["task"], markdown=True).markdown
    assert "### Ink, in Cartography" in text
    assert "### Cartography (molecule)" in text


def test_open_questions_about_the_task_its_purpose_and_its_facts_are_asked_again_until_they_are_answered(
    plan: BriefingClient,
) -> None:
    plan.rest("task", "/scale")
    plan.purpose.edit(add_node("OUTPUT", "a radio show"))
    asked = plan.purpose.call(
        "purpose.record",
        requests=[
            {"question": "Who pays?"},
            {"question": "Which colour?", "about": ["OC1"], "to": "ben"},
            {"question": "Why a radio?", "about": ["OP2"]},
            {"question": "How large?", "about": ["/scale"]},
            {"question": "By hand?", "about": [plan["task"]]},
        ],
    )
    questions = plan.brief().questions
    answer = {"text": "Blue", "rationale": "the sea", "answers": asked.requests[1]}
    plan.purpose.call("purpose.record", decisions=[answer])

    assert [note.question for note in questions] == ["Which colour?", "How large?", "By hand?", "Who pays?"]
    assert (questions[0].by, questions[0].to, questions[0].about) == ("ada", "ben", ["OC1"])
    assert [note.question for note in plan.brief().questions] == ["How large?", "By hand?", "Who pays?"]
    assert "asks ben" not in plan.call("briefing.brief", node_id=plan["task"], markdown=True).markdown


def test_what_was_resolved_before_includes_the_dependencies_of_the_nodes_above(plan: BriefingClient) -> None:
    plan.plan("permit\nlease")
    plan.connect("phase: permit", "phase: lease", "phase: survey")
    notes = [{"type": "note", "ref": f"note {number}"} for number in range(2)]
    commits = [{"type": "commit", "ref": f"c{number}"} for number in range(4)]
    plan.updates({"node_id": "permit", "state": {"number": 7}, "resolved": True, "add_evidence": [*notes, *commits]})
    plan.drop("lease", reason="too dear")

    before = {node.id: node for node in plan.brief().before}

    assert plan.names(before.values()) == ["survey", "lease", "permit", "walk"]
    permit = before[plan["permit"]]
    assert permit.state == {"number": 7}
    assert [entry.ref for entry in permit.evidence] == ["note 0", "note 1", "c3"]
    assert permit.outcome == "done"
    assert before[plan["lease"]].outcome == "dropped"


def test_what_was_resolved_before_is_the_dependencies_then_the_siblings_with_evidence(plan: BriefingClient) -> None:
    before = plan.brief().before

    assert plan.names(before) == ["survey", "walk"]
    assert [one.ref for one in before[0].evidence] == ["the north is wrong"]


def test_work_of_others_on_the_same_files_is_shown(plan: BriefingClient) -> None:
    plan.plan("other", each={"other": {"context_links": ["src/**"]}})
    plan.by("ben", kind=ActorKind.AGENT).call("work.next", node_id=plan["other"], claim=True)

    (found,) = plan.brief().overlap

    assert (found.id, found.claimed_by, found.paths) == (plan["other"], "ben", ["src/map.py"])


def test_decisions_about_the_task_its_ancestors_and_its_purpose_bind_it_newest_first(plan: BriefingClient) -> None:
    plan.update("phase", state="begun", decision="two people only")
    plan.purpose.call("purpose.record", decisions=[{"text": "print it", "rationale": "cheap", "about": ["OC1"]}])
    plan.purpose.edit(add_node("OUTPUT", "a radio show"))
    plan.purpose.call("purpose.record", decisions=[{"text": "no radio", "rationale": "noise", "about": ["OP2"]}])
    plan.update("survey", state="old", decision="not about the task")

    assert [one.text for one in plan.brief().decisions] == ["print it", "two people only"]


def test_a_decision_that_was_superseded_is_shown_as_replaced(plan: BriefingClient) -> None:
    first = {"text": "print it", "rationale": "cheap", "about": ["OC1"]}
    recorded = plan.purpose.call("purpose.record", decisions=[first])
    later = {"text": "put it online", "rationale": "more people", "supersedes": recorded.decisions[0]}
    plan.purpose.call("purpose.record", decisions=[later])

    shown = [(one.text, one.replaced_by or None) for one in plan.brief().decisions]
    assert shown == [("put it online", None), ("print it", "put it online")]


def test_a_task_that_serves_nothing_gets_what_applies_to_every_task(plan: BriefingClient) -> None:
    plan.plan("other")

    briefing = plan.brief("other")

    assert briefing.why == []
    assert [one.key for one in briefing.constraints] == ["paper"]
    assert briefing.left_out is UNSET


def test_a_project_with_nothing_but_work_gets_an_empty_briefing(plan: BriefingClient) -> None:
    plan.call("work.open", project="bare", goal="nothing yet")
    planned = plan.call("work.plan", project="bare", nodes=[{"ref": "a", "summary": "begin"}])

    briefing = plan.call("briefing.brief", node_id=planned.created[0].id).briefing

    assert (briefing.why, briefing.facts, briefing.missing, briefing.knowledge) == ([], [], [], [])
