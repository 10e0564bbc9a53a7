"""List the entities with a tag, in one project or in all visible projects."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.tags.tagged_entities import (
    TaggedEntity,
    TagRef,
    count_unlisted,
    count_uses_by_project,
    list_entities_with_tag,
    missing_tag,
    resolve_projects,
)


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
    """Return the entities with a tag in a project, or in all unarchived projects that the actor sees.

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


USAGE = declare(
    get_tag_usage,
    name="tag.usage",
    summary="List the containers that have a tag.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_tag_usage", Group.CONTAINERS),
    command=Command(("tag", "usage"), arguments=("tag",), names={"project_id": "project"}),
    http=Route("GET", "/projects/{project}/work/tags/{tag}"),
    other_routes=(Route("GET", "/organization/work/tags/{tag}"),),
)
