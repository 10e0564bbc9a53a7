"""A commit becomes evidence of the tasks that its message names."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import Forbidden
from groundplan.repository.git import find_named_tasks, link_commit, make_prefix
from groundplan.session import Session
from tests.engines import Engine
from tests.repository.working_copy import NOBODY_S_SETTINGS, PlanOfCopy, WorkingCopy

pytestmark = pytest.mark.slow  # most tests start git


@pytest.fixture
def plan(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlanOfCopy:
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)
    session = Session(engine.store, local_actor("ada", kind=ActorKind.PERSON))
    return PlanOfCopy.create(session, WorkingCopy(tmp_path / "copy"))


def test_a_commit_is_linked_once_to_each_task_that_it_names(plan: PlanOfCopy) -> None:
    first, second = plan.task("Dig"), plan.task("Line the well")
    commit = plan.copy.commit({"a": "1"}, message=f"Dig plan-{first}\n\nAlso atlas-{second.upper()}, PLAN-{first}.")

    links = link_commit(plan.session, plan.copy.folder, ["atlas"])
    again = link_commit(plan.session, plan.copy.folder, ["atlas"])

    assert [(task.id, task.is_new) for task in links.linked] == [(first, True), (second, True)]
    assert [(task.id, task.is_new) for task in again.linked] == [(first, False), (second, False)]
    for task in (first, second):
        evidence = plan.session.call("work.context", node_id=task).node.evidence
        assert [(one.type, one.ref) for one in evidence] == [("commit", commit)]


def test_what_is_not_a_task_is_named_and_the_rest_is_linked(plan: PlanOfCopy) -> None:
    task = plan.task()
    plan.copy.commit(message=f"plan-zzzzzz, plan-{task}")

    links = link_commit(plan.session, plan.copy.folder, [])

    assert ([one.id for one in links.linked], links.unknown) == ([task], ["zzzzzz"])


def test_a_viewer_links_nothing(plan: PlanOfCopy) -> None:
    plan.copy.commit(message=f"plan-{plan.task()}")

    with pytest.raises(Forbidden):
        link_commit(plan.by("cleo", "viewer").session, plan.copy.folder, [])


@pytest.mark.parametrize(
    ("message", "ids"),
    [
        ("plan-q8cdfw", ["q8cdfw"]),
        ("(plan-q8cdfw): pl-a1b2c3, water-plan-d4e5f6.", ["q8cdfw", "a1b2c3", "d4e5f6"]),
        ("plan-q8cdfw plan-q8cdfw", ["q8cdfw"]),
        ("plan-driven, plan-q8cd, plan-q8cdfw-x, xplan-q8cdfw, my-plan-q8cdfw, q8cdfw, bd-q8cdfw", []),
        ("plan-" + "0" * 100, []),
        ("", []),
    ],
)
def test_a_task_is_named_by_a_known_word_and_its_whole_id(message: str, ids: list[str]) -> None:
    assert find_named_tasks(message, ["pl", make_prefix("Water plan!"), ""]) == ids
