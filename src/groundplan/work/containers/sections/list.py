"""List the sections of a project, a feature or a task, in order."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.requests import ContainerId, EntityType, StringList, parse_tags
from groundplan.work.containers.sections.refs import missing_section, resolve_container, resolve_entity_project
from groundplan.work.containers.sections.requests import parse_ids
from groundplan.work.containers.sections.section import Sections, load_sections


class ListSections(Struct, rename="camel", forbid_unknown_fields=True):
    """The container, and filters: sections with any of the tags, or with one of the ids."""

    entity_type: EntityType
    entity_id: ContainerId
    include_content: bool = True
    tags: StringList = ""
    section_ids: StringList = ""


def list_sections(tx: Transaction, request: ListSections) -> Sections:
    """Return the sections of a container.

    Raises:
        NotFound: the container does not exist, or has no section with one of the ids.
    """
    tags = set(parse_tags(request.tags))
    ids = parse_ids(request.section_ids, "sectionIds")
    node = resolve_container(tx, request.entity_type, request.entity_id)
    sections = load_sections(tx, node, include_content=request.include_content)
    known_ids = {section.id for section in sections}
    for index, id_ in enumerate(ids):
        if id_ not in known_ids:
            raise missing_section(id_, ("sectionIds", index))
    matches = [
        section
        for section in sections
        if (not tags or not tags.isdisjoint(section.tags)) and (not ids or section.id in ids)
    ]
    return Sections(matches, len(matches))


OPERATION = Operation(
    name="section.list",
    summary="Sections of a container in order; with any of some tags, or by ids.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    input=ListSections,
    output=Sections,
    handler=list_sections,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.entity_id),
    tool=Tool("query_sections", Group.CONTAINERS),
    command=Command(
        ("section", "list"),
        arguments=("entity_id",),
        names={
            "entity_type": "type",
            "entity_id": "container",
            "include_content": "content",
            "tags": "tag",
            "section_ids": "section",
        },
    ),
    http=Route("GET", "/projects/{project}/work/{entityType}s/{entityId}/sections"),
)
