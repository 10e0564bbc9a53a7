"""Every change can be sent twice without a second effect, also once what it was about is gone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.desk import COMMIT, Knowledge
from tests.knowledge.rows import everything
from tests.manual_clock import ManualClock

CHANGES: dict[str, Callable[..., Any]] = {
    "create an atom": lambda desk, **given: desk.atom("New", **given),
    "create a molecule": lambda desk, **given: desk.molecule("New", **given),
    "overwrite": lambda desk, **given: desk.update("Cart", knowledge="new", version=1, **given),
    "append": lambda desk, **given: desk.append("Cart", "new", version=1, **given),
    "confirm": lambda desk, **given: desk.update("Cart", confirm=COMMIT, version=1, **given),
    "delete an atom": lambda desk, **given: desk.delete("Alone", version=1, **given),
    "delete a molecule": lambda desk, **given: desk.delete("Shop", version=1, **given),
    "delete a molecule with its atoms": lambda desk, **given: desk.delete("Shop", version=1, cascade=True, **given),
    "log": lambda desk, **given: desk.log("Shop", "made", **given),
    "check": lambda desk, **given: desk.check({"id": "Cart", "version": 1, "freshness": "fresh"}, **given),
}
every_change = pytest.mark.parametrize("change", CHANGES)


@every_change
def test_the_same_op_id_gives_the_same_answer_and_has_no_second_effect_whatever_happened_since(
    engine: Engine, crowded: Knowledge, clock: ManualClock, change: str
) -> None:
    first = CHANGES[change](crowded, op_id="once")
    before = everything(engine)
    clock.move(hours=1)

    assert CHANGES[change](crowded, op_id="once") == first
    assert everything(engine) == before

    crowded.molecule("Later")
    assert CHANGES[change](crowded, op_id="once") == first


def test_another_request_under_the_same_op_id_is_refused(engine: Engine, crowded: Knowledge) -> None:
    crowded.molecule("First", op_id="once")
    before = everything(engine)

    for change in CHANGES.values():
        error = error_of(partial(change, crowded, op_id="once"))
        assert isinstance(error, Conflict)
        assert error.code == "op_id_reused"
    assert everything(engine) == before


def test_an_update_that_is_sent_again_after_a_deletion_gives_its_answer(crowded: Knowledge) -> None:
    changed = crowded.append("Cart", "new", version=1, op_id="append")
    logged = crowded.log("Cart", "appended", op_id="log")
    crowded.delete("Cart", version=2, op_id="delete")

    assert crowded.append("Cart", "new", version=1, op_id="append") == changed
    assert crowded.log("Cart", "appended", op_id="log") == logged
    assert crowded.delete("Cart", version=2, op_id="delete").deleted == crowded["Cart"]


def test_a_conflict_is_not_kept(crowded: Knowledge) -> None:
    crowded.update("Cart", knowledge="newer")
    assert error_of(lambda: crowded.append("Cart", "mine", version=1, op_id="once")).code == "stale_version"

    assert crowded.append("Cart", "mine", version=2, op_id="once").version == 3


def test_an_op_id_is_of_one_actor(crowded: Knowledge) -> None:
    ada = crowded.log("Cart", "made", op_id="once")
    ben = crowded.by("ben").log("Cart", "made", op_id="once")

    assert ada.id != ben.id
    assert crowded.entries("Cart") == ["made", "made"]
