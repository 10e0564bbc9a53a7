"""Get one atom, or one molecule with its atoms, with the latest entries of its changelog."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.atom import Atom, build_atoms, load_atom, load_atoms
from groundplan.knowledge.changelog import ChangelogLine, load_latest_entries
from groundplan.knowledge.entity import drop_parts
from groundplan.knowledge.molecule import Molecule, build_molecules, load_molecule
from groundplan.knowledge.reading.search import load_page
from groundplan.knowledge.refs import refuse_other_project, resolve_entity_project
from groundplan.knowledge.requests import CHANGELOG_LIMIT_DEFAULT, ChangelogLimit, KnowledgeEntityType, parse_id

ATOM_CHARS_MIN = 240  # of an atom without the parts that can be dropped: its id, tasks and timestamps
NO_LIMIT = 2**31

sql = load_queries(__file__)


class GetKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """The atom or molecule to get, and how many entries of its changelog."""

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
        found = KnowledgeDetails(atom=build_atoms(tx, [load_atom(tx, id_)])[0])
    else:
        found = _get_molecule(tx, id_)
    if request.include_changelog:
        entries = load_latest_entries(tx, request.entity_type, [id_], entries_max=request.changelog_limit)
        found.changelog = entries[id_]
    return found


def _get_molecule(tx: Transaction, id_: str) -> KnowledgeDetails:
    """Return a molecule with its atoms, at most as many as could fit into the answer."""
    molecule = build_molecules(tx, [load_molecule(tx, id_)])[0]
    limit = int(min(NO_LIMIT, tx.budget.free_chars / ATOM_CHARS_MIN + 1))
    members, count = load_page(tx, sql.atoms_of_molecule, molecule_id=id_, limit=limit, offset=0)
    atoms = build_atoms(tx, load_atoms(tx, members))
    return KnowledgeDetails(
        molecule=molecule, atoms=atoms, left_out={"atoms": count - limit} if count > limit else UNSET
    )


OPERATION = declare(
    get,
    name="knowledge.get",
    summary="Get one atom, or a molecule with its atoms.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.id, "id"),
    tool=Tool("query_graph", Group.KNOWLEDGE, "get"),
    command=Command(("knowledge", "get"), arguments=("id",), names={"entity_type": "type", "project_id": "project"}),
    http=Route("GET", "/projects/{project}/knowledge/{entityType}s/{id}"),
)
