"""Terminal output of the operations on sections, templates and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UnsetType

from groundplan.kernel.budget import LeftOut
from groundplan.surfaces.cli.terminal import INDENT, draw_pairs, draw_table, echo, format_time, to_one_line
from groundplan.work.containers.sections.delete import DeletedSection, DeletedSections
from groundplan.work.containers.sections.section import Section, Sections
from groundplan.work.containers.tags.list import Tags
from groundplan.work.containers.tags.rename import RenamedTag
from groundplan.work.containers.tags.tagged_entities import TaggedEntity
from groundplan.work.containers.tags.usage import TagUsage
from groundplan.work.containers.templates.add_section import AddedSection
from groundplan.work.containers.templates.apply import AppliedTemplate
from groundplan.work.containers.templates.delete import DeletedTemplate
from groundplan.work.containers.templates.list import Templates
from groundplan.work.containers.templates.template import OneTemplate, Template, TemplateSection

Pairs = Iterator[tuple[str, str]]


# --- Sections -------------------------------------------------------------------------------------------------------


def draw_sections(answer: Sections) -> None:
    """Print sections in their order."""
    if not answer.sections and not answer.left_out:
        echo("No sections here.")
    for index, section in enumerate(answer.sections):
        echo(*([""] if index else []))
        draw_section(section)
    _echo_left_out(answer.left_out)


def draw_section(section: Section) -> None:
    """Print one section with its text."""
    echo(to_one_line(section.title))
    draw_pairs(_about_section(section))
    echo(*_indent(section.content))
    if section.left_out:
        echo(f"{INDENT}(not shown: {', '.join(section.left_out)})")


def _about_section(section: Section) -> Pairs:
    yield "id", section.id
    yield "version", str(section.version)
    yield "of", f"{section.entity_type.value.lower()} {section.entity_id}"
    yield "position", f"{section.ordinal}, {section.content_format.value}"
    if section.usage_description:
        yield "for", to_one_line(section.usage_description)
    if section.tags:
        yield "tags", ", ".join(section.tags)
    yield "changed", format_time(section.modified_at)


def draw_deleted_sections(answer: DeletedSection | DeletedSections) -> None:
    """Print the ids of deleted sections."""
    deleted = [answer.deleted] if isinstance(answer, DeletedSection) else answer.deleted
    echo(f"Deleted {', '.join(deleted)}.")


# --- Templates ------------------------------------------------------------------------------------------------------


def draw_template(answer: OneTemplate) -> None:
    """Print one template, with its sections if the answer has them."""
    template = answer.template
    echo(to_one_line(template.name))
    draw_pairs(_about_template(template))
    echo(*_indent(template.description))
    for section in template.sections or ():
        echo("")
        _draw_sample(section)
    if template.sections == []:
        echo("", f"No sections yet. Next: groundplan template add-section {template.id} TITLE")
    if template.left_out:
        echo(f"{INDENT}(not shown: {', '.join(template.left_out)})")


def _about_template(template: Template) -> Pairs:
    yield "id", template.id
    yield "for", template.target_entity_type.value.lower()
    yield "state", _state(template)
    if template.tags:
        yield "tags", ", ".join(template.tags)
    yield "by", template.created_by
    if template.modified_at:
        yield "changed", format_time(template.modified_at)


def _state(template: Template) -> str:
    marks = ("built in" * template.is_built_in, "protected" * template.is_protected)
    return ", ".join(mark for mark in ("enabled" if template.is_enabled else "disabled", *marks) if mark)


def _draw_sample(section: TemplateSection) -> None:
    required = ", required" if section.is_required else ""
    echo(f"{section.ordinal}. {to_one_line(section.title)} ({section.content_format.value}{required})")
    if section.usage_description:
        echo(f"{INDENT}for: {to_one_line(section.usage_description)}")
    if section.tags:
        echo(f"{INDENT}tags: {', '.join(section.tags)}")
    echo(*_indent(section.content_sample))
    if section.left_out:
        echo(f"{INDENT}(not shown: {', '.join(section.left_out)})")


def draw_templates(answer: Templates) -> None:
    """Print a list of templates."""
    if not answer.templates:
        echo("No templates found.")
        return
    draw_table(
        ("id", "name", "for", "state", "tags"),
        [
            (one.id, one.name, one.target_entity_type.value.lower(), _state(one), one.tags or [])
            for one in answer.templates
        ],
    )
    _echo_left_out(answer.left_out)


def draw_add_section(answer: AddedSection) -> None:
    """Print the section that was added to a template."""
    echo(f"Added to {answer.template_id}:")
    _draw_sample(answer.section)


def draw_deleted_template(answer: DeletedTemplate) -> None:
    """Print the id of a deleted template and the number of its sections."""
    echo(f"Deleted {answer.deleted}. Sections deleted with it: {answer.deleted_sections}")


def draw_apply(answer: AppliedTemplate) -> None:
    """Print the sections that a template added to a container."""
    echo(f"Added to {answer.entity_type.value.lower()} {answer.entity_id}:")
    draw_table(("position", "id", "title"), [(one.ordinal, one.id, one.title) for one in answer.sections])
    _echo_left_out(answer.left_out)


# --- Tags -----------------------------------------------------------------------------------------------------------


def draw_tags(answer: Tags) -> None:
    """Print tags, most used first."""
    if not answer.tags:
        echo("No tags here. To add one, use --tag with groundplan task create, feature create or section add.")
        return
    draw_table(("tag", "used"), [(one.tag, one.count) for one in answer.tags])
    _echo_left_out(answer.left_out)


def draw_usage(answer: TagUsage) -> None:
    """Print the items that have a tag."""
    echo(f"Items with the tag {answer.tag}: {answer.count}")
    _draw_entities(answer.entities)
    _echo_left_out(answer.left_out)


def draw_rename(answer: RenamedTag) -> None:
    """Print the items whose tag was renamed, or would be in a dry run."""
    verb = "Would rename" if answer.dry_run else "Renamed"
    echo(f"{verb} the tag {answer.old_tag} to {answer.new_tag}. Items: {answer.affected}")
    _draw_entities(answer.entities)
    _echo_left_out(answer.left_out)


def _draw_entities(entities: list[TaggedEntity]) -> None:
    rows = [(one.type.value.lower(), one.id, to_one_line(one.title)) for one in entities]
    draw_table(("type", "id", "title"), rows)


def _echo_left_out(left_out: LeftOut) -> None:
    if left_out:
        echo("", f"and {sum(left_out.values())} more")


def _indent(text: str | UnsetType) -> list[str]:
    return [f"{INDENT}{line}" for line in (text or "").splitlines()]


RENDERERS: Mapping[str, Callable[[Any], None]] = {
    "section.list": draw_sections,
    "section.add": draw_section,
    "section.update": draw_section,
    "section.update_text": draw_section,
    "section.reorder": draw_sections,
    "section.bulk_create": draw_sections,
    "section.delete": draw_deleted_sections,
    "section.bulk_delete": draw_deleted_sections,
    "template.get": draw_template,
    "template.list": draw_templates,
    "template.create": draw_template,
    "template.update": draw_template,
    "template.enable": draw_template,
    "template.disable": draw_template,
    "template.add_section": draw_add_section,
    "template.delete": draw_deleted_template,
    "template.apply": draw_apply,
    "tag.list": draw_tags,
    "tag.usage": draw_usage,
    "tag.rename": draw_rename,
}
