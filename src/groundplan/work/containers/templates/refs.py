"""From ids to templates, those of the organization and those that come with Groundplan, and what guards each."""

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
    section_from,
    template_from,
)

NAMES_SCANNED_MAX = 2_000

sql = load_queries(__file__)


class TemplateExists(Conflict):
    """Names of templates are unique in the organization."""

    code = "template_exists"

    def __init__(self, name: str, id_: str) -> None:
        super().__init__(
            f"there is already a template {name!r} with the id {id_}; choose another name",
            field="name",
            name=name,
            id=id_,
        )


class TemplateBuiltIn(RuleViolated):
    """What comes with Groundplan is the same everywhere."""

    code = "template_built_in"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        super().__init__(
            f"template {template.name!r} comes with Groundplan and never changes; create one of your own",
            field="id",
            id=template.id,
        )


class TemplateProtected(RuleViolated):
    """All that can be done to a protected template is to take the protection away."""

    code = "template_protected"
    contract_code = "INVALID_OPERATION"

    def __init__(self, template: Template) -> None:
        super().__init__(
            f"template {template.name!r} is protected; update it with isProtected false and nothing else first",
            field="id",
            id=template.id,
        )


def resolve_template(tx: Transaction, ref: str, *, field: str = "id") -> Template:
    """The template with this id, without its sections.

    Raises:
        NotFound: there is none.
    """
    id_ = parse_uuid(ref) or ref
    if id_ in BUILT_IN:
        return msgspec.structs.replace(BUILT_IN[id_], sections=UNSET)
    row = tx.one_or_none(sql.template, TemplateRow, id=id_)
    if row is None:
        raise _missing(tx, ref, field)
    return template_from(row)


def resolve_template_with_sections(
    tx: Transaction, ref: str, *, field: str = "id"
) -> tuple[Template, list[TemplateSection]]:
    """The template with this id and its sections in their order, all of one moment.

    Raises:
        NotFound: there is none.
    """
    id_ = parse_uuid(ref) or ref
    if id_ in BUILT_IN:
        # Copies: what does not fit into an answer is taken out of what is answered.
        sections = [msgspec.structs.replace(section) for section in BUILT_IN[id_].sections or ()]
        return msgspec.structs.replace(BUILT_IN[id_], sections=UNSET), sections
    rows = tx.all(sql.template_with_sections, TemplateSectionRow, id=id_)
    if not rows:
        raise _missing(tx, ref, field)
    return template_from(rows[0]), [section_from(row) for row in rows if row.section_id is not None]


def resolve_own_template(tx: Transaction, ref: str) -> Template:
    """The template with this id, protected or not, if it is the organization's own.

    Raises:
        NotFound: there is none.
        TemplateBuiltIn: it comes with Groundplan.
    """
    template = resolve_template(tx, ref)
    if template.id in BUILT_IN:
        raise TemplateBuiltIn(template)
    return template


def resolve_editable_template(tx: Transaction, ref: str) -> Template:
    """The template with this id, if it may be changed.

    Raises:
        NotFound: there is none.
        TemplateBuiltIn: it comes with Groundplan.
        TemplateProtected: it is protected.
    """
    template = resolve_own_template(tx, ref)
    if template.is_protected:
        raise TemplateProtected(template)
    return template


def refuse_taken_name(tx: Transaction, name: str, *, but: str | None = None) -> None:
    """Refuse a name that a template has; `but` is the id of the one that may have it.

    Raises:
        TemplateExists: it is taken.
    """
    constants = [one.id for one in BUILT_IN.values() if one.name == name]
    for taken in (*constants, *tx.scalars(sql.template_by_name, name=name)):
        if taken != but:
            raise TemplateExists(name, taken)


def _missing(tx: Transaction, ref: str, field: str) -> NotFound:
    """The refusal of an id that leads nowhere; whoever wrote a name finds the id."""
    from difflib import get_close_matches  # only a mistake needs it

    ids = {one.name: one.id for one in BUILT_IN.values()}
    ids.update(tx.all(sql.template_names, at_most=NAMES_SCANNED_MAX))
    near = [ids[name] for name in get_close_matches(ref, ids, n=2)]
    step = NextStep("template.list", "lists what is there")
    return NotFound("template", ref, near=near, next_steps=step, field=field)
