"""The statements that a call runs, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan.kernel.store.postgres.store import PostgresTransaction
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.sqlite.store import SqliteTransaction
from groundplan.kernel.store.transaction import Transaction


def record_statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the name of each statement is added from now on, on both engines."""
    ran: list[str] = []

    def recording(run: Callable[..., Any]) -> Callable[..., Any]:
        def run_and_record(tx: Transaction, query: Query, /, *given: Any, **named: Any) -> Any:
            ran.append(query.name)
            return run(tx, query, *given, **named)

        return run_and_record

    for transaction in (SqliteTransaction, PostgresTransaction):
        for method in ("_fetch", "run", "run_many"):
            monkeypatch.setattr(transaction, method, recording(getattr(transaction, method)))
    return ran
