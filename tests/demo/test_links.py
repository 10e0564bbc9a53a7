"""The links of the example join its work, theory, facts and knowledge; a fill is completed and then left alone."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.demo import fill
from groundplan.demo.links import ATOM, LATER_DECISION, REFUTED, RESTS_ON, SERVES, fill_links
from groundplan.demo.work import NODES, load_ids
from groundplan.kernel.operations.registry import Effect
from groundplan.session import Session
from tests.engines import Engine, fill_once

PROJECT = "clean-water"
LINK_TYPES = ("serves", "rests_on", "supports", "refutes")
LINK_WRITES = 6
README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def ada(engine: Engine) -> Session:
    """Ada at the complete example."""
    fill_once(engine, fill_example)
    return engine.session("ada")


def fill_example(engine: Engine) -> None:
    fill(engine.session("ada"))


def read_links(session: Session) -> Any:
    """Return what the links stage has written, without ids."""
    ids = load_ids(session, PROJECT)
    nodes = {ref: session.call("work.context", node_id=ids[ref], depth=0).node for ref in sorted(ids)}
    links = {ref: [[link.to for link in getattr(node, one) or ()] for one in LINK_TYPES] for ref, node in nodes.items()}
    observed = session.call("purpose.observations", project=PROJECT)
    atoms = session.call("knowledge.search", entityType="atom", projectId=PROJECT).items
    return links, len(observed.decisions), len(observed.requests), [atom.name for atom in atoms]


def test_every_link_of_the_example_leads_to_something(ada: Session) -> None:
    refs = {node.ref for node in NODES}
    assert refs >= SERVES.keys() | RESTS_ON.keys()
    ids = load_ids(ada, PROJECT)

    for ref in refs:
        node = ada.call("work.context", node_id=ids[ref], depth=0).node
        assert not [link for one in LINK_TYPES for link in getattr(node, one) or () if link.dangling], ref


def test_a_claimed_task_of_the_example_has_a_briefing_with_every_part_that_is_known(ada: Session) -> None:
    ids = load_ids(ada, PROJECT)

    ranking = ada.call("briefing.brief", node_id=ids["ranking"]).briefing

    assert [step.key for step in ranking.why] == ["AC2", "OP1", "OP2", "OC1", "G1"]
    assert [one.name for one in ranking.knowledge] == [ATOM]
    assert (ranking.missing, len(ranking.before)) == (["/site/owner"], 3)
    decisions = {one.text: one.replaced_by for one in ada.call("briefing.brief", node_id=ids["fee"]).briefing.decisions}
    assert LATER_DECISION["text"] in decisions.values(), "a decision that was replaced names the one in its place"


def test_the_example_has_gaps_and_something_of_most_kinds_waits(ada: Session) -> None:
    gaps = ada.call("briefing.coverage", project=PROJECT)
    waiting = ada.call("briefing.inbox", project=PROJECT).items

    assert gaps.unserved
    assert gaps.serving_nothing
    assert gaps.required_unset == ["/site/owner"]
    assert {item.kind for item in waiting} >= {"gate_blocks", "at_risk", "request", "suggestion", "review_due"}
    assert REFUTED in [item.ref for item in waiting if item.kind == "at_risk"]


def test_two_agents_hold_a_task_each(ada: Session) -> None:
    nodes = ada.call("work.query", project=PROJECT, limit=100).nodes

    claimed_by = [node.properties["_claimed_by"] for node in nodes if "_claimed_by" in (node.properties or {})]

    assert sorted(claimed_by) == ["claude", "juno"]


def test_filling_twice_changes_nothing_and_neither_does_it_change_what_somebody_wrote(ada: Session) -> None:
    before = read_links(ada)
    assert (fill(ada), read_links(ada)) == ([], before)

    needs = load_ids(ada, PROJECT)["needs"]
    ada.call("work.update", updates=[{"node_id": needs, "serves": []}])
    cleared = read_links(ada)

    assert (fill(ada), read_links(ada)) == ([], cleared)


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
    with monkeypatch.context() as patched:
        patched.setattr("groundplan.demo.fill_links", lambda *_: False)
        fill(ada)
    with monkeypatch.context() as patched:
        patched.setattr(Session, "call", call)
        for _ in range(LINK_WRITES):  # each fill gets one step further than the one before
            left = 1
            with contextlib.suppress(KeyboardInterrupt):
                fill_links(ada, PROJECT)

    assert fill_links(ada, PROJECT) is False
    links, *others = read_links(ada)
    assert others == [3, 1, [ATOM]]
    assert (links["costs"], links["households"]) == (
        [["OP2"], ["/wells/cost", "/wells/depth"], [], []],
        [["AC1"], [], [], ["AS5"]],
    )
