"""Indicators of a draft."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import Path
from groundplan.purpose.editing.drafting import INDICATOR, Drafting, Row, changed_fields
from groundplan.purpose.editing.operations import AddIndicator, RemoveIndicator, UpdateIndicator
from groundplan.purpose.events import Op

sql = load_queries(__file__)

_CHANGING = INDICATOR[3:]


def add_indicator(draft: Drafting, op: AddIndicator, key: str, place: int) -> None:
    """A new indicator of a node."""
    node = draft.node(op.node, ("operations", place, "node"))
    row: Row = {"id": new_uuid(), "key": key, "node_id": node["id"]}
    row |= {name: _stored(getattr(op, name)) for name in _CHANGING}
    draft.tx.run(sql.add_indicator, **draft.place, **row)
    fields = [changed(name, None, row[name]) for name in INDICATOR if row[name] is not None]
    draft.tx.record(Op.INDICATOR_ADDED, key, changed("on", None, node["key"]), *fields)
    draft.made_indicator(row, op.ref, place)


def update_indicator(draft: Drafting, op: UpdateIndicator, path: Path) -> None:
    """Other values for some fields."""
    before = draft.indicator(op.indicator, (*path, "indicator"))
    after = dict(before)
    for name in _CHANGING:
        given = getattr(op, name)
        if given is not UNSET:
            after[name] = _stored(given)
    fields = changed_fields(before, after)
    if not fields:
        return
    values = {name: after[name] for name in ("id", *_CHANGING)}
    draft.tx.run(sql.change_indicator, version_id=draft.version.id, **values)
    draft.tx.record(Op.INDICATOR_CHANGED, before["key"], *(changed(n, before[n], after[n]) for n in fields))
    draft.indicators[before["id"]] = after


def remove_indicator(draft: Drafting, op: RemoveIndicator, path: Path) -> None:
    """An indicator goes."""
    row = draft.indicator(op.indicator, (*path, "indicator"))
    remove_indicator_row(draft, row, None)


def remove_indicator_row(draft: Drafting, row: Row, on: str | None) -> None:
    """An indicator goes; `on` is its node, where that goes too."""
    draft.tx.run(sql.remove_indicator, version_id=draft.version.id, id=row["id"])
    gone = [changed(name, row[name], None) for name in INDICATOR if row[name] is not None]
    draft.tx.record(Op.INDICATOR_REMOVED, row["key"], *([changed("on", on, None)] if on else []), *gone)
    draft.indicators.pop(row["id"], None)


def _stored(value: Any) -> Any:
    """A choice as the text that is kept, and a number without the sign of zero, which one engine would keep."""
    if isinstance(value, float):
        return value + 0.0
    return str(value) if isinstance(value, str) else value
