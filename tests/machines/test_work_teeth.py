"""The machine finds a fault with any one guard of the work graph switched off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from groundplan import providers
from groundplan.briefing.undo import undo
from groundplan.kernel import clock
from groundplan.kernel.store import store
from groundplan.kernel.store.transaction import Transaction
from groundplan.work import claims, kinds, positions, readiness, refs, restructuring, reversal
from groundplan.work.events import WorkOp
from groundplan.work.graph import plan, update
from groundplan.work.overlaps import OverlapGuard
from groundplan.work.readiness import Readiness
from groundplan.work.state_changes import NeighbourRow, NodeFlags
from groundplan.work.waiting import cycles, moments, order
from tests.engines import SqliteEngine
from tests.machines.budget import NOTICED, fixed_settings
from tests.machines.test_work_machine import WorkMachine
from tests.machines.work_driver import WEIGHTS, run_machine

pytestmark = pytest.mark.slow

STEPS_MAX = 24_000  # most are missed within a tenth of them

record = Transaction.record


def forget_reopening(tx: Transaction, op: str, subject: str, *changes: Any, **more: Any) -> None:
    if op != WorkOp.REOPENED:
        record(tx, op, subject, *changes, **more)


def do_nothing(*_: Any, **__: Any) -> None:
    """A switched-off guard."""


def ignore_tree(nodes: Iterable[tuple[int, Any, Any]], dependencies: Any) -> Iterator[tuple[int, int]]:
    return moments.iter_waits([(n, None, None) for n, _, _ in nodes], dependencies)


def keep_states(rows: Sequence[NeighbourRow], _: int) -> dict[int, NodeFlags]:
    return {row.n: (row.flags, row.feature_n) for row in rows}


SABOTAGE: dict[str, tuple[Any, str, Any]] = {
    "nothing below is held back": (Readiness, "propagate_waiting", do_nothing),
    "what was moved keeps its old position": (positions.Positions, "settle", do_nothing),
    "a later move of a batch sees the old ancestors": (positions, "ABOVE_ROOT", 2),
    "a parent keeps counting a child that left": (Readiness, "remove_open_children", do_nothing),
    "nobody hears that what they wait for was resolved": (Readiness, "update_dependents", do_nothing),
    "a resolve is taken to change no state": (readiness, "derive_states", keep_states),
    "a dependency may close a loop": (cycles.WaitingMoments, "find_loop_closed_by", do_nothing),
    "a move or a merge may close a loop": (Readiness, "check_for_loops", do_nothing),
    "a node that is open again may close a loop": (readiness, "find_loop_through", do_nothing),
    "the tree closes no loop": (cycles, "iter_waits", ignore_tree),
    "a wait against the order is not noticed": (order.ProjectOrder, "_move", lambda *_: True),
    "an enforced claim keeps nobody away": (claims, "enforce_claims", do_nothing),
    "an old claim is as good as a new one": (claims, "check_claim_number", do_nothing),
    "true is a number": (kinds, "_is_number", lambda value: isinstance(value, int | float)),
    "what others changed since is undone": (undo, "_refuse_changed", do_nothing),
    "a note outlives the change that added it": (reversal, "set_notes_back", do_nothing),
    "what a merged node said is lost": (restructuring, "_keep_words", do_nothing),
    "the id of a merged node leads nowhere": (refs, "_follow_merges", do_nothing),
    "to Python true is 1": (update, "is_same_json", lambda before, after: before == after),
    "a reopened ancestor is not told of": (Transaction, "record", forget_reopening),
    "a call that comes twice is done twice": (store, "find_stored_answer", do_nothing),
    "time runs back with a clock": (store, "JUMP_MIN", timedelta()),
    "leases stay where a clock that jumped put them": (providers, "move_leases", do_nothing),
    "a clock that is ahead is believed": (clock, "_measure_jump", do_nothing),
    "a plan does not tell of files in common": (plan, "warn_about_planned_overlaps", do_nothing),
    "nobody is told who else works on their files": (OverlapGuard, "warn", do_nothing),
    "files that others work on are not avoided": (OverlapGuard, "_avoids", False),
}

# Weights of the calls that meet a guard which the usual ones seldom meet.
CROWDED = {"take": 80, "wait": 0, "set_clock": 0, "set_policies": 0, "undo": 0, "redo": 0}
FAVOURED: dict[str, dict[str, int]] = {
    "nothing below is held back": {"connect": 40, "resolve": 40, "undo": 0, "redo": 0},
    "a later move of a batch sees the old ancestors": {"move": 60},
    "an enforced claim keeps nobody away": {"claim": 20, "take": 20},
    "an old claim is as good as a new one": {"claim": 20, "take": 20},
    "a note outlives the change that added it": {"content": 60, "undo": 40},
    "a plan does not tell of files in common": {"plan": 60},
    "nobody is told who else works on their files": CROWDED,
    "files that others work on are not avoided": {**CROWDED, "plan": 20, "resolve": 4, "drop": 0, "merge": 0},
}


@pytest.mark.teeth
@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_guard_that_is_switched_off_is_missed(sabotage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*SABOTAGE[sabotage])
    monkeypatch.setattr(WorkMachine, "weights", WEIGHTS | FAVOURED.get(sabotage, {}))
    engine = SqliteEngine(tmp_path / "plan.db")
    until_found = settings(
        fixed_settings(STEPS_MAX), phases=[Phase.generate]
    )  # and no shrinking: one finding is enough
    with pytest.raises((*NOTICED, *engine.refusals)):
        run_machine(WorkMachine, engine, until_found)
    engine.close()
