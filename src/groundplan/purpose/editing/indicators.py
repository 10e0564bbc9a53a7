"""Add, update and remove the indicators of a draft."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import ArgumentPath
from groundplan.purpose.editing.draft_state import DraftState
from groundplan.purpose.editing.operations import AddIndicator, RemoveIndicator, UpdateIndicator
from groundplan.purpose.editing.rows import (
    INDICATOR_COLUMNS,
    IndicatorRow,
    build_addition_changes,
    build_removal_changes,
    diff_rows,
    get_given_fields,
)
from groundplan.purpose.events import Op

sql = load_queries(__file__)


def add_indicator(draft: DraftState, op: AddIndicator, key: str, index: int) -> None:
    node = draft.find_node(op.node, ("operations", index, "node"))
    row = IndicatorRow(new_uuid(), key, node.id, **_collect_fields(op))
    draft.add(sql.add_indicator, row)
    draft.tx.record(Op.INDICATOR_ADDED, key, changed("on", None, node.key), *build_addition_changes(row))
    draft.register_indicator(row, op.ref, index)


def update_indicator(draft: DraftState, op: UpdateIndicator, path: ArgumentPath) -> None:
    before = draft.find_indicator(op.indicator, (*path, "indicator"))
    after = replace(before, **_collect_fields(op))
    changes = diff_rows(before, after)
    if not changes:
        return
    draft.change(sql.change_indicator, after)
    draft.tx.record(Op.INDICATOR_CHANGED, before.key, *changes)
    draft.indicators[before.id] = after


def remove_indicator(draft: DraftState, op: RemoveIndicator, path: ArgumentPath) -> None:
    remove_indicator_row(draft, draft.find_indicator(op.indicator, (*path, "indicator")), None)


def remove_indicator_row(draft: DraftState, row: IndicatorRow, on: str | None) -> None:
    """Remove an indicator. `on` is the key of its node if that is removed too."""
    draft.tx.run(sql.remove_indicator, version_id=draft.version.id, id=row.id)
    draft.tx.record(
        Op.INDICATOR_REMOVED, row.key, *([changed("on", on, None)] if on else []), *build_removal_changes(row)
    )
    draft.indicators.pop(row.id, None)


def _collect_fields(op: AddIndicator | UpdateIndicator) -> dict[str, Any]:
    """Return the fields that an operation sets. Negative zero becomes zero, because only one engine keeps its sign."""
    given = get_given_fields(op, INDICATOR_COLUMNS)
    return {name: value + 0.0 if isinstance(value, float) else value for name, value in given.items()}
