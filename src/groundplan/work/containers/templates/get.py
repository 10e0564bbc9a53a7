"""Get one template, with or without its sections."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.templates.refs import resolve_template, resolve_template_with_sections
from groundplan.work.containers.templates.template import OneTemplate, TemplateRef


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
        return OneTemplate(resolve_template(tx, request.id))
    template, sections = resolve_template_with_sections(tx, request.id)
    template.sections = sections
    return OneTemplate(template)


OPERATION = Operation(
    name="template.get",
    summary="One template, with its sections on request.",
    permission=Permission.TEMPLATE_READ,
    effect=Effect.READ,
    input=GetTemplate,
    output=OneTemplate,
    handler=get,
    tool=Tool("query_templates", Group.CONTAINERS, "get"),
    command=Command(("template", "get"), arguments=("id",), names={"include_sections": "sections"}),
    http=Route("GET", "/templates/{id}"),
)
