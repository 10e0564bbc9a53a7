"""Views of the operations on sections, templates and tags."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.surfaces.cli.drawing import (
    GAP,
    Fields,
    ForEach,
    Lines,
    Rows,
    View,
    When,
    expand,
)
from groundplan.surfaces.cli.terminal import INDENT, to_one_line
from groundplan.work.containers.sections.change import DeletedSection, DeletedSections
from groundplan.work.containers.sections.section import Section
from groundplan.work.containers.templates import Template, TemplateSection


def _format_owner(section: Section) -> str:
    return f"{section.entity_type.value.lower()} {section.entity_id}"


def _format_target(template: Template) -> str:
    return template.target_entity_type.value.lower()


def _format_state(template: Template) -> str:
    marks = ("built in" * template.is_built_in, "protected" * template.is_protected)
    return ", ".join(mark for mark in ("enabled" if template.is_enabled else "disabled", *marks) if mark)


def _format_sample(section: TemplateSection) -> Iterator[str]:
    required = ", required" if section.is_required else ""
    yield f"{section.ordinal}. {to_one_line(section.title)} ({section.content_format.value}{required})"
    if section.usage_description:
        yield f"{INDENT}for: {to_one_line(section.usage_description)}"
    if section.tags:
        yield f"{INDENT}tags: {', '.join(section.tags)}"


def _format_deleted(answer: DeletedSection | DeletedSections) -> str:
    deleted = [answer.deleted] if isinstance(answer, DeletedSection) else answer.deleted
    return f"Deleted {', '.join(deleted)}."


SECTION = (
    "{title}",
    Fields(
        "id, version",
        ("of", _format_owner),
        ("position", "{ordinal}, {content_format}"),
        "for: usage_description, tags, changed: modified_at",
    ),
    Lines("content", indent=INDENT),
)
SAMPLE = (_format_sample, Lines("content_sample", indent=INDENT))
SECTIONS = View(
    When(lambda answer: answer.sections or answer.left_out, otherwise=("No sections here.",)),
    ForEach("sections", *SECTION),
)
TEMPLATE = View(
    ForEach(
        "template",
        "{name}",
        Fields(
            "id",
            ("for", _format_target),
            ("state", _format_state),
            "tags, by: created_by, changed: modified_at",
        ),
        Lines("description", indent=INDENT),
        ForEach("sections", *SAMPLE),
        When(
            lambda template: template.sections == [],
            GAP,
            "No sections yet. Next: groundplan template add-section {id} TITLE",
        ),
    )
)
RENAMED = "the tag {old_tag} to {new_tag}. Items: {affected}"
ENTITIES = Rows("entities", ("type", lambda one: one.type.value.lower()), "id, title")

RENDERERS = {
    "section.list": SECTIONS,
    "section.add": View(*SECTION),
    "section.update": View(*SECTION),
    "section.update_text": View(*SECTION),
    "section.reorder": SECTIONS,
    "section.delete": View(_format_deleted),
    "template.get": TEMPLATE,
    "template.list": View(
        Rows(
            "templates",
            "id, name",
            ("for", _format_target),
            ("state", _format_state),
            "tags",
            empty="No templates found.",
        ),
    ),
    "template.create": TEMPLATE,
    "template.update": TEMPLATE,
    "template.enable": TEMPLATE,
    "template.disable": TEMPLATE,
    "template.add_section": View("Added to {template_id}:", lambda answer: expand(SAMPLE, answer.section)),
    "template.delete": View("Deleted {deleted}. Sections deleted with it: {deleted_sections}"),
    "template.apply": View(
        lambda answer: f"Added to {_format_owner(answer)}:",
        Rows("sections", "position: ordinal, id, title"),
    ),
    "tag.list": View(
        Rows(
            "tags",
            "tag, used: count",
            empty="No tags here. To add one, use --tag with groundplan task create, feature create or section add.",
        ),
    ),
    "tag.usage": View("Items with the tag {tag}: {count}", ENTITIES),
    "tag.rename": View(When("dry_run", f"Would rename {RENAMED}", otherwise=(f"Renamed {RENAMED}",)), ENTITIES),
}
