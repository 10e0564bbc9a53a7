"""Every change is idempotent by its op_id and records its decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict
from tests.engines import Engine
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.client import WorkClient

CHANGES: dict[str, Callable[..., Any]] = {
    "plan": lambda work, **given: work.plan("new: a", **given),
    "claim": lambda work, **given: work.call("work.next", project="atlas", claim=True, **given),
    "update": lambda work, **given: work.resolve("a", **given),
    "connect": lambda work, **given: work.connect("b: c", "c: oooooo", **given),
    "restructure": lambda work, **given: work.restructure({"op": "drop", "node_id": "a", "reason": "x"}, **given),
    "open": lambda work, **given: work.call("work.open", project="borealis", goal="x", **given),
    "policies": lambda work, **given: work.open(policies={"evidence": "off"}, **given),
}
every_change = pytest.mark.parametrize("change", CHANGES)
# Opening an existing project is a read.
INSIDE_A_PROJECT = [name for name in CHANGES if name != "open"]
inside_a_project = pytest.mark.parametrize("change", INSIDE_A_PROJECT)

WRITTEN = (
    "SELECT (SELECT sum(rev) FROM projects), (SELECT sum(rev) FROM organizations), (SELECT count(*) FROM events), "
    "(SELECT count(*) FROM work_nodes), (SELECT sum(claim_number) FROM work_nodes)"
)


@pytest.fixture
def planned_work(work: WorkClient) -> WorkClient:
    work.plan("a\nb: a\nc")
    return work


@every_change
def test_the_same_op_id_gives_the_same_answer_and_has_no_second_effect(
    engine: Engine, planned_work: WorkClient, change: str
) -> None:
    first = CHANGES[change](planned_work, op_id="once")
    before = engine.as_owner(WRITTEN)

    again = CHANGES[change](planned_work, op_id="once")

    assert again == first
    assert engine.as_owner(WRITTEN) == before


@inside_a_project
def test_the_answer_is_the_same_even_when_the_world_has_moved_on(planned_work: WorkClient, change: str) -> None:
    first = CHANGES[change](planned_work, op_id="once")
    planned_work.plan("later\nmuch later: later")
    planned_work.update("c", state="looked at")

    assert CHANGES[change](planned_work, op_id="once") == first


@pytest.fixture
def work_with_used_op_id(planned_work: WorkClient) -> WorkClient:
    """Ada, who has used an op_id."""
    planned_work.plan("first", op_id="once")
    return planned_work


@try_each("change", INSIDE_A_PROJECT)
def test_another_request_under_the_same_op_id_is_refused(
    engine: Engine, work_with_used_op_id: WorkClient, change: str
) -> None:
    before = engine.as_owner(WRITTEN)

    refusal = error_of(lambda: CHANGES[change](work_with_used_op_id, op_id="once"))

    assert isinstance(refusal, Conflict)
    assert refusal.code == "op_id_reused"
    assert engine.as_owner(WRITTEN) == before


def test_an_op_id_is_of_one_actor(planned_work: WorkClient) -> None:
    first = planned_work.claim(op_id="once")

    assert first == ["a"]
    assert planned_work.by("ben").claim(op_id="once") == ["c"]


def test_a_refusal_is_not_kept(planned_work: WorkClient) -> None:
    planned_work.plan("phase\n  d")
    assert error_of(lambda: planned_work.resolve("phase", op_id="once")).code == "unresolved_children"
    planned_work.resolve("d")

    planned_work.resolve("phase", op_id="once")

    assert planned_work.node("phase").resolved


def test_a_claim_that_is_sent_twice_takes_one_node(planned_work: WorkClient) -> None:
    ben = planned_work.by("ben")

    assert ben.claim(op_id="once") == ben.claim(op_id="once") == ["a"]
    assert planned_work.query(claimed_by="ben") == ["a"]
    assert planned_work.actions("a") == ["created", "claimed"]


DECIDED: dict[str, tuple[Callable[[WorkClient], Any], str, str]] = {
    "plan": (lambda work: work.plan("new", decision="why"), "new", "created"),
    "claim": (lambda work: work.claim(decision="why"), "a", "claimed"),
    "update": (lambda work: work.update("a", state=1, decision="why"), "a", "updated"),
    "resolve": (lambda work: work.resolve("a", decision="why"), "a", "resolved"),
    "connect": (lambda work: work.connect("c: a", decision="why"), "c", "connected"),
    "move": (
        lambda work: work.restructure({"op": "move", "node_id": "c", "new_parent": "a"}, decision="why"),
        "c",
        "moved",
    ),
    "merge": (
        lambda work: work.restructure({"op": "merge", "source": "c", "target": "a"}, decision="why"),
        "c",
        "merged",
    ),
    "drop": (
        lambda work: work.restructure({"op": "drop", "node_id": "a", "reason": "x"}, decision="why"),
        "a",
        "dropped",
    ),
}


@pytest.mark.parametrize("change", DECIDED)
def test_why_a_change_was_made_is_kept_in_history(planned_work: WorkClient, change: str) -> None:
    call, name, action = DECIDED[change]

    call(planned_work)

    event = planned_work.history(name)[-1]
    assert (event.action, event.decision, event.agent) == (action, "why", "ada")


@every_change
def test_a_change_writes_its_events_with_it(engine: Engine, planned_work: WorkClient, change: str) -> None:
    before = engine.as_owner("SELECT count(*) FROM events")[0][0]

    CHANGES[change](planned_work)

    assert engine.as_owner("SELECT count(*) FROM events")[0][0] > before
