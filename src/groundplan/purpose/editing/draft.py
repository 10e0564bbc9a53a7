"""The draft while a batch is applied to it: its rows, and the changes recorded for them in the history.

A row is an item of the model that refers to others by row id instead of by key. The columns that hold its content are
the lists in `queries.sql`, and have the names of its fields.

All rows that a batch names are read once, before the first operation. Each operation then writes its row and updates
this state. Only the cycle check reads rows that the batch does not name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

import msgspec
from msgspec import UNSET, Struct

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Conflict, NextStep, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument
from groundplan.purpose.content import read_nodes
from groundplan.purpose.editing.rules import forbids_cycles_and_downward_edges, match_edge_types
from groundplan.purpose.model import (
    Assumption,
    EdgeName,
    EdgeType,
    Indicator,
    NodeType,
    PurposeEdge,
    PurposeNode,
    key_order,
)
from groundplan.purpose.versions.versions import VersionRow

sql = load_queries(__file__)

_LISTS = load_queries(__file__).columns
NODE_COLUMNS, EDGE_COLUMNS = _LISTS["node"], _LISTS["edge"]
ASSUMPTION_COLUMNS, INDICATOR_COLUMNS = _LISTS["assumption"], _LISTS["indicator"]


class PurposeEdgeRow(PurposeEdge):
    """An edge whose source and target are row ids. `DraftState.edge_name` returns its name with keys."""

    @property
    def source_node_id(self) -> str:
        return self.source

    @property
    def target_node_id(self) -> str:
        return self.target


class NamedEdge(PurposeEdgeRow):
    """An edge with the keys and types of its ends."""

    source_key: str = ""  # every query for this class selects this and the next three
    source_type: NodeType = NodeType.ACTIVITY
    target_key: str = ""
    target_type: NodeType = NodeType.ACTIVITY

    @property
    def name(self) -> EdgeName:
        return EdgeName(self.source_key, self.target_key, self.edge_type)


class AssumptionRow(Assumption):
    """An assumption on a node or an edge. Either `node` or `edge_id` is set, to a row id."""

    edge_id: str | None = None

    @property
    def is_on_node(self) -> bool:
        return self.edge_id is None

    @property
    def on_id(self) -> str | None:
        return self.node if self.is_on_node else self.edge_id


class IndicatorRow(Indicator):
    """An indicator whose node is a row id."""

    @property
    def node_id(self) -> str:
        return self.node


Row = PurposeNode | PurposeEdgeRow | AssumptionRow | IndicatorRow

_EDGE_ROW_COLUMNS = ("id", "source_node_id", "target_node_id", *EDGE_COLUMNS)
_ROW_COLUMNS: dict[type[Struct], tuple[str, ...]] = {
    PurposeNode: ("id", "key", *NODE_COLUMNS),
    PurposeEdgeRow: _EDGE_ROW_COLUMNS,
    NamedEdge: _EDGE_ROW_COLUMNS,
    AssumptionRow: ("id", "key", "on_id", *ASSUMPTION_COLUMNS),
    IndicatorRow: ("id", "key", "node_id", *INDICATOR_COLUMNS),
}


def encode_columns(row: Row) -> dict[str, Any]:
    """Return the columns of a row in their stored form. Metadata is JSON text."""
    columns = {name: getattr(row, name) for name in _ROW_COLUMNS[type(row)]}
    if isinstance(row, PurposeNode):
        columns["metadata"] = msgspec.json.encode(row.metadata).decode()
    return columns


def get_given_fields(op: Struct, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return the columns that an operation sets."""
    return {name: value for name in columns if (value := getattr(op, name, UNSET)) is not UNSET}


def build_addition_changes(row: Row) -> list[Change]:
    """Return the changes that record a new row."""
    return [changed(name, None, value) for name, value in encode_columns(row).items() if value is not None]


def build_removal_changes(row: Row) -> list[Change]:
    """Return the changes that record a removed row."""
    return [changed(name, value, None) for name, value in encode_columns(row).items() if value is not None]


def diff_rows(before: Row, after: Row) -> list[Change]:
    """Return the changes between two states of a row."""
    was = encode_columns(before)
    return [changed(name, was[name], value) for name, value in encode_columns(after).items() if was[name] != value]


R = TypeVar("R", PurposeNode, PurposeEdgeRow, AssumptionRow, IndicatorRow)
Attached = TypeVar("Attached", AssumptionRow, IndicatorRow)


class PublishedImmutable(Conflict):
    """An operation changes a row of a published version, which is final."""

    code = "published_immutable"

    def __init__(self, ref: str, number: int, key: str, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: row {ref} belongs to version {number}, "
            "which is published and never changes. "
            f"Use its key in the draft: {key}",
            field=format_argument_path(path),
            version=number,
            key=key,
        )


class CreatedItem(Struct, omit_defaults=True):
    """An item that a batch created. The key of an edge is its name, `AC1->OP2`."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"id"})

    key: str
    id: str
    kind: str
    ref: str | None = None


class ItemIdentity(NamedTuple):
    """The key and the row id of an item. An edge has no key."""

    key: str
    id: str


class BatchRefs(Struct):
    """The keys, row ids and refs that a batch uses."""

    nodes: list[str]
    assumptions: list[str]
    indicators: list[str]
    refs: list[str]  # names that the batch gives to the items it creates


class DraftState:
    """The rows that a batch uses, and the items that it has created so far."""

    def __init__(self, tx: Transaction, version: VersionRow, batch_refs: BatchRefs) -> None:
        self.tx = tx
        self.version = version
        self._next_step = NextStep("purpose.open", "shows the keys in the draft", {"project": tx.project.name})
        self.forbids_cycles_and_downward_edges = forbids_cycles_and_downward_edges(version.profile)
        self.refs: dict[str, str] = {}
        self.pending_refs = set(batch_refs.refs)  # refs of items that the batch has not created yet
        self.created: list[tuple[int, CreatedItem]] = []  # with the index of its operation
        # Causal edges that the batch added or turned round, as (key of the cause, key of the effect).
        self.new_causal_edges: list[tuple[str, str]] = []
        nodes = read_nodes(tx, sql.nodes_by_ref, version_id=version.id, refs=_list_spellings(batch_refs.nodes))
        self.nodes = {node.id: node for node in nodes}
        edges = (
            self._load_rows(PurposeEdgeRow, sql.edges_between, node_ids=to_json_array(self.nodes)) if self.nodes else {}
        )
        self.edges: dict[tuple[str, str], dict[EdgeType, PurposeEdgeRow]] = {}  # by end ids, then by type
        for row in edges.values():
            self.put_edge(row)
        self.assumptions: dict[str, AssumptionRow] = {}
        if batch_refs.assumptions:
            self.assumptions = self._load_rows(
                AssumptionRow, sql.assumptions_by_ref, refs=_list_spellings(batch_refs.assumptions)
            )
        self.indicators: dict[str, IndicatorRow] = {}
        if batch_refs.indicators:
            self.indicators = self._load_rows(
                IndicatorRow, sql.indicators_by_ref, refs=_list_spellings(batch_refs.indicators)
            )
        self._by_key = {
            row.key: id_ for rows in (self.nodes, self.assumptions, self.indicators) for id_, row in rows.items()
        }

    def add(self, query: Query, row: Row) -> None:
        """Insert a row into this draft."""
        self.tx.run(query, project_id=self.tx.project.id, version_id=self.version.id, **encode_columns(row))

    def change(self, query: Query, row: Row) -> None:
        """Update a row of this draft."""
        self.tx.run(query, version_id=self.version.id, **encode_columns(row))

    def remove(self, query: Query, shape: type[Attached], id_: str) -> list[Attached]:
        """Delete the rows that are on a node or an edge, and return them in key order."""
        return sorted(self._load_rows(shape, query, id=id_).values(), key=lambda row: key_order(row.key))

    def find_node(self, ref: str, path: ArgumentPath) -> PurposeNode:
        """Return a node by key, row id or ref."""
        return self._find(self.nodes, "node", ref, path)

    def find_assumption(self, ref: str, path: ArgumentPath) -> AssumptionRow:
        """Return an assumption by key, row id or ref."""
        return self._find(self.assumptions, "assumption", ref, path)

    def find_indicator(self, ref: str, path: ArgumentPath) -> IndicatorRow:
        """Return an indicator by key, row id or ref."""
        return self._find(self.indicators, "indicator", ref, path)

    def find_edge(self, source: str, target: str, edge_type: EdgeType | None, path: ArgumentPath) -> PurposeEdgeRow:
        """Return the edge between two nodes. The type is optional if there is only one."""
        cause, effect = self.find_node(source, (*path, "source")), self.find_node(target, (*path, "target"))
        edges = self.edges.get((cause.id, effect.id), {})
        matching_types = match_edge_types(edges, edge_type)
        if len(matching_types) > 1:
            raise invalid_argument(
                (*path, "edge_type"),
                f"is required: from {cause.key} to {effect.key} there are {', '.join(sorted(edges))}",
                allowed=sorted(edges),
            )
        if not matching_types:
            name = EdgeName(cause.key, effect.key, edge_type or EdgeType.CONTRIBUTES_TO)
            field = format_argument_path(path)
            if edges:
                hint = f"there is {', '.join(sorted(edges))} between them; new_edge_type gives an edge another type"
                raise NotFound("edge", str(name), hint=hint, field=field, allowed=sorted(edges))
            raise NotFound("edge", str(name), next_steps=self._next_step, field=field)
        return edges[matching_types[0]]

    def has_edge(self, name: EdgeName) -> bool:
        """Return True if the draft has an edge. The batch must name both ends."""
        return name.edge_type in self.edges.get((self._by_key[name.source], self._by_key[name.target]), {})

    def build_edge_name(self, row: PurposeEdgeRow) -> EdgeName:
        """Return the name of an edge. The batch must name both ends."""
        return EdgeName(self.nodes[row.source_node_id].key, self.nodes[row.target_node_id].key, row.edge_type)

    def read_node_key(self, node_id: str) -> str:
        """Return the key of a node, which the batch need not name."""
        return str(self.tx.scalar(sql.node_key, version_id=self.version.id, node_id=node_id))

    def read_edge_name(self, edge_id: str) -> EdgeName:
        """Return the name of an edge, which the batch need not name."""
        source, target, type_ = self.tx.one(sql.edge_name, version_id=self.version.id, edge_id=edge_id)
        return EdgeName(source, target, EdgeType(type_))

    def register_node(self, row: PurposeNode, ref: str | None, index: int) -> None:
        self.nodes[row.id] = row
        self._add_created(row.key, row.id, "node", ref, index)

    def put_edge(self, row: PurposeEdgeRow) -> None:
        self.edges.setdefault((row.source_node_id, row.target_node_id), {})[row.edge_type] = row

    def drop_edge(self, row: PurposeEdgeRow) -> None:
        self.edges.get((row.source_node_id, row.target_node_id), {}).pop(row.edge_type, None)

    def register_edge(self, row: PurposeEdgeRow, ref: str | None, index: int) -> None:
        self.put_edge(row)
        self._add_created(str(self.build_edge_name(row)), row.id, "edge", ref, index)

    def register_assumption(self, row: AssumptionRow, ref: str | None, index: int) -> None:
        self.assumptions[row.id] = row
        self._add_created(row.key, row.id, "assumption", ref, index)

    def register_indicator(self, row: IndicatorRow, ref: str | None, index: int) -> None:
        self.indicators[row.id] = row
        self._add_created(row.key, row.id, "indicator", ref, index)

    def list_created(self) -> list[CreatedItem]:
        """Return the items that the batch created and has not removed, in the order of its operations."""
        edges = {row.id for several in self.edges.values() for row in several.values()}
        existing = {*self.nodes, *edges, *self.assumptions, *self.indicators}
        return [item for _, item in sorted(self.created, key=lambda entry: entry[0]) if item.id in existing]

    def _add_created(self, key: str, id_: str, kind: str, ref: str | None, index: int) -> None:
        self._by_key[key] = id_
        self.created.append((index, CreatedItem(key, id_, kind, ref)))
        if ref is not None:
            self.refs[ref] = id_
            self.pending_refs.discard(ref)

    def _load_rows(self, shape: type[R], query: Query, **parameters: Any) -> dict[str, R]:
        return {row.id: row for row in self.tx.all(query, shape, version_id=self.version.id, **parameters)}

    def _find(self, rows: Mapping[str, R], kind: str, ref: str, path: ArgumentPath) -> R:
        if ref in self.pending_refs:
            raise NotFound(
                kind,
                ref,
                hint="the batch adds it later; move this operation behind that one",
                field=format_argument_path(path),
            )
        id_ = self.refs.get(ref) or self._by_key.get(ref) or parse_uuid(ref)
        if id_ is None or id_ not in rows:
            self._raise_not_found(kind, ref, id_, path)
        return rows[id_]

    def _raise_not_found(self, kind: str, ref: str, id_: str | None, path: ArgumentPath) -> NoReturn:
        if id_ is not None and ref not in self.refs:
            row = self.tx.one_or_none(sql.version_of_row, row_id=id_, project_id=self.tx.project.id)
            if row is not None:
                number, key = row
                raise PublishedImmutable(ref, number, key, path)
        raise NotFound(kind, ref, next_steps=self._next_step, field=format_argument_path(path))


def _list_spellings(refs: Iterable[str]) -> str:
    """Return the refs, and their row ids in canonical form, as a JSON array."""
    return to_json_array({spelling for ref in refs for spelling in (ref, parse_uuid(ref)) if spelling})
