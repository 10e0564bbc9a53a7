"""Rows of a draft, and what a request changes of them."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import UNSET, Struct

from groundplan.context.events import Op
from groundplan.context.run import parse_id
from groundplan.context.stored_rows import encode_columns, load_row
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Conflict
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument

R = TypeVar("R", bound=Struct)


class IdTaken(Conflict):
    """An id names one row, wherever it is; more than that it is taken is nobody's business."""

    code = "id_taken"

    def __init__(self, id_: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: {id_} is the id of something else; leave it out to get a fresh one", field=field, id=id_
        )


def generate_ascending_ids(count: int) -> list[str]:
    """Fresh ids in their own order: rows of one moment are shown by id, and should be shown as they came."""
    return sorted(new_uuid() for _ in range(count))


def resolve_row(
    tx: Transaction, query: Query, shape: type[R], id_: str | None, run_id: str, path: ArgumentPath, fresh: str
) -> tuple[str, R | None]:
    """The id that a row has or shall have (`fresh` where it says none), and the row where it is in this run already.

    Raises:
        Invalid: the id is no UUID.
    """
    if id_ is None:
        return fresh, None
    checked = parse_id(id_, (*path, "id"))
    return checked, load_row(tx, query, shape, run_id=run_id, id=checked)


def new_row(shape: type[R], **columns: Any) -> R:
    """Return a row in which columns that are not given are null."""
    return shape(**dict.fromkeys(shape.__struct_fields__) | columns)


def add_row(tx: Transaction, query: Query, row: Struct, path: ArgumentPath) -> None:
    """Add a row under an id that may be a caller's own.

    Raises:
        IdTaken: it is the id of another row, whether the actor may see that one or not.
    """
    columns = encode_columns(row)
    if not tx.run(query, project_id=tx.project.id, **columns):
        raise IdTaken(columns["id"], (*path, "id"))


def change_row(tx: Transaction, query: Query, row: Struct) -> None:
    """Write a row that is there already."""
    tx.run(query, **encode_columns(row))


def refuse_other_run(given: str | None, run_id: str, path: ArgumentPath) -> None:
    """A row that names its run names the one it is written to.

    Raises:
        Invalid: it does not.
    """
    if given is not None and parse_id(given, (*path, "runId")) != run_id:
        raise invalid_argument((*path, "runId"), f"is {given}, and this call writes to run {run_id}; leave it out")


def get_given_fields(write: Struct, *fields: str) -> dict[str, Any]:
    """What a request says about some fields."""
    return {name: value for name in fields if (value := getattr(write, name)) is not UNSET}


def diff_rows(before: R | None, after: R) -> list[Change]:
    """What is different, column by column; of a new row, all that is there."""
    columns = encode_columns(after)
    if before is None:
        return [changed(name, None, value) for name, value in columns.items() if value is not None and name != "id"]
    was = encode_columns(before)
    return [changed(name, was[name], value) for name, value in columns.items() if was[name] != value]


def record_removal(tx: Transaction, op: Op, row: Struct) -> None:
    """Record that a row is gone, with all that was in it."""
    columns = encode_columns(row)
    tx.record(op, columns["id"], *(changed(name, value, None) for name, value in columns.items() if value is not None))
