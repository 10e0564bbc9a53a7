"""Enable or disable a template. A disabled one cannot be applied."""

from __future__ import annotations

from functools import partial

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.templates.refs import resolve_editable_template
from groundplan.work.containers.templates.template import OneTemplate, TemplateRef
from groundplan.work.containers.templates.update import save_changes


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
    return _switch(tx, request, is_enabled=True)


def disable(tx: Transaction, request: SwitchTemplate) -> OneTemplate:
    """Disable a template. Disabling it again changes nothing.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected.
    """
    return _switch(tx, request, is_enabled=False)


def _switch(tx: Transaction, request: SwitchTemplate, *, is_enabled: bool) -> OneTemplate:
    return OneTemplate(save_changes(tx, resolve_editable_template(tx, request.id), is_enabled=is_enabled))


_OPERATION = partial(
    Operation,
    permission=Permission.TEMPLATE_WRITE,
    effect=Effect.WRITE,
    input=SwitchTemplate,
    output=OneTemplate,
    idempotent=True,
)

ENABLE = _OPERATION(
    name="template.enable",
    summary="Enable a template.",
    handler=enable,
    tool=Tool("manage_template", Group.CONTAINERS, "enable"),
    command=Command(("template", "enable"), arguments=("id",)),
    http=Route("POST", "/templates/{id}/enable"),
)

DISABLE = _OPERATION(
    name="template.disable",
    summary="Disable a template.",
    handler=disable,
    tool=Tool("manage_template", Group.CONTAINERS, "disable"),
    command=Command(("template", "disable"), arguments=("id",)),
    http=Route("POST", "/templates/{id}/disable"),
)
