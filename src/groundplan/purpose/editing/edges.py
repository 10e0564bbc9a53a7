"""Add, update and remove the edges of a draft. Edges do not point down, repeat or close a cycle."""

from __future__ import annotations

from msgspec.structs import replace

from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.purpose.editing.directions import refuse_downward
from groundplan.purpose.editing.draft_state import DraftState
from groundplan.purpose.editing.nodes import remove_edge_row
from groundplan.purpose.editing.operations import AddEdge, RemoveEdge, UpdateEdge
from groundplan.purpose.editing.rows import (
    EDGE_COLUMNS,
    PurposeEdgeRow,
    build_addition_changes,
    diff_rows,
    get_given_fields,
)
from groundplan.purpose.editing.rules import TypedEdge, becomes_causal
from groundplan.purpose.events import Op
from groundplan.purpose.model import EdgeName, EdgeType

sql = load_queries(__file__)

PATH_SHOWN_MAX = 12  # keys of a cycle in a message
PATH_KEYS_MAX = 1_000  # keys of a cycle in the details


def format_path(path: list[str]) -> str:
    """Format a path for a message, with the middle left out if it is long."""
    return " -> ".join(path if len(path) <= PATH_SHOWN_MAX else [*path[: PATH_SHOWN_MAX - 2], "…", path[-1]])


class SelfEdge(RuleViolated):
    """An edge leads from a node to itself."""

    code = "self_edge"

    def __init__(self, key: str, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: an edge cannot lead from {key} to itself; name another target",
            field=format_argument_path(path),
            nodes=[key],
        )


class DuplicateEdge(Conflict):
    """There is already an edge of this type between the two nodes."""

    code = "duplicate_edge"

    def __init__(self, name: EdgeName, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: edge {name} already exists; change it with update_edge",
            field=format_argument_path(path),
            edge=str(name),
            nodes=[name.source, name.target],
        )


class DependencyCycle(RuleViolated):
    """An edge closes a causal cycle."""

    code = "dependency_cycle"

    def __init__(self, path: list[str]) -> None:
        super().__init__(
            f"this closes a cycle: {format_path(path)}. Omit one of these edges, or set its edge_type to FEEDBACK",
            path=path[:PATH_KEYS_MAX],
            length=len(path) - 1,
        )


def add_edge(draft: DraftState, op: AddEdge, index: int, path: ArgumentPath) -> None:
    """Add an edge. `index` is that of the operation in its batch, `path` names it in errors.

    Raises:
        NotFound: the source or target is not in the draft.
        SelfEdge: source and target are the same node.
        DuplicateEdge: the edge already exists.
        InvalidDirection: the edge points down the chain.
    """
    source, target = draft.find_node(op.source, (*path, "source")), draft.find_node(op.target, (*path, "target"))
    name = EdgeName(source.key, target.key, op.edge_type or EdgeType.CONTRIBUTES_TO)
    if name.is_self_edge:
        raise SelfEdge(source.key, path)
    _check_edge(draft, None, TypedEdge(name, source.node_type, target.node_type), path)
    given = get_given_fields(op, EDGE_COLUMNS) | {"edge_type": name.edge_type}
    row = PurposeEdgeRow(new_uuid(), source.id, target.id, **given)
    draft.add(sql.add_edge, row)
    draft.register_edge(row, op.ref, index)
    draft.tx.record(Op.EDGE_ADDED, str(name), *build_addition_changes(row))


def update_edge(draft: DraftState, op: UpdateEdge, path: ArgumentPath) -> None:
    """Change the type, mechanism or confidence of an edge."""
    before = draft.find_edge(op.source, op.target, op.edge_type, path)
    name = draft.build_edge_name(before)
    given = get_given_fields(op, EDGE_COLUMNS) | {"edge_type": op.new_edge_type or before.edge_type}
    after = replace(before, **given)
    changes = diff_rows(before, after)
    if not changes:
        return
    if after.edge_type is not before.edge_type:
        source, target = draft.nodes[before.source_node_id], draft.nodes[before.target_node_id]
        edge = TypedEdge(name._replace(edge_type=after.edge_type), source.node_type, target.node_type)
        _check_edge(draft, before.edge_type, edge, (*path, "new_edge_type"))
    draft.change(sql.change_edge, after)
    draft.tx.record(Op.EDGE_CHANGED, str(name), *changes)
    draft.drop_edge(before)
    draft.put_edge(after)


def remove_edge(draft: DraftState, op: RemoveEdge, path: ArgumentPath) -> None:
    """Remove an edge and its assumptions."""
    row = draft.find_edge(op.source, op.target, op.edge_type, path)
    remove_edge_row(draft, row, draft.build_edge_name(row))


def refuse_cycles(draft: DraftState) -> None:
    """Raise DependencyCycle if an edge of the batch closes a cycle. The gate reports cycles that were imported.

    Raises:
        DependencyCycle: a new causal edge closes a cycle.
    """
    if not draft.new_causal_edges or not draft.is_ordered:
        return
    from groundplan.purpose.graph.cycles import find_closed_cycle  # loaded only when edges are added

    keys: dict[str, str] = dict(draft.tx.all(sql.node_keys, version_id=draft.version.id))
    edges = draft.tx.all(sql.causal_edges, version_id=draft.version.id)
    pairs = [(keys[source], keys[target]) for source, target in edges]
    existing = set(pairs)
    cycle = find_closed_cycle(pairs, [pair for pair in draft.new_causal_edges if pair in existing])
    if cycle is not None:
        raise DependencyCycle(cycle)


def _check_edge(draft: DraftState, before: EdgeType | None, edge: TypedEdge, path: ArgumentPath) -> None:
    """Raise DuplicateEdge or InvalidDirection if an edge is not allowed that is new or had the type `before`."""
    name = edge.name
    if draft.has_edge(name):
        raise DuplicateEdge(name, path)
    if not becomes_causal(before, name.edge_type):
        return
    if draft.is_ordered:
        refuse_downward(edge, path)
    draft.new_causal_edges.append((name.source, name.target))
