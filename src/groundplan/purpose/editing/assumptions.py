"""Add, update and remove the assumptions of a draft, on nodes and on edges."""

from __future__ import annotations

from msgspec.structs import replace

from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import ArgumentPath, invalid_argument
from groundplan.purpose.dates import parse_day
from groundplan.purpose.editing.draft_state import DraftState
from groundplan.purpose.editing.operations import AddAssumption, RemoveAssumption, UpdateAssumption
from groundplan.purpose.editing.rows import (
    ASSUMPTION_COLUMNS,
    AssumptionRow,
    build_addition_changes,
    build_removal_changes,
    diff_rows,
    get_given_fields,
)
from groundplan.purpose.editing.rules import is_on_one_item, names_edge
from groundplan.purpose.events import Op
from groundplan.purpose.model import EdgeType

sql = load_queries(__file__)


def add_assumption(draft: DraftState, op: AddAssumption, key: str, index: int) -> None:
    """Add an assumption on a node or on an edge.

    Raises:
        Invalid: the operation names both a node and an edge, or neither.
        NotFound: the draft has no such node or edge.
    """
    path: ArgumentPath = ("operations", index)
    refuse_unclear_place(op.node, op.source, op.target, op.edge_type, path)
    node_id = edge_id = None
    if op.node is not None:
        node = draft.find_node(op.node, (*path, "node"))
        node_id, name = node.id, node.key
    else:
        edge = draft.find_edge(str(op.source), str(op.target), op.edge_type, path)
        edge_id, name = edge.id, str(draft.build_edge_name(edge))
    given = get_given_fields(op, ASSUMPTION_COLUMNS)
    if op.review_by is not None:
        given["review_by"] = parse_day(op.review_by, (*path, "review_by"))
    row = AssumptionRow(new_uuid(), key, node_id, None, **given, edge_id=edge_id)
    draft.add(sql.add_assumption if row.is_on_node else sql.add_edge_assumption, row)
    draft.tx.record(Op.ASSUMPTION_ADDED, key, changed("on", None, name), *build_addition_changes(row))
    draft.register_assumption(row, op.ref, index)


def refuse_unclear_place(
    node: str | None, source: str | None, target: str | None, edge_type: EdgeType | None, path: ArgumentPath
) -> None:
    """Reject an assumption that is not on exactly one node or edge.

    Raises:
        Invalid: it names both or neither, or gives an edge type although it is on a node.
    """
    if not is_on_one_item(node, source, target):
        raise invalid_argument(path, "must be on one node or one edge: give either node, or source and target")
    if edge_type is not None and not names_edge(source, target):
        raise invalid_argument((*path, "edge_type"), "is for an edge, but this assumption is on a node; omit it")


def update_assumption(draft: DraftState, op: UpdateAssumption, path: ArgumentPath) -> None:
    before = draft.find_assumption(op.assumption, (*path, "assumption"))
    given = get_given_fields(op, ASSUMPTION_COLUMNS)
    review_by = given.get("review_by")
    if review_by is not None and review_by != before.review_by:
        given["review_by"] = parse_day(review_by, (*path, "review_by"))
    after = replace(before, **given)
    changes = diff_rows(before, after)
    if not changes:
        return
    draft.change(sql.change_assumption if before.is_on_node else sql.change_edge_assumption, after)
    draft.tx.record(Op.ASSUMPTION_CHANGED, before.key, *changes)
    draft.assumptions[before.id] = after


def remove_assumption(draft: DraftState, op: RemoveAssumption, path: ArgumentPath) -> None:
    _remove(draft, draft.find_assumption(op.assumption, (*path, "assumption")))


def remove_assumptions(draft: DraftState, *, on_id: str, on: str, is_on_node: bool) -> None:
    """Remove all assumptions on a node or edge that is being removed."""
    query = sql.assumptions_on_node if is_on_node else sql.assumptions_on_edge
    for row in draft.tx.all(query, AssumptionRow, version_id=draft.version.id, on_id=on_id):
        _remove(draft, row, on=on)


def _remove(draft: DraftState, row: AssumptionRow, *, on: str | None = None) -> None:
    query = sql.remove_assumption if row.is_on_node else sql.remove_edge_assumption
    draft.tx.run(query, version_id=draft.version.id, id=row.id)
    draft.tx.record(
        Op.ASSUMPTION_REMOVED, row.key, *([changed("on", on, None)] if on else []), *build_removal_changes(row)
    )
    draft.assumptions.pop(row.id, None)
