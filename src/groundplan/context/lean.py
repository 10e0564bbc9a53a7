"""Lean answers: without null, empty and bookkeeping fields. Values and evidence are never altered."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from groundplan.context.schemas import (
    ContextView,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivInputV1,
    PcivRunV1,
    PcivSourceV1,
    SourceParseStatus,
    Suggestion,
)
from groundplan.context.values import COLUMNS

DEFAULT_DOMAIN = "general"  # of an input or a constraint written without a domain

# The fields that a reader can do without: ids of rows that have another name, the name that a row is listed under, and
# who wrote it when.
BOOKKEEPING: dict[type[Struct], tuple[str, ...]] = {
    PcivRunV1: ("scope_id", "user_id", "allow_partial", "created_at", "updated_at"),
    PcivSourceV1: ("id", "run_id", "created_at"),
    PcivInputV1: ("id", "run_id", "pointer", "field_type", "updated_by", "updated_at"),
    PcivConstraintV1: ("id", "run_id", "created_at", "updated_at"),
    PcivArtifactV1: ("run_id", "type", "created_at"),
    Suggestion: ("constraint_id", "created_at", "updated_by"),
}
# The content of a field that is the same as none.
DEFAULTS: dict[str, Any] = {"domain": DEFAULT_DOMAIN, "required": False, "parse_status": SourceParseStatus.PENDING}
VALUES = frozenset({*COLUMNS, "before"})  # in these an empty text, array or object is a value
EMPTY: tuple[Any, ...] = (None, [], {})


def strip_row(row: Any) -> None:
    """Remove the null, empty and bookkeeping fields of a row; a value column only if it is null."""
    bookkeeping = BOOKKEEPING.get(type(row), ())
    for name in row.__struct_fields__ if isinstance(row, Struct) else ():
        content = getattr(row, name)
        is_empty = content is None if name in VALUES else content in EMPTY or content == DEFAULTS.get(name, UNSET)
        if name in bookkeeping or is_empty:
            setattr(row, name, UNSET)


def strip_view(view: ContextView) -> None:
    """Remove the null, empty and bookkeeping fields of a view and of the rows in it."""
    strip_row(view.run)
    artifacts = (one for several in (view.artifacts_by_type or {}).values() for one in several)
    for rows in (view.sources_by_id.values(), view.inputs_by_pointer.values(), view.constraints, artifacts):
        for row in rows:
            strip_row(row)
    for suggestion in view.suggestions or ():
        strip_row(suggestion)
    strip_row(view)
