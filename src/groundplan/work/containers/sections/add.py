"""Add one section or several to a project, a feature or a task."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath
from groundplan.work.containers.requests import ContainerId, EntityType, StringList, parse_tags
from groundplan.work.containers.sections.refs import resolve_container, resolve_entity_project
from groundplan.work.containers.sections.requests import BULK_MAX, Content, ContentFormat, Ordinal, Title, Usage
from groundplan.work.containers.sections.section import Section, SectionDraft, Sections, add_sections


class NewSection(Struct, rename="camel", forbid_unknown_fields=True):
    """A new section; without an ordinal it goes after the last one."""

    title: Title
    usage_description: Usage = ""
    content: Content = ""
    content_format: ContentFormat = ContentFormat.MARKDOWN
    tags: StringList = ""
    ordinal: Ordinal | None = None


class AddSection(Struct, rename="camel", forbid_unknown_fields=True):
    """A container and its new section; without an ordinal it goes after the last one."""

    entity_type: EntityType
    entity_id: ContainerId
    title: Title
    usage_description: Usage = ""
    content: Content = ""
    content_format: ContentFormat = ContentFormat.MARKDOWN
    tags: StringList = ""
    ordinal: Ordinal | None = None
    op_id: OpId = field(name="op_id", default=None)


class AddSections(Struct, rename="camel", forbid_unknown_fields=True):
    """A container and its new sections."""

    entity_type: EntityType
    entity_id: ContainerId
    # The schema omits the fields of a section, because every session already has them as the arguments of `add`.
    sections: Annotated[
        list[NewSection],
        Meta(min_length=1, max_length=BULK_MAX, extra_json_schema={"items": {"type": "object", "required": ["title"]}}),
    ]
    op_id: OpId = field(name="op_id", default=None)


def add(tx: Transaction, request: AddSection) -> Section:
    """Add a section to a container.

    Raises:
        OrdinalTaken: another section has this ordinal.
        TooManySections: the container has the maximum number of sections.
        NotFound: the container does not exist.
    """
    node = resolve_container(tx, request.entity_type, request.entity_id)
    (made,) = add_sections(tx, node, [_to_section_draft(request, ())], base_path=None)
    return made


def bulk_create(tx: Transaction, request: AddSections) -> Sections:
    """Add several sections to a container: all of them, or none.

    Raises:
        OrdinalTaken: two sections would have the same ordinal.
        TooManySections: the container would have too many.
        NotFound: the container does not exist.
    """
    node = resolve_container(tx, request.entity_type, request.entity_id)
    drafts = [_to_section_draft(section, ("sections", index)) for index, section in enumerate(request.sections)]
    made = add_sections(tx, node, drafts)
    return Sections(made, len(made))


def _to_section_draft(section: NewSection | AddSection, path: ArgumentPath) -> SectionDraft:
    return SectionDraft(
        title=section.title,
        usage_description=section.usage_description,
        content=section.content,
        content_format=section.content_format,
        tags=parse_tags(section.tags, (*path, "tags")),
        ordinal=section.ordinal,
    )


OPERATION = Operation(
    name="section.add",
    summary="Add a section, behind the last or at a free ordinal.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=AddSection,
    output=Section,
    handler=add,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.entity_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "add"),
    command=Command(
        ("section", "add"),
        arguments=("title",),
        texts=("content",),
        names={
            "entity_type": "type",
            "entity_id": "container",
            "usage_description": "usage",
            "content_format": "format",
            "tags": "tag",
        },
    ),
    http=Route(
        "POST",
        "/projects/{project}/work/{entityType}s/{entityId}/sections",
        location="/projects/{project}/work/{entityType}s/{entityId}/sections",
    ),
)

BULK_CREATE = Operation(
    name="section.bulk_create",
    summary="Add several (sections: [{title, content, …}]), all or none.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=AddSections,
    output=Sections,
    handler=bulk_create,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.entity_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "bulkCreate"),
    command=Command(
        ("section", "bulk-create"),
        arguments=("sections",),
        names={"entity_type": "type", "entity_id": "container"},
    ),
    http=Route(
        "POST",
        "/projects/{project}/work/{entityType}s/{entityId}/sections/batch",
        location="/projects/{project}/work/{entityType}s/{entityId}/sections",
    ),
)
