"""Every change to templates can be sent twice without a second effect, also once what it was about is gone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import Conflict
from groundplan.session import Session
from tests.engines import Engine
from tests.races.barrier import at_once
from tests.work.containers.templates.desk import Templates
from tests.work.containers.templates.rows import everything
from tests.work.desk import ManualClock, refused

CHANGES: dict[str, Callable[..., Any]] = {
    "create": lambda desk, **given: desk.create("New", **given),
    "update": lambda desk, **given: desk.update("Release", description="new", **given),
    "disable": lambda desk, **given: desk.disable("Release", **given),
    "enable": lambda desk, **given: desk.enable("Release", **given),
    "add a section": lambda desk, **given: desk.add("Release", "More", **given),
    "delete": lambda desk, **given: desk.delete("Release", **given),
}
every_change = pytest.mark.parametrize("change", CHANGES)


@every_change
def test_the_same_op_id_gives_the_same_answer_and_has_no_second_effect_whatever_happened_since(
    engine: Engine, desk: Templates, clock: ManualClock, change: str
) -> None:
    desk.create("Release")
    first = CHANGES[change](desk, op_id="once")
    before = everything(engine)
    clock.move(hours=1)

    assert CHANGES[change](desk, op_id="once") == first
    assert everything(engine) == before

    for name in desk.own():
        desk.delete(name)
    assert CHANGES[change](desk, op_id="once") == first
    assert desk.own() == []


def test_another_request_under_the_same_op_id_is_refused(engine: Engine, desk: Templates) -> None:
    desk.create("Release")
    desk.create("First", op_id="once")
    before = everything(engine)

    for change in CHANGES.values():
        error = refused(partial(change, desk, op_id="once"))
        assert isinstance(error, Conflict)
        assert error.code == "op_id_reused"
    assert everything(engine) == before


def agents(engine: Engine, desk: Templates) -> list[Templates]:
    """Some agents, each with a store of their own."""
    return [Templates(Session(engine.another_store(), local_actor(f"agent {n}")), desk.ids) for n in range(4)]


def test_of_many_who_make_a_template_of_one_name_at_once_one_does(engine: Engine, desk: Templates) -> None:
    answers = at_once([partial(one.create, "Release") for one in agents(engine, desk)])

    assert sorted(getattr(one, "code", "made") for one in answers) == ["made", *["template_exists"] * 3]
    assert desk.own() == ["Release"]


def test_sections_that_are_added_at_once_each_get_a_place_of_their_own(engine: Engine, desk: Templates) -> None:
    desk.create("Release")

    at_once([partial(one.add, "Release", f"of {n}") for n, one in enumerate(agents(engine, desk))])

    assert [one.ordinal for one in desk.sections("Release")] == [0, 1, 2, 3]
