"""Changes to templates are idempotent, also after their template is deleted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import Conflict
from groundplan.session import Session
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.races.concurrent_calls import run_at_once
from tests.work.containers.templates.client import TemplatesClient
from tests.work.containers.templates.rows import all_rows

CHANGES: dict[str, Callable[..., Any]] = {
    "create": lambda client, **given: client.create("New", **given),
    "update": lambda client, **given: client.update("Release", description="new", **given),
    "disable": lambda client, **given: client.disable("Release", **given),
    "enable": lambda client, **given: client.enable("Release", **given),
    "add a section": lambda client, **given: client.add("Release", "More", **given),
    "delete": lambda client, **given: client.delete("Release", **given),
}
every_change = pytest.mark.parametrize("change", CHANGES)


@every_change
def test_the_same_op_id_gives_the_same_answer_and_has_no_second_effect_whatever_happened_since(
    engine: Engine, client: TemplatesClient, clock: ManualClock, change: str
) -> None:
    client.create("Release")
    first = CHANGES[change](client, op_id="once")
    before = all_rows(engine)
    clock.move(hours=1)

    assert CHANGES[change](client, op_id="once") == first
    assert all_rows(engine) == before

    for name in client.own_names():
        client.delete(name)
    assert CHANGES[change](client, op_id="once") == first
    assert client.own_names() == []


def test_another_request_under_the_same_op_id_is_refused(engine: Engine, client: TemplatesClient) -> None:
    client.create("Release")
    client.create("First", op_id="once")
    before = all_rows(engine)

    for change in CHANGES.values():
        error = error_of(partial(change, client, op_id="once"))
        assert isinstance(error, Conflict)
        assert error.code == "op_id_reused"
    assert all_rows(engine) == before


def agents(engine: Engine, client: TemplatesClient) -> list[TemplatesClient]:
    """Return clients of several agents, each with its own store."""
    return [TemplatesClient(Session(engine.another_store(), local_actor(f"agent {n}")), client.ids) for n in range(4)]


def test_of_many_who_make_a_template_of_one_name_at_once_one_does(engine: Engine, client: TemplatesClient) -> None:
    answers = run_at_once([partial(one.create, "Release") for one in agents(engine, client)])

    assert sorted(getattr(one, "code", "made") for one in answers) == ["made", *["template_exists"] * 3]
    assert client.own_names() == ["Release"]


def test_sections_that_are_added_at_once_each_get_a_place_of_their_own(engine: Engine, client: TemplatesClient) -> None:
    client.create("Release")

    run_at_once([partial(one.add, "Release", f"of {n}") for n, one in enumerate(agents(engine, client))])

    assert [one.ordinal for one in client.sections("Release")] == [0, 1, 2, 3]
