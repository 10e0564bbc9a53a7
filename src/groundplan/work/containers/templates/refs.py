"""Resolve ids to templates, and reject changes to protected ones and those that ship with Groundplan."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from groundplan.kernel.errors import Conflict, NotFound, RuleViolated
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.templates.built_in import BUILT_IN
from groundplan.work.containers.templates.template import (
    Template,
    TemplateRow,
    TemplateSection,
    TemplateSectionRow,
    build_template,
    build_template_section,
)

NAMES_SCANNED_MAX = 2_000

sql = load_queries(__file__)


class TemplateExists(Conflict):
    """A template with this name already exists in the organization."""

    code = "template_exists"

    def __init__(self, name: str, id_: str) -> None:
        super().__init__(
            f"template {name!r} already exists, with the id {id_}; choose another name",
            field="name",
            name=name,
            id=id_,
        )


class TemplateBuiltIn(RuleViolated):
    """A template that ships with Groundplan cannot be changed."""

    code = "template_built_in"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        super().__init__(
            f"template {template.name!r} ships with Groundplan and cannot be changed; create one of your own",
            field="id",
            id=template.id,
        )


class TemplateProtected(RuleViolated):
    """A protected template cannot be changed until its protection is removed."""

    code = "template_protected"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        super().__init__(
            f"template {template.name!r} is protected; update it with isProtected false and nothing else first",
            field="id",
            id=template.id,
        )


def resolve_template(tx: Transaction, ref: str, *, field: str = "id") -> Template:
    """Return the template with this id, without its sections.

    Raises:
        NotFound: the template does not exist.
    """
    id_ = parse_uuid(ref) or ref
    if id_ in BUILT_IN:
        return msgspec.structs.replace(BUILT_IN[id_], sections=UNSET)
    row = tx.one_or_none(sql.template, TemplateRow, id=id_)
    if row is None:
        raise _format_missing(tx, ref, field)
    return build_template(row)


def resolve_template_with_sections(
    tx: Transaction, ref: str, *, field: str = "id"
) -> tuple[Template, list[TemplateSection]]:
    """Return the template with this id and its sections in order, from one consistent read.

    Raises:
        NotFound: the template does not exist.
    """
    id_ = parse_uuid(ref) or ref
    if id_ in BUILT_IN:
        # Copies, because trimming an answer changes its sections.
        sections = [msgspec.structs.replace(section) for section in BUILT_IN[id_].sections or ()]
        return msgspec.structs.replace(BUILT_IN[id_], sections=UNSET), sections
    rows = tx.all(sql.template_with_sections, TemplateSectionRow, id=id_)
    if not rows:
        raise _format_missing(tx, ref, field)
    return build_template(rows[0]), [build_template_section(row) for row in rows if row.section_id is not None]


def resolve_own_template(tx: Transaction, ref: str) -> Template:
    """Return the template with this id, protected or not, if the organization owns it.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
    """
    template = resolve_template(tx, ref)
    if template.id in BUILT_IN:
        raise TemplateBuiltIn(template)
    return template


def resolve_editable_template(tx: Transaction, ref: str) -> Template:
    """Return the template with this id if it may be changed.

    Raises:
        NotFound: the template does not exist.
        TemplateBuiltIn: it ships with Groundplan.
        TemplateProtected: it is protected.
    """
    template = resolve_own_template(tx, ref)
    if template.is_protected:
        raise TemplateProtected(template)
    return template


def refuse_taken_name(tx: Transaction, name: str, *, except_id: str | None = None) -> None:
    """Reject a name that a template other than `except_id` has.

    Raises:
        TemplateExists: the name is taken.
    """
    built_in = [template.id for template in BUILT_IN.values() if template.name == name]
    for id_ in (*built_in, *tx.scalars(sql.template_by_name, name=name)):
        if id_ != except_id:
            raise TemplateExists(name, id_)


def _format_missing(tx: Transaction, ref: str, field: str) -> NotFound:
    """Return the error for an unknown id. It suggests ids by name, because callers may send a name."""
    from difflib import get_close_matches  # imported here because only this error needs it

    ids = {template.name: template.id for template in BUILT_IN.values()}
    ids.update(tx.all(sql.template_names, at_most=NAMES_SCANNED_MAX))
    near = [ids[name] for name in get_close_matches(ref, ids, n=2)]
    step = NextStep("template.list", "lists the templates")
    return NotFound("template", ref, near=near, next_steps=step, field=field)
