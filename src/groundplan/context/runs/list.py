"""List the runs of a scope."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.context.lean import strip_row
from groundplan.context.run import RunRow, to_pciv_run
from groundplan.context.schemas import PcivRunV1, RunStatus
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import take_page
from groundplan.kernel.cursors import InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.principals import find_principal
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

NAME = "context.list"
LIMIT_MAX = 1_000
NO_LIMIT = 2**31 - 2
END_OF_TIME = "9999"  # sorts after every timestamp


class ListRuns(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope whose runs to list, optionally only those of one user and shared ones, or of one status."""

    scope_id: Name
    user_id: Name | None = None
    status: RunStatus | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] | None = None
    cursor: str | None = None
    lean: bool | None = None


class Runs(Struct):
    """Runs, newest first, and a cursor if there are more."""

    runs: list[PcivRunV1]
    next_cursor: str | UnsetType = field(default=UNSET)


def list_runs(tx: Transaction, request: ListRuns) -> Runs:
    """Return the runs of a scope, or a page of them."""
    owner_id = None if request.user_id is None else find_principal(tx, request.user_id) or request.user_id
    query = [tx.project.id, owner_id, request.status]
    limit = request.limit or (LIMIT_MAX if tx.budget.is_limited else NO_LIMIT)
    before, after_id = END_OF_TIME, ""
    if request.cursor is not None:
        before, after_id = _decode_position(tx, query, request.cursor)
    # Sorted by creation time, which never changes, so that no run is missed between two pages. One extra row tells
    # whether there are more.
    rows = tx.all(
        sql.runs,
        RunRow,
        project_id=tx.project.id,
        before=before,
        after_id=after_id,
        status=request.status,
        any_status=request.status is None,
        user_id=owner_id,
        any_user=request.user_id is None,
        at_most=limit + 1,
    )
    runs = [(row, to_pciv_run(row, tx.project.name)) for row in rows[:limit]]
    if request.lean:
        for _, run in runs:
            strip_row(run)
    page = take_page(
        tx.budget.reserve(Runs([])),
        runs,
        cursor_after=lambda last: encode_cursor(tx, NAME, query, last[0].created_at, last[0].id),
        item=itemgetter(1),
        has_more=len(rows) > limit,
    )
    return Runs([run for _, run in page.rows], page.next_cursor)


def _decode_position(tx: Transaction, query: list[str | None], cursor: str) -> tuple[str, str]:
    match decode_cursor(tx, NAME, query, cursor):
        case [str() as before, str() as after_id]:
            return before, after_id
    raise InvalidCursor


OPERATION = declare(
    list_runs,
    name=NAME,
    summary="List the runs of a scope.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    tool=Tool("context_run", Group.CONTEXT, "list"),
    command=Command(
        ("context", "list"),
        names={"scope_id": "project", "user_id": "user"},
        without=("lean",),
        columns=("id", "status", "user_id", "committed_at", "updated_at"),
    ),
    http=Route("GET", "/projects/{project}/context/runs"),
)
