"""Count and list the entities with a tag, and suggest tags for an unknown one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.answers import LeftOut
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

ENTITIES_MAX = 100  # in one answer
TAGS_SCANNED_MAX = 2_000

TagRef = Annotated[str, Meta(min_length=1, max_length=255)]

sql = load_queries(__file__)


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
    """Return the current project as {id: name}; without one, all projects that the actor sees."""
    return {tx.project.id: tx.project.name} if tx.has_project else list_visible_projects(tx)


def list_visible_projects(tx: Transaction, *, archived: bool = False) -> dict[str, str]:
    """Return the names of the projects that the actor sees, by id; `archived` adds archived ones."""
    return {project.id: project.name for project in list_projects(tx, ListProjects(archived=archived)).projects}


def count_tags(tx: Transaction, project_ids: Iterable[str], tagged_type: TaggedType | None = None) -> Counter[str]:
    """Return how often each tag is used in some projects, by all entities or by one type."""
    place = {"project_ids": to_json_array(project_ids)}
    counts: Counter[str] = Counter()
    if tagged_type is None:
        counts.update(dict(tx.all(sql.container_tags, **place)))
    elif tagged_type is not TaggedType.SECTION:
        counts.update(dict(tx.all(sql.container_tags_by_kind, **place, kind=tagged_type.value.lower())))
    if tagged_type in (None, TaggedType.SECTION):
        counts.update(dict(tx.all(sql.section_tags, **place)))
    return counts


def count_uses_by_project(tx: Transaction, project_ids: Iterable[str], tag: str) -> Counter[str]:
    """Return how often a tag is used in each project; projects without it are left out."""
    place = {"project_ids": to_json_array(project_ids), "tag": tag}
    uses: Counter[str] = Counter(dict(tx.all(sql.count_containers, **place)))
    uses.update(dict(tx.all(sql.count_sections, **place)))
    return uses


def list_entities_with_tag(tx: Transaction, projects: Mapping[str, str], tag: str) -> list[TaggedEntity]:
    """Return the first entities with a tag in some projects: containers, then sections."""
    place = {"project_ids": to_json_array(projects), "tag": tag}
    found: list[TaggedEntity] = []
    for row in tx.all(sql.containers_with_tag, _TaggedRow, **place, at_most=ENTITIES_MAX):
        entity = TaggedEntity(row.id, TaggedType(row.kind.upper()), row.summary, row.project_id)
        if entity.type is TaggedType.PROJECT:
            entity.id, entity.title = row.project_id, projects[row.project_id]
        found.append(entity)
    for project_id, id_, title in tx.all(sql.sections_with_tag, **place, at_most=ENTITIES_MAX - len(found)):
        found.append(TaggedEntity(id_, TaggedType.SECTION, title, project_id))
    return found


def count_unlisted(count: int, entities: Collection[TaggedEntity]) -> LeftOut:
    """Return how many entities the answer leaves out."""
    return {"entities": count - len(entities)} if count > len(entities) else UNSET


def missing_tag(tx: Transaction, project_ids: Iterable[str], tag: str, field: str) -> NotFound:
    """Return the error for a tag that is not used, with similar tags."""
    from difflib import get_close_matches  # imported here because only this error needs it

    counts = count_tags(tx, project_ids).most_common(TAGS_SCANNED_MAX)
    spelled: dict[str, str] = {name.casefold(): name for name, _ in reversed(counts)}
    near = [spelled[folded] for folded in get_close_matches(tag.casefold(), spelled, n=2)]
    return NotFound("tag", tag, near=near, next_steps=NextStep("tag.list", "lists the tags"), field=field)
