"""Put the sections of a container into another order."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import refusal
from groundplan.work.containers.requests import ContainerId, EntityType, Several
from groundplan.work.containers.sections.answers import Sections
from groundplan.work.containers.sections.refs import container, project_of_container, section_rows
from groundplan.work.containers.sections.requests import checked_ids
from groundplan.work.containers.sections.section import SectionRow, put, sections_shown, tags_of, take
from groundplan.work.events import Op


class ReorderSections(Struct, rename="camel", forbid_unknown_fields=True):
    """All sections of a container, in the order in which they shall stand."""

    entity_type: EntityType
    entity_id: ContainerId
    ordered_ids: Several
    op_id: OpId = field(name="op_id", default=None)


def reorder(tx: Transaction, request: ReorderSections) -> Sections:
    """Give the sections of a container the ordinals 0, 1, 2 …; one that moves is at a new version.

    Raises:
        NotFound: the container is not there.
    """
    node = container(tx, request.entity_type, request.entity_id)
    ids = checked_ids(request.ordered_ids, "orderedIds")
    before = {section.id: section.ordinal for section in sections_shown(tx, node, include_content=False)}
    _refuse_others(ids, before)
    moved = {id_: place for place, id_ in enumerate(ids) if before[id_] != place}
    if moved:
        rows = section_rows(tx, list(moved))
        tags = tags_of(tx, list(moved))
        # Two never stand at one place and every UPDATE raises the version by one, so no chain of updates could make
        # two change places at one version more. Those that move are taken out and put back.
        take(tx, moved)
        put(tx, [_at(tx, row, moved[row.id]) for row in rows.values()], tags)
        changes = (
            changed(f"sections.{id_}", {"ordinal": before[id_]}, {"ordinal": place}) for id_, place in moved.items()
        )
        tx.record(Op.SECTION_CHANGED, node.id, *changes)
    sections = sections_shown(tx, node, include_content=False)
    return Sections(sections, len(sections))


def _at(tx: Transaction, row: SectionRow, ordinal: int) -> SectionRow:
    version = row.version + 1
    return replace(row, ordinal=ordinal, version=version, modified_at=tx.now, modified_by=tx.actor.id)


def _refuse_others(ids: list[str], there: dict[str, int]) -> None:
    missing = [id_ for id_ in there if id_ not in ids]
    foreign = [id_ for id_ in ids if id_ not in there]
    if not missing and not foreign:
        return
    wrong = [f"lacks {', '.join(missing)}"] if missing else []
    wrong += [f"has {', '.join(foreign)}, which is no section here"] if foreign else []
    sentence = f"{' and '.join(wrong)}; send the id of every section of this container, each once"
    raise refusal(("orderedIds",), sentence, missing=missing, foreign=foreign)


OPERATION = Operation(
    name="section.reorder",
    summary="Put all sections of a container into an order (orderedIds).",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    idempotent=True,
    input=ReorderSections,
    output=Sections,
    handler=reorder,
    project=lambda tx, request: project_of_container(tx, request.entity_type, request.entity_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "reorder"),
    command=Command(
        ("section", "reorder"),
        arguments=("ordered_ids",),
        names={"entity_type": "type", "entity_id": "container", "ordered_ids": "sections"},
    ),
)
