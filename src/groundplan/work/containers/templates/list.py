"""List the templates of the organization and those that ship with Groundplan, by name."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import UNSET, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.requests import EntityType, StringList, parse_tags
from groundplan.work.containers.templates.built_in import BUILT_IN
from groundplan.work.containers.templates.template import Template, TemplateRow, build_template

sql = load_queries(__file__)


class ListTemplates(Struct, rename="camel", forbid_unknown_fields=True):
    """Filters of templates. All must match; of several tags, at least one."""

    target_entity_type: EntityType | None = None
    is_built_in: bool | None = None
    is_enabled: bool | None = None
    tags: StringList | None = None


class Templates(Struct, rename="camel"):
    """Templates by name, without their sections, and their number."""

    trimming: ClassVar[Trimming] = Trimming(DropField("templates[].description"), CutLists(("templates",)))

    templates: list[Template]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)


def list_templates(tx: Transaction, request: ListTemplates) -> Templates:
    """Return the templates that match the filters."""
    tags = None if request.tags is None else set(parse_tags(request.tags))
    templates = [build_template(row) for row in tx.all(sql.templates, TemplateRow)]
    templates += [msgspec.structs.replace(template, sections=UNSET) for template in BUILT_IN.values()]
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


OPERATION = Operation(
    name="template.list",
    summary="Templates by target, tags and state.",
    permission=Permission.TEMPLATE_READ,
    effect=Effect.READ,
    input=ListTemplates,
    output=Templates,
    handler=list_templates,
    tool=Tool("query_templates", Group.CONTAINERS, "list"),
    command=Command(
        ("template", "list"),
        names={
            "target_entity_type": "target",
            "is_built_in": "built-in",
            "is_enabled": "enabled",
            "tags": "tag",
        },
    ),
    http=Route("GET", "/templates"),
)
