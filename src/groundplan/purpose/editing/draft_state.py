"""A draft while a batch is applied to it: what the batch names, as it stands at this point of the batch.

Everything that a batch names is looked up once, before it begins; each operation then writes its row and keeps what is
known here in step with it. Only the walk for cycles looks at more than what is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar

from msgspec import Struct

from groundplan.kernel.errors import Conflict, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument
from groundplan.purpose.editing.rows import AssumptionRow, IndicatorRow, PurposeEdgeRow, PurposeNodeRow, Row
from groundplan.purpose.model import EdgeName, EdgeType, Profile
from groundplan.purpose.version import VersionRow

sql = load_queries(__file__)

R = TypeVar("R", PurposeNodeRow, PurposeEdgeRow, AssumptionRow, IndicatorRow)


class PublishedImmutable(Conflict):
    """What is published never changes again."""

    code = "published_immutable"

    def __init__(self, ref: str, number: int, key: str, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: row {ref} is of version {number}, "
            "which is published and never changes again; "
            f"in the draft it is {key}",
            field=format_argument_path(path),
            version=number,
            key=key,
        )


class CreatedItem(Struct, omit_defaults=True):
    """Something that a batch made. The key of an edge is its name, `AC1->OP2`."""

    key: str
    id: str
    kind: str
    ref: str | None = None


class BatchRefs(Struct):
    """What a batch calls by key, row id or ref."""

    nodes: list[str]
    assumptions: list[str]
    indicators: list[str]
    refs: list[str]  # what it gives to things of its own


class DraftState:
    """The rows that a batch is about."""

    def __init__(self, tx: Transaction, version: VersionRow, named: BatchRefs) -> None:
        self.tx = tx
        self.version = version
        self._show = NextStep("purpose.open", "shows what is in the draft, by key", {"project": tx.project.name})
        self.is_ordered = version.profile is not Profile.LIGHT  # whether edges must go up, and close no cycle
        self.refs: dict[str, str] = {}
        self.later = set(named.refs)  # refs of the batch of which nothing was made yet
        self.created: list[tuple[int, CreatedItem]] = []  # with the place of its operation
        # Causal edges that were not there before, by the keys of their ends.
        self.new_causal_edges: list[tuple[str, str]] = []
        self.nodes = self._rows(PurposeNodeRow, sql.nodes_by_ref, refs=_list_spellings(named.nodes))
        edges = self._rows(PurposeEdgeRow, sql.edges_between, node_ids=to_json_array(self.nodes)) if self.nodes else {}
        self.edges: dict[tuple[str, str], dict[EdgeType, PurposeEdgeRow]] = {}  # by their ends, then by type
        for row in edges.values():
            self.put_edge(row)
        self.assumptions: dict[str, AssumptionRow] = {}
        if named.assumptions:
            self.assumptions = self._rows(
                AssumptionRow, sql.assumptions_by_ref, refs=_list_spellings(named.assumptions)
            )
        self.indicators: dict[str, IndicatorRow] = {}
        if named.indicators:
            self.indicators = self._rows(IndicatorRow, sql.indicators_by_ref, refs=_list_spellings(named.indicators))
        self._by_key = {
            row.key: id_ for rows in (self.nodes, self.assumptions, self.indicators) for id_, row in rows.items()
        }

    def add(self, query: Query, row: Row) -> None:
        """Write a new row of this draft."""
        self.tx.store(query, row, project_id=self.tx.project.id, version_id=self.version.id)

    def change(self, query: Query, row: Row) -> None:
        """Write a row of this draft as it is now."""
        self.tx.store(query, row, version_id=self.version.id)

    def node(self, ref: str, path: ArgumentPath) -> PurposeNodeRow:
        """A node by key, row id or ref.

        Raises:
            NotFound: there is none in the draft.
            PublishedImmutable: it is the row of a published version.
        """
        return self._found(self.nodes, "node", ref, path)

    def assumption(self, ref: str, path: ArgumentPath) -> AssumptionRow:
        """An assumption by key, row id or ref."""
        return self._found(self.assumptions, "assumption", ref, path)

    def indicator(self, ref: str, path: ArgumentPath) -> IndicatorRow:
        """An indicator by key, row id or ref."""
        return self._found(self.indicators, "indicator", ref, path)

    def edge(self, source: str, target: str, edge_type: EdgeType | None, path: ArgumentPath) -> PurposeEdgeRow:
        """The edge between two nodes; the type need not be said where there is only one.

        Raises:
            NotFound: there is none.
            Invalid: there are several, and none is said.
        """
        cause, effect = self.node(source, (*path, "source")), self.node(target, (*path, "target"))
        several = self.edges.get((cause.id, effect.id), {})
        if edge_type is None and len(several) > 1:
            raise invalid_argument(
                (*path, "edge_type"),
                f"must be said: from {cause.key} to {effect.key} there are {', '.join(sorted(several))}",
                allowed=sorted(several),
            )
        found = next(iter(several.values()), None) if edge_type is None else several.get(edge_type)
        if found is None:
            name = EdgeName(cause.key, effect.key, edge_type or EdgeType.CONTRIBUTES_TO)
            raise NotFound("edge", str(name), next_steps=self._show, field=format_argument_path(path))
        return found

    def edge_name(self, row: PurposeEdgeRow) -> EdgeName:
        """What an edge is called. Its ends are among the nodes that the batch names."""
        return EdgeName(self.nodes[row.source_node_id].key, self.nodes[row.target_node_id].key, row.edge_type)

    def register_node(self, row: PurposeNodeRow, ref: str | None, place: int) -> None:
        """A node that was made."""
        self.nodes[row.id] = row
        self._made(row.key, row.id, "node", ref, place)

    def put_edge(self, row: PurposeEdgeRow) -> None:
        """An edge that is there."""
        self.edges.setdefault((row.source_node_id, row.target_node_id), {})[row.edge_type] = row

    def drop_edge(self, row: PurposeEdgeRow) -> None:
        """An edge that is there no more."""
        self.edges.get((row.source_node_id, row.target_node_id), {}).pop(row.edge_type, None)

    def register_edge(self, row: PurposeEdgeRow, ref: str | None, place: int) -> None:
        """An edge that was made."""
        self.put_edge(row)
        self._made(str(self.edge_name(row)), row.id, "edge", ref, place)

    def register_assumption(self, row: AssumptionRow, ref: str | None, place: int) -> None:
        """An assumption that was made."""
        self.assumptions[row.id] = row
        self._made(row.key, row.id, "assumption", ref, place)

    def register_indicator(self, row: IndicatorRow, ref: str | None, place: int) -> None:
        """An indicator that was made."""
        self.indicators[row.id] = row
        self._made(row.key, row.id, "indicator", ref, place)

    def list_created(self) -> list[CreatedItem]:
        """What the batch made and did not remove again, in the order of its operations."""
        edges = {row.id for several in self.edges.values() for row in several.values()}
        there = {*self.nodes, *edges, *self.assumptions, *self.indicators}
        return [one for _, one in sorted(self.created, key=lambda made: made[0]) if one.id in there]

    def _made(self, key: str, id_: str, kind: str, ref: str | None, place: int) -> None:
        self._by_key[key] = id_
        self.created.append((place, CreatedItem(key, id_, kind, ref)))
        if ref is not None:
            self.refs[ref] = id_
            self.later.discard(ref)

    def _rows(self, shape: type[R], query: Query, **parameters: Any) -> dict[str, R]:
        return {row.id: row for row in self.tx.all(query, shape, version_id=self.version.id, **parameters)}

    def _found(self, rows: Mapping[str, R], thing: str, ref: str, path: ArgumentPath) -> R:
        if ref in self.later:
            raise NotFound(
                thing, ref, hint="the batch adds it only later; name it behind that", field=format_argument_path(path)
            )
        id_ = self.refs.get(ref) or self._by_key.get(ref) or parse_uuid(ref)
        if id_ is None or id_ not in rows:
            self._raise_not_found(thing, ref, id_, path)
        return rows[id_]

    def _raise_not_found(self, thing: str, ref: str, id_: str | None, path: ArgumentPath) -> NoReturn:
        if id_ is not None and ref not in self.refs:
            row = self.tx.one_or_none(sql.version_of_row, row_id=id_, project_id=self.tx.project.id)
            if row is not None:
                number, key = row
                raise PublishedImmutable(ref, number, key, path)
        raise NotFound(thing, ref, next_steps=self._show, field=format_argument_path(path))


def _list_spellings(refs: Iterable[str]) -> str:
    """Everything that a row may be found by."""
    return to_json_array({spelling for ref in refs for spelling in (ref, parse_uuid(ref)) if spelling})
