"""Add, update and remove the items of a draft: indicators, assumptions, nodes and edges.

A node is removed with its edges, assumptions and indicators, an edge with its assumptions. Edges do not point down,
repeat or close a cycle.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text
from groundplan.purpose.dates import parse_day
from groundplan.purpose.editing.draft import (
    ASSUMPTION_COLUMNS,
    EDGE_COLUMNS,
    INDICATOR_COLUMNS,
    NODE_COLUMNS,
    AssumptionRow,
    DraftState,
    IndicatorRow,
    ItemIdentity,
    NamedEdge,
    PurposeEdgeRow,
    Row,
    build_addition_changes,
    build_removal_changes,
    diff_rows,
    encode_columns,
    get_given_fields,
)
from groundplan.purpose.editing.operations import (
    AddAssumption,
    AddEdge,
    AddIndicator,
    AddNode,
    ReadFields,
    RemoveAssumption,
    RemoveEdge,
    RemoveIndicator,
    RemoveNode,
    UpdateAssumption,
    UpdateEdge,
    UpdateIndicator,
    UpdateNode,
)
from groundplan.purpose.editing.rules import (
    TypedEdge,
    count_metadata_bytes,
    is_new_cause,
    is_on_one_item,
    merge_metadata,
    names_edge,
    refuse_downward,
    retype_node,
)
from groundplan.purpose.graph.cycles import find_closed_cycle
from groundplan.purpose.model import TEXT_BYTES_MAX, EdgeName, EdgeType, NodeType, PurposeNode
from groundplan.purpose.tables import Op

sql = load_queries(__file__)


class StaleItem(Conflict):
    """A field of an item has another value than the caller read."""

    code = "stale_item"

    def __init__(self, item: str, field: str, current: Any, path: ArgumentPath) -> None:
        value = "empty" if current is None else quote_text(str(current))
        super().__init__(
            f"{format_argument_path(path)}: the {field} of {item} was changed since you read it, and is {value} now; "
            "give that in `was` to overwrite it",
            item=item,
            field=field,
            current=current,
        )


def _refuse_stale_fields(item: str, before: Row, after: Row, was: ReadFields, path: ArgumentPath) -> None:
    """Raise StaleItem if an update overwrites a value that its caller did not read.

    A field that has the new value already is no conflict. Of metadata only the names count that the update changes.
    """
    if was is UNSET:
        return
    columns = encode_columns(before)
    for field in was:
        if field not in columns:
            raise invalid_argument((*path, "was", field), f"is no field of {item}; omit it")
        stored, new, read = getattr(before, field), getattr(after, field), was[field]
        if field == "metadata" and isinstance(read, dict):
            names = [name for name in {**stored, **new} if stored.get(name) != new.get(name)]
            stored, new, read = ({name: values.get(name) for name in names} for values in (stored, new, read))
        if _blank_to_none(stored) not in (_blank_to_none(new), _blank_to_none(read)):
            raise StaleItem(item, field, stored, path)


def _blank_to_none(value: Any) -> Any:
    return None if value == "" else value


def add_indicator(draft: DraftState, op: AddIndicator, identity: ItemIdentity, index: int) -> None:
    node = draft.find_node(op.node, ("operations", index, "node"))
    row = IndicatorRow(identity.id, identity.key, node.id, **_collect_fields(op))
    draft.add(sql.add_indicator, row)
    draft.tx.record(Op.INDICATOR_ADDED, row.key, changed("on", None, node.key), *build_addition_changes(row))
    draft.register_indicator(row, op.ref, index)


def update_indicator(draft: DraftState, op: UpdateIndicator, path: ArgumentPath) -> None:
    before = draft.find_indicator(op.indicator, (*path, "indicator"))
    after = replace(before, **_collect_fields(op))
    _refuse_stale_fields(before.key, before, after, op.was, path)
    changes = diff_rows(before, after)
    if not changes:
        return
    draft.change(sql.change_indicator, after)
    draft.tx.record(Op.INDICATOR_CHANGED, before.key, *changes)
    draft.indicators[before.id] = after


def remove_indicator(draft: DraftState, op: RemoveIndicator, path: ArgumentPath) -> None:
    row = draft.find_indicator(op.indicator, (*path, "indicator"))
    on = draft.read_node_key(row.node_id)
    draft.tx.run(sql.remove_indicator, version_id=draft.version.id, id=row.id)
    _record_removed_indicator(draft, row, on)


def _record_removed_indicator(draft: DraftState, row: IndicatorRow, on: str) -> None:
    """Record that an indicator is gone. `on` is the key of its node."""
    draft.tx.record(Op.INDICATOR_REMOVED, row.key, changed("on", on, None), *build_removal_changes(row))
    draft.indicators.pop(row.id, None)


def _collect_fields(op: AddIndicator | UpdateIndicator) -> dict[str, Any]:
    """Return the fields that an operation sets. Negative zero becomes zero, because one engine drops its sign."""
    given = get_given_fields(op, INDICATOR_COLUMNS)
    return {name: value + 0.0 if isinstance(value, float) else value for name, value in given.items()}


def add_assumption(draft: DraftState, op: AddAssumption, identity: ItemIdentity, index: int) -> None:
    """Add an assumption on a node or on an edge."""
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
    row = AssumptionRow(identity.id, identity.key, node_id, None, **given, edge_id=edge_id)
    draft.add(sql.add_assumption if row.is_on_node else sql.add_edge_assumption, row)
    draft.tx.record(Op.ASSUMPTION_ADDED, row.key, changed("on", None, name), *build_addition_changes(row))
    draft.register_assumption(row, op.ref, index)


def refuse_unclear_place(
    node: str | None, source: str | None, target: str | None, edge_type: EdgeType | None, path: ArgumentPath
) -> None:
    """Reject an assumption that is not on exactly one node or edge."""
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
    _refuse_stale_fields(before.key, before, after, op.was, path)
    changes = diff_rows(before, after)
    if not changes:
        return
    draft.change(sql.change_assumption if before.is_on_node else sql.change_edge_assumption, after)
    draft.tx.record(Op.ASSUMPTION_CHANGED, before.key, *changes)
    draft.assumptions[before.id] = after


def remove_assumption(draft: DraftState, op: RemoveAssumption, path: ArgumentPath) -> None:
    row = draft.find_assumption(op.assumption, (*path, "assumption"))
    on = str(draft.read_edge_name(row.edge_id)) if row.edge_id is not None else draft.read_node_key(str(row.node))
    query = sql.remove_assumption if row.is_on_node else sql.remove_edge_assumption
    draft.tx.run(query, version_id=draft.version.id, id=row.id)
    _record_removed_assumption(draft, row, on)


def _record_removed_assumption(draft: DraftState, row: AssumptionRow, on: str) -> None:
    """Record that an assumption is gone. `on` is the key of its node or the name of its edge."""
    draft.tx.record(Op.ASSUMPTION_REMOVED, row.key, changed("on", on, None), *build_removal_changes(row))
    draft.assumptions.pop(row.id, None)


def add_node(draft: DraftState, op: AddNode, identity: ItemIdentity, index: int) -> None:
    metadata = merge_metadata({}, op.metadata or {})
    refuse_long_metadata(metadata, ("operations", index, "metadata"))
    row = PurposeNode(identity.id, identity.key, **get_given_fields(op, NODE_COLUMNS) | {"metadata": metadata})
    draft.add(sql.add_node, row)
    draft.tx.record(Op.NODE_ADDED, row.key, *build_addition_changes(row))
    draft.register_node(row, op.ref, index)


def update_node(draft: DraftState, op: UpdateNode, path: ArgumentPath) -> None:
    """Change some fields of a node."""
    before = draft.find_node(op.node, (*path, "node"))
    given = get_given_fields(op, NODE_COLUMNS)
    if op.metadata is not UNSET:
        given["metadata"] = merge_metadata(before.metadata, op.metadata)
        refuse_long_metadata(given["metadata"], (*path, "metadata"))
    after = replace(before, **given)
    _refuse_stale_fields(before.key, before, after, op.was, path)
    changes = diff_rows(before, after)
    if not changes:
        return
    if after.node_type is not before.node_type:
        _check_edges_at(draft, after, (*path, "node_type"))
    draft.change(sql.change_node, after)
    draft.tx.record(Op.NODE_CHANGED, before.key, *changes)
    draft.nodes[before.id] = after


def remove_node(draft: DraftState, op: RemoveNode, path: ArgumentPath) -> None:
    """Remove a node with its indicators, assumptions and edges, and with the assumptions on those edges."""
    row = draft.find_node(op.node, (*path, "node"))
    tx = draft.tx
    edges = _load_edges_at(draft, row)
    for indicator in draft.remove(sql.remove_indicators_on_node, IndicatorRow, row.id):
        _record_removed_indicator(draft, indicator, row.key)
    for assumption in draft.remove(sql.remove_assumptions_on_node, AssumptionRow, row.id):
        _record_removed_assumption(draft, assumption, row.key)
    on_edges = draft.remove(sql.remove_assumptions_on_edges_at_node, AssumptionRow, row.id)
    tx.run(sql.remove_edges_at_node, version_id=draft.version.id, id=row.id)
    for edge in edges:
        _record_removed_edge(draft, edge, edge.name, [one for one in on_edges if one.edge_id == edge.id])
    tx.run(sql.remove_node, version_id=draft.version.id, id=row.id)
    tx.record(Op.NODE_REMOVED, row.key, *build_removal_changes(row))
    del draft.nodes[row.id]


def _record_removed_edge(
    draft: DraftState, row: PurposeEdgeRow, name: EdgeName, assumptions: list[AssumptionRow]
) -> None:
    """Record that an edge and its assumptions are gone."""
    for assumption in assumptions:
        _record_removed_assumption(draft, assumption, str(name))
    draft.tx.record(Op.EDGE_REMOVED, str(name), *build_removal_changes(row))
    draft.drop_edge(row)


def _load_edges_at(draft: DraftState, node: PurposeNode) -> list[NamedEdge]:
    """Return the edges that begin or end at a node."""
    return draft.tx.all(sql.edges_at_node, NamedEdge, version_id=draft.version.id, node_id=node.id)


def _check_edges_at(draft: DraftState, node: PurposeNode, path: ArgumentPath) -> None:
    """Raise InvalidDirection if an edge of a node would point down after a change of the node's type.

    A DEPENDS_ON edge may be turned round by it, and must not close a cycle then.
    """
    edges = [TypedEdge(edge.name, edge.source_type, edge.target_type) for edge in _load_edges_at(draft, node)]
    for before, after in zip(edges, retype_node(edges, node.key, node.node_type), strict=True):
        if draft.forbids_cycles_and_downward_edges:
            refuse_downward(after, path)
        if is_new_cause(before, after):
            draft.new_causal_edges.append(after.ends)


def refuse_long_metadata(metadata: dict[str, Any], path: ArgumentPath) -> None:
    """Reject metadata that is too long to be stored."""
    size = count_metadata_bytes(metadata)
    if size > TEXT_BYTES_MAX:
        sentence = f"has {size} bytes as JSON, the limit is {TEXT_BYTES_MAX}; shorten it"
        raise invalid_argument(path, sentence, code="too_long", limit_bytes=TEXT_BYTES_MAX, actual_bytes=size)


PATH_SHOWN_MAX = 12  # keys of a cycle in a message
PATH_KEYS_MAX = 1_000  # keys of a cycle in the details


def format_path(path: list[str]) -> str:
    """Return a path as text for a message. The middle of a long path is left out."""
    return " -> ".join(path if len(path) <= PATH_SHOWN_MAX else [*path[: PATH_SHOWN_MAX - 2], "…", path[-1]])


class SelfEdge(RuleViolated):
    """The edge would lead from a node to itself."""

    code = "self_edge"

    def __init__(self, key: str, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: an edge cannot lead from {key} to itself; name another target",
            field=format_argument_path(path),
            nodes=[key],
        )


class DuplicateEdge(Conflict):
    """There is an edge of this type between the two nodes already."""

    code = "duplicate_edge"

    def __init__(self, name: EdgeName, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: edge {name} already exists; change it with update_edge",
            field=format_argument_path(path),
            edge=str(name),
            nodes=[name.source, name.target],
        )


class DependencyCycle(RuleViolated):
    """The edge would close a causal cycle."""

    code = "dependency_cycle"

    def __init__(self, path: list[str]) -> None:
        super().__init__(
            f"this closes a cycle: {format_path(path)}. Omit one of these edges, or set its edge_type to FEEDBACK",
            path=path[:PATH_KEYS_MAX],
            length=len(path) - 1,
        )


def add_edge(draft: DraftState, op: AddEdge, identity: ItemIdentity, index: int, path: ArgumentPath) -> None:
    """Add an edge. `index` is the index of the operation in its batch; `path` names it in errors."""
    source, target = draft.find_node(op.source, (*path, "source")), draft.find_node(op.target, (*path, "target"))
    name = EdgeName(source.key, target.key, op.edge_type or EdgeType.CONTRIBUTES_TO)
    if name.is_self_edge:
        raise SelfEdge(source.key, path)
    edge = TypedEdge(name, source.node_type, target.node_type)
    _refuse_duplicate(draft, name, path)
    _check_edge(draft, None, edge, path)
    given = get_given_fields(op, EDGE_COLUMNS) | {"edge_type": name.edge_type}
    row = PurposeEdgeRow(identity.id, source.id, target.id, **given)
    draft.add(sql.add_edge, row)
    draft.register_edge(row, op.ref, index)
    draft.tx.record(Op.EDGE_ADDED, str(name), *build_addition_changes(row))


def update_edge(draft: DraftState, op: UpdateEdge, path: ArgumentPath) -> None:
    """Change the type, mechanism or confidence of an edge."""
    before = draft.find_edge(op.source, op.target, op.edge_type, path)
    name = draft.build_edge_name(before)
    given = get_given_fields(op, EDGE_COLUMNS) | {"edge_type": op.new_edge_type or before.edge_type}
    after = replace(before, **given)
    _refuse_stale_fields(str(name), before, after, op.was, path)
    changes = diff_rows(before, after)
    if not changes:
        return
    if after.edge_type is not before.edge_type:
        source, target = draft.nodes[before.source_node_id], draft.nodes[before.target_node_id]
        edge = TypedEdge(name, source.node_type, target.node_type)
        renamed = edge._replace(name=name._replace(edge_type=after.edge_type))
        at = (*path, "new_edge_type")
        _refuse_duplicate(draft, renamed.name, at)
        _check_edge(draft, edge, renamed, at)
    draft.change(sql.change_edge, after)
    draft.tx.record(Op.EDGE_CHANGED, str(name), *changes)
    draft.drop_edge(before)
    draft.put_edge(after)


def remove_edge(draft: DraftState, op: RemoveEdge, path: ArgumentPath) -> None:
    """Remove an edge and its assumptions."""
    row = draft.find_edge(op.source, op.target, op.edge_type, path)
    assumptions = draft.remove(sql.remove_assumptions_on_edge, AssumptionRow, row.id)
    draft.tx.run(sql.remove_edge, version_id=draft.version.id, id=row.id)
    _record_removed_edge(draft, row, draft.build_edge_name(row), assumptions)


def refuse_cycles(draft: DraftState) -> None:
    """Raise DependencyCycle if an edge of the batch closes a cycle. Cycles from imports are left to the gate."""
    if not draft.new_causal_edges or not draft.forbids_cycles_and_downward_edges:
        return
    nodes = {
        id_: (key, NodeType(type_)) for id_, key, type_ in draft.tx.all(sql.node_keys, version_id=draft.version.id)
    }
    pairs = []
    for source_id, target_id, edge_type in draft.tx.all(sql.causal_edges, version_id=draft.version.id):
        (source, source_type), (target, target_type) = nodes[source_id], nodes[target_id]
        pairs.append(TypedEdge(EdgeName(source, target, EdgeType(edge_type)), source_type, target_type).ends)
    existing = set(pairs)
    cycle = find_closed_cycle(pairs, [pair for pair in draft.new_causal_edges if pair in existing])
    if cycle is not None:
        raise DependencyCycle(cycle)


def _refuse_duplicate(draft: DraftState, name: EdgeName, path: ArgumentPath) -> None:
    if draft.has_edge(name):
        raise DuplicateEdge(name, path)


def _check_edge(draft: DraftState, before: TypedEdge | None, edge: TypedEdge, path: ArgumentPath) -> None:
    """Raise InvalidDirection if an edge points down anew. Cycles are looked for once, at the end of the batch."""
    if not is_new_cause(before, edge):
        return
    if draft.forbids_cycles_and_downward_edges:
        refuse_downward(edge, path)
    draft.new_causal_edges.append(edge.ends)
