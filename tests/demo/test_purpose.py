"""The theory of the example is complete."""

from __future__ import annotations

import pytest

from groundplan.demo import PROJECT, fill
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.engines import Engine, fill_once

SPRING, TRUST = "AS4", "AS13"  # assumptions of the example
OPEN_TOKENS_MAX = 3_000


@pytest.fixture
def filled_project(engine: Engine) -> Session:
    """Ada at the complete example."""
    fill_once(engine, fill_example)
    return engine.session("ada")


def fill_example(engine: Engine) -> None:
    fill(engine.session("ada"))


def test_the_example_has_everything_that_a_theory_can_have(filled_project: Session) -> None:
    draft = filled_project.call("purpose.open", project=PROJECT)
    first = filled_project.call("purpose.open", project=PROJECT, version=1)
    observed = filled_project.call("purpose.observations", project=PROJECT)

    effects: dict[str, set[str]] = {}
    for edge in draft.edges:
        effects.setdefault(edge.source, set()).add(edge.target)
    on_nodes = [one for node in first.nodes for one in node.assumptions]
    on_edges = [one for edge in first.edges for one in edge.assumptions]
    statuses = {one.key: one.status for one in on_nodes + on_edges}
    statuses |= {one.key: one.status for edge in draft.edges for one in edge.assumptions}
    assert [one.status for one in draft.versions] == ["PUBLISHED", "PUBLISHED", "DRAFT"]
    assert (len(first.nodes), len(draft.nodes)) == (31, 31)
    assert sum(len(targets) > 1 for targets in effects.values()) >= 5
    assert [edge.source for edge in draft.edges if edge.edge_type == "FEEDBACK"] == ["OC3"]
    assert {one.risk_level for one in on_nodes} == {"LOW", "MEDIUM", None}
    assert {one.risk_level for one in on_edges} == {"LOW", "MEDIUM", "HIGH", None}
    assert len(draft.indicators) >= 12
    assert (statuses[SPRING], statuses[TRUST]) == ("refuted", "at_risk")
    assert len({one.as_of for one in observed.measurements if one.indicator == "IN5"}) == 3
    assert (len(observed.waivers), len(observed.decisions)) == (1, 3)


def test_both_versions_stand_on_the_facts_and_pass_their_gate_and_the_draft_waits_for_a_decision(
    filled_project: Session,
) -> None:
    versions = filled_project.call("purpose.versions", project=PROJECT).versions
    run = filled_project.context.resolve_context_view(PROJECT).run.id

    assert [one.context_run for one in versions[:2]] == [run, run]
    gates = [filled_project.call("purpose.check", project=PROJECT, gate="A", version=number) for number in (1, 2, 3)]
    refuted = [check.result for check in gates[2].checks if check.code == "GA_REFUTED"]
    assert ([gate.passed for gate in gates], refuted) == ([True, True, False], ["failed"])
    coverage = [check.result for gate in gates for check in gate.checks if check.code == "GA_OUTCOME_COVERAGE"]
    assert coverage == ["failed", "waived", "waived"], "the waiver came behind the first version"


def test_the_versions_differ_visibly(filled_project: Session) -> None:
    found = filled_project.call("purpose.diff", project=PROJECT, **{"from": 1, "to": 2})

    sections = {line.removeprefix("### ") for line in found.markdown.splitlines() if line.startswith("### ")}
    assert {"Added", "Removed", "Retitled", "Rewired", "Mechanism and confidence", "Assumptions"} <= sections
    assert [one.key for one in found.assumptions.added] == [TRUST]


def test_an_agent_that_opens_the_example_pays_little(filled_project: Session) -> None:
    agent = Session(filled_project.store, filled_project.actor, preferences=Preferences(answer_tokens_max=20_000))

    assert count_tokens(encode(agent.call("purpose.open", project=PROJECT))) <= OPEN_TOKENS_MAX
