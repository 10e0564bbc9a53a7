"""Resolve the refs of an observation to stable keys, across all versions of the project."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan import providers
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.purpose.model import EdgeName, EdgeType

sql = load_queries(__file__)

NEAR_SHOWN_MAX = 3


class RefResolver:
    """Resolves keys, row ids and edge names to stable keys, in any version of the project."""

    def __init__(self, tx: Transaction, refs: Iterable[str]) -> None:
        self._tx = tx
        self._next_step = NextStep("purpose.open", "shows the keys and the edges", {"project": tx.project.name})
        given = set(refs)
        edges = [name for name in map(parse_edge_name, given) if name is not None]
        keys = {*given, *(end for name in edges for end in name[:2])}
        self._items: dict[str, tuple[str, str]] = {  # (kind, key) by key or row id
            key: (thing, key)
            for key, thing in tx.all(sql.kinds_by_key, project_id=tx.project.id, keys=to_json_array(keys))
        }
        ids = [id_ for id_ in map(parse_uuid, given) if id_]
        for id_, key, thing in tx.all(sql.items_by_id, project_id=tx.project.id, ids=to_json_array(ids)) if ids else ():
            self._items[id_] = (thing, key)
        self._edges: set[tuple[str, str, str]] = set()
        if edges:
            ends = {
                "sources": to_json_array({one.source for one in edges}),
                "targets": to_json_array({one.target for one in edges}),
            }
            self._edges = {
                (s, t, type_) for s, t, type_ in tx.all(sql.edges_between_keys, project_id=tx.project.id, **ends)
            }

    def resolve_key(self, ref: str, thing: str, path: ArgumentPath) -> str:
        """Return the key of an indicator or an assumption.

        Raises:
            NotFound: no version has such an item.
        """
        found, key = self._find(ref)
        if found != thing:
            raise NotFound(thing, ref, next_steps=self._next_step, field=format_argument_path(path))
        return key

    def resolve_any(self, ref: str, path: ArgumentPath) -> str:
        """Return the key of a node, an assumption or an indicator, or the name of an edge.

        Raises:
            NotFound: no version has such an item.
        """
        edge = parse_edge_name(ref)
        if edge is not None and edge in self._edges:
            return str(edge)
        found, key = self._find(ref)
        if not found:
            raise NotFound("key", ref, next_steps=self._next_step, field=format_argument_path(path))
        return key

    def resolve_subject(self, ref: str, path: ArgumentPath) -> str:
        """Return what a decision or a request is about: as `resolve_any`, or a fact by pointer, or a work node by id.

        Raises:
            NotFound: the project has no such item.
        """
        if ref in self._items or parse_edge_name(ref) is not None or parse_uuid(ref):
            return self.resolve_any(ref, path)
        find_targets = providers.find_fact_targets if ref.startswith("/") else providers.find_work_targets
        near = []
        for find in (find_targets, providers.find_purpose_targets):
            if find.is_connected:
                targets = find(self._tx, [ref])
                if ref in targets.found:
                    return targets.found[ref].ref
                near += targets.near.get(ref, [])
        if list_links_to(self._tx, LinkType.RESTS_ON, [ref]):
            return ref  # a fact that is gone, and on which something rests
        thing = "fact" if ref.startswith("/") else "key or work node"
        raise NotFound(
            thing, ref, near=near[:NEAR_SHOWN_MAX], next_steps=self._next_step, field=format_argument_path(path)
        )

    def _find(self, ref: str) -> tuple[str, str]:
        return self._items.get(ref) or self._items.get(parse_uuid(ref) or "") or ("", "")


def parse_edge_name(ref: str) -> EdgeName | None:
    """Parse an edge name, `AC1->OP2` or `AC1->OP2/CAUSES`; return None for any other text."""
    name, slash, type_ = ref.partition("/")
    source, arrow, target = name.partition("->")
    if not arrow or (slash and type_ not in EdgeType.__members__):
        return None
    return EdgeName(source, target, EdgeType(type_ or EdgeType.CONTRIBUTES_TO))
