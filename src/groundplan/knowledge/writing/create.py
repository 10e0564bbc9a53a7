"""Create an atom or a molecule."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.atom import Atom, AtomRow, build_atoms
from groundplan.knowledge.entity import drop_parts
from groundplan.knowledge.events import Op
from groundplan.knowledge.molecule import Molecule, MoleculeRow, build_molecules
from groundplan.knowledge.refs import resolve_task_id, validate_molecule_id
from groundplan.knowledge.relations import encode_relations, validate_related_atoms, validate_related_molecules
from groundplan.knowledge.requests import (
    KnowledgeEntityType,
    MoleculeRef,
    Patterns,
    RelatedAtoms,
    RelatedMolecules,
    TaskRef,
    normalize_knowledge,
    parse_patterns,
    refuse_foreign_fields,
)
from groundplan.knowledge.revision import advance_revision
from groundplan.knowledge.words import build_word_index
from groundplan.knowledge.writing.folder_patterns import warn_about_folder_patterns

sql = load_queries(__file__)


class CreateKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """A new atom or molecule. Paths, a molecule and related atoms are for atoms; related molecules for molecules."""

    entity_type: KnowledgeEntityType
    project_id: Name
    name: Name
    created_by_task_id: TaskRef
    paths: Patterns | UnsetType = UNSET
    knowledge: str = ""
    molecule_id: MoleculeRef = None
    related_atoms: RelatedAtoms | UnsetType = UNSET
    related_molecules: RelatedMolecules | UnsetType = UNSET
    op_id: OpId = field(name="op_id", default=None)


class WrittenKnowledge(Struct):
    """The written atom or molecule."""

    trimming: ClassVar[Trimming] = Trimming(*drop_parts("atom", "molecule"))

    atom: Atom | UnsetType = UNSET
    molecule: Molecule | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET


def create(tx: Transaction, request: CreateKnowledge) -> WrittenKnowledge:
    """Create an atom or a molecule.

    Raises:
        EmptyPaths: an atom has no pattern.
        TooManyPatterns: the project would exceed its limit of patterns.
        NotFound: the task, the molecule or a related entity does not exist.
        OtherProject: the molecule or a related entity belongs to another project.
    """
    if request.entity_type is KnowledgeEntityType.ATOM:
        atom = _create_atom(tx, request)
        warnings = warn_about_folder_patterns(atom.paths or (), tx.preferences.working_copy)
        return WrittenKnowledge(atom=atom, warnings=warnings)
    return WrittenKnowledge(molecule=_create_molecule(tx, request))


def _create_atom(tx: Transaction, request: CreateKnowledge) -> Atom:
    refuse_foreign_fields(KnowledgeEntityType.ATOM, {"relatedMolecules": request.related_molecules is not UNSET})
    if request.paths is UNSET:
        raise missing_argument("paths", (), expected="an array of path patterns, such as src/area/**")
    id_ = new_uuid()
    paths, patterns = parse_patterns(request.paths, tx.preferences.working_copy)
    related = [] if request.related_atoms is UNSET else validate_related_atoms(tx, request.related_atoms, own_id=id_)
    common = _build_common_columns(tx, request, id_)
    molecule_id = validate_molecule_id(tx, request.molecule_id) if request.molecule_id else None
    revision = advance_revision(tx, numbers=1, patterns=patterns)
    row = AtomRow(
        **common,
        molecule_id=molecule_id,
        patterns=patterns,
        patterns_rev=revision.rev,
        paths=to_json_array(paths),
        related_atoms=encode_relations(related),
    )
    _store(tx, sql.add_atom, row, n=revision.last_n)
    tx.record(
        Op.CREATED,
        id_,
        changed("entity_type", None, KnowledgeEntityType.ATOM),
        changed("name", None, row.name),
        changed("molecule_id", None, molecule_id),
        changed("paths", None, paths),
        changed("knowledge", None, row.knowledge),
        changed("related_atoms", None, related),
        changed("created_by_task_id", None, row.created_by_task_id),
    )
    return build_atoms(tx, [row])[0]


def _create_molecule(tx: Transaction, request: CreateKnowledge) -> Molecule:
    refuse_foreign_fields(
        KnowledgeEntityType.MOLECULE,
        {
            "paths": request.paths is not UNSET,
            "moleculeId": request.molecule_id is not None,
            "relatedAtoms": request.related_atoms is not UNSET,
        },
    )
    id_ = new_uuid()
    given = request.related_molecules
    related = [] if given is UNSET else validate_related_molecules(tx, given, own_id=id_)
    row = MoleculeRow(**_build_common_columns(tx, request, id_), related_molecules=encode_relations(related))
    _store(tx, sql.add_molecule, row, n=advance_revision(tx, numbers=1).last_n)
    tx.record(
        Op.CREATED,
        id_,
        changed("entity_type", None, KnowledgeEntityType.MOLECULE),
        changed("name", None, row.name),
        changed("knowledge", None, row.knowledge),
        changed("related_molecules", None, related),
        changed("created_by_task_id", None, row.created_by_task_id),
    )
    return build_molecules(tx, [row])[0]


def _build_common_columns(tx: Transaction, request: CreateKnowledge, id_: str) -> dict[str, Any]:
    """Return the columns that atoms and molecules both have."""
    knowledge = normalize_knowledge(request.knowledge)
    task_id = resolve_task_id(tx, request.created_by_task_id, "createdByTaskId")
    return {
        "id": id_,
        "created_by_task_id": task_id,
        "created_at": tx.now,
        "created_by": tx.actor.id,
        "name": request.name,
        "version": 1,
        "last_task_id": task_id,
        "updated_at": tx.now,
        "updated_by": tx.actor.id,
        "knowledge": knowledge,
    }


def _store(tx: Transaction, query: Query, row: AtomRow | MoleculeRow, *, n: int) -> None:
    tx.run_with_record(query, row, project_id=tx.project.id, n=n, words=build_word_index(row.name, row.knowledge))


OPERATION = declare(
    create,
    name="knowledge.create",
    summary="Create an atom (an area by its paths) or a molecule (a group of atoms).",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    tool=Tool("manage_graph", Group.KNOWLEDGE, "create"),
    command=Command(
        ("knowledge", "create"),
        texts=("knowledge",),
        patterns=("paths",),
        arguments=("name",),
        names={
            "entity_type": "type",
            "project_id": "project",
            "created_by_task_id": "task",
            "paths": "path",
            "molecule_id": "molecule",
        },
    ),
    http=Route(
        "POST",
        "/projects/{project}/knowledge/{entityType}s",
        location="/projects/{project}/knowledge/{entityType}s/{*.id}",
    ),
)
