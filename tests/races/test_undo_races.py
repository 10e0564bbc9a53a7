"""Undos and redos at once, each on a connection of its own: a change is taken back once, and none is skipped."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from tests.engines import Engine
from tests.proof import rounds
from tests.races.concurrent_calls import outcome_codes, run_at_once
from tests.work.client import WorkClient
from tests.work.derived_columns import read_derived, recompute_derived

pytestmark = [pytest.mark.proof, pytest.mark.slow]

ADA = local_actor("ada", kind=ActorKind.PERSON)
WRITERS = 4
ROUNDS = rounds(3)


@pytest.fixture
def adas(engine: Engine) -> list[WorkClient]:
    """Ada, at several connections at once."""
    first = WorkClient(Session(engine.another_store(), ADA))
    first.open()
    first.plan("task")
    return [first, *(WorkClient(Session(engine.another_store(), ADA), ids=first.ids) for _ in range(WRITERS - 1))]


def undo(client: WorkClient, **given: Any) -> Any:
    return client.call("briefing.undo", project=client.project, **given)


def count_notes(client: WorkClient) -> int:
    return len(client.node("task").evidence)


def add_notes(client: WorkClient, count: int) -> list[str]:
    """Add notes by as many writes, and return the event of each."""
    for n in range(count):
        client.update("task", add_evidence=[{"type": "note", "ref": str(n)}])
    return [entry.event for entry in client.node("task").evidence]


def test_each_of_several_undos_at_once_takes_back_another_change(adas: list[WorkClient]) -> None:
    for _ in range(ROUNDS):
        events = add_notes(adas[0], WRITERS)
        undone = run_at_once([partial(undo, ada) for ada in adas])
        assert outcome_codes(undone) == ["ok"] * WRITERS
        assert sorted(one.undone for one in undone if not isinstance(one, Exception)) == sorted(events)
        assert count_notes(adas[0]) == 0

        assert outcome_codes(run_at_once([partial(undo, ada, redo=True) for ada in adas])) == ["ok"] * WRITERS
        assert [entry.event for entry in adas[0].node("task").evidence] == events
        assert outcome_codes(run_at_once([partial(undo, ada) for ada in adas])) == ["ok"] * WRITERS


def test_one_change_is_taken_back_once(adas: list[WorkClient]) -> None:
    for _ in range(ROUNDS):
        (event,) = add_notes(adas[0], 1)
        calls = [partial(undo, ada, event=event) for ada in adas[:2]]
        calls += [partial(ada.update, "task", retract_note=event) for ada in adas[2:]]

        codes = Counter(outcome_codes(run_at_once(calls)))

        assert codes["ok"] == 1
        assert codes.keys() <= {"ok", "already_undone", "already_retracted", "changed_since"}
        assert count_notes(adas[0]) == 0


def test_an_undo_of_a_new_node_and_what_others_build_on_it_at_once_leave_it_or_refuse_them(
    engine: Engine, adas: list[WorkClient]
) -> None:
    ben = WorkClient(Session(engine.another_store(), local_actor("ben", kind=ActorKind.PERSON)), ids=adas[0].ids)
    for n in range(ROUNDS):
        adas[0].plan(f"new {n}")
        below = partial(ben.plan, f"below {n}", under=f"new {n}")

        undone, built = run_at_once([partial(undo, adas[0]), below])

        assert isinstance(undone, GroundplanError) != isinstance(built, GroundplanError), (undone, built)
        codes = outcome_codes([undone, built])
        assert codes in (["changed_since", "ok"], ["ok", "not_found"])
        assert read_derived(engine) == recompute_derived(engine)
