"""Load, add, change and compare the rows of a draft."""

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
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text

R = TypeVar("R", bound=Struct)


class IdTaken(Conflict):
    """The id is in use. The error does not reveal by what."""

    code = "id_taken"

    def __init__(self, id_: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(f"{field}: the id {id_} is in use; omit it to get a new one", field=field, id=id_)


def generate_ascending_ids(count: int) -> list[str]:
    """Return new ids in ascending order, so that rows of the same time are listed as they were written."""
    return sorted(new_uuid() for _ in range(count))


def resolve_row(
    tx: Transaction, query: Query, shape: type[R], id_: str | None, run_id: str, path: ArgumentPath, new_id: str
) -> tuple[str, R | None]:
    """Return the id of a row (`new_id` if none is given), and the row if it is already in this run.

    Raises:
        Invalid: the id is not a UUID.
    """
    if id_ is None:
        return new_id, None
    checked = parse_id(id_, (*path, "id"))
    return checked, load_row(tx, query, shape, run_id=run_id, id=checked)


class KeyTaken(Conflict):
    """Another constraint of the run has this key."""

    code = "key_taken"

    def __init__(self, key: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: another constraint of this run has the key {quote_text(key)}; change that one, or rename it",
            field=field,
            key=key,
        )


def new_row(shape: type[R], **columns: Any) -> R:
    """Return a row whose columns are null unless given."""
    return shape(**dict.fromkeys(shape.__struct_fields__) | columns)


def add_row(tx: Transaction, query: Query, row: Struct, path: ArgumentPath) -> None:
    """Add a row.

    Raises:
        IdTaken: another row has this id, visible to the actor or not.
    """
    columns = encode_columns(row)
    if not tx.run(query, project_id=tx.project.id, **columns):
        raise IdTaken(columns["id"], (*path, "id"))


def change_row(tx: Transaction, query: Query, row: Struct) -> None:
    """Update an existing row."""
    tx.run(query, **encode_columns(row))


def refuse_other_run(given_run_id: str | None, run_id: str, path: ArgumentPath) -> None:
    """Refuse a row that names another run than the one it is written to.

    Raises:
        Invalid: the row names another run.
    """
    if given_run_id is not None and parse_id(given_run_id, (*path, "runId")) != run_id:
        raise invalid_argument((*path, "runId"), f"is {given_run_id}, but this call writes to run {run_id}; omit it")


def get_given_fields(write: Struct, *fields: str) -> dict[str, Any]:
    """Return the fields that a request gives."""
    return {name: value for name in fields if (value := getattr(write, name)) is not UNSET}


def diff_rows(before: R | None, after: R) -> list[Change]:
    """Return the columns that differ; for a new row, all columns with a value."""
    columns = encode_columns(after)
    if before is None:
        return [changed(name, None, value) for name, value in columns.items() if value is not None and name != "id"]
    was = encode_columns(before)
    return [changed(name, was[name], value) for name, value in columns.items() if was[name] != value]


def record_removal(tx: Transaction, op: Op, row: Struct) -> None:
    """Record the removal of a row with its old columns."""
    columns = encode_columns(row)
    tx.record(op, columns["id"], *(changed(name, value, None) for name, value in columns.items() if value is not None))
