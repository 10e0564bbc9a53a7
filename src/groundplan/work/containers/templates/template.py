"""A template as callers see it, from its rows: sections to give to containers of one kind."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.input_gate.text_limits import MaxBytes
from groundplan.kernel.store.row_types import Row
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
    usage_description: str | UnsetType
    content_sample: str | UnsetType
    content_format: ContentFormat
    is_required: bool
    tags: list[str] | UnsetType
    left_out: list[str] | UnsetType = UNSET  # what did not fit into the answer


class Template(Struct, rename="camel", kw_only=True):
    """Sections for containers of one kind. One that comes with Groundplan was made at no moment."""

    id: str
    name: str
    description: str | UnsetType
    target_entity_type: EntityType
    tags: list[str] | UnsetType
    is_built_in: bool
    is_protected: bool
    is_enabled: bool
    created_by: str
    created_at: str | UnsetType = UNSET
    modified_at: str | UnsetType = UNSET
    sections: list[TemplateSection] | UnsetType = UNSET
    left_out: list[str] | UnsetType = UNSET  # what did not fit into the answer


class OneTemplate(Struct):
    """The template as it is now."""

    template: Template


TEMPLATE_COLUMNS = 11  # of the part `template` in queries.sql
# What events have for themselves, and what is told in events of its own.
UNTOLD = ("id", "created_at", "modified_at", "sections", "left_out")


def template_from(row: Row) -> Template:
    """A template without its sections, from the columns of the part `template` in queries.sql."""
    id_, name, description, target, tags, is_built_in, is_protected, is_enabled, by, created_at, modified_at = row
    return Template(
        id=id_,
        name=name,
        description=description,
        target_entity_type=EntityType(target),
        tags=msgspec.json.decode(tags, type=list[str]),
        is_built_in=bool(is_built_in),
        is_protected=bool(is_protected),
        is_enabled=bool(is_enabled),
        created_by=by,
        created_at=created_at,
        modified_at=modified_at,
    )


def section_from(row: Row) -> TemplateSection:
    """A section, from its columns behind those of the template."""
    id_, ordinal, title, usage_description, content_sample, content_format, is_required, tags = row
    return TemplateSection(
        id=id_,
        ordinal=ordinal,
        title=title,
        usage_description=usage_description,
        content_sample=content_sample,
        content_format=ContentFormat(content_format),
        is_required=bool(is_required),
        tags=msgspec.json.decode(tags, type=list[str]),
    )


def told(thing: Template | TemplateSection) -> dict[str, Any]:
    """What an event tells of a template or a section, by field."""
    fields = (name for name in thing.__struct_fields__ if name not in UNTOLD)
    return {name: getattr(thing, name) for name in fields}
