"""A template as callers see it, from its rows: sections to give to containers of one kind."""

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
    """A section that containers get."""

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
    """Sections for containers of one kind. One that comes with Groundplan was made at no moment."""

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
    """The template as it is now."""

    trimming: ClassVar[Trimming] = Trimming(
        DropField("template.sections[].content_sample"),
        DropField("template.sections[].usage_description"),
        DropField("template.description"),
        DropField("template.sections[].tags"),
        DropField("template.tags"),
    )

    template: Template


# What events have for themselves, and what is told in events of its own.
OMITTED_FROM_EVENTS = ("id", "created_at", "modified_at", "sections", "left_out")


class TemplateRow(Struct):
    """A template as it is stored."""

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
    """A template beside one of its sections; without one where it has none."""

    section_id: str | None
    section_tags: str
    ordinal: int
    title: str
    usage_description: str
    content_sample: str
    content_format: ContentFormat | None
    is_required: bool | None


def template_from(row: TemplateRow) -> Template:
    """A template without its sections."""
    alike = {name: getattr(row, name) for name in TemplateRow.__struct_fields__ if name not in ("target", "tags")}
    return Template(target_entity_type=row.target, tags=_tags(row.tags), **alike)


def section_from(row: TemplateSectionRow) -> TemplateSection:
    """A section."""
    alike = {name: getattr(row, name) for name in TemplateSection.__struct_fields__ if hasattr(row, name)}
    return TemplateSection(**{**alike, "id": row.section_id, "tags": _tags(row.section_tags)})


def _tags(stored: str) -> list[str]:
    return msgspec.json.decode(stored, type=list[str])


def to_event_fields(thing: Template | TemplateSection) -> dict[str, Any]:
    """What an event tells of a template or a section, by field."""
    fields = (name for name in thing.__struct_fields__ if name not in OMITTED_FROM_EVENTS)
    return {name: getattr(thing, name) for name in fields}
