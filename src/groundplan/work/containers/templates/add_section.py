"""Add a section to a template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.budget import DropField, Trimming
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.requests import StringList, parse_tags
from groundplan.work.containers.sections.requests import (
    Content,
    ContentFormat,
    Ordinal,
    Title,
    Usage,
    refuse_malformed,
)
from groundplan.work.containers.sections.section import OrdinalTaken
from groundplan.work.containers.templates.refs import resolve_editable_template
from groundplan.work.containers.templates.template import TemplateRef, TemplateSection, to_event_fields
from groundplan.work.events import TemplateOp

TEMPLATE_SECTIONS_MAX = 50  # the same limit as for adding sections to a container in one call

sql = load_queries(__file__)


def ordinal_taken(ordinal: int, free: int) -> OrdinalTaken:
    """Return the error for an ordinal that another section of the template has."""
    return OrdinalTaken(
        f"ordinal {ordinal} is taken by another section; send {free}, the next free one, or leave it out",
        field="ordinal",
        ordinal=ordinal,
        free=free,
    )


class TemplateFull(RuleViolated):
    """A template has the maximum number of sections."""

    code = "template_full"
    contract_code = "INVALID_OPERATION"

    def __init__(self, id_: str) -> None:
        super().__init__(
            f"template {id_} has {TEMPLATE_SECTIONS_MAX} sections, which is the limit; create another template",
            id=id_,
            limit=TEMPLATE_SECTIONS_MAX,
        )


class AddTemplateSection(Struct, rename="camel", forbid_unknown_fields=True):
    """A template and its new section; without an ordinal it goes after the last one."""

    id: TemplateRef
    title: Title
    usage_description: Usage = ""
    content_sample: Content = ""
    content_format: ContentFormat = ContentFormat.MARKDOWN
    is_required: bool = False
    ordinal: Ordinal | None = None
    tags: StringList = ""
    op_id: OpId = field(name="op_id", default=None)


class AddedSection(Struct, rename="camel"):
    """The new section of a template."""

    trimming: ClassVar[Trimming] = Trimming(
        DropField("section.content_sample"), DropField("section.usage_description"), DropField("section.tags")
    )

    template_id: str
    section: TemplateSection


def add_section(tx: Transaction, request: AddTemplateSection) -> AddedSection:
    """Add a section to a template.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected.
        TemplateFull: it has the maximum number of sections.
        OrdinalTaken: another section has this ordinal.
    """
    tags = sorted(parse_tags(request.tags))
    # A container would reject malformed content later, where the template cannot be corrected.
    refuse_malformed(request.content_sample, request.content_format, ("contentSample",))
    template = resolve_editable_template(tx, request.id)
    taken = tx.scalars(sql.ordinals, id=template.id)
    if len(taken) >= TEMPLATE_SECTIONS_MAX:
        raise TemplateFull(template.id)
    section = TemplateSection(
        id=new_uuid(),
        ordinal=_choose_ordinal(request.ordinal, taken),
        title=request.title,
        usage_description=request.usage_description,
        content_sample=request.content_sample,
        content_format=request.content_format,
        is_required=request.is_required,
        tags=tags,
    )
    tx.run_with_record(sql.add_section, section, template_id=template.id, tags=to_json_array(tags))
    tx.run(sql.touch_template, id=template.id)
    tx.record(TemplateOp.UPDATED, template.id, changed(f"sections.{section.id}", None, to_event_fields(section)))
    return AddedSection(template.id, section)


def _choose_ordinal(requested: int | None, used: Sequence[int]) -> int:
    """Return the ordinal of a new section; `used` is sorted."""
    if requested is None:
        return used[-1] + 1 if used else 0
    if requested in used:
        free = next(ordinal for ordinal in range(requested + 1, requested + len(used) + 1) if ordinal not in used)
        raise ordinal_taken(requested, free)
    return requested


OPERATION = Operation(
    name="template.add_section",
    summary="Add a section to a template, behind the last or at ordinal.",
    permission=Permission.TEMPLATE_WRITE,
    effect=Effect.WRITE,
    input=AddTemplateSection,
    output=AddedSection,
    handler=add_section,
    tool=Tool("manage_template", Group.CONTAINERS, "addSection"),
    command=Command(
        ("template", "add-section"),
        arguments=("id", "title"),
        texts=("content_sample",),
        names={
            "usage_description": "usage",
            "content_sample": "content",
            "content_format": "format",
            "is_required": "required",
            "tags": "tag",
        },
    ),
    http=Route("POST", "/templates/{id}/sections", location="/templates/{id}"),
)
