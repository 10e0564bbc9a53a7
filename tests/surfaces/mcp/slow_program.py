"""The MCP server on a store, with one more tool: `slow_write` runs one endless statement inside a write.

It says on stderr when the statement begins.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from groundplan.catalog import OPERATIONS, build_schema
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import local_actor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Operation, Registry, Tool
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.open_store import open_store
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from groundplan.surfaces.mcp.stdio import serve
from groundplan.surfaces.mcp.tools import RegistryTools

ENDLESS = Query(
    "endless",
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT count(*) FROM numbers",
    lambda: "SELECT pg_sleep(3600)::text",
)


class SlowRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A write that never ends by itself."""

    project: Name


class SlowAnswer(msgspec.Struct):
    """Nobody ever sees it."""


def write_slowly(tx: Transaction, _request: SlowRequest) -> SlowAnswer:
    tx.record("test.happened", "x")
    print("begun", file=sys.stderr, flush=True)
    tx.all(ENDLESS)
    return SlowAnswer()


SLOW_WRITE: Operation[Any, Any] = Operation(
    name="slow.write",
    summary="Write for ever.",
    permission=Permission.PROJECT_WRITE,
    effect=Effect.WRITE,
    input=SlowRequest,
    output=SlowAnswer,
    handler=write_slowly,
    project=lambda _tx, request: str(request.project),
    tool=Tool("slow_write", Group.WORK),
)


def main(arguments: Sequence[str]) -> int:
    """Serve `arguments[0]` until the input ends. `arguments[1]` is the time limit of a write."""
    db, limit_s = arguments
    registry = Registry([*OPERATIONS, SLOW_WRITE])
    preferences = Preferences(write_timeout_s=float(limit_s))
    with Session(open_store(db, build_schema), local_actor("ada"), registry, preferences=preferences) as session:
        tools = RegistryTools(registry, set(Group), session.execute)
        return serve(tools, sys.stdin.buffer, sys.stdout.buffer, version="1.2.3")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
