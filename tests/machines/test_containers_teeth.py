"""The machine of both dialects finds a fault with any one guard or step switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work import claims, readiness, state_changes
from groundplan.work.containers import manage
from groundplan.work.containers import workflow as transitions
from groundplan.work.graph import next  # noqa: A004 - the use case
from groundplan.work.nodes import WorkNodeRow
from groundplan.work.positions import Positions
from groundplan.work.readiness import Readiness
from groundplan.work.waiting import cycles
from tests.engines import SqliteEngine
from tests.machines.budget import NOTICED, fixed_settings
from tests.machines.containers_driver import run_containers
from tests.machines.test_containers_machine import STEPS_IN_A_RUN, ContainersMachine

pytestmark = pytest.mark.slow

STEPS_MAX = 24_000  # most are missed within a tenth of them

load_waiters = cycles._load_waiters

# The invariants of the machine. Answers and rows are enough here, and quick.
QUESTIONS = (
    "the_counts_of_open_are_right",
    "queries_find_who_is_ready_and_who_is_blocked_and_rank_everybody",
    "everybody_is_offered_what_they_may_take_best_first",
    "the_context_of_a_changed_node_is_right",
    "the_next_task_is_the_best_that_nobody_works_on",
    "the_next_feature_is_the_best_that_can_be_worked_on",
    "everything_blocked_is_told_with_what_blocks_it",
    "what_was_touched_is_shown_as_it_is",
    "the_project_is_counted_and_listed_as_it_is",
    "tasks_are_found_by_what_they_are",
)
Unasking: Any = type("Unasking", (ContainersMachine,), dict.fromkeys(QUESTIONS))


def nothing(*_: Any, **__: Any) -> None:
    """A switched-off guard."""


def no_changes(*_: Any, **__: Any) -> list[Any]:
    """A left-out step."""
    return []


def only_where_inherited(tx: Transaction, *_: Any) -> bool:
    """Treat features like any other node."""
    return get_policies(tx).inherit_dependencies


def load_without_features(
    tx: Transaction, *, above: Iterable[int], below: Iterable[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Load the waiting moments as if no task started after its feature."""
    waiters = load_waiters(tx, above)
    if not get_policies(tx).inherit_dependencies:
        waiters = {one: [after for after in waiting if one % 2 or after % 2] for one, waiting in waiters.items()}
    return waiters, {}


SABOTAGE: dict[str, tuple[Any, str, Callable[..., Any] | property | str]] = {
    "a feature does not end with its last task": (Readiness, "_close_feature", nothing),
    "a feature does not begin with its first task": (Readiness, "start_feature", nothing),
    "a feature does not begin with a claim": (next, "begin_features", nothing),
    "what a feature waits for holds nothing back": (readiness, "blocks_descendants", only_where_inherited),
    "what is on hold can go on": (WorkNodeRow, "waits", property(lambda node: node.open_deps > 0)),
    "nobody counts the tasks of a feature": (state_changes, "_list_task_counts", lambda _: ()),
    "what moves stays in its feature": (Positions, "mark_stale", nothing),
    "a task may wait for its feature's dependents": (cycles, "_load_smaller", load_without_features),
    "nobody claims what goes active": (transitions, "_update_claim", no_changes),
    "what is released stays active": (claims, "ACTIVE", "no such status"),
    "an old version is as good as a new one": (transitions, "refuse_stale", nothing),
    "a pipeline leaves somebody behind": (manage, "refuse_statuses_in_use", nothing),
}

# Weights of the calls that meet a guard which the usual ones seldom meet.
FAVOURED: dict[str, dict[str, int]] = {
    "what a feature waits for holds nothing back": {"depend": 30, "take": 40},
    "what is on hold can go on": {"block": 40, "unblock": 20, "depend": 0, "set_clock": 0, "set_policies": 0},
    "a task may wait for its feature's dependents": {"depend": 40, "connect": 40},
}


@pytest.mark.teeth
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_guard_that_is_switched_off_is_missed(sabotage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*SABOTAGE[sabotage])
    assert all(hasattr(ContainersMachine, question) for question in QUESTIONS)
    monkeypatch.setattr(Unasking, "weights", ContainersMachine.weights | FAVOURED.get(sabotage, {}))
    engine = SqliteEngine(tmp_path / "plan.db")
    until_found = settings(fixed_settings(STEPS_MAX, in_a_run=STEPS_IN_A_RUN), phases=[Phase.generate])
    with pytest.raises((*NOTICED, *engine.refusals)):  # the database may be the first to notice
        run_containers(Unasking, engine, until_found)
    engine.close()
