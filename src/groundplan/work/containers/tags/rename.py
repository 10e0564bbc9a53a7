"""Give a tag another name, everywhere in one project; on a dry run, see what that would change."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import UNSET, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.budget import Cut, LeftOut, Trimming
from groundplan.kernel.errors import MixedProjects
from groundplan.kernel.input_gate.text_limits import Name, too_many_characters
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.output_gate import encode
from groundplan.kernel.store.authorize import ProjectId
from groundplan.kernel.store.idempotency import earlier_answer, once
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import refusal
from groundplan.work.containers.requests import TAG_CHARS_MAX
from groundplan.work.containers.tags.tagged import (
    Entity,
    TagRef,
    entities_with,
    missing,
    not_listed,
    projects_looked_through,
    uses_by_project,
)
from groundplan.work.events import Op

NAME = "tag.rename"
PROJECTS_SHOWN_MAX = 10

sql = load_queries(__file__)


def tag_in_several_projects(tag: str, projects: dict[str, str]) -> MixedProjects:
    """Return the refusal to rename a tag of several projects in one call."""
    first = dict(list(projects.items())[:PROJECTS_SHOWN_MAX])
    shown = ", ".join(f"{name!r} ({id_})" for id_, name in first.items())
    return MixedProjects(
        f"tag {tag!r} is used in {len(projects)} projects: {shown}; send projectId, one call for each",
        field="projectId",
        projects=list(first),
    )


class RenameTag(Struct, rename="camel", forbid_unknown_fields=True):
    """The tag, and what it is called from now on."""

    old_tag: TagRef
    new_tag: TagRef
    dry_run: bool = False
    project_id: Name | None = None
    op_id: OpId = field(name="op_id", default=None)


class Renamed(Struct, rename="camel"):
    """What has the new tag from now on, or would have it; the first of them, containers before sections."""

    trimming: ClassVar[Trimming] = Trimming(Cut(("entities",)))

    old_tag: str
    new_tag: str
    dry_run: bool
    project_id: str
    affected: int
    entities: list[Entity]
    left_out: LeftOut = field(name="left_out", default=UNSET)


_RENAMED = msgspec.json.Decoder(Renamed)


def rename(tx: Transaction, request: RenameTag) -> Renamed:
    """Rename a tag; where something has the new one already, the two become one.

    Raises:
        NotFound: nothing has the tag.
        MixedProjects: it is used in several projects, and none of them was named.
    """
    answer = preview(tx, request)
    place = {"project_id": tx.project.id, "tag": answer.old_tag}
    _tell_containers(tx, answer)
    _tell_sections(tx, answer)
    tx.run(sql.add_renamed_to_containers, **place, renamed=answer.new_tag)
    tx.run(sql.remove_from_containers, **place)
    tx.run(sql.add_renamed_to_sections, **place, renamed=answer.new_tag)
    tx.run(sql.remove_from_sections, **place)
    return answer


def preview(tx: Transaction, request: RenameTag) -> Renamed:
    """What renaming a tag changes.

    Raises:
        NotFound: nothing has the tag.
        MixedProjects: it is used in several projects, and none of them was named.
    """
    old, new = _checked(request)
    project = {tx.project.id: tx.project.name}
    affected = uses_by_project(tx, project, old).total()
    if affected == 0:
        raise missing(tx, project, old, "oldTag")
    entities = entities_with(tx, project, old)
    for entity in entities:
        entity.project_id = UNSET  # the same for all
    return Renamed(old, new, request.dry_run, tx.project.id, affected, entities, not_listed(affected, entities))


def _checked(request: RenameTag) -> tuple[str, str]:
    old, new = request.old_tag.strip(), request.new_tag.strip()
    if not new:
        raise refusal(("newTag",), "must not be empty")
    if len(new) > TAG_CHARS_MAX:
        raise too_many_characters(("newTag",), TAG_CHARS_MAX, len(new))
    if "," in new:
        raise refusal(("newTag",), "has a comma, which stands between tags; leave it out")
    if new == old:
        raise refusal(("newTag",), "is oldTag; send another name")
    return old, new


def _tell_containers(tx: Transaction, answer: Renamed) -> None:
    tags: dict[tuple[int, str], list[str]] = {}
    for n, id_, tag in tx.all(sql.tags_beside, project_id=tx.project.id, tag=answer.old_tag):
        tags.setdefault((n, id_), []).append(tag)
    tx.run(sql.move_containers_on, project_id=tx.project.id, ns=listed(n for n, _ in tags))
    for (_, id_), before in tags.items():
        tx.record(Op.TAGGED, id_, changed("tags", before, _renamed(before, answer)))


def _tell_sections(tx: Transaction, answer: Renamed) -> None:
    tags: dict[str, list[str]] = {}
    of_nodes: dict[str, dict[str, None]] = {}
    for section_id, node_id, tag in tx.all(sql.section_tags_beside, project_id=tx.project.id, tag=answer.old_tag):
        tags.setdefault(section_id, []).append(tag)
        of_nodes.setdefault(node_id, {})[section_id] = None
    tx.run(sql.move_sections_on, project_id=tx.project.id, ids=listed(tags))
    for node_id, section_ids in of_nodes.items():
        changes = (
            changed(f"sections.{id_}", {"tags": tags[id_]}, {"tags": _renamed(tags[id_], answer)})
            for id_ in section_ids
        )
        tx.record(Op.SECTION_CHANGED, node_id, *changes)


def _renamed(before: list[str], answer: Renamed) -> list[str]:
    return sorted({answer.new_tag if tag == answer.old_tag else tag for tag in before})


def _project(tx: Transaction, request: RenameTag) -> str:
    """The one project that is meant: the one named, or the only one where the tag is used.

    Raises:
        NotFound: nothing has the tag.
        MixedProjects: it is used in several projects.
    """
    if request.project_id is not None:
        return request.project_id
    if request.op_id is not None and not request.dry_run:
        # Sent again, the tag is no longer where it was; the answer that was given says where that is.
        sent = once(
            request.op_id, NAME, msgspec.structs.replace(request, op_id=None), dump=encode, load=_RENAMED.decode
        )
        if (given := earlier_answer(tx, sent)) is not None:
            return ProjectId(given.project_id)
    tag = request.old_tag.strip()
    # What is archived is not renamed; only where the tag is nowhere else, whoever asks is told so.
    for archived in (False, True):
        projects = projects_looked_through(tx, archived=archived)
        there = uses_by_project(tx, projects, tag)
        if len(there) > 1:
            raise tag_in_several_projects(tag, {id_: name for id_, name in projects.items() if id_ in there})
        for project_id in there:
            return ProjectId(project_id)
    raise missing(tx, projects, tag, "oldTag")


PREVIEW = Operation(
    name="tag.rename_preview",
    summary="See what renaming a tag would change.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    input=RenameTag,
    output=Renamed,
    handler=preview,
    project=_project,
)

OPERATION = Operation(
    name=NAME,
    summary="Rename a tag in one project; dryRun shows what changes.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=RenameTag,
    output=Renamed,
    handler=rename,
    project=_project,
    variants=(PREVIEW,),
    choose_variant=lambda request: PREVIEW if request.dry_run else None,
    tool=Tool("rename_tag", Group.CONTAINERS),
    command=Command(
        ("tag", "rename"),
        arguments=("old_tag", "new_tag"),
        names={"project_id": "project"},
    ),
)
