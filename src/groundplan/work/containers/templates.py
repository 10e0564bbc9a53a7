"""Templates: reusable sections for projects, features or tasks, which an organization shares."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Conflict, NextStep, NotFound, RuleViolated
from groundplan.kernel.ids import new_uuid, parse_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.operations.registry import Effect, OpId, Route
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.fields import ContainerId, EntityType, StringList, parse_tags
from groundplan.work.containers.operations import declare_tool
from groundplan.work.containers.sections.section import (
    Content,
    ContentFormat,
    NewSection,
    Ordinal,
    OrdinalTaken,
    Title,
    Usage,
    add_sections,
    refuse_malformed,
    resolve_container,
    resolve_entity_project,
)
from groundplan.work.events import TemplateOp

DESCRIPTION_BYTES_MAX = 4_096
NAMES_SCANNED_MAX = 2_000
TEMPLATE_SECTIONS_MAX = 50  # the same limit as for adding sections to a container in one call

TemplateRef = Annotated[str, Meta(min_length=1, max_length=255)]
Description = Annotated[str, MaxBytes(DESCRIPTION_BYTES_MAX)]

sql = load_queries(__file__)


# --- What is stored and shown ---


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
    """A template for containers of one type. Built-in templates have no creation time."""

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


class _TemplateRow(Struct):
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


class _SectionRow(_TemplateRow):
    """A template with one of its sections, or with none if it has none. One query reads both consistently."""

    section_id: str | None
    section_tags: str
    ordinal: int
    title: str
    usage_description: str
    content_sample: str
    content_format: ContentFormat | None
    is_required: bool | None


# Events carry their own id and time, and sections have changes of their own.
OMITTED_FROM_EVENTS = ("id", "created_at", "modified_at", "sections", "left_out")


def _to_template(row: _TemplateRow) -> Template:
    fields = {name: getattr(row, name) for name in _TemplateRow.__struct_fields__ if name not in ("target", "tags")}
    return Template(target_entity_type=row.target, tags=_decode_tags(row.tags), **fields)


def _to_section(row: _SectionRow) -> TemplateSection:
    fields = {name: getattr(row, name) for name in TemplateSection.__struct_fields__ if hasattr(row, name)}
    return TemplateSection(**{**fields, "id": row.section_id, "tags": _decode_tags(row.section_tags)})


def _decode_tags(stored: str) -> list[str]:
    return msgspec.json.decode(stored, type=list[str])


def _to_event_fields(item: Template | TemplateSection) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__struct_fields__ if name not in OMITTED_FROM_EVENTS}


# --- Which template is meant, and whether it may be changed ---


class TemplateExists(Conflict):
    """A template with this name already exists in the organization."""

    code = "template_exists"

    def __init__(self, name: str, id_: str) -> None:
        message = f"template {name!r} already exists, with the id {id_}; choose another name"
        super().__init__(message, field="name", name=name, id=id_)


class TemplateBuiltIn(RuleViolated):
    """Built-in templates cannot be changed."""

    code = "template_built_in"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        message = f"template {template.name!r} ships with Groundplan and cannot be changed; create one of your own"
        super().__init__(message, field="id", id=template.id)


class TemplateProtected(RuleViolated):
    """The template is protected and cannot be changed."""

    code = "template_protected"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        message = f"template {template.name!r} is protected; update it with isProtected false and nothing else first"
        super().__init__(message, field="id", id=template.id)


def _find_template(tx: Transaction, ref: str, *, field: str = "id") -> Template:
    """Return the template with this id, without its sections."""
    built_in = _load_built_in()
    id_ = parse_uuid(ref) or ref
    if id_ in built_in:
        return msgspec.structs.replace(built_in[id_], sections=UNSET)
    row = tx.one_or_none(sql.template, _TemplateRow, id=id_)
    if row is None:
        raise _missing_template(tx, ref, field)
    return _to_template(row)


def _find_template_with_sections(
    tx: Transaction, ref: str, *, field: str = "id"
) -> tuple[Template, list[TemplateSection]]:
    """Return the template with this id and its sections in order, read by one query."""
    built_in = _load_built_in()
    id_ = parse_uuid(ref) or ref
    if id_ in built_in:
        # Copies, because trimming an answer changes its sections.
        sections = [msgspec.structs.replace(section) for section in built_in[id_].sections or ()]
        return msgspec.structs.replace(built_in[id_], sections=UNSET), sections
    rows = tx.all(sql.template_with_sections, _SectionRow, id=id_)
    if not rows:
        raise _missing_template(tx, ref, field)
    return _to_template(rows[0]), [_to_section(row) for row in rows if row.section_id is not None]


def _find_own_template(tx: Transaction, ref: str, *, may_be_protected: bool = False) -> Template:
    """Return the template with this id if it belongs to the organization and may be changed."""
    template = _find_template(tx, ref)
    if template.id in _load_built_in():
        raise TemplateBuiltIn(template)
    if template.is_protected and not may_be_protected:
        raise TemplateProtected(template)
    return template


def _refuse_taken_name(tx: Transaction, name: str, *, except_id: str | None = None) -> None:
    """Raise TemplateExists if a template other than `except_id` has this name."""
    built_in = [template.id for template in _load_built_in().values() if template.name == name]
    for id_ in (*built_in, *tx.scalars(sql.template_by_name, name=name)):
        if id_ != except_id:
            raise TemplateExists(name, id_)


def _missing_template(tx: Transaction, ref: str, field: str) -> NotFound:
    """Return the error for an unknown id. It suggests the id of a template with that name."""
    ids = {template.name: template.id for template in _load_built_in().values()}
    ids.update(tx.all(sql.template_names, at_most=NAMES_SCANNED_MAX))
    similar = [ids[name] for name in get_close_matches(ref, ids, n=2)]
    step = NextStep("template.list", "lists the templates")
    return NotFound("template", ref, near=similar, next_steps=step, field=field)


def _load_built_in() -> Mapping[str, Template]:
    from groundplan.work.containers.built_in_templates import BUILT_IN  # here, because it is made of these types

    return BUILT_IN


# --- Read ---


class GetTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """The template, and whether to include its sections."""

    id: TemplateRef
    include_sections: bool = False


def get(tx: Transaction, request: GetTemplate) -> OneTemplate:
    """Return a template.

    Raises:
        NotFound: the template does not exist.
    """
    if not request.include_sections:
        return OneTemplate(_find_template(tx, request.id))
    template, sections = _find_template_with_sections(tx, request.id)
    template.sections = sections
    return OneTemplate(template)


class ListTemplates(Struct, rename="camel", forbid_unknown_fields=True):
    """Filters of templates. A template must match all of them, and have at least one of several tags."""

    target_entity_type: EntityType | None = None
    is_built_in: bool | None = None
    is_enabled: bool | None = None
    tags: StringList | None = None


class Templates(Struct, rename="camel"):
    """Templates sorted by name, without their sections, and their number."""

    trimming: ClassVar[Trimming] = Trimming(DropField("templates[].description"), CutLists(("templates",)))

    templates: list[Template]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)


def list_templates(tx: Transaction, request: ListTemplates) -> Templates:
    """Return the templates that match the filters."""
    tags = None if request.tags is None else set(parse_tags(request.tags))
    templates = [_to_template(row) for row in tx.all(sql.templates, _TemplateRow)]
    templates += [msgspec.structs.replace(template, sections=UNSET) for template in _load_built_in().values()]
    found = [
        template
        for template in templates
        if request.target_entity_type in (None, template.target_entity_type)
        and request.is_built_in in (None, template.is_built_in)
        and request.is_enabled in (None, template.is_enabled)
        and (not tags or not tags.isdisjoint(template.tags or ()))
    ]
    found.sort(key=lambda template: template.name)
    return Templates(found, len(found))


# --- Create, change and delete. No races: the organization is locked ---


class CreateTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """A new template. Its author is the caller, unless `createdBy` is given."""

    name: Name
    target_entity_type: EntityType
    description: Description = ""
    tags: StringList = ""
    is_built_in: bool = False
    is_protected: bool = False
    created_by: Name | None = None
    op_id: OpId = field(name="op_id", default=None)


def create(tx: Transaction, request: CreateTemplate) -> OneTemplate:
    """Create a template. It is enabled.

    Raises:
        TemplateExists: the name is taken.
    """
    tags = sorted(parse_tags(request.tags))
    _refuse_taken_name(tx, request.name)
    template = Template(
        id=new_uuid(),
        name=request.name,
        description=request.description,
        target_entity_type=request.target_entity_type,
        tags=tags,
        is_built_in=request.is_built_in,
        is_protected=request.is_protected,
        is_enabled=True,
        created_by=request.created_by or tx.actor.id,
        created_at=tx.now,
        modified_at=tx.now,
    )
    tx.run_with_record(sql.add_template, template, target=template.target_entity_type, tags=to_json_array(tags))
    changes = (changed(name, None, value) for name, value in _to_event_fields(template).items())
    tx.record(TemplateOp.CREATED, template.id, *changes)
    return OneTemplate(template)


class UpdateTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes of a template. Omitted fields are kept."""

    id: TemplateRef
    name: Name | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    target_entity_type: EntityType | UnsetType = UNSET
    tags: StringList | UnsetType = UNSET
    is_protected: bool | UnsetType = UNSET
    op_id: OpId = field(name="op_id", default=None)


def update(tx: Transaction, request: UpdateTemplate) -> OneTemplate:
    """Update a template.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected, and the request does more than remove the protection.
        TemplateExists: the name is taken.
    """
    before = _find_own_template(tx, request.id, may_be_protected=True)
    values = {name: getattr(request, name) for name in request.__struct_fields__ if name not in ("id", "op_id")}
    values = {name: value for name, value in values.items() if value is not UNSET}
    if "tags" in values:
        values["tags"] = sorted(parse_tags(values["tags"]))
    if before.is_protected and values != {"is_protected": False}:
        raise TemplateProtected(before)
    if "name" in values:
        _refuse_taken_name(tx, values["name"], except_id=before.id)
    return _save_template(tx, before, **values)


class SwitchTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """The template to enable or disable."""

    id: TemplateRef
    op_id: OpId = field(name="op_id", default=None)


def enable(tx: Transaction, request: SwitchTemplate) -> OneTemplate:
    """Enable a template. Enabling it again changes nothing.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected.
    """
    return _save_template(tx, _find_own_template(tx, request.id), is_enabled=True)


def disable(tx: Transaction, request: SwitchTemplate) -> OneTemplate:
    """Disable a template. Disabling it again changes nothing.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected.
    """
    return _save_template(tx, _find_own_template(tx, request.id), is_enabled=False)


def _save_template(tx: Transaction, before: Template, **values: Any) -> OneTemplate:
    """Store new values of a template. Nothing happens if they are the same."""
    after = msgspec.structs.replace(before, **values)
    then, now = _to_event_fields(before), _to_event_fields(after)
    changes = [changed(name, then[name], now[name]) for name in then if then[name] != now[name]]
    if not changes:
        return OneTemplate(before)
    after.modified_at = tx.now
    tags = to_json_array(after.tags or ())
    tx.run_with_record(sql.update_template, after, target=after.target_entity_type, tags=tags)
    tx.record(TemplateOp.UPDATED, after.id, *changes)
    return OneTemplate(after)


class DeleteTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """The template to delete."""

    id: TemplateRef
    op_id: OpId = field(name="op_id", default=None)


class DeletedTemplate(Struct, rename="camel"):
    """The id of the deleted template, and the number of its sections."""

    deleted: str
    deleted_sections: int


def delete(tx: Transaction, request: DeleteTemplate) -> DeletedTemplate:
    """Delete a template and its sections. Its events remain, and so do the sections that it gave to containers.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected.
    """
    id_ = _find_own_template(tx, request.id).id
    template, sections = _find_template_with_sections(tx, id_)
    tx.run(sql.delete_sections, id=id_)
    tx.run(sql.delete_template, id=id_)
    changes = [changed(name, value, None) for name, value in _to_event_fields(template).items()]
    changes += [changed(f"sections.{section.id}", _to_event_fields(section), None) for section in sections]
    tx.record(TemplateOp.DELETED, id_, *changes)
    return DeletedTemplate(id_, len(sections))


# --- Sections of a template ---


class TemplateFull(RuleViolated):
    """The template would have more than the maximum number of sections."""

    code = "template_full"
    contract_code = "INVALID_OPERATION"

    def __init__(self, id_: str) -> None:
        limit = TEMPLATE_SECTIONS_MAX
        message = f"template {id_} has {limit} sections, which is the limit; create another template"
        super().__init__(message, id=id_, limit=limit)


class AddTemplateSection(Struct, rename="camel", forbid_unknown_fields=True):
    """A template and its new section. Without an ordinal the section goes to the end."""

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
    template = _find_own_template(tx, request.id)
    used = tx.scalars(sql.ordinals, id=template.id)
    if len(used) >= TEMPLATE_SECTIONS_MAX:
        raise TemplateFull(template.id)
    ordinal = request.ordinal if request.ordinal is not None else max(used, default=-1) + 1
    if ordinal in used:
        free = next(n for n in range(ordinal + 1, ordinal + len(used) + 1) if n not in used)
        message = f"ordinal {ordinal} is taken by another section; send {free}, the next free one, or leave it out"
        raise OrdinalTaken(message, field="ordinal", ordinal=ordinal, free=free)
    section = TemplateSection(
        id=new_uuid(),
        ordinal=ordinal,
        title=request.title,
        usage_description=request.usage_description,
        content_sample=request.content_sample,
        content_format=request.content_format,
        is_required=request.is_required,
        tags=tags,
    )
    tx.run_with_record(sql.add_section, section, template_id=template.id, tags=to_json_array(tags))
    tx.run(sql.touch_template, id=template.id)
    tx.record(TemplateOp.UPDATED, template.id, changed(f"sections.{section.id}", None, _to_event_fields(section)))
    return AddedSection(template.id, section)


# --- Apply ---


class TemplateDisabled(RuleViolated):
    """The template is disabled and cannot be applied."""

    code = "template_disabled"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        message = f"template {template.name!r} is disabled; enable it, or apply another"
        super().__init__(message, field="templateId", templateId=template.id)


class TemplateForOtherType(RuleViolated):
    """The template is for another type of container."""

    code = "template_for_other_type"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template, entity_type: EntityType) -> None:
        target, container_type = template.target_entity_type.value, entity_type.value
        super().__init__(
            f"template {template.name!r} is for {target}, not for {container_type}",
            next_steps=NextStep("template.list", "lists templates for this type", {"targetEntityType": container_type}),
            field="templateId",
            templateId=template.id,
            targetEntityType=target,
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
    """Add the sections of a template after those of a container. A second application adds them again.

    Raises:
        NotFound: the template, or a container of this type and id, does not exist.
        TemplateDisabled: the template is disabled.
        TemplateForOtherType: the template is for another type of container.
        TooManySections: the container would have too many.
    """
    node = resolve_container(tx, request.entity_type, request.entity_id)
    template, sections = _find_template_with_sections(tx, request.template_id, field="templateId")
    if template.target_entity_type is not request.entity_type:
        raise TemplateForOtherType(template, request.entity_type)
    if not template.is_enabled:
        raise TemplateDisabled(template)
    new = [
        NewSection(
            title=section.title,
            usage_description=section.usage_description or "",
            content=section.content_sample or "",
            content_format=section.content_format,
            tags=section.tags or [],
        )
        for section in sections
    ]
    added = add_sections(tx, node, new)
    entity_id = tx.project.id if request.entity_type is EntityType.PROJECT else node.id
    applied = [AppliedSection(section.id, section.title, section.ordinal, section.version) for section in added]
    return AppliedTemplate(template.id, request.entity_type, entity_id, applied)


# --- Operations ---

_read = partial(declare_tool, permission=Permission.TEMPLATE_READ, effect=Effect.READ, tool="query_templates")
_write = partial(declare_tool, permission=Permission.TEMPLATE_WRITE, effect=Effect.WRITE, tool="manage_template")

GET = _read(
    get,
    "template.get",
    "One template, with its sections on request.",
    selector="get",
    http=Route("GET", "/templates/{id}"),
)
LIST = _read(
    list_templates,
    "template.list",
    "Templates by target, tags and state.",
    selector="list",
    http=Route("GET", "/templates"),
)
CREATE = _write(
    create,
    "template.create",
    "Create a template for PROJECT, FEATURE or TASK.",
    selector="create",
    http=Route("POST", "/templates", location="/templates/{template.id}"),
)
UPDATE = _write(
    update,
    "template.update",
    "Update the name, description, target or tags of a template.",
    selector="update",
    http=Route("PATCH", "/templates/{id}"),
    idempotent=True,
)
ENABLE = _write(
    enable,
    "template.enable",
    "Enable a template.",
    selector="enable",
    http=Route("POST", "/templates/{id}/enable"),
    idempotent=True,
)
DISABLE = _write(
    disable,
    "template.disable",
    "Disable a template.",
    selector="disable",
    http=Route("POST", "/templates/{id}/disable"),
    idempotent=True,
)
DELETE = _write(
    delete,
    "template.delete",
    "Delete a template and its sections.",
    effect=Effect.DESTROY,
    selector="delete",
    http=Route("DELETE", "/templates/{id}"),
)
ADD_SECTION = _write(
    add_section,
    "template.add_section",
    "Add a section to a template, behind the last or at ordinal.",
    selector="addSection",
    http=Route("POST", "/templates/{id}/sections", location="/templates/{id}"),
)
APPLY = declare_tool(
    apply,
    "template.apply",
    "Append a template's sections to a container.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.entity_id),
    tool="apply_template",
    http=Route(
        "POST",
        "/projects/{project}/work/{entityType}s/{entityId}/templates",
        location="/projects/{project}/work/{entityType}s/{entityId}/sections",
    ),
)
