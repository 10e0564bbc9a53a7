"""Update a section, or only its text, at the version that the caller read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.optimistic_locking import refuse_stale
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.requests import ContainerId, EntityType, StringList, Version, parse_tags
from groundplan.work.containers.sections.refs import load_section_row, refuse_other_container, resolve_section_project
from groundplan.work.containers.sections.requests import (
    Content,
    ContentFormat,
    Ordinal,
    Title,
    Usage,
    refuse_malformed,
)
from groundplan.work.containers.sections.section import (
    Section,
    SectionRow,
    UsedOrdinals,
    build_section,
    load_section_tags,
    to_event_fields,
)
from groundplan.work.engine.row import fetch_node
from groundplan.work.events import WorkOp

sql = load_queries(__file__)

# The fields that an update can change, from request name to wire name.
UPDATABLE_FIELDS = {
    "title": "title",
    "usage_description": "usageDescription",
    "content": "content",
    "content_format": "contentFormat",
    "tags": "tags",
    "ordinal": "ordinal",
}


class UpdateSection(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes to one section; omitted fields stay."""

    section_id: str
    version: Version
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    title: Title | UnsetType = UNSET
    usage_description: Usage | UnsetType = UNSET
    content: Content | UnsetType = UNSET
    content_format: ContentFormat | UnsetType = UNSET
    tags: StringList | UnsetType = UNSET
    ordinal: Ordinal | UnsetType = UNSET
    op_id: OpId = field(name="op_id", default=None)


class UpdateText(Struct, rename="camel", forbid_unknown_fields=True):
    """The new text of one section."""

    section_id: str
    version: Version
    content: Content
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    op_id: OpId = field(name="op_id", default=None)


def update(tx: Transaction, request: UpdateSection) -> Section:
    """Update a section and raise its version by one. The version of its container does not change.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        OrdinalTaken: another section has this ordinal.
        OtherContainer: it belongs to another container than the named one.
        NotFound: it does not exist.
    """
    given = {name: value for name in UPDATABLE_FIELDS if (value := getattr(request, name)) is not UNSET}
    if not given:
        raise invalid_argument((), f"change nothing; send at least one of {', '.join(UPDATABLE_FIELDS.values())}")
    if "tags" in given:
        given["tags"] = sorted(parse_tags(given["tags"]))
    return _update_section(tx, request, given)


def update_text(tx: Transaction, request: UpdateText) -> Section:
    """Replace the text of a section and raise its version by one. The version of its container does not change.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        OtherContainer: it belongs to another container than the named one.
        NotFound: it does not exist.
    """
    return _update_section(tx, request, {"content": request.content})


def _update_section(tx: Transaction, request: UpdateSection | UpdateText, given: dict[str, Any]) -> Section:
    row = load_section_row(tx, request.section_id)
    node = fetch_node(tx, row.node_n)
    refuse_other_container(tx, row, node, request.entity_type, request.entity_id)
    refuse_stale("section", row.id, current=row.version, given=request.version)
    before = to_event_fields(row, load_section_tags(tx, [row.id]).get(row.id, []))
    after = {**before, **given}
    if "content" in given or "content_format" in given:
        path = "content" if "content" in given else "contentFormat"
        refuse_malformed(after["content"], after["content_format"], (path,))
    if "ordinal" in given:
        UsedOrdinals(tx, node).refuse_taken_ordinal(given["ordinal"], ("ordinal",), except_id=row.id)
    written = _write_section(tx, row, before, after)
    tx.record(
        WorkOp.SECTION_CHANGED, node.id, changed(f"sections.{row.id}", {name: before[name] for name in given}, given)
    )
    return build_section(tx, node, written, after["tags"])


def _write_section(tx: Transaction, row: SectionRow, before: Mapping[str, Any], after: Mapping[str, Any]) -> SectionRow:
    columns = {name: value for name, value in after.items() if name != "tags"}
    touched: dict[str, Any] = {"version": row.version + 1, "modified_at": tx.now, "modified_by": tx.actor.id}
    written = replace(row, **columns, **touched)
    # The statement compares the version too, so that no concurrent write is lost.
    if not tx.run_with_record(sql.update_section, written, project_id=tx.project.id, version=row.version):
        raise LookupError("section vanished although its project is locked")
    if after["tags"] != before["tags"]:
        tx.run(sql.remove_tags, project_id=tx.project.id, ids=to_json_array([row.id]))
        tx.run(sql.add_tags, project_id=tx.project.id, id=row.id, tags=to_json_array(after["tags"]))
    return written


OPERATION = Operation(
    name="section.update",
    summary="Change a section at the version you read.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=UpdateSection,
    output=Section,
    handler=update,
    project=lambda tx, request: resolve_section_project(tx, request.section_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "update"),
    command=Command(
        ("section", "update"),
        arguments=("section_id",),
        texts=("content",),
        names={
            "section_id": "section",
            "entity_type": "type",
            "entity_id": "container",
            "usage_description": "usage",
            "content_format": "format",
            "tags": "tag",
        },
    ),
    http=Route("PATCH", "/projects/{project}/work/sections/{sectionId}"),
)

UPDATE_TEXT = Operation(
    name="section.update_text",
    summary="Replace the content of a section.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=UpdateText,
    output=Section,
    handler=update_text,
    project=lambda tx, request: resolve_section_project(tx, request.section_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "updateText"),
    command=Command(
        ("section", "update-text"),
        arguments=("section_id",),
        texts=("content",),
        names={"section_id": "section", "entity_type": "type", "entity_id": "container"},
    ),
    http=Route("PATCH", "/projects/{project}/work/sections/{sectionId}/text"),
)
