"""Tags of containers and sections: set, count, find and rename them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming, encode
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import MixedProjects, NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import Name, too_many_characters
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.authorize import ProjectId
from groundplan.kernel.store.idempotency import find_stored_answer, make_idempotent_request
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.fields import TAG_CHARS_MAX
from groundplan.work.events import WorkOp

ENTITIES_MAX = 100  # in one answer
TAGS_SCANNED_MAX = 2_000
PROJECTS_SHOWN_MAX = 10
TagRef = Annotated[str, Meta(min_length=1, max_length=255)]


sql = load_queries(__file__)


# --- Count and find what has a tag ---


class TaggedType(StrEnum):
    """The types of entities that have tags."""

    PROJECT = "PROJECT"
    FEATURE = "FEATURE"
    TASK = "TASK"
    SECTION = "SECTION"


class TaggedEntity(Struct, rename="camel"):
    """An entity that has a tag."""

    id: str
    type: TaggedType
    title: str
    project_id: str | UnsetType = UNSET


class _TaggedRow(Struct):
    project_id: str
    id: str
    kind: str
    summary: str


def resolve_projects(tx: Transaction) -> dict[str, str]:
    """Return the current project as {id: name}; without one, all projects of the actor."""
    return {tx.project.id: tx.project.name} if tx.has_project else list_visible_projects(tx)


def list_visible_projects(tx: Transaction, *, archived: bool = False) -> dict[str, str]:
    """Return the names of the actor's projects by id. With `archived`, archived projects are included."""
    return {project.id: project.name for project in list_projects(tx, ListProjects(archived=archived)).projects}


def count_tags(tx: Transaction, project_ids: Iterable[str], tagged_type: TaggedType | None = None) -> Counter[str]:
    """Return the number of uses of each tag in some projects, by all entities or by one type."""
    projects = {"project_ids": to_json_array(project_ids)}
    counts: Counter[str] = Counter()
    if tagged_type is None:
        counts.update(dict(tx.all(sql.container_tags, **projects)))
    elif tagged_type is not TaggedType.SECTION:
        counts.update(dict(tx.all(sql.container_tags_by_kind, **projects, kind=tagged_type.value.lower())))
    if tagged_type in (None, TaggedType.SECTION):
        counts.update(dict(tx.all(sql.section_tags, **projects)))
    return counts


def count_uses_by_project(tx: Transaction, project_ids: Iterable[str], tag: str) -> Counter[str]:
    """Return the number of uses of a tag in each project. Projects without it are left out."""
    parameters = {"project_ids": to_json_array(project_ids), "tag": tag}
    uses: Counter[str] = Counter(dict(tx.all(sql.count_containers, **parameters)))
    uses.update(dict(tx.all(sql.count_sections, **parameters)))
    return uses


def list_entities_with_tag(tx: Transaction, projects: Mapping[str, str], tag: str) -> list[TaggedEntity]:
    """Return the first entities with a tag in some projects. Containers come before sections."""
    parameters = {"project_ids": to_json_array(projects), "tag": tag}
    entities: list[TaggedEntity] = []
    for row in tx.all(sql.containers_with_tag, _TaggedRow, **parameters, at_most=ENTITIES_MAX):
        entity = TaggedEntity(row.id, TaggedType(row.kind.upper()), row.summary, row.project_id)
        if entity.type is TaggedType.PROJECT:
            entity.id, entity.title = row.project_id, projects[row.project_id]
        entities.append(entity)
    for project_id, id_, title in tx.all(sql.sections_with_tag, **parameters, at_most=ENTITIES_MAX - len(entities)):
        entities.append(TaggedEntity(id_, TaggedType.SECTION, title, project_id))
    return entities


def count_unlisted(count: int, entities: Collection[TaggedEntity]) -> LeftOut:
    """Return the number of entities that the answer leaves out."""
    return {"entities": count - len(entities)} if count > len(entities) else UNSET


def missing_tag(tx: Transaction, project_ids: Iterable[str], tag: str, field: str) -> NotFound:
    """Return the error for an unused tag, with similar tags."""
    counts = count_tags(tx, project_ids).most_common(TAGS_SCANNED_MAX)
    spelled: dict[str, str] = {name.casefold(): name for name, _ in reversed(counts)}
    similar = [spelled[folded] for folded in get_close_matches(tag.casefold(), spelled, n=2)]
    return NotFound("tag", tag, near=similar, next_steps=NextStep("tag.list", "lists the tags"), field=field)


# --- List tags, most used first ---


class ListTags(Struct, rename="camel", forbid_unknown_fields=True):
    """The type of tagged entities, and the project."""

    entity_type: TaggedType | None = None
    project_id: Name | None = None


class TagCount(Struct):
    """A tag, and the number of entities with it."""

    tag: str
    count: int


class Tags(Struct, rename="camel"):
    """Tags, the most frequent first, and the number of distinct tags."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("tags",)))

    tags: list[TagCount]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)


def list_tags(tx: Transaction, request: ListTags) -> Tags:
    """Return the tags of a project, or of all unarchived projects of the actor."""
    counts = count_tags(tx, resolve_projects(tx), request.entity_type)
    tag_counts = [TagCount(tag, counts[tag]) for tag in sorted(counts, key=lambda tag: (-counts[tag], tag))]
    return Tags(tag_counts, len(tag_counts))


# --- List what has a tag ---


class GetTagUsage(Struct, rename="camel", forbid_unknown_fields=True):
    """The tag, and the project to search."""

    tag: TagRef
    project_id: Name | None = None


class TagUsage(Struct, rename="camel"):
    """The number of entities with the tag and the first of them, containers before sections."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("entities",)))

    tag: str
    count: int
    entities: list[TaggedEntity]
    left_out: LeftOut = field(name="left_out", default=UNSET)


def get_tag_usage(tx: Transaction, request: GetTagUsage) -> TagUsage:
    """Return the entities with a tag in a project, or in all unarchived projects of the actor.

    Raises:
        NotFound: the tag is not used.
    """
    projects = resolve_projects(tx)
    tag = request.tag.strip()
    count = count_uses_by_project(tx, projects, tag).total()
    if count == 0:
        raise missing_tag(tx, projects, tag, "tag")
    entities = list_entities_with_tag(tx, projects, tag)
    return TagUsage(tag, count, entities, count_unlisted(count, entities))


# --- Rename a tag in one project, or preview what that would change ---


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


def rename_tag(tx: Transaction, request: RenameTag) -> RenamedTag:
    """Rename a tag. An entity that already has the new tag keeps it only once.

    Raises:
        NotFound: the tag is not used.
        MixedProjects: several projects use it, and the request names none.
    """
    answer = preview_rename(tx, request)
    parameters = {"project_id": tx.project.id, "tag": answer.old_tag}
    _record_container_changes(tx, answer)
    _record_section_changes(tx, answer)
    tx.run(sql.add_new_tag_to_containers, **parameters, renamed=answer.new_tag)
    tx.run(sql.remove_from_containers, **parameters)
    tx.run(sql.add_new_tag_to_sections, **parameters, renamed=answer.new_tag)
    tx.run(sql.remove_from_sections, **parameters)
    return answer


def preview_rename(tx: Transaction, request: RenameTag) -> RenamedTag:
    """Return the effects of renaming a tag.

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


def _locate_rename(tx: Transaction, request: RenameTag) -> str:
    """Return the project in the request, or the only project with the tag."""
    if request.project_id is not None:
        return request.project_id
    if request.op_id is not None and not request.dry_run:
        # On a retry the tag is already renamed, so take the project from the stored answer.
        idempotent = make_idempotent_request(
            request.op_id, RENAME.name, msgspec.structs.replace(request, op_id=None), dump=encode, load=_RENAMED.decode
        )
        if (answer := find_stored_answer(tx, idempotent)) is not None:
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


def tag_in_several_projects(tag: str, projects: dict[str, str]) -> MixedProjects:
    """Return the error for a tag that several projects have."""
    first = dict(list(projects.items())[:PROJECTS_SHOWN_MAX])
    names = ", ".join(f"{name!r} ({id_})" for id_, name in first.items())
    return MixedProjects(
        f"tag {tag!r} is used in {len(projects)} projects: {names}; send projectId, in one call per project",
        field="projectId",
        projects=list(first),
    )


# --- Operations ---

LIST = declare(
    list_tags,
    name="tag.list",
    summary="Tags and how often each is used.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("list_tags", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/tags"),
    other_routes=(Route("GET", "/organization/work/tags"),),
)
USAGE = declare(
    get_tag_usage,
    name="tag.usage",
    summary="List the containers that have a tag.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_tag_usage", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/tags/{tag}"),
    other_routes=(Route("GET", "/organization/work/tags/{tag}"),),
)
PREVIEW = declare(
    preview_rename,
    name="tag.rename_preview",
    summary="See what renaming a tag would change.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=_locate_rename,
)
RENAME = declare(
    rename_tag,
    name="tag.rename",
    summary="Rename a tag in one project; dryRun shows what changes.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    project=_locate_rename,
    variants=(PREVIEW,),
    choose_variant=lambda request: PREVIEW if request.dry_run else None,
    tool=Tool("rename_tag", Group.CONTAINERS),
    http=Route("POST", "/projects/{project}/work/tags/{oldTag}/rename"),
)
