"""Every change of facts can be sent twice without a second effect, also once what it was about is gone."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.context.desk import Facts
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock

TABLES = ("runs", "deleted_runs", "sources", "inputs", "input_sources", "constraints", "artifacts", "suggestions")


def everything(engine: Engine) -> list[Any]:
    found = [engine.as_owner(f"SELECT * FROM pciv_{table} ORDER BY 1, 2, 3, 4") for table in TABLES]
    return [*found, engine.as_owner("SELECT project_id, rev, n, op FROM events ORDER BY 1, 2, 3")]


def test_the_same_op_id_gives_the_same_answer_and_has_no_second_effect(
    engine: Engine, desk: Facts, clock: ManualClock
) -> None:
    run = desk.run
    desk.write("/a", 1)
    changes: dict[str, dict[str, Any]] = {
        "context.create_draft": {"scopeId": "atlas"},
        "context.create_draft of a new scope": {"scopeId": "borealis"},
        "context.edit": {"runId": run, "inputs": [{"pointer": "/a", "value": 2}]},
        "context.update_draft": {"runId": run, "ownership": "shared"},
        "context.commit": {"runId": run},
        "context.delete": {"runId": run},
        "context.discard": {"runId": desk.call("context.create_draft", scopeId="atlas").run.id},
        "member.bootstrap": {"scopeId": "cassini", "createDraftRun": True},
    }
    for name, arguments in changes.items():
        operation = name.split()[0]
        first = desk.call(operation, **arguments, op_id=name)
        before = everything(engine)
        clock.move(minutes=1)

        assert desk.call(operation, **arguments, op_id=name) == first, name
        assert everything(engine) == before, name
        other = {"inputs": [{"pointer": "/a", "value": 3}]} if name == "context.edit" else {}
        if other:
            assert error_of(partial(desk.call, operation, **arguments | other, op_id=name)).code == "op_id_reused"


def test_a_refused_change_leaves_nothing_behind(engine: Engine, desk: Facts) -> None:
    desk.write("/a", valueKind="number", required=True)
    before = everything(engine)

    for call in (
        partial(desk.commit, op_id="x"),
        partial(desk.edit, inputs=[{"pointer": "/b", "label": "b", "value": 1}, {"pointer": "/a", "value": "x"}]),
        partial(desk.edit, inputs=[{"pointer": "/b", "label": "b", "value": 1}], accept=["0" * 32]),
        partial(desk.draft, copyFrom="latest"),
    ):
        error_of(call)
    assert everything(engine) == before
