"""Rename a tag in one project, or preview what that would change."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import UNSET, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming, encode
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import MixedProjects
from groundplan.kernel.input_gate.text_limits import Name, too_many_characters
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.authorize import ProjectId
from groundplan.kernel.store.idempotency import find_stored_answer, make_idempotent_request
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.requests import TAG_CHARS_MAX
from groundplan.work.containers.tags.tagged_entities import (
    TaggedEntity,
    TagRef,
    count_unlisted,
    count_uses_by_project,
    list_entities_with_tag,
    list_visible_projects,
    missing_tag,
)
from groundplan.work.events import WorkOp

NAME = "tag.rename"
PROJECTS_SHOWN_MAX = 10

sql = load_queries(__file__)


def tag_in_several_projects(tag: str, projects: dict[str, str]) -> MixedProjects:
    """Return the error for a tag that several projects use."""
    first = dict(list(projects.items())[:PROJECTS_SHOWN_MAX])
    names = ", ".join(f"{name!r} ({id_})" for id_, name in first.items())
    return MixedProjects(
        f"tag {tag!r} is used in {len(projects)} projects: {names}; send projectId, in one call per project",
        field="projectId",
        projects=list(first),
    )


class RenameTag(Struct, rename="camel", forbid_unknown_fields=True):
    """The tag and its new name."""

    old_tag: TagRef
    new_tag: TagRef
    dry_run: bool = False
    project_id: Name | None = None
    op_id: OpId = field(name="op_id", default=None)


class RenamedTag(Struct, rename="camel"):
    """The number of affected entities and the first of them, containers before sections."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("entities",)))

    old_tag: str
    new_tag: str
    dry_run: bool
    project_id: str
    affected: int
    entities: list[TaggedEntity]
    left_out: LeftOut = field(name="left_out", default=UNSET)


_RENAMED = msgspec.json.Decoder(RenamedTag)


def rename(tx: Transaction, request: RenameTag) -> RenamedTag:
    """Rename a tag. Entities that already have the new tag keep it once.

    Raises:
        NotFound: the tag is not used.
        MixedProjects: several projects use it, and the request names none.
    """
    answer = preview(tx, request)
    place = {"project_id": tx.project.id, "tag": answer.old_tag}
    _record_container_changes(tx, answer)
    _record_section_changes(tx, answer)
    tx.run(sql.add_new_tag_to_containers, **place, renamed=answer.new_tag)
    tx.run(sql.remove_from_containers, **place)
    tx.run(sql.add_new_tag_to_sections, **place, renamed=answer.new_tag)
    tx.run(sql.remove_from_sections, **place)
    return answer


def preview(tx: Transaction, request: RenameTag) -> RenamedTag:
    """Return what renaming a tag would change.

    Raises:
        NotFound: the tag is not used.
        MixedProjects: several projects use it, and the request names none.
    """
    old, new = _validate_names(request)
    project = {tx.project.id: tx.project.name}
    affected = count_uses_by_project(tx, project, old).total()
    if affected == 0:
        raise missing_tag(tx, project, old, "oldTag")
    entities = list_entities_with_tag(tx, project, old)
    for entity in entities:
        entity.project_id = UNSET  # all have the project_id of the answer
    return RenamedTag(old, new, request.dry_run, tx.project.id, affected, entities, count_unlisted(affected, entities))


def _validate_names(request: RenameTag) -> tuple[str, str]:
    old, new = request.old_tag.strip(), request.new_tag.strip()
    if not new:
        raise invalid_argument(("newTag",), "must not be empty")
    if len(new) > TAG_CHARS_MAX:
        raise too_many_characters(("newTag",), TAG_CHARS_MAX, len(new))
    if "," in new:
        raise invalid_argument(("newTag",), "contains a comma, which separates tags; leave it out")
    if new == old:
        raise invalid_argument(("newTag",), "is the same as oldTag; send another name")
    return old, new


def _record_container_changes(tx: Transaction, answer: RenamedTag) -> None:
    tags: dict[tuple[int, str], list[str]] = {}
    for n, id_, tag in tx.all(sql.tags_of_tagged_containers, project_id=tx.project.id, tag=answer.old_tag):
        tags.setdefault((n, id_), []).append(tag)
    tx.run(sql.touch_containers, project_id=tx.project.id, ns=to_json_array(n for n, _ in tags))
    for (_, id_), before in tags.items():
        tx.record(WorkOp.TAGGED, id_, changed("tags", before, _replace_tag(before, answer)))


def _record_section_changes(tx: Transaction, answer: RenamedTag) -> None:
    tags: dict[str, list[str]] = {}
    of_nodes: dict[str, dict[str, None]] = {}
    for section_id, node_id, tag in tx.all(sql.tags_of_tagged_sections, project_id=tx.project.id, tag=answer.old_tag):
        tags.setdefault(section_id, []).append(tag)
        of_nodes.setdefault(node_id, {})[section_id] = None
    tx.run(sql.touch_sections, project_id=tx.project.id, ids=to_json_array(tags))
    for node_id, section_ids in of_nodes.items():
        changes = (
            changed(f"sections.{id_}", {"tags": tags[id_]}, {"tags": _replace_tag(tags[id_], answer)})
            for id_ in section_ids
        )
        tx.record(WorkOp.SECTION_CHANGED, node_id, *changes)


def _replace_tag(before: list[str], answer: RenamedTag) -> list[str]:
    return sorted({answer.new_tag if tag == answer.old_tag else tag for tag in before})


def _locate(tx: Transaction, request: RenameTag) -> str:
    """Return the project that the request names, or the only project that uses the tag."""
    if request.project_id is not None:
        return request.project_id
    if request.op_id is not None and not request.dry_run:
        # On a retry the tag is already renamed, so take the project from the stored answer.
        sent = make_idempotent_request(
            request.op_id, NAME, msgspec.structs.replace(request, op_id=None), dump=encode, load=_RENAMED.decode
        )
        if (answer := find_stored_answer(tx, sent)) is not None:
            return ProjectId(answer.project_id)
    tag = request.old_tag.strip()
    # Archived projects count only if no other project uses the tag; then the caller learns that it is archived.
    for archived in (False, True):
        projects = list_visible_projects(tx, archived=archived)
        uses = count_uses_by_project(tx, projects, tag)
        if len(uses) > 1:
            raise tag_in_several_projects(tag, {id_: name for id_, name in projects.items() if id_ in uses})
        for project_id in uses:
            return ProjectId(project_id)
    raise missing_tag(tx, projects, tag, "oldTag")


PREVIEW = declare(
    preview,
    name="tag.rename_preview",
    summary="See what renaming a tag would change.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=_locate,
)

OPERATION = declare(
    rename,
    name=NAME,
    summary="Rename a tag in one project; dryRun shows what changes.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    project=_locate,
    variants=(PREVIEW,),
    choose_variant=lambda request: PREVIEW if request.dry_run else None,
    tool=Tool("rename_tag", Group.CONTAINERS),
    command=Command(
        ("tag", "rename"),
        arguments=("old_tag", "new_tag"),
        names={"project_id": "project"},
    ),
    http=Route("POST", "/projects/{project}/work/tags/{oldTag}/rename"),
)
