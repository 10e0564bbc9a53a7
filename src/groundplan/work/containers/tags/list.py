"""The tags there are, most used first, in one project or in all that the caller sees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import Cut, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.tags.tagged import TaggedType, projects_looked_through, tag_counts


class ListTags(Struct, rename="camel", forbid_unknown_fields=True):
    """Of what, and where."""

    entity_type: TaggedType | None = None
    project_id: Name | None = None


class TagCount(Struct):
    """A tag, and how many have it."""

    tag: str
    count: int


class Tags(Struct, rename="camel"):
    """Tags, most used first, and how many different ones there are."""

    trimming: ClassVar[Trimming] = Trimming(Cut(("tags",)))

    tags: list[TagCount]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)


def list_tags(tx: Transaction, request: ListTags) -> Tags:
    """The tags in all projects that the actor sees, without those that are archived."""
    return _tags(tx, request, projects_looked_through(tx))


def list_tags_of_project(tx: Transaction, request: ListTags) -> Tags:
    """The tags in one project."""
    return _tags(tx, request, [tx.project.id])


def _tags(tx: Transaction, request: ListTags, project_ids: Iterable[str]) -> Tags:
    counts = tag_counts(tx, project_ids, request.entity_type)
    found = [TagCount(tag, counts[tag]) for tag in sorted(counts, key=lambda tag: (-counts[tag], tag))]
    return Tags(found, len(found))


IN_PROJECT = Operation(
    name="tag.list.project",
    summary="List the tags of a project.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    input=ListTags,
    output=Tags,
    handler=list_tags_of_project,
    project=lambda _tx, request: request.project_id or "",
)

OPERATION = Operation(
    name="tag.list",
    summary="Tags and how often each is used.",
    permission=Permission.PROJECT_LIST,
    effect=Effect.READ,
    input=ListTags,
    output=Tags,
    handler=list_tags,
    variants=(IN_PROJECT,),
    choose_variant=lambda request: IN_PROJECT if request.project_id is not None else None,
    tool=Tool("list_tags", Group.CONTAINERS),
    command=Command(("tag", "list"), names={"entity_type": "type", "project_id": "project"}),
)
