"""Apply a template: add its sections to a container."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.requests import ContainerId, EntityType
from groundplan.work.containers.sections.refs import resolve_container, resolve_entity_project
from groundplan.work.containers.sections.section import SectionDraft, add_sections
from groundplan.work.containers.templates.refs import resolve_template_with_sections
from groundplan.work.containers.templates.template import Template, TemplateRef


class TemplateDisabled(RuleViolated):
    """A disabled template cannot be applied."""

    code = "template_disabled"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        super().__init__(
            f"template {template.name!r} is disabled; enable it, or apply another",
            field="templateId",
            templateId=template.id,
        )


class TemplateForOtherType(RuleViolated):
    """The template is for another type of container."""

    code = "template_for_other_type"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template, entity_type: EntityType) -> None:
        target = template.target_entity_type
        super().__init__(
            f"template {template.name!r} is for {target.value}, not for {entity_type.value}",
            next_steps=NextStep(
                "template.list", "lists templates for this type", {"targetEntityType": entity_type.value}
            ),
            field="templateId",
            templateId=template.id,
            targetEntityType=target.value,
        )


class ApplyTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """The template, and the container that gets its sections."""

    template_id: TemplateRef
    entity_type: EntityType
    entity_id: ContainerId
    op_id: OpId = field(name="op_id", default=None)


class AppliedSection(Struct, rename="camel"):
    """An added section, without its content."""

    id: str
    title: str
    ordinal: int
    version: int


class AppliedTemplate(Struct, rename="camel"):
    """The sections that were added to a container."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("sections",)))

    template_id: str
    entity_type: EntityType
    entity_id: str
    sections: list[AppliedSection]
    left_out: LeftOut = field(name="left_out", default=UNSET)


def apply(tx: Transaction, request: ApplyTemplate) -> AppliedTemplate:
    """Add the sections of a template after those of a container. Applying it twice adds them twice.

    Raises:
        NotFound: the template, or a container of this type and id, does not exist.
        TemplateDisabled: the template is disabled.
        TemplateForOtherType: the template is for another type of container.
        TooManySections: the container would have too many.
    """
    node = resolve_container(tx, request.entity_type, request.entity_id)
    template, sections = resolve_template_with_sections(tx, request.template_id, field="templateId")
    if template.target_entity_type is not request.entity_type:
        raise TemplateForOtherType(template, request.entity_type)
    if not template.is_enabled:
        raise TemplateDisabled(template)
    drafts = [
        SectionDraft(
            title=section.title,
            usage_description=section.usage_description or "",
            content=section.content_sample or "",
            content_format=section.content_format,
            tags=section.tags or [],
            ordinal=None,
        )
        for section in sections
    ]
    added = add_sections(tx, node, drafts)
    entity_id = tx.project.id if request.entity_type is EntityType.PROJECT else node.id
    applied = [AppliedSection(section.id, section.title, section.ordinal, section.version) for section in added]
    return AppliedTemplate(template.id, request.entity_type, entity_id, applied)


OPERATION = Operation(
    name="template.apply",
    summary="Append a template's sections to a container.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=ApplyTemplate,
    output=AppliedTemplate,
    handler=apply,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.entity_id),
    tool=Tool("apply_template", Group.CONTAINERS),
    command=Command(
        ("template", "apply"),
        arguments=("template_id", "entity_id"),
        names={"template_id": "template", "entity_id": "entity", "entity_type": "type"},
    ),
    http=Route(
        "POST",
        "/projects/{project}/work/{entityType}s/{entityId}/templates",
        location="/projects/{project}/work/{entityType}s/{entityId}/sections",
    ),
)
