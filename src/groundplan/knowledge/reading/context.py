"""What one must know to touch some files: the atoms that they are of, under their molecules."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name, too_many_characters
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import refusal
from groundplan.knowledge.atom import Atom, AtomRelation, atom_rows, atoms_shown
from groundplan.knowledge.changelog import Entry, latest_entries
from groundplan.knowledge.freshness import Freshness
from groundplan.knowledge.lightening import lighten
from groundplan.knowledge.molecule import molecule_rows
from groundplan.knowledge.paths.requested import PATH_CHARS_MAX, PATHS_MAX, requested
from groundplan.knowledge.patterns import atoms_matching
from groundplan.knowledge.requests import CHANGELOG_SHOWN, ChangelogLimit, EntityType


class Context(Struct, rename="camel", forbid_unknown_fields=True):
    """Which files, as text with commas or line breaks between them or as an array."""

    project_id: Name
    paths: str | list[Any]
    include_changelog: bool = True
    changelog_limit: ChangelogLimit = CHANGELOG_SHOWN


class MatchedAtom(Struct, rename="camel", kw_only=True):
    """An atom, and which of the paths are of it."""

    id: str
    name: str
    version: int
    knowledge: str | UnsetType
    matched_paths: list[str]
    related_atoms: list[AtomRelation] | UnsetType
    changelog: list[Entry] | UnsetType = UNSET
    freshness: Freshness | UnsetType = UNSET
    left_out: list[str] | UnsetType = UNSET  # what did not fit into the answer; query_graph get gives it


class MatchedMolecule(Struct, rename="camel", kw_only=True):
    """A molecule with those of its atoms that are meant, by name."""

    id: str
    name: str
    version: int
    knowledge: str | UnsetType
    atoms: list[MatchedAtom]
    left_out: list[str] | UnsetType = UNSET


class Known(Struct, rename="camel"):
    """What is known about some files, by name, and the files about which nothing is known."""

    molecules: list[MatchedMolecule]
    orphan_atoms: list[MatchedAtom]
    unmatched_paths: list[str]


def context(tx: Transaction, request: Context) -> Known:
    """Match paths against the patterns of every atom of the project, and walk up to the molecules."""
    paths = _paths(request.paths)
    found = atoms_matching(tx, paths)
    matched: dict[str, list[str]] = {}
    for path in paths:
        for atom_id in found[path]:
            matched.setdefault(atom_id, []).append(path)
    shown = atoms_shown(tx, atom_rows(tx, matched))
    entries: dict[str, list[Entry]] = {}
    if request.include_changelog:
        entries = latest_entries(tx, EntityType.ATOM, matched, of_each=request.changelog_limit)
    atoms = [(atom.molecule_id, _matched(atom, matched[atom.id], entries.get(atom.id, UNSET))) for atom in shown]
    molecules = [
        MatchedMolecule(
            id=row.id,
            name=row.name,
            version=row.version,
            knowledge=row.knowledge,
            atoms=[atom for molecule_id, atom in atoms if molecule_id == row.id],
        )
        for row in molecule_rows(tx, {molecule_id for molecule_id, _ in atoms if molecule_id is not None})
    ]
    known = Known(
        molecules,
        [atom for molecule_id, atom in atoms if molecule_id is None],
        [path for path in paths if not found[path]],
    )
    lighten(tx, known, [*molecules, *(atom for _, atom in atoms)])
    return known


def _matched(atom: Atom, paths: list[str], changelog: list[Entry] | UnsetType) -> MatchedAtom:
    return MatchedAtom(
        id=atom.id,
        name=atom.name,
        version=atom.version,
        knowledge=atom.knowledge,
        matched_paths=paths,
        related_atoms=atom.related_atoms,
        changelog=changelog,
        freshness=atom.freshness,
    )


def _paths(given: str | list[Any]) -> list[str]:
    if isinstance(given, list):
        for place, one in enumerate(given):
            if not isinstance(one, str):
                raise refusal(("paths", place), "must be a string")
    paths = requested(given)
    if not paths:
        raise refusal(("paths",), "names no file; send some, such as src/a.ts,src/b.ts")
    if len(paths) > PATHS_MAX:
        wrong = f"are {len(paths)}, the limit is {PATHS_MAX}; ask for some of them at a time"
        raise refusal(("paths",), wrong, code="too_many", limit=PATHS_MAX)
    for path in paths:
        if len(path) > PATH_CHARS_MAX:
            raise too_many_characters(("paths",), PATH_CHARS_MAX, len(path))
    return paths


OPERATION = Operation(
    name="knowledge.context",
    summary="What to know about some files (paths: comma separated).",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    input=Context,
    output=Known,
    handler=context,
    project=lambda _tx, request: request.project_id,
    tool=Tool("query_graph", Group.KNOWLEDGE, "context"),
    command=Command(("knowledge", "context"), arguments=("paths",), names={"project_id": "project"}),
)
