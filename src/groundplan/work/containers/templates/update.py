"""Update the fields of a template, but not its sections."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.requests import EntityType, StringList, parse_tags
from groundplan.work.containers.templates.refs import TemplateProtected, refuse_taken_name, resolve_own_template
from groundplan.work.containers.templates.template import (
    Description,
    OneTemplate,
    Template,
    TemplateRef,
    to_event_fields,
)
from groundplan.work.events import TemplateOp

sql = load_queries(__file__)


class UpdateTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes to a template; omitted fields stay."""

    id: TemplateRef
    name: Name | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    target_entity_type: EntityType | UnsetType = UNSET
    tags: StringList | UnsetType = UNSET
    is_protected: bool | UnsetType = UNSET
    op_id: OpId = field(name="op_id", default=None)


def update(tx: Transaction, request: UpdateTemplate) -> OneTemplate:
    """Update a template. The lock of the organization serializes concurrent updates.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected, and the request does more than remove the protection.
        TemplateExists: the name is taken.
    """
    before = resolve_own_template(tx, request.id)
    values = _parse_values(request)
    if before.is_protected and values != {"is_protected": False}:
        raise TemplateProtected(before)
    if "name" in values:
        refuse_taken_name(tx, values["name"], except_id=before.id)
    return OneTemplate(save_changes(tx, before, **values))


def save_changes(tx: Transaction, before: Template, **values: Any) -> Template:
    """Store new values of a template and return it; do nothing if they are the same."""
    after = msgspec.structs.replace(before, **values)
    changes = [
        changed(name, was, now)
        for (name, was), now in zip(to_event_fields(before).items(), to_event_fields(after).values(), strict=True)
        if was != now
    ]
    if not changes:
        return before
    after.modified_at = tx.now
    tx.run_with_record(
        sql.update_template, after, target=after.target_entity_type, tags=to_json_array(after.tags or ())
    )
    tx.record(TemplateOp.UPDATED, after.id, *changes)
    return after


def _parse_values(request: UpdateTemplate) -> dict[str, Any]:
    given = {name: getattr(request, name) for name in request.__struct_fields__ if name not in ("id", "op_id")}
    values = {name: value for name, value in given.items() if value is not UNSET}
    if "tags" in values:
        values["tags"] = sorted(parse_tags(values["tags"]))
    return values


OPERATION = Operation(
    name="template.update",
    summary="Update the name, description, target or tags of a template.",
    permission=Permission.TEMPLATE_WRITE,
    effect=Effect.WRITE,
    input=UpdateTemplate,
    output=OneTemplate,
    handler=update,
    idempotent=True,
    tool=Tool("manage_template", Group.CONTAINERS, "update"),
    command=Command(
        ("template", "update"),
        arguments=("id",),
        texts=("description",),
        names={"target_entity_type": "target", "is_protected": "protected", "tags": "tag"},
    ),
    http=Route("PATCH", "/templates/{id}"),
)
