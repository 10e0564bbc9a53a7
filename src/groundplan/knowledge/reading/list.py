"""List the atoms of a project without their knowledge, for tools that walk a repository."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import take_page
from groundplan.kernel.cursors import (
    BEFORE_ALL,
    decode_cursor,
    encode_cursor,
    locate_text,
    parse_text_position,
    read_after,
)
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.freshness import Freshness, load_freshness

NAME = "knowledge.list"
LIMIT = 100
LIMIT_MAX = 1_000

sql = load_queries(__file__)


class ListAtoms(Struct, rename="camel", forbid_unknown_fields=True):
    """The project whose atoms to list, and the size of a page."""

    project_id: Name
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT
    cursor: str | None = None


class AtomSummaryRow(Struct):
    """The stored columns of a listed atom."""

    id: str
    name: str
    molecule_id: str | None
    paths: str
    version: int
    confirmed_commit: str | None
    confirmed_at: str | None


class ListedAtom(Struct, rename="camel", kw_only=True):
    """An atom without its knowledge."""

    id: str
    name: str
    molecule_id: str | None
    paths: list[str]
    version: int
    confirmed: str | UnsetType = UNSET  # the commit
    confirmed_at: str | UnsetType = UNSET
    freshness: Freshness | UnsetType = UNSET


class Atoms(Struct, rename="camel"):
    """A page of atoms sorted by name, and a cursor if there are more."""

    atoms: list[ListedAtom]
    next_cursor: str | UnsetType = UNSET


def list_atoms(tx: Transaction, request: ListAtoms) -> Atoms:
    """Return a page of the atoms of a project.

    Raises:
        InvalidCursor: the cursor belongs to another list.
    """
    after = BEFORE_ALL
    if request.cursor is not None:
        after = parse_text_position(decode_cursor(tx, NAME, None, request.cursor))
    rows = read_after(
        after,
        lambda at_most: tx.all(
            sql.atom_summaries,
            AtomSummaryRow,
            project_id=tx.project.id,
            after_name=after.lower_bound,
            after_id=after.tie_breaker if not after.is_cut else "",
            at_most=at_most,
        ),
        lambda row: locate_text(row.name, row.id),
        at_most=request.limit + 1,  # one more tells whether there are more
    )
    freshness = load_freshness(tx, [row.id for row in rows[: request.limit]])
    page = take_page(
        tx.budget.reserve(Atoms([])),
        [_to_listed_atom(row, freshness.get(row.id, UNSET)) for row in rows[: request.limit]],
        cursor_after=lambda last: encode_cursor(tx, NAME, None, *locate_text(last.name, last.id)),
        has_more=len(rows) > request.limit,
    )
    return Atoms(page.rows, page.next_cursor)


def _to_listed_atom(row: AtomSummaryRow, freshness: Freshness | UnsetType) -> ListedAtom:
    return ListedAtom(
        id=row.id,
        name=row.name,
        molecule_id=row.molecule_id,
        paths=msgspec.json.decode(row.paths, type=list[str]),
        version=row.version,
        confirmed=row.confirmed_commit or UNSET,
        confirmed_at=row.confirmed_at or UNSET,
        freshness=freshness,
    )


OPERATION = declare(
    list_atoms,
    name=NAME,
    summary="List the atoms with their patterns and freshness.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    command=Command(
        ("knowledge", "list"), names={"project_id": "project"}, columns=("id", "name", "paths", "version", "freshness")
    ),
    http=Route("GET", "/projects/{project}/knowledge/freshness"),
)
