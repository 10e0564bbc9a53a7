"""Assumptions of a draft, on nodes and on edges."""

from __future__ import annotations

from msgspec import UNSET

from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import Path, refusal
from groundplan.purpose.dates import checked_day
from groundplan.purpose.editing.drafting import ASSUMPTION, Drafting, Row, changed_fields
from groundplan.purpose.editing.operations import AddAssumption, RemoveAssumption, UpdateAssumption
from groundplan.purpose.events import Op

sql = load_queries(__file__)

_CHANGING = ASSUMPTION[3:]


def add_assumption(draft: Drafting, op: AddAssumption, key: str, place: int) -> None:
    """A new assumption, on a node or on an edge.

    Raises:
        Invalid: it is to be on both, or on nothing.
        NotFound: what it is to be on is not in the draft.
    """
    path: Path = ("operations", place)
    is_on_node = op.node is not None
    if is_on_node == (op.source is not None) or (op.source is None) != (op.target is None):
        raise refusal(path, "must be on one thing: say node, or say source and target of an edge")
    if is_on_node and op.edge_type is not None:
        raise refusal((*path, "edge_type"), "is of an edge, and this is on a node; leave it out")
    if op.node is not None:
        on = draft.node(op.node, (*path, "node"))
        name = on["key"]
    else:
        on = draft.edge(str(op.source), str(op.target), op.edge_type, path)
        name = str(draft.edge_name(on))
    row: Row = {
        "id": new_uuid(),
        "key": key,
        "on_id": on["id"],
        "assumption_text": op.assumption_text,
        "risk_level": op.risk_level and op.risk_level.value,
        "owner": op.owner,
        "review_by": None if op.review_by is None else checked_day(op.review_by, (*path, "review_by")),
    }
    draft.tx.run(sql.add_assumption if is_on_node else sql.add_edge_assumption, **draft.place, **row)
    fields = [changed(field, None, row[field]) for field in ASSUMPTION if row[field] is not None]
    draft.tx.record(Op.ASSUMPTION_ADDED, key, changed("on", None, name), *fields)
    draft.made_assumption({**row, "is_on_node": is_on_node}, op.ref, place)


def update_assumption(draft: Drafting, op: UpdateAssumption, path: Path) -> None:
    """Other values for some fields."""
    before = draft.assumption(op.assumption, (*path, "assumption"))
    after = dict(before)
    for name in ("assumption_text", "owner", "review_by"):
        given = getattr(op, name)
        if given is not UNSET:
            after[name] = given
    if op.risk_level is not UNSET:
        after["risk_level"] = op.risk_level and op.risk_level.value
    fields = changed_fields(before, after)
    if "review_by" in fields and after["review_by"] is not None:
        after["review_by"] = checked_day(after["review_by"], (*path, "review_by"))
    if not fields:
        return
    query = sql.change_assumption if before["is_on_node"] else sql.change_edge_assumption
    draft.tx.run(query, version_id=draft.version.id, **{name: after[name] for name in ("id", *_CHANGING)})
    draft.tx.record(Op.ASSUMPTION_CHANGED, before["key"], *(changed(n, before[n], after[n]) for n in fields))
    draft.assumptions[before["id"]] = after


def remove_assumption(draft: Drafting, op: RemoveAssumption, path: Path) -> None:
    """An assumption goes."""
    row = draft.assumption(op.assumption, (*path, "assumption"))
    _remove(draft, row, is_on_node=bool(row["is_on_node"]))


def remove_assumptions(draft: Drafting, *, on_id: str, on: str, is_on_node: bool) -> None:
    """Everything that is assumed about something that goes."""
    if is_on_node:
        rows = draft.tx.all(sql.assumptions_on_node, version_id=draft.version.id, node_id=on_id)
    else:
        rows = draft.tx.all(sql.assumptions_on_edge, version_id=draft.version.id, edge_id=on_id)
    for row in rows:
        _remove(draft, dict(zip(ASSUMPTION, row, strict=True)), is_on_node=is_on_node, on=on)


def _remove(draft: Drafting, row: Row, *, is_on_node: bool, on: str | None = None) -> None:
    query = sql.remove_assumption if is_on_node else sql.remove_edge_assumption
    draft.tx.run(query, version_id=draft.version.id, id=row["id"])
    gone = [changed(name, row[name], None) for name in ASSUMPTION if row[name] is not None]
    draft.tx.record(Op.ASSUMPTION_REMOVED, row["key"], *([changed("on", on, None)] if on else []), *gone)
    draft.assumptions.pop(row["id"], None)
