"""Create a template without sections."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.requests import EntityType, StringList, parse_tags
from groundplan.work.containers.templates.refs import refuse_taken_name
from groundplan.work.containers.templates.template import Description, OneTemplate, Template, to_event_fields
from groundplan.work.events import TemplateOp

sql = load_queries(__file__)


class CreateTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """A new template. The author is the caller, unless `createdBy` is given."""

    name: Name
    target_entity_type: EntityType
    description: Description = ""
    tags: StringList = ""
    is_built_in: bool = False
    is_protected: bool = False
    created_by: Name | None = None
    op_id: OpId = field(name="op_id", default=None)


def create(tx: Transaction, request: CreateTemplate) -> OneTemplate:
    """Create a template, which is enabled.

    Raises:
        TemplateExists: the name is taken.
    """
    tags = sorted(parse_tags(request.tags))
    refuse_taken_name(tx, request.name)  # no race: the organization is locked
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
    changes = (changed(name, None, value) for name, value in to_event_fields(template).items())
    tx.record(TemplateOp.CREATED, template.id, *changes)
    return OneTemplate(template)


OPERATION = Operation(
    name="template.create",
    summary="Create a template for PROJECT, FEATURE or TASK.",
    permission=Permission.TEMPLATE_WRITE,
    effect=Effect.WRITE,
    input=CreateTemplate,
    output=OneTemplate,
    handler=create,
    tool=Tool("manage_template", Group.CONTAINERS, "create"),
    command=Command(
        ("template", "create"),
        arguments=("name",),
        texts=("description",),
        names={
            "target_entity_type": "target",
            "is_built_in": "built-in",
            "is_protected": "protected",
            "tags": "tag",
        },
    ),
    http=Route("POST", "/templates", location="/templates/{template.id}"),
)
