"""The knowledge about files: the atoms that match them, grouped by molecule.

Other slices ask with paths that people wrote into a text, so none of those is refused: a path that cannot be matched is
returned as unmatched.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Budget, CutLists, LeftOut, Trimming, trim
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.text_limits import Name, too_many_characters
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.preferences import RepositoryPaths
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.knowledge.entities import (
    Atom,
    AtomRelation,
    AtomRow,
    ChangelogLine,
    Molecule,
    MoleculeRelation,
    build_atoms,
    build_molecules,
    drop_parts,
    load_atoms,
    load_latest_entries,
    load_molecules,
)
from groundplan.knowledge.freshness import Freshness, assess_freshness
from groundplan.knowledge.paths.names import (
    PATH_CHARS_MAX,
    PATHS_MAX,
    parse_paths,
    replace_patterns,
    warn_about_outside_paths,
)
from groundplan.knowledge.patterns import TooCostly, match_atoms
from groundplan.knowledge.requests import CHANGELOG_LIMIT_DEFAULT, ChangelogLimit, KnowledgeEntityType

ATOM_CHARS_MIN = 200  # of a matched atom without the parts that can be dropped
PATHS_CHARS_MAX = 65_536  # over all paths, because the cost of matching grows with them
READ_AT_ONCE = 4  # times the atoms that can be shown: to read so many costs less than to choose among them

RequestedPaths = Annotated[str | list[Any], Meta(extra_json_schema={"items": {"type": "string"}})]

sql = load_queries(__file__)


class GetFileKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """The files and folders, as an array or as text separated by commas or line breaks."""

    project_id: Name
    paths: RequestedPaths
    include_changelog: bool = True
    changelog_limit: ChangelogLimit = CHANGELOG_LIMIT_DEFAULT


class MatchedAtom(Struct, rename="camel", kw_only=True):
    """An atom and the paths that match it."""

    id: str
    name: str
    version: int
    updated_by: str
    knowledge: str | UnsetType = UNSET
    matched_paths: list[str] | UnsetType = UNSET
    related_atoms: list[AtomRelation] | UnsetType = UNSET
    changelog: list[ChangelogLine] | UnsetType = UNSET
    freshness: Freshness | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


class MatchedMolecule(Struct, rename="camel", kw_only=True):
    """A molecule with its matched atoms, sorted by name."""

    id: str
    name: str
    version: int
    updated_by: str
    knowledge: str | UnsetType = UNSET
    related_molecules: list[MoleculeRelation] | UnsetType = UNSET
    changelog: list[ChangelogLine] | UnsetType = UNSET
    atoms: list[MatchedAtom]
    left_out: LeftOut = field(name="left_out", default=UNSET)


class FileKnowledge(Struct, rename="camel"):
    """The knowledge about files, sorted by name, and the files that no atom matches."""

    trimming: ClassVar[Trimming] = Trimming(
        *drop_parts("orphan_atoms[]", "molecules[].atoms[]", "molecules[]"),
        CutLists(("molecules[].atoms", "orphan_atoms", "unmatched_paths")),
        CutLists(("molecules",)),
    )

    molecules: list[MatchedMolecule]
    orphan_atoms: list[MatchedAtom]
    unmatched_paths: list[str]
    warnings: list[str] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


def context(tx: Transaction, request: GetFileKnowledge) -> FileKnowledge:
    """Return the atoms that match paths, grouped by molecule.

    Raises:
        TooCostly: matching would take too long.
    """
    of_each = request.changelog_limit if request.include_changelog else None
    working_copy = tx.preferences.working_copy
    paths = parse_requested_paths(request.paths, working_copy)
    answer = build_file_knowledge(tx, match_atoms(tx, paths), changelog_limit=of_each)
    answer.warnings = warn_about_outside_paths(paths, working_copy) or UNSET
    return answer


def build_file_knowledge(
    tx: Transaction, matches: Mapping[str, Collection[str]], *, changelog_limit: int | None
) -> FileKnowledge:
    """Return the knowledge about paths: the matching atoms and their molecules.

    Each has the latest `changelog_limit` entries of its changelog; None leaves the changelogs out.
    """
    matched: dict[str, list[str]] = {}
    for path, atom_ids in matches.items():
        for atom_id in atom_ids:
            matched.setdefault(atom_id, []).append(path)
    chosen, left_over = _choose_first(tx, matched)
    rows = load_atoms(tx, chosen)
    atoms = build_atoms(tx, rows, assess_freshness(tx, rows))
    molecules = build_molecules(tx, load_molecules(tx, {atom.molecule_id for atom in atoms if atom.molecule_id}))
    entries: dict[str, list[ChangelogLine]] = {}
    if changelog_limit is not None:
        entries = load_latest_entries(tx, KnowledgeEntityType.ATOM, chosen, entries_max=changelog_limit)
        entries |= load_latest_entries(
            tx, KnowledgeEntityType.MOLECULE, [molecule.id for molecule in molecules], entries_max=changelog_limit
        )
    members: dict[str | None, list[MatchedAtom]] = {None: []}
    for atom in atoms:
        atom.changelog = entries.get(atom.id, UNSET)
        shown = MatchedAtom(**_get_shared_fields(atom, MatchedAtom), matched_paths=matched[atom.id])
        members.setdefault(atom.molecule_id, []).append(shown)
    for molecule in molecules:
        molecule.changelog = entries.get(molecule.id, UNSET)
    return FileKnowledge(
        [
            MatchedMolecule(**_get_shared_fields(molecule, MatchedMolecule), atoms=members[molecule.id])
            for molecule in molecules
        ],
        members[None],
        [path for path, atom_ids in matches.items() if not atom_ids],
        left_out={"atoms": left_over} if left_over else UNSET,
    )


def _choose_first(tx: Transaction, matched: Collection[str]) -> tuple[list[str], int]:
    """Return the first atoms, as many as could fit into the answer, and the number of other atoms.

    They are chosen before their texts are read, because most texts of very many atoms would be read in vain.
    """
    at_most = int(min(len(matched), tx.budget.free_chars / ATOM_CHARS_MIN))
    if len(matched) <= at_most:
        return list(matched), 0
    ids = tx.scalars(sql.first_matched_atoms, project_id=tx.project.id, ids=to_json_array(matched), at_most=at_most)
    return ids, len(matched) - at_most


def _get_shared_fields(entity: Atom | Molecule, matched: type[Struct]) -> dict[str, Any]:
    """Return the fields that an entity shares with its form in answers about paths."""
    return {name: getattr(entity, name) for name in matched.__struct_fields__ if hasattr(entity, name)}


def parse_requested_paths(requested: str | list[Any], working_copy: RepositoryPaths | None) -> dict[str, bool | None]:
    """Return the requested paths, within the limits, and whether each is a folder, as `parse_paths` does."""
    if isinstance(requested, list):
        for index, path in enumerate(requested):
            if not isinstance(path, str):
                raise invalid_argument(("paths", index), "must be a string")
    paths = parse_paths(requested, working_copy)
    validate_value({"paths": list(paths)})  # an array inside a string was not validated with the request
    if not paths:
        raise invalid_argument(("paths",), "contains no path; send at least one, such as src/a.ts,src/b.ts")
    if len(paths) > PATHS_MAX:
        wrong = f"has {len(paths)} elements, the limit is {PATHS_MAX}; split them over several calls"
        raise invalid_argument(("paths",), wrong, code="too_many", limit=PATHS_MAX)
    for path in paths:
        if len(path) > PATH_CHARS_MAX:
            raise too_many_characters(("paths",), PATH_CHARS_MAX, len(path))
    if (total := sum(map(len, paths))) > PATHS_CHARS_MAX:
        raise too_many_characters(("paths",), PATHS_CHARS_MAX, total)
    return paths


CONTEXT = declare(
    context,
    name="knowledge.context",
    summary="Return the knowledge about files (paths: comma separated).",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    tool=Tool("query_graph", Group.KNOWLEDGE, "context"),
    http=Route("GET", "/projects/{project}/knowledge/context"),
)


class FileAtom(NamedTuple):
    """An atom, the result of its last check, and its text."""

    id: str
    name: str
    molecule_id: str | None
    freshness: Freshness | None
    knowledge: str


class AtomsOfFiles(NamedTuple):
    """The first atoms that match some files, and the total number of matching atoms."""

    atoms: list[FileAtom]
    total: int


def find_knowledge_of_files(tx: Transaction, paths: list[str], budget: Budget) -> FileKnowledge:
    """Return the knowledge of the current project about files."""
    parsed = parse_paths(paths, tx.preferences.working_copy)
    matches: dict[str, list[str]] = {path: [] for path in parsed}
    with suppress(TooCostly):  # only knowledge.context reports it
        matches |= match_atoms(tx, _limit_paths(parsed))
    answer = build_file_knowledge(tx, matches, changelog_limit=CHANGELOG_LIMIT_DEFAULT)
    trim(answer, budget)
    return answer


def load_atoms_of_files(tx: Transaction, own: Sequence[str], inherited: Sequence[str], *, at_most: int) -> AtomsOfFiles:
    """Return the first atoms that match the paths of a task. Own paths come before inherited ones.

    Texts are read only of these, however many match.
    """
    of_own = _match_ids(tx, own)
    of_others = _match_ids(tx, inherited) - of_own
    rows = _load_first(tx, of_own, at_most)
    rows += _load_first(tx, of_others, at_most - len(rows))
    freshness = assess_freshness(tx, rows)
    atoms = [FileAtom(row.id, row.name, row.molecule_id, freshness.get(row.id), row.knowledge) for row in rows]
    return AtomsOfFiles(atoms, len(of_own) + len(of_others))


def _match_ids(tx: Transaction, paths: Sequence[str]) -> set[str]:
    if not paths:
        return set()
    try:
        matches = match_atoms(tx, _limit_paths(parse_paths(replace_patterns(paths), tx.preferences.working_copy)))
    except TooCostly:  # only knowledge.context reports it
        return set()
    return {atom_id for ids in matches.values() for atom_id in ids}


def _load_first(tx: Transaction, ids: Collection[str], at_most: int) -> list[AtomRow]:
    """Return the first of some atoms. If there are very many, they are selected before their texts are read."""
    if at_most <= 0:
        return []
    if len(ids) > at_most * READ_AT_ONCE:
        ids = tx.scalars(sql.first_matched_atoms, project_id=tx.project.id, ids=to_json_array(ids), at_most=at_most)
    return load_atoms(tx, ids)[:at_most]


def has_knowledge(tx: Transaction) -> bool:
    """Return True if the current project has or had knowledge."""
    return tx.one_or_none(sql.project_number, project_id=tx.project.id) is not None


def _limit_paths(paths: Mapping[str, bool | None]) -> dict[str, bool | None]:
    """Return the first paths, as many as the limits allow."""
    accepted: dict[str, bool | None] = {}
    room = PATHS_CHARS_MAX
    for path, is_folder in paths.items():
        if len(path) <= min(room, PATH_CHARS_MAX) and len(accepted) < PATHS_MAX:
            accepted[path] = is_folder
            room -= len(path)
    return accepted
