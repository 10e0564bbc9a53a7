"""The theory of the example: complete, continued after an interrupted fill, and then left alone."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.demo.context import fill_context
from groundplan.demo.purpose import fill_purpose
from groundplan.demo.theory import GOAL
from groundplan.demo.theory_changes import SPRING, TRUST
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.operations.registry import Effect
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.engines import Engine, fill_once

PROJECT = "clean-water"
OPEN_TOKENS_MAX = 3_000
OPERATIONS_THAT_WRITE = 10


@pytest.fixture
def ada(engine: Engine) -> Session:
    """Ada, who owns an empty project."""
    session = engine.session("ada")
    session.call("project.create", name=PROJECT)
    return session


@pytest.fixture
def filled_project(engine: Engine) -> Session:
    """Ada at a project with the facts and the theory of the example."""
    fill_once(engine, fill)
    return engine.session("ada")


def fill(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name=PROJECT)
    fill_context(ada, PROJECT)
    fill_purpose(ada, PROJECT)


def read_all(session: Session) -> Any:
    """Return all versions and observations without what differs between fills."""
    versions = [session.call("purpose.open", project=PROJECT, version=number) for number in (1, 2, 3)]
    observed = session.call("purpose.observations", project=PROJECT)
    return (
        [(one.version.status, one.rev, one.counts, [node.title for node in one.nodes]) for one in versions],
        [len(getattr(observed, sort)) for sort in ("measurements", "reviews", "waivers", "decisions")],
    )


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
    assert (len(observed.waivers), len(observed.decisions)) == (1, 1)


def test_both_versions_stand_on_the_facts_and_would_be_published_again(filled_project: Session) -> None:
    versions = filled_project.call("purpose.versions", project=PROJECT).versions
    run = filled_project.context.resolve_context_view(PROJECT).run.id

    assert [one.context_run for one in versions[:2]] == [run, run]
    gates = [filled_project.call("purpose.check", project=PROJECT, gate="A", version=number) for number in (1, 2, 3)]
    assert [gate.passed for gate in gates] == [True, True, True]
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


def test_filling_twice_changes_nothing_and_neither_does_it_change_what_somebody_wrote(filled_project: Session) -> None:
    before = read_all(filled_project)
    assert (fill_purpose(filled_project, PROJECT), read_all(filled_project)) == (False, before)

    filled_project.call(
        "purpose.edit", project=PROJECT, operations=[{"op": "update_node", "node": "G2", "owner": "ben"}]
    )
    filled_project.call("purpose.publish", project=PROJECT)

    assert fill_purpose(filled_project, PROJECT) is False


def test_a_theory_of_somebody_else_is_left_alone(ada: Session) -> None:
    ada.call("purpose.draft", project=PROJECT)
    ada.call(
        "purpose.edit", project=PROJECT, operations=[{"op": "add_node", "node_type": "GOAL", "title": f"Not: {GOAL}"}]
    )

    assert fill_purpose(ada, PROJECT) is False


def test_a_fill_that_was_cut_short_anywhere_is_completed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    left = 0

    def call(session: Session, operation: str, /, **arguments: Any) -> Any:
        nonlocal left
        if OPERATIONS[operation].effect is not Effect.READ:
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
        return session.run(OPERATIONS[operation], arguments)

    ada = engine.session("ada")
    ada.call("project.create", name=PROJECT)
    with monkeypatch.context() as patched:
        patched.setattr(Session, "call", call)
        for _ in range(OPERATIONS_THAT_WRITE):  # each fill gets one step further than the one before
            left = 1
            with contextlib.suppress(KeyboardInterrupt):
                fill_purpose(ada, PROJECT)

    assert fill_purpose(ada, PROJECT) is False
    assert read_all(ada)[1] == [10, 4, 1, 1]
