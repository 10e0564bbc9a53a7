"""Rows as dicts of their columns, and what a request changes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from groundplan.context.run import checked_id
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Conflict
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import Path, refusal, rendered

Row = dict[str, Any]

SOURCE = (
    "id",
    "run_id",
    "kind",
    "title",
    "uri",
    "file_id",
    "mime_type",
    "size_bytes",
    "parse_status",
    "excerpt",
    "raw_meta",
    "created_at",
)
VALUE = ("value_kind", "value_string", "value_number", "value_boolean", "value_enum", "value_json", "provenance")
INPUT = (
    "id",
    "run_id",
    "pointer",
    "label",
    "domain",
    "required",
    "field_type",
    "options",
    *VALUE,
    "updated_by",
    "updated_at",
    "evidence_snippet",
)
CONSTRAINT = ("id", "run_id", "key", "domain", "label", *VALUE, "source_id", "snippet", "created_at")
ARTIFACT = ("id", "run_id", "type", "title", "payload", "created_at")
SUGGESTION = (
    "id",
    "run_id",
    "input_id",
    "constraint_id",
    *VALUE,
    "source_ids",
    "snippet",
    "rationale",
    "created_at",
    "created_by",
    "author_kind",
    "status",
)


class IdTaken(Conflict):
    """An id names one row, wherever it is; more than that it is taken is nobody's business."""

    code = "id_taken"

    def __init__(self, id_: str, path: Path) -> None:
        field = rendered(path)
        super().__init__(
            f"{field}: {id_} is the id of something else; leave it out to get a fresh one", field=field, id=id_
        )


def as_row(columns: Sequence[str], row: Sequence[Any]) -> Row:
    """What a query selected, by the names of the columns."""
    return dict(zip(columns, row, strict=True))


def ascending_ids(count: int) -> list[str]:
    """Fresh ids in their own order: rows of one moment are shown by id, and should be shown as they came."""
    return sorted(new_uuid() for _ in range(count))


def own_row(
    tx: Transaction, query: Query, columns: Sequence[str], id_: str | None, run_id: str, path: Path, fresh: str
) -> tuple[str, Row | None]:
    """The id that a row has or shall have (`fresh` where it says none), and the row where it is in this run already.

    Raises:
        Invalid: the id is no UUID.
    """
    if id_ is None:
        return fresh, None
    checked = checked_id(id_, (*path, "id"))
    found = tx.one_or_none(query, run_id=run_id, id=checked)
    return checked, as_row(columns, found) if found else None


def add_row(tx: Transaction, query: Query, row: Row, path: Path) -> None:
    """Add a row under an id that may be a caller's own.

    Raises:
        IdTaken: it is the id of another row, whether the actor may see that one or not.
    """
    if not tx.run(query, project_id=tx.project.id, **row):
        raise IdTaken(row["id"], (*path, "id"))


def refuse_other_run(given: str | None, run_id: str, path: Path) -> None:
    """A row that names its run names the one it is written to.

    Raises:
        Invalid: it does not.
    """
    if given is not None and checked_id(given, (*path, "runId")) != run_id:
        raise refusal((*path, "runId"), f"is {given}, and this call writes to run {run_id}; leave it out")


def given(write: Struct, *fields: str) -> Row:
    """What a request says about some fields."""
    return {name: value for name in fields if (value := getattr(write, name)) is not UNSET}


def changes_between(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[Change]:
    """What is different, column by column; of a new row, all that is there."""
    if before is None:
        return [changed(column, None, value) for column, value in after.items() if value is not None and column != "id"]
    return [
        changed(column, before[column], value) for column, value in after.items() if not _same(before[column], value)
    ]


def _same(before: Any, after: Any) -> bool:
    # One engine keeps false as 0, and both give whole numbers back as doubles.
    return bool(before == after) and isinstance(before, str) == isinstance(after, str)
