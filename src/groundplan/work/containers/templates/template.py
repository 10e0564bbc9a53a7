"""Templates and their sections as answers show them, built from their rows."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.budget import DropField, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import MaxBytes
from groundplan.work.containers.requests import EntityType
from groundplan.work.containers.sections.requests import ContentFormat

DESCRIPTION_BYTES_MAX = 4_096

TemplateRef = Annotated[str, Meta(min_length=1, max_length=255)]
Description = Annotated[str, MaxBytes(DESCRIPTION_BYTES_MAX)]


class TemplateSection(Struct, rename="camel", kw_only=True):
    """A section of a template."""

    id: str
    ordinal: int
    title: str
    usage_description: str | UnsetType = UNSET
    content_sample: str | UnsetType = UNSET
    content_format: ContentFormat
    is_required: bool
    tags: list[str] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


class Template(Struct, rename="camel", kw_only=True):
    """A template for containers of one type. One that ships with Groundplan has no creation time."""

    id: str
    name: str
    description: str | UnsetType = UNSET
    target_entity_type: EntityType
    tags: list[str] | UnsetType = UNSET
    is_built_in: bool
    is_protected: bool
    is_enabled: bool
    created_by: str
    created_at: str | UnsetType = UNSET
    modified_at: str | UnsetType = UNSET
    sections: list[TemplateSection] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


class OneTemplate(Struct):
    """A single template."""

    trimming: ClassVar[Trimming] = Trimming(
        DropField("template.sections[].content_sample"),
        DropField("template.sections[].usage_description"),
        DropField("template.description"),
        DropField("template.sections[].tags"),
        DropField("template.tags"),
    )

    template: Template


# Events carry their own id and time, and sections have changes of their own.
OMITTED_FROM_EVENTS = ("id", "created_at", "modified_at", "sections", "left_out")


class TemplateRow(Struct):
    """The stored row of a template."""

    id: str
    created_by: str
    created_at: str
    name: str
    description: str
    target: EntityType
    tags: str
    is_built_in: bool
    is_protected: bool
    is_enabled: bool
    modified_at: str


class TemplateSectionRow(TemplateRow):
    """A template with one of its sections, or with none if it has none."""

    section_id: str | None
    section_tags: str
    ordinal: int
    title: str
    usage_description: str
    content_sample: str
    content_format: ContentFormat | None
    is_required: bool | None


def build_template(row: TemplateRow) -> Template:
    """Build a template without its sections from its row."""
    fields = {name: getattr(row, name) for name in TemplateRow.__struct_fields__ if name not in ("target", "tags")}
    return Template(target_entity_type=row.target, tags=_decode_tags(row.tags), **fields)


def build_template_section(row: TemplateSectionRow) -> TemplateSection:
    """Build a template section from its row."""
    fields = {name: getattr(row, name) for name in TemplateSection.__struct_fields__ if hasattr(row, name)}
    return TemplateSection(**{**fields, "id": row.section_id, "tags": _decode_tags(row.section_tags)})


def _decode_tags(stored: str) -> list[str]:
    return msgspec.json.decode(stored, type=list[str])


def to_event_fields(item: Template | TemplateSection) -> dict[str, Any]:
    """Return the fields of a template or a section that events record."""
    fields = (name for name in item.__struct_fields__ if name not in OMITTED_FROM_EVENTS)
    return {name: getattr(item, name) for name in fields}
