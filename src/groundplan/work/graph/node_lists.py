"""The lists of a node that an answer shows a page of: its evidence, what was merged into it, its links and ancestors.

The newest evidence and the nearest ancestors come first; within a page they stand below the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, Struct

from groundplan.kernel.answers import Budget, ListPart, ListRow, Position, share_room
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import (
    EvidenceRow,
    MergedTextRow,
    WorkNode,
    WorkNodeRow,
    build_evidence,
    build_merged,
    format_evidence,
)

EVIDENCE_CHARS_MIN = 24  # `{"type":"a","ref":"b"},`
MERGED_CHARS_MIN = 32
ANCESTOR_CHARS_MIN = 24
AFTER_ALL = 2**53  # no number in a cursor is higher
ENDED: Position = (0, True)  # of ancestors of which all were shown

LINK_LISTS = ("context_links", "serves", "rests_on", "supports", "refutes")
NODE_LISTS = ("evidence", "merged", *LINK_LISTS)
FIRST_PAGE: tuple[Position, ...] = ((AFTER_ALL,), (AFTER_ALL, ""), *(((0,),) * len(LINK_LISTS)))

sql = load_queries(__file__)

T = TypeVar("T")


def read_node_lists(
    tx: Transaction,
    row: WorkNodeRow,
    node: WorkNode,
    room: Budget,
    positions: Sequence[Position | None] = FIRST_PAGE,
    *,
    prefix: str = "node",
    lean: bool,
) -> list[ListPart[Any]]:
    """Return the lists of a node from some positions on. What it serves is taken out of it until it is shown."""
    evidence, merged, *links = positions
    parts: list[ListPart[Any]] = [
        _read_evidence(tx, row, room, evidence, name=f"{prefix}.evidence", lean=lean),
        _read_merged(tx, row, room, merged, name=f"{prefix}.merged"),
    ]
    for name, position in zip(LINK_LISTS, links, strict=True):
        values = row.links_value if name == "context_links" else getattr(node, name) or ()
        parts.append(_list_values(f"{prefix}.{name}", values, position))
        setattr(node, name, UNSET)
    return parts


def show_node_lists(node: WorkNode, row: WorkNodeRow, parts: Sequence[ListPart[Any]], *, lean: bool) -> None:
    """Put what is shown of its lists into a node."""
    evidence, merged, *links = parts
    node.evidence = list(evidence.shown)[::-1] or (UNSET if lean else [])
    node.merged = list(merged.shown)[::-1] or UNSET
    if evidence.rest is not None:
        node.evidence_total = row.evidence_total
    if merged.rest is not None:
        node.merged_total = row.merged_total
    for name, part in zip(LINK_LISTS, links, strict=True):
        setattr(node, name, list(part.shown) or UNSET)
    if not lean:
        node.context_links = node.context_links or []


def add_node_lists(
    tx: Transaction, row: WorkNodeRow, node: WorkNode, room: Budget, *, prefix: str, lean: bool
) -> dict[str, int]:
    """Add the first page of its lists to a node, and return what is left out of them."""
    parts = read_node_lists(tx, row, node, room, prefix=prefix, lean=lean)
    share_room(room, parts)
    show_node_lists(node, row, parts, lean=lean)
    return count_left_out(parts)


def count_left_out(parts: Sequence[ListPart[Any]]) -> dict[str, int]:
    """Return what is left out of some lists, by the names of the lists."""
    return {name: count for part in parts if part.total for name, count in part.count_left_out().items()}


def _list_values(name: str, values: Sequence[T], position: Position | None) -> ListPart[T]:
    if position is None:
        return ListPart(name, [], (), 0)
    [first] = position
    rows = [ListRow((value,), (index,)) for index, value in enumerate(values[first:], first + 1)]
    return ListPart(name, rows, position, len(rows))


def _read_evidence(
    tx: Transaction, row: WorkNodeRow, room: Budget, position: Position | None, *, name: str, lean: bool
) -> ListPart[Any]:
    if position is None or not row.evidence_total:
        return ListPart(name, [], (), 0)
    [before] = position
    asked = room.count_rows(EVIDENCE_CHARS_MIN)
    stored = tx.all(sql.evidence_before, EvidenceRow, project_id=tx.project.id, n=row.n, before=before, at_most=asked)
    entries = format_evidence(build_evidence(tx, stored), lean=lean) or []
    rows = [ListRow((entry,), (of.k,)) for of, entry in zip(stored, entries, strict=True)]
    total = len(rows) if len(rows) < asked else min(before - 1, row.evidence_total)
    return ListPart(name, rows, position, total)


def _read_merged(
    tx: Transaction, row: WorkNodeRow, room: Budget, position: Position | None, *, name: str
) -> ListPart[Any]:
    if position is None or not row.merged_total:
        return ListPart(name, [], (), 0)
    rev, node_id = position
    place = {"project_id": tx.project.id, "n": row.n, "rev": rev, "id": node_id}
    asked = room.count_rows(MERGED_CHARS_MIN)
    stored = tx.all(sql.merged_before, MergedTextRow, **place, at_most=asked)
    rows = [ListRow((build_merged(text),), (text.rev, text.id)) for text in stored]
    total = len(rows) if len(rows) < asked else tx.scalar(sql.count_merged_before, **place)
    return ListPart(name, rows, position, total)


class AncestorRow(Struct):
    """An ancestor of a node."""

    n: int
    parent_n: int | None
    id: str
    summary: str
    resolved: bool
    outcome: str | None
    context_links: str
    depth: int


def begin_ancestors(row: WorkNodeRow) -> Position | None:
    """Return the position of the ancestors of a node; None for the root."""
    return None if row.parent_n is None else (row.parent_n, False)


def read_ancestors(
    tx: Transaction, position: Position | None, room: Budget, forms: Callable[[AncestorRow], Sequence[T]]
) -> ListPart[T]:
    """Return the ancestors of a node from a position on."""
    rows = []
    if position is not None:
        asked = room.count_rows(ANCESTOR_CHARS_MIN)
        rows = tx.all(sql.ancestors, AncestorRow, project_id=tx.project.id, n=position[0], at_most=asked)
    return list_ancestors(tx, rows, position or ENDED, forms)


def list_ancestors(
    tx: Transaction,
    rows: Sequence[AncestorRow],
    position: Position,
    forms: Callable[[AncestorRow], Sequence[T]],
) -> ListPart[T]:
    """Return a part of the ancestors of a node, the root first and then the nearest ones.

    `rows` are those from a position on, the nearest first. A position has the next one, and whether the root was shown.
    """
    _, is_root_shown = position
    below_root = [row for row in rows if row.n != ROOT_N]
    listed = [ListRow(forms(row), (row.parent_n, True)) for row in below_root]
    total = rows[0].depth if rows else 0  # a node has one ancestor at each depth
    if rows and not is_root_shown:
        root = rows[-1] if rows[-1].n == ROOT_N else tx.one(sql.root_ancestor, AncestorRow, project_id=tx.project.id)
        listed.insert(0, ListRow(forms(root), (below_root[0].n if below_root else ROOT_N, True)))
        total += 1
    return ListPart("ancestors", listed, position, total)


def order_ancestors(part: ListPart[T]) -> list[T]:
    """Return what is shown of the ancestors, the root first and the nearest last."""
    _, is_root_shown = part.start
    shown = list(part.shown)
    return shown[::-1] if is_root_shown else [*shown[:1], *shown[:0:-1]]


def shorten_evidence(evidence: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield evidence whole, then ever fewer of its newest entries, and none last."""
    count = len(evidence)
    while count:
        yield evidence[len(evidence) - count :]
        count //= 2
    yield ()
