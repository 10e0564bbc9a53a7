"""One atom or molecule with its latest changelog; a molecule with its atoms."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import Cut, Drop, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.atom import Atom, atom_row, atom_rows, atoms_shown
from groundplan.knowledge.changelog import Entry, latest_entries
from groundplan.knowledge.molecule import Molecule, molecule_row, molecules_shown
from groundplan.knowledge.reading.search import page_of
from groundplan.knowledge.refs import project_of, refuse_other_project
from groundplan.knowledge.requests import CHANGELOG_SHOWN, ChangelogLimit, EntityType, checked_id
from groundplan.knowledge.trimming import drop_parts

ATOM_CHARS_MIN = 240  # of an atom without all that can be left out: its id, its tasks, its moments
ALL = 2**31

sql = load_queries(__file__)


class Get(Struct, rename="camel", forbid_unknown_fields=True):
    """Which atom or molecule, and how much of its changelog."""

    entity_type: EntityType
    id: str
    project_id: Name | None = None
    include_changelog: bool = True
    changelog_limit: ChangelogLimit = CHANGELOG_SHOWN


class Found(Struct, rename="camel"):
    """An atom, or a molecule with its atoms by name."""

    trimming: ClassVar[Trimming] = Trimming(
        Drop("changelog"), *drop_parts("atoms[]", "atom", "molecule"), Cut(("atoms",))
    )

    atom: Atom | UnsetType = UNSET
    molecule: Molecule | UnsetType = UNSET
    atoms: list[Atom] | UnsetType = UNSET
    changelog: list[Entry] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


def get(tx: Transaction, request: Get) -> Found:
    """One atom or molecule.

    Raises:
        NotFound: it is not there.
    """
    id_ = checked_id(request.id, ("id",))
    refuse_other_project(tx, request.project_id, request.entity_type, id_)
    if request.entity_type is EntityType.ATOM:
        found = Found(atom=atoms_shown(tx, [atom_row(tx, id_)])[0])
    else:
        found = _molecule(tx, id_)
    if request.include_changelog:
        entries = latest_entries(tx, request.entity_type, [id_], of_each=request.changelog_limit)
        found.changelog = entries[id_]
    return found


def _molecule(tx: Transaction, id_: str) -> Found:
    """A molecule with its atoms; where answers have a cap, no more than could ever fit."""
    molecule = molecules_shown(tx, [molecule_row(tx, id_)])[0]
    limit = int(min(ALL, tx.budget.free_chars / ATOM_CHARS_MIN + 1))
    members, count = page_of(tx, sql.atoms_of_molecule, molecule_id=id_, limit=limit, offset=0)
    atoms = atoms_shown(tx, atom_rows(tx, members))
    return Found(molecule=molecule, atoms=atoms, left_out={"atoms": count - limit} if count > limit else UNSET)


OPERATION = Operation(
    name="knowledge.get",
    summary="One atom, or a molecule with its atoms.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    input=Get,
    output=Found,
    handler=get,
    project=lambda tx, request: project_of(tx, request.entity_type, request.id, "id"),
    tool=Tool("query_graph", Group.KNOWLEDGE, "get"),
    command=Command(("knowledge", "get"), arguments=("id",), names={"entity_type": "type", "project_id": "project"}),
)
