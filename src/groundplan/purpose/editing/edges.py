"""Edges of a draft: added, changed, removed. They go up the chain, once for each type, and close no cycle."""

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
from groundplan.purpose.editing.rows import PurposeEdgeRow, PurposeNodeRow, additions, differences, given_fields
from groundplan.purpose.events import Op
from groundplan.purpose.model import EdgeName, EdgeType

sql = load_queries(__file__)

PATH_SHOWN_MAX = 12  # keys of a cycle in a sentence
PATH_KEYS_MAX = 1_000  # and in the details


def format_path(path: list[str]) -> str:
    """A path for a sentence: its beginning, where it is long."""
    return " -> ".join(path if len(path) <= PATH_SHOWN_MAX else [*path[: PATH_SHOWN_MAX - 2], "…", path[-1]])


class SelfEdge(RuleViolated):
    """Nothing causes itself."""

    code = "self_edge"

    def __init__(self, key: str, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: an edge from {key} to itself says nothing; name another target",
            field=format_argument_path(path),
            nodes=[key],
        )


class DuplicateEdge(Conflict):
    """An edge is there once for each type."""

    code = "duplicate_edge"

    def __init__(self, name: EdgeName, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: there is an edge {name} already; update_edge changes it",
            field=format_argument_path(path),
            edge=str(name),
            nodes=[name.source, name.target],
        )


class DependencyCycle(RuleViolated):
    """An edge would make something its own cause."""

    code = "dependency_cycle"

    def __init__(self, path: list[str]) -> None:
        super().__init__(
            f"this would close a cycle: {format_path(path)}; leave one of these edges out, or say edge_type FEEDBACK",
            path=path[:PATH_KEYS_MAX],
            length=len(path) - 1,
        )


def add_edge(draft: DraftState, op: AddEdge, place: int) -> None:
    """A new edge.

    Raises:
        NotFound: one of its ends is not in the draft.
        SelfEdge: it would lead from a node to itself.
        DuplicateEdge: it is there already.
        InvalidDirection: it would point down the chain.
    """
    path: ArgumentPath = ("operations", place)
    source, target = draft.node(op.source, (*path, "source")), draft.node(op.target, (*path, "target"))
    name = EdgeName(source.key, target.key, op.edge_type or EdgeType.CONTRIBUTES_TO)
    if source.id == target.id:
        raise SelfEdge(source.key, path)
    _check_edge(draft, name, source, target, path)
    row = PurposeEdgeRow(new_uuid(), source.id, target.id, name.edge_type, op.mechanism, op.confidence)
    draft.add(sql.add_edge, row)
    draft.register_edge(row, op.ref, place)
    draft.tx.record(Op.EDGE_ADDED, str(name), *additions(row))


def update_edge(draft: DraftState, op: UpdateEdge, path: ArgumentPath) -> None:
    """Another type, mechanism or confidence."""
    before = draft.edge(op.source, op.target, op.edge_type, path)
    name = draft.edge_name(before)
    given = given_fields(op, PurposeEdgeRow) | {"edge_type": op.new_edge_type or before.edge_type}
    after = replace(before, **given)
    changes = differences(before, after)
    if not changes:
        return
    if after.edge_type is not before.edge_type:
        source, target = draft.nodes[before.source_node_id], draft.nodes[before.target_node_id]
        is_new_cause = name.edge_type is EdgeType.FEEDBACK
        renamed = name._replace(edge_type=after.edge_type)
        _check_edge(draft, renamed, source, target, (*path, "new_edge_type"), is_new_cause=is_new_cause)
    draft.change(sql.change_edge, after)
    draft.tx.record(Op.EDGE_CHANGED, str(name), *changes)
    draft.drop_edge(before)
    draft.put_edge(after)


def remove_edge(draft: DraftState, op: RemoveEdge, path: ArgumentPath) -> None:
    """An edge goes, with its assumptions."""
    row = draft.edge(op.source, op.target, op.edge_type, path)
    remove_edge_row(draft, row, draft.edge_name(row))


def refuse_cycles(draft: DraftState) -> None:
    """No edge of the batch closes a cycle. Cycles that an import brought are left to the gate, which names them.

    Raises:
        DependencyCycle: one does.
    """
    if not draft.new_causal_edges or not draft.is_ordered:
        return
    from groundplan.purpose.graph.cycles import closed_cycle  # only who draws edges walks them

    pairs = draft.tx.all(sql.causal_pairs, version_id=draft.version.id)
    there = set(pairs)
    cycle = closed_cycle(pairs, [pair for pair in draft.new_causal_edges if pair in there])
    if cycle is not None:
        raise DependencyCycle(cycle)


def _check_edge(
    draft: DraftState,
    name: EdgeName,
    source: PurposeNodeRow,
    target: PurposeNodeRow,
    path: ArgumentPath,
    *,
    is_new_cause: bool = True,
) -> None:
    """Whether an edge of this name may be there."""
    if name.edge_type in draft.edges.get((source.id, target.id), {}):
        raise DuplicateEdge(name, path)
    if not is_new_cause or name.edge_type is EdgeType.FEEDBACK:
        return  # an import may have brought it, and the gate names what is wrong with it
    if draft.is_ordered:
        refuse_downward(name, source.node_type, target.node_type, path=path)
    draft.new_causal_edges.append((name.source, name.target))
