"""Delete a template with its sections. Containers keep the sections that it gave them."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.templates.refs import resolve_editable_template, resolve_template_with_sections
from groundplan.work.containers.templates.template import TemplateRef, to_event_fields
from groundplan.work.events import TemplateOp

sql = load_queries(__file__)


class DeleteTemplate(Struct, rename="camel", forbid_unknown_fields=True):
    """The template to delete."""

    id: TemplateRef
    op_id: OpId = field(name="op_id", default=None)


class DeletedTemplate(Struct, rename="camel"):
    """The id of the deleted template, and the number of its sections."""

    deleted: str
    deleted_sections: int


def delete(tx: Transaction, request: DeleteTemplate) -> DeletedTemplate:
    """Delete a template and its sections. The history keeps both.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected.
    """
    id_ = resolve_editable_template(tx, request.id).id
    template, sections = resolve_template_with_sections(tx, id_)
    tx.run(sql.delete_sections, id=id_)
    tx.run(sql.delete_template, id=id_)
    changes = [changed(name, value, None) for name, value in to_event_fields(template).items()]
    changes += [changed(f"sections.{section.id}", to_event_fields(section), None) for section in sections]
    tx.record(TemplateOp.DELETED, id_, *changes)
    return DeletedTemplate(id_, len(sections))


OPERATION = Operation(
    name="template.delete",
    summary="Delete a template and its sections.",
    permission=Permission.TEMPLATE_WRITE,
    effect=Effect.DESTROY,
    input=DeleteTemplate,
    output=DeletedTemplate,
    handler=delete,
    tool=Tool("manage_template", Group.CONTAINERS, "delete"),
    command=Command(("template", "delete"), arguments=("id",)),
    http=Route("DELETE", "/templates/{id}"),
)
