"""Search atoms or molecules by words or by molecule, sorted by name, page by page."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.knowledge.atom import Atom, build_atoms, load_atoms
from groundplan.knowledge.changelog import load_latest_entries
from groundplan.knowledge.entity import drop_parts
from groundplan.knowledge.molecule import Molecule, build_molecules, load_molecules
from groundplan.knowledge.refs import validate_molecule_id
from groundplan.knowledge.requests import (
    CHANGELOG_LIMIT_DEFAULT,
    LIMIT,
    ChangelogLimit,
    KnowledgeEntityType,
    Limit,
    Offset,
    refuse_foreign_fields,
)
from groundplan.knowledge.words import parse_query_words

QUERY_WORDS_MAX = 128
KEYS_PER_PROJECT = 2**32  # keys of the word index that each project has

sql = load_queries(__file__)


class SearchKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """The search. All words of the query must match the beginning of a word, in any order."""

    entity_type: KnowledgeEntityType
    project_id: Name
    query: str | None = None
    molecule_id: str | None = None
    orphans_only: bool = False
    include_changelog: bool = True
    changelog_limit: ChangelogLimit = CHANGELOG_LIMIT_DEFAULT
    limit: Limit = LIMIT
    offset: Offset = 0


class KnowledgePage(Struct, rename="camel"):
    """A page of atoms or molecules sorted by name, and the total count."""

    trimming: ClassVar[Trimming] = Trimming(*drop_parts("items[]"))

    items: list[Atom | Molecule]
    count: int
    limit: int
    offset: int
    next_offset: int | UnsetType = UNSET  # the offset of the next page, absent on the last one


def search(tx: Transaction, request: SearchKnowledge) -> KnowledgePage:
    """Return a page of matching atoms or molecules.

    Raises:
        NotFound: the molecule does not exist.
        OtherProject: the molecule belongs to another project.
    """
    listing, parameters = _choose_listing(tx, request)
    if listing is None:
        return KnowledgePage([], 0, request.limit, request.offset)
    ids, count = load_page(tx, listing, limit=request.limit, offset=request.offset, **parameters)
    page = KnowledgePage([], count, request.limit, request.offset, count)
    # At least one item, if necessary without its parts, so that paging always advances.
    page.items = tx.budget.reserve(page).take_rows(_load_items(tx, request, ids), at_least=1)
    end = request.offset + len(page.items)
    page.next_offset = end if end < count else UNSET
    return page


def load_page(tx: Transaction, listing: Query, *, limit: int, offset: int, **parameters: Any) -> tuple[list[str], int]:
    """Return the ids on a page, and the total count."""
    rows = tx.all(listing, project_id=tx.project.id, limit=limit, offset=offset, **parameters)
    if not rows and offset:
        # After the last page no row carries the total count.
        _, total = load_page(tx, listing, limit=1, offset=0, **parameters)
        return [], total
    return [id_ for id_, _ in rows], next((total for _, total in rows), 0)


def _choose_listing(tx: Transaction, request: SearchKnowledge) -> tuple[Query | None, dict[str, Any]]:
    """Return the query and parameters of a search; no query if the search text has no words."""
    is_atom = request.entity_type is KnowledgeEntityType.ATOM
    if not is_atom:
        given = {"moleculeId": bool(request.molecule_id), "orphansOnly": request.orphans_only}
        refuse_foreign_fields(KnowledgeEntityType.MOLECULE, given)
    if request.molecule_id and request.orphans_only:
        raise invalid_argument(("orphansOnly",), "and moleculeId exclude each other; send only one of them")
    molecule_id = validate_molecule_id(tx, request.molecule_id) if request.molecule_id else None
    if request.query is not None and request.query.strip():
        in_molecule = {"is_narrowed": request.orphans_only or molecule_id is not None, "molecule_id": molecule_id}
        parameters = {**_build_word_parameters(tx, request.query), **(in_molecule if is_atom else {})}
        listing = sql.atoms_with_words if is_atom else sql.molecules_with_words
        return (listing if parameters["match"] else None), parameters
    if not is_atom:
        return sql.molecules_by_name, {}
    if request.orphans_only or molecule_id is not None:
        return sql.atoms_of_molecule, {"molecule_id": molecule_id}
    return sql.atoms_by_name, {}


def _build_word_parameters(tx: Transaction, query: str) -> dict[str, Any]:
    words = parse_query_words(query)
    if len(words) > QUERY_WORDS_MAX:
        wrong = f"has {len(words)} words, the limit is {QUERY_WORDS_MAX}; remove some"
        raise invalid_argument(("query",), wrong, code="too_many", limit=QUERY_WORDS_MAX)
    number = tx.scalar(sql.project_number, project_id=tx.project.id)
    first_key = (number or 0) * KEYS_PER_PROJECT
    return {
        # Words contain no quotation marks, so they need no escaping.
        "match": " AND ".join(f'"{word}"*' for word in words) if number else "",
        "words": to_json_array(words),
        "first_key": first_key,
        "last_key": first_key + KEYS_PER_PROJECT - 1,
    }


def _load_items(tx: Transaction, request: SearchKnowledge, ids: list[str]) -> list[Atom | Molecule]:
    items: list[Atom | Molecule] = []
    if request.entity_type is KnowledgeEntityType.ATOM:
        items += build_atoms(tx, load_atoms(tx, ids))
    else:
        items += build_molecules(tx, load_molecules(tx, ids))
    if request.include_changelog:
        entries = load_latest_entries(tx, request.entity_type, ids, entries_max=request.changelog_limit)
        for item in items:
            item.changelog = entries[item.id]
    return items


OPERATION = declare(
    search,
    name="knowledge.search",
    summary="Search atoms or molecules by words, by molecule, or orphans.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    tool=Tool("query_graph", Group.KNOWLEDGE, "search"),
    command=Command(
        ("knowledge", "search"),
        names={"entity_type": "type", "project_id": "project", "molecule_id": "molecule", "orphans_only": "orphans"},
        columns=("id", "name", "version", "updated_at"),
    ),
    http=Route("GET", "/projects/{project}/knowledge/{entityType}s"),
)
