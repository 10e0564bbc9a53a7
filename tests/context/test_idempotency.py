"""Changes of facts are idempotent, also after their subject is deleted."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.context.client import ContextClient
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock

TABLES = ("runs", "deleted_runs", "sources", "inputs", "input_sources", "constraints", "artifacts", "suggestions")


def all_rows(engine: Engine) -> list[Any]:
    found = [engine.as_owner(f"SELECT * FROM pciv_{table} ORDER BY 1, 2, 3, 4") for table in TABLES]
    return [*found, engine.as_owner("SELECT project_id, rev, n, op FROM events ORDER BY 1, 2, 3")]


def test_the_same_op_id_gives_the_same_answer_and_has_no_second_effect(
    engine: Engine, client: ContextClient, clock: ManualClock
) -> None:
    run = client.run
    client.write("/a", 1)
    changes: dict[str, dict[str, Any]] = {
        "context.create_draft": {"scopeId": "atlas"},
        "context.create_draft of a new scope": {"scopeId": "borealis"},
        "context.edit": {"runId": run, "inputs": [{"pointer": "/a", "value": 2}]},
        "context.update_draft": {"runId": run, "ownership": "shared"},
        "context.commit": {"runId": run},
        "context.delete": {"runId": run},
        "context.discard": {"runId": client.call("context.create_draft", scopeId="atlas").run.id},
        "member.bootstrap": {"scopeId": "cassini", "createDraftRun": True},
    }
    for name, arguments in changes.items():
        operation = name.split()[0]
        first = client.call(operation, **arguments, op_id=name)
        before = all_rows(engine)
        clock.move(minutes=1)

        assert client.call(operation, **arguments, op_id=name) == first, name
        assert all_rows(engine) == before, name
        other = {"inputs": [{"pointer": "/a", "value": 3}]} if name == "context.edit" else {}
        if other:
            assert error_of(partial(client.call, operation, **arguments | other, op_id=name)).code == "op_id_reused"


def test_a_refused_change_leaves_nothing_behind(engine: Engine, client: ContextClient) -> None:
    client.write("/a", valueKind="number", required=True)
    before = all_rows(engine)

    for call in (
        partial(client.commit, op_id="x"),
        partial(client.edit, inputs=[{"pointer": "/b", "label": "b", "value": 1}, {"pointer": "/a", "value": "x"}]),
        partial(client.edit, inputs=[{"pointer": "/b", "label": "b", "value": 1}], accept=["0" * 32]),
        partial(client.draft, copyFrom="newest"),
    ):
        error_of(call)
    assert all_rows(engine) == before
