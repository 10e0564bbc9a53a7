"""Delete an atom or a molecule. The events keep its content; its changelog is hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import refuse_stale
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.atom import AtomRow, load_atom, load_atoms
from groundplan.knowledge.events import Op
from groundplan.knowledge.molecule import MoleculeRow, load_molecule
from groundplan.knowledge.refs import refuse_other_project, resolve_entity_project, resolve_task_id
from groundplan.knowledge.requests import KnowledgeEntityType, TaskRef, Version, parse_id
from groundplan.knowledge.revision import advance_revision

DECISION_BYTES_MAX = 4_096

sql = load_queries(__file__)


class DeleteKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """The entity to delete. With `cascade` the atoms of a molecule are deleted too; else they become orphans."""

    entity_type: KnowledgeEntityType
    id: str
    version: Version
    project_id: Name | None = None
    cascade: bool = False
    last_task_id: TaskRef | None = None
    decision: Annotated[str, MaxBytes(DECISION_BYTES_MAX)] | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeletedKnowledge(Struct, rename="camel"):
    """The id of the deleted entity, and how many atoms of a molecule were orphaned or deleted."""

    deleted: str
    orphaned_atoms: int | UnsetType = UNSET
    deleted_atoms: int | UnsetType = UNSET


def delete(tx: Transaction, request: DeleteKnowledge) -> DeletedKnowledge:
    """Delete an atom, or a molecule with or without its atoms.

    Raises:
        StaleVersion: the entity has another version, given in `currentVersion`.
        NotFound: the entity or the task does not exist.
        OtherProject: the task belongs to another project.
    """
    id_ = parse_id(request.id, ("id",))
    refuse_other_project(tx, request.project_id, request.entity_type, id_)
    if request.decision is not None:
        tx.default_decision = request.decision
    if request.entity_type is KnowledgeEntityType.ATOM:
        atom = load_atom(tx, id_)
        refuse_stale(KnowledgeEntityType.ATOM, atom.id, current=atom.version, given=request.version)
        task_id = _resolve_last_task(tx, request)
        _delete_atoms(tx, [atom], advance_revision(tx, patterns=-atom.patterns).rev, task_id)
        return DeletedKnowledge(id_)
    molecule = load_molecule(tx, id_)
    refuse_stale(KnowledgeEntityType.MOLECULE, molecule.id, current=molecule.version, given=request.version)
    task_id = _resolve_last_task(tx, request)
    members: dict[str, str] = dict(tx.all(sql.atoms_of_molecule, project_id=tx.project.id, molecule_id=id_))
    deleted = DeletedKnowledge(id_)
    if request.cascade:
        atoms = load_atoms(tx, members)
        rev = advance_revision(tx, patterns=-sum(atom.patterns for atom in atoms)).rev
        _delete_atoms(tx, atoms, rev, task_id)
        deleted.deleted_atoms = len(members)
    else:
        rev = advance_revision(tx).rev
        _orphan(tx, members, molecule, task_id)
        deleted.orphaned_atoms = len(members)
    _delete_molecule(tx, molecule, rev, task_id)
    return deleted


def _resolve_last_task(tx: Transaction, request: DeleteKnowledge) -> str | None:
    return None if request.last_task_id is None else resolve_task_id(tx, request.last_task_id, "lastTaskId")


def _delete_atoms(tx: Transaction, atoms: Sequence[AtomRow], rev: int, task_id: str | None) -> None:
    for atom in atoms:
        tx.record(
            Op.DELETED,
            atom.id,
            changed("entity_type", KnowledgeEntityType.ATOM, None),
            changed("name", atom.name, None),
            changed("molecule_id", atom.molecule_id, None),
            changed("paths", atom.path_list, None),
            changed("knowledge", atom.knowledge, None),
            changed("related_atoms", atom.relations, None),
            changed("last_task_id", atom.last_task_id, task_id),
        )
    ids = to_json_array(atom.id for atom in atoms)
    tx.run(sql.delete_freshness, project_id=tx.project.id, ids=ids)
    tx.run(sql.delete_atoms, project_id=tx.project.id, ids=ids)
    tx.run(sql.insert_deleted, project_id=tx.project.id, ids=ids, entity_type=KnowledgeEntityType.ATOM.value, rev=rev)


def _orphan(tx: Transaction, members: Mapping[str, str], molecule: MoleculeRow, task_id: str | None) -> None:
    """Remove atoms, given with the last task of each, from their molecule."""
    tx.run(sql.orphan_members, project_id=tx.project.id, molecule_id=molecule.id, task_id=task_id)
    for member, last_task_id in members.items():
        changes = [changed("molecule_id", molecule.id, None)]
        if task_id not in (None, last_task_id):
            changes.append(changed("last_task_id", last_task_id, task_id))
        tx.record(Op.ORPHANED, member, *changes)


def _delete_molecule(tx: Transaction, molecule: MoleculeRow, rev: int, task_id: str | None) -> None:
    tx.record(
        Op.DELETED,
        molecule.id,
        changed("entity_type", KnowledgeEntityType.MOLECULE, None),
        changed("name", molecule.name, None),
        changed("knowledge", molecule.knowledge, None),
        changed("related_molecules", molecule.relations, None),
        changed("last_task_id", molecule.last_task_id, task_id),
    )
    tx.run(sql.delete_molecule, project_id=tx.project.id, id=molecule.id)
    ids = to_json_array([molecule.id])
    tx.run(
        sql.insert_deleted, project_id=tx.project.id, ids=ids, entity_type=KnowledgeEntityType.MOLECULE.value, rev=rev
    )


OPERATION = declare(
    delete,
    name="knowledge.delete",
    summary="Delete one; the atoms of a molecule become orphans, or are deleted too (cascade).",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.id, "id"),
    tool=Tool("manage_graph", Group.KNOWLEDGE, "delete"),
    command=Command(
        ("knowledge", "delete"),
        arguments=("id",),
        names={"entity_type": "type", "project_id": "project", "last_task_id": "task"},
    ),
    http=Route("DELETE", "/projects/{project}/knowledge/{entityType}s/{id}"),
)
