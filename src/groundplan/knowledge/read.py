"""Read atoms and molecules: one with its changelog, a page of search results, and a list without texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming, take_page
from groundplan.kernel.cursors import (
    BEFORE_ALL,
    Cursor,
    decode_cursor,
    encode_cursor,
    locate_text,
    parse_text_position,
    read_after,
)
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.search_words import SearchWords, TextMatch, build_parameters, drop_repeated
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.knowledge.context import RequestedPaths, parse_requested_paths
from groundplan.knowledge.entities import (
    Atom,
    ChangelogEntry,
    ChangelogLine,
    Molecule,
    build_atoms,
    build_molecules,
    drop_parts,
    load_atom,
    load_atoms,
    load_entries,
    load_latest_entries,
    load_molecule,
    load_molecules,
    load_names,
    missing_entity,
    refuse_other_project,
    resolve_entity_project,
    validate_molecule_id,
)
from groundplan.knowledge.freshness import Freshness, FreshnessState, assess_freshness, load_freshness
from groundplan.knowledge.patterns import match_atoms
from groundplan.knowledge.requests import (
    CHANGELOG_LIMIT_DEFAULT,
    LIMIT,
    ChangelogLimit,
    KnowledgeEntityType,
    Limit,
    Offset,
    drop_foreign_fields,
    parse_id,
)
from groundplan.knowledge.words import build_word_match, parse_query_words

ATOM_CHARS_MIN = 240  # of an atom without the parts that can be dropped: its id, tasks and timestamps
NO_LIMIT = 2**31
QUERY_WORDS_MAX = 128
KEYS_PER_PROJECT = 2**32  # keys of the word index that each project has
LIST_NAME = "knowledge.list"
LISTED = 100
LISTED_MAX = 1_000

sql = load_queries(__file__)


class GetKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """The atom or molecule to get, and the number of changelog entries to include."""

    entity_type: KnowledgeEntityType
    id: str
    project_id: Name | None = None
    include_changelog: bool = True
    changelog_limit: ChangelogLimit = CHANGELOG_LIMIT_DEFAULT


class KnowledgeDetails(Struct, rename="camel"):
    """An atom, or a molecule with its atoms sorted by name."""

    trimming: ClassVar[Trimming] = Trimming(
        DropField("changelog"), *drop_parts("atoms[]", "atom", "molecule"), CutLists(("atoms",))
    )

    atom: Atom | UnsetType = UNSET
    molecule: Molecule | UnsetType = UNSET
    atoms: list[Atom] | UnsetType = UNSET
    changelog: list[ChangelogLine] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


def get(tx: Transaction, request: GetKnowledge) -> KnowledgeDetails:
    """Return an atom or a molecule.

    Raises:
        NotFound: the entity does not exist.
    """
    id_ = parse_id(request.id, ("id",))
    refuse_other_project(tx, request.project_id, request.entity_type, id_)
    if request.entity_type is KnowledgeEntityType.ATOM:
        rows = [load_atom(tx, id_)]
        details = KnowledgeDetails(atom=build_atoms(tx, rows, assess_freshness(tx, rows))[0])
    else:
        details = _get_molecule(tx, id_)
    if request.include_changelog:
        entries = load_latest_entries(tx, request.entity_type, [id_], entries_max=request.changelog_limit)
        details.changelog = entries[id_]
    return details


def _get_molecule(tx: Transaction, id_: str) -> KnowledgeDetails:
    """Return a molecule with the first of its atoms, as many as could fit into the answer."""
    molecule = build_molecules(tx, [load_molecule(tx, id_)])[0]
    limit = int(min(NO_LIMIT, tx.budget.free_chars / ATOM_CHARS_MIN + 1))
    members, count = load_page(tx, sql.atoms_of_molecule, molecule_id=id_, limit=limit, offset=0)
    rows = load_atoms(tx, members)
    atoms = build_atoms(tx, rows, assess_freshness(tx, rows))
    return KnowledgeDetails(
        molecule=molecule, atoms=atoms, left_out={"atoms": count - limit} if count > limit else UNSET
    )


GET = declare(
    get,
    name="knowledge.get",
    summary="Get one atom, or a molecule with its atoms.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.id, "id"),
    tool=Tool("query_graph", Group.KNOWLEDGE, "get"),
    http=Route("GET", "/projects/{project}/knowledge/{entityType}s/{id}"),
)


class SearchKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """The search. Each word of the query must begin a word in the entity or, with four letters, be inside of one."""

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
    """Return the query and parameters of a search. There is no query if the search text has no words."""
    is_atom = request.entity_type is KnowledgeEntityType.ATOM
    request = drop_foreign_fields(request, request.entity_type)
    if request.molecule_id and request.orphans_only:
        raise invalid_argument(("orphansOnly",), "and moleculeId exclude each other; send only one of them")
    molecule_id = validate_molecule_id(tx, request.molecule_id) if request.molecule_id else None
    if request.query is not None and request.query.strip():
        in_molecule = {"is_narrowed": request.orphans_only or molecule_id is not None, "molecule_id": molecule_id}
        parameters = _build_word_parameters(tx, request.query)
        if parameters is None:
            return None, {}
        return (sql.atoms_with_words, parameters | in_molecule) if is_atom else (sql.molecules_with_words, parameters)
    if not is_atom:
        return sql.molecules_by_name, {}
    if request.orphans_only or molecule_id is not None:
        return sql.atoms_of_molecule, {"molecule_id": molecule_id}
    return sql.atoms_by_name, {}


def _build_word_parameters(tx: Transaction, query: str) -> dict[str, Any] | None:
    """Return the parameters of a search for words, or None if it finds nothing, because it has no words."""
    words = parse_query_words(query)
    if len(words) > QUERY_WORDS_MAX:
        wrong = f"has {len(words)} words, the limit is {QUERY_WORDS_MAX}; remove some"
        raise invalid_argument(("query",), wrong, code="too_many", limit=QUERY_WORDS_MAX)
    number = tx.scalar(sql.project_number, project_id=tx.project.id)
    if not words or number is None:
        return None
    return {
        **build_word_match(words)._asdict(),
        "first_key": number * KEYS_PER_PROJECT,
        "last_key": (number + 1) * KEYS_PER_PROJECT - 1,
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
    return sorted(items, key=lambda item: ids.index(item.id))


SEARCH = declare(
    search,
    name="knowledge.search",
    summary="Search atoms or molecules by words, by molecule, or orphans.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    tool=Tool("query_graph", Group.KNOWLEDGE, "search"),
    http=Route("GET", "/projects/{project}/knowledge/{entityType}s"),
)


class ListAtoms(Struct, rename="camel", forbid_unknown_fields=True):
    """The project whose atoms to list, the states of freshness and the paths to list them for, and the page."""

    project_id: Name
    freshness: Annotated[list[FreshnessState], Meta(max_length=len(FreshnessState))] = []
    paths: RequestedPaths | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=LISTED_MAX)] = LISTED
    cursor: Cursor = None


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
        TooCostly: matching the paths would take too long.
    """
    states = sorted({state.value for state in request.freshness})
    paths = None if request.paths is UNSET else parse_requested_paths(request.paths, tx.preferences.working_copy)
    ids = [] if paths is None else sorted({id_ for matched in match_atoms(tx, paths).values() for id_ in matched})
    query = [states, paths] if states or paths else None
    after = BEFORE_ALL
    if request.cursor is not None:
        after = parse_text_position(decode_cursor(tx, LIST_NAME, query, request.cursor))
    rows = read_after(
        after,
        lambda at_most: tx.all(
            sql.atom_summaries,
            AtomSummaryRow,
            project_id=tx.project.id,
            has_ids=paths is not None,
            ids=to_json_array(ids),
            has_states=bool(states),
            states=to_json_array(states),
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
        cursor_after=lambda last: encode_cursor(tx, LIST_NAME, query, *locate_text(last.name, last.id)),
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


LIST = declare(
    list_atoms,
    name=LIST_NAME,
    summary="List the atoms with their patterns and freshness.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/knowledge/freshness"),
)


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
    entries, count = load_entries(tx, request.parent_type, parent_id, limit=request.limit, offset=request.offset)
    page = Entries([], count, request.limit, request.offset, count)
    page.entries = tx.budget.reserve(page).take_rows(entries, at_least=1)
    end = request.offset + len(page.entries)
    page.next_offset = end if end < count else UNSET
    return page


SEARCH_CHANGELOG = declare(
    search_changelog,
    name="knowledge.search_changelog",
    summary="Read the entries, newest first.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_entity_project(tx, request.parent_type, request.parent_id, "parentId"),
    tool=Tool("manage_changelog", Group.KNOWLEDGE, "search"),
    http=Route("GET", "/projects/{project}/knowledge/{parentType}s/{parentId}/changelog"),
)


class _MatchedEntity(Struct):
    project_id: str
    ref: str
    kind: str
    title: str


def find_entities(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return matching atoms and molecules of some projects. As in `knowledge.search`, words may be incomplete.

    Those where all words begin words come first, and among them those with all words in their names; those with the
    words in their changelog come last.
    """
    asked = build_parameters(projects, words)
    rows: list[_MatchedEntity] = []
    if entity_id := parse_uuid(words.text):
        rows += tx.all(sql.entities_with_id, _MatchedEntity, projects=asked["projects"], id=entity_id)
    if parsed := parse_query_words(words.text):
        rows += tx.all(sql.entities_with_words, _MatchedEntity, **asked, **build_word_match(parsed)._asdict())
    texts: dict[str, str] = dict(tx.all(sql.entity_texts, ids=to_json_array(row.ref for row in rows)))
    matches = [TextMatch(row.project_id, row.ref, row.kind, row.title, texts[row.ref]) for row in rows]
    if len(matches) < asked["per_project"]:  # entries are read whole, and their atoms come last
        matches += tx.all(sql.entities_with_entries, TextMatch, **asked)
    return drop_repeated(matches)
