"""Export the work of a project as items, which are then written as files of other tools."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.importing.items import SourceEvidence, SourceSection, number_titles
from groundplan.work.kinds import DROPPED, PRIORITY_ABSENT, ROOT_N, is_claim_live
from groundplan.work.nodes import DEPENDS_ON

sql = load_queries(__file__)


class ExportWork(Struct, forbid_unknown_fields=True):
    """The project to export."""

    project: Name


class ExportedNodeRow(Struct):
    """A node as it is stored."""

    n: int
    id: str
    parent_n: int
    kind: str | None
    summary: str
    resolved: bool
    outcome: str | None
    held_reason: str | None
    state: str | None
    properties: str
    context_links: str
    priority: float
    claimed_by: str | None
    claimed_until: str | None
    created_at: str
    updated_at: str


class ExportedLink(Struct):
    """An edge to another node without effect on the order of work."""

    type: str
    id: str


class ExportedItem(Struct, kw_only=True):
    """A node with all its parts. `sources` has its source id in each tool that it was imported from."""

    id: str
    title: str
    fate: str
    hold_reason: str | None = None
    state: Any = None
    priority: float | None = None
    kind: str | None = None
    parent: str | None = None
    depends_on: list[str] = []
    links: list[ExportedLink] = []
    sections: list[SourceSection] = []
    evidence: list[SourceEvidence] = []
    context_links: list[str] = []
    tags: list[str] = []
    properties: dict[str, Any] = {}
    is_claimed: bool = False
    sources: dict[str, str] = {}
    loops: list[str] = []  # what it also waits for in the tool that it was imported from, in a loop
    imported_fate: str | None = None  # as the last import from its source read it, with the reason of a hold
    created_at: str
    updated_at: str


class ExportedWork(Struct):
    """All nodes of a project except the root, in the order of creation."""

    project: str
    items: list[ExportedItem]


class _ImportRow(Struct):
    """An item of an import that has a node."""

    node_n: int
    tool: str
    source_id: str
    base: str


class _BaseFields(Struct):
    fate: str | None = None


class _ExportBase(Struct):
    """The parts of an `ImportBase` that an export needs."""

    fields: _BaseFields = msgspec.field(default_factory=_BaseFields)
    loops: list[str] = []


def export_work(tx: Transaction, request: ExportWork) -> ExportedWork:
    """Return the nodes of a project as items."""
    place = {"project_id": tx.project.id}
    rows = tx.all(sql.exported_nodes, ExportedNodeRow, **place)
    ids = {row.n: row.id for row in rows}
    items = {row.n: _build_item(row, ids, now=tx.now) for row in rows}
    for from_n, type_, to_n in tx.all(sql.exported_edges, **place):
        if from_n in items and to_n in ids:
            item = items[from_n]
            if type_ == DEPENDS_ON:
                item.depends_on.append(ids[to_n])
            else:
                item.links.append(ExportedLink(type_, ids[to_n]))
    for n, tag in tx.all(sql.exported_tags, **place):
        if n != ROOT_N:
            items[n].tags.append(tag)
    for n, title, text in tx.all(sql.exported_sections, **place):
        if n != ROOT_N:
            items[n].sections.append(SourceSection(title, text))
    for item in items.values():
        titles = number_titles(section.title for section in item.sections)
        item.sections = [
            SourceSection(title, section.text) for title, section in zip(titles, item.sections, strict=True)
        ]
    for n, type_, text in tx.all(sql.exported_evidence, **place):
        if n != ROOT_N:
            items[n].evidence.append(SourceEvidence(type_, text))
    by_source: dict[tuple[str, str], str] = {}
    loops: list[tuple[ExportedItem, str, list[str]]] = []
    for row in tx.all(sql.imported_items, _ImportRow, **place):
        item, tool = items[row.node_n], row.tool
        item.sources[tool] = row.source_id
        by_source[tool, row.source_id] = item.id
        base = msgspec.json.decode(row.base, type=_ExportBase)
        if tool == item.properties.get("source"):
            item.imported_fate = base.fields.fate
        if base.loops and item.fate != "open":  # else the hold was released here
            loops.append((item, tool, base.loops))
    for item, tool, targets in loops:
        item.loops = [by_source[tool, target] for target in targets if (tool, target) in by_source]
    return ExportedWork(tx.project.name, list(items.values()))


def _build_item(row: ExportedNodeRow, ids: dict[int, str], *, now: str) -> ExportedItem:
    if row.resolved:
        fate = DROPPED if row.outcome == DROPPED else "done"
    else:
        fate = "open" if row.held_reason is None else "held"
    return ExportedItem(
        id=row.id,
        title=row.summary,
        fate=fate,
        hold_reason=row.held_reason if fate == "held" else None,
        state=None if row.state is None else msgspec.json.decode(row.state),
        priority=None if row.priority == PRIORITY_ABSENT else row.priority,
        kind=row.kind,
        parent=ids.get(row.parent_n),
        context_links=msgspec.json.decode(row.context_links),
        properties=msgspec.json.decode(row.properties),
        is_claimed=is_claim_live(row.claimed_by, row.claimed_until, now=now),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


OPERATION = declare(
    export_work,
    name="work.export",
    summary="Return all work of a project as items, for the files of other tools.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    idempotent=True,
    http=Route("GET", "/projects/{project}/work/export"),
)
