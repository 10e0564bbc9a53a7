"""List the tags of one project or of all visible projects, most used first."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.tags.tagged_entities import TaggedType, count_tags, resolve_projects


class ListTags(Struct, rename="camel", forbid_unknown_fields=True):
    """The type of tagged entities, and the project."""

    entity_type: TaggedType | None = None
    project_id: Name | None = None


class TagCount(Struct):
    """A tag, and how many entities have it."""

    tag: str
    count: int


class Tags(Struct, rename="camel"):
    """Tags, most used first, and the number of distinct tags."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("tags",)))

    tags: list[TagCount]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)


def list_tags(tx: Transaction, request: ListTags) -> Tags:
    """Return the tags of a project, or of all unarchived projects that the actor sees."""
    counts = count_tags(tx, resolve_projects(tx), request.entity_type)
    found = [TagCount(tag, counts[tag]) for tag in sorted(counts, key=lambda tag: (-counts[tag], tag))]
    return Tags(found, len(found))


LIST = declare(
    list_tags,
    name="tag.list",
    summary="Tags and how often each is used.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("list_tags", Group.CONTAINERS),
    command=Command(("tag", "list"), names={"entity_type": "type", "project_id": "project"}),
    http=Route("GET", "/projects/{project}/work/tags"),
    other_routes=(Route("GET", "/organization/work/tags"),),
)
