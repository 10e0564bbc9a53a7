"""Changes are idempotent, also after their subject is deleted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.client import COMMIT, KnowledgeClient
from tests.knowledge.rows import all_rows
from tests.manual_clock import ManualClock

CHANGES: dict[str, Callable[..., Any]] = {
    "create an atom": lambda client, **given: client.atom("New", **given),
    "create a molecule": lambda client, **given: client.molecule("New", **given),
    "overwrite": lambda client, **given: client.update("Cart", knowledge="new", version=1, **given),
    "append": lambda client, **given: client.append("Cart", "new", version=1, **given),
    "confirm": lambda client, **given: client.update("Cart", confirm=COMMIT, version=1, **given),
    "delete an atom": lambda client, **given: client.delete("Alone", version=1, **given),
    "delete a molecule": lambda client, **given: client.delete("Shop", version=1, **given),
    "delete a molecule with its atoms": lambda client, **given: client.delete("Shop", version=1, cascade=True, **given),
    "log": lambda client, **given: client.log("Shop", "made", **given),
    "check": lambda client, **given: client.check({"id": "Cart", "version": 1, "freshness": "fresh"}, **given),
}
every_change = pytest.mark.parametrize("change", CHANGES)


@every_change
def test_the_same_op_id_gives_the_same_answer_and_has_no_second_effect_whatever_happened_since(
    engine: Engine, crowded_project: KnowledgeClient, clock: ManualClock, change: str
) -> None:
    first = CHANGES[change](crowded_project, op_id="once")
    before = all_rows(engine)
    clock.move(hours=1)

    assert CHANGES[change](crowded_project, op_id="once") == first
    assert all_rows(engine) == before

    crowded_project.molecule("Later")
    assert CHANGES[change](crowded_project, op_id="once") == first


def test_another_request_under_the_same_op_id_is_refused(engine: Engine, crowded_project: KnowledgeClient) -> None:
    crowded_project.molecule("First", op_id="once")
    before = all_rows(engine)

    for change in CHANGES.values():
        error = error_of(partial(change, crowded_project, op_id="once"))
        assert isinstance(error, Conflict)
        assert error.code == "op_id_reused"
    assert all_rows(engine) == before


def test_an_update_that_is_sent_again_after_a_deletion_gives_its_answer(crowded_project: KnowledgeClient) -> None:
    changed = crowded_project.append("Cart", "new", version=1, op_id="append")
    logged = crowded_project.log("Cart", "appended", op_id="log")
    crowded_project.delete("Cart", version=2, op_id="delete")

    assert crowded_project.append("Cart", "new", version=1, op_id="append") == changed
    assert crowded_project.log("Cart", "appended", op_id="log") == logged
    assert crowded_project.delete("Cart", version=2, op_id="delete").deleted == crowded_project["Cart"]


def test_a_conflict_is_not_kept(crowded_project: KnowledgeClient) -> None:
    crowded_project.update("Cart", knowledge="newer")
    assert error_of(lambda: crowded_project.append("Cart", "mine", version=1, op_id="once")).code == "stale_version"

    assert crowded_project.append("Cart", "mine", version=2, op_id="once").version == 3


def test_an_op_id_is_of_one_actor(crowded_project: KnowledgeClient) -> None:
    ada = crowded_project.log("Cart", "made", op_id="once")
    ben = crowded_project.by("ben").log("Cart", "made", op_id="once")

    assert ada.id != ben.id
    assert crowded_project.entries("Cart") == ["made", "made"]
