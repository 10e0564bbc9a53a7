"""Read the changelog of an atom or a molecule, newest first, page by page."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.changelog import ChangelogEntry, load_entries
from groundplan.knowledge.refs import load_names, missing_entity, resolve_entity_project
from groundplan.knowledge.requests import LIMIT, KnowledgeEntityType, Limit, Offset, parse_id


class SearchChangelog(Struct, rename="camel", forbid_unknown_fields=True):
    """The atom or molecule whose changelog to read, and the page."""

    parent_type: KnowledgeEntityType
    parent_id: str
    limit: Limit = LIMIT
    offset: Offset = 0


class Entries(Struct, rename="camel"):
    """A page of entries, and the total count."""

    entries: list[ChangelogEntry]
    count: int
    limit: int
    offset: int
    next_offset: int | UnsetType = UNSET  # the offset of the next page, absent on the last one


def search_changelog(tx: Transaction, request: SearchChangelog) -> Entries:
    """Return a page of the entries of an atom or a molecule.

    Raises:
        NotFound: the atom or molecule does not exist.
    """
    parent_id = parse_id(request.parent_id, ("parentId",))
    if not load_names(tx, request.parent_type, {parent_id}):
        raise missing_entity(request.parent_type, request.parent_id, ("parentId",))
    found, count = load_entries(tx, request.parent_type, parent_id, limit=request.limit, offset=request.offset)
    page = Entries([], count, request.limit, request.offset, count)
    page.entries = tx.budget.reserve(page).take_rows(found, at_least=1)
    end = request.offset + len(page.entries)
    page.next_offset = end if end < count else UNSET
    return page


OPERATION = declare(
    search_changelog,
    name="knowledge.search_changelog",
    summary="Read the entries, newest first.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_entity_project(tx, request.parent_type, request.parent_id, "parentId"),
    tool=Tool("manage_changelog", Group.KNOWLEDGE, "search"),
    command=Command(
        ("knowledge", "search-changelog"),
        arguments=("parent_id",),
        names={"parent_type": "type", "parent_id": "id"},
        columns=("created_at", "task_id", "summary"),
    ),
    http=Route("GET", "/projects/{project}/knowledge/{parentType}s/{parentId}/changelog"),
)
