"""What a person entered in one run and a later run displaces: another value, no value, or no longer required."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

from groundplan.context.schemas import Displacement, ValueKind
from groundplan.context.stored_rows import load_rows
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class DisplacedRow(Struct):
    """An input, by its pointer, or a constraint, by its key, as it was before it was displaced."""

    pointer: str | None
    key: str | None
    change: Displacement
    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any


class DisplacedFacts(NamedTuple):
    """The displaced inputs and constraints."""

    inputs: list[DisplacedRow]
    constraints: list[DisplacedRow]

    def __bool__(self) -> bool:
        return bool(self.inputs or self.constraints)

    @property
    def pointers(self) -> list[str]:
        return [row.pointer for row in self.inputs if row.pointer is not None]

    @property
    def keys(self) -> list[str]:
        return [row.key for row in self.constraints if row.key is not None]


def find_displaced(tx: Transaction, *, before_id: str | None, run_id: str) -> DisplacedFacts:
    """Return what a person entered in the run `before_id` and the other run displaces; nothing without a run before."""
    rows = [] if before_id is None else load_rows(tx, sql.displaced, DisplacedRow, before_id=before_id, run_id=run_id)
    return DisplacedFacts(
        [row for row in rows if row.pointer is not None], [row for row in rows if row.pointer is None]
    )
