"""Take an atom or a molecule away. What it said stays in the events; its changelog is out of view with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.version import refuse_stale
from groundplan.knowledge.atom import AtomRow, atom_row, atom_rows
from groundplan.knowledge.events import Op
from groundplan.knowledge.molecule import MoleculeRow, molecule_row
from groundplan.knowledge.refs import checked_task, project_of, refuse_other_project
from groundplan.knowledge.requests import EntityType, TaskRef, Version, checked_id
from groundplan.knowledge.revision import move_on

sql = load_queries(__file__)


class Delete(Struct, rename="camel", forbid_unknown_fields=True):
    """What to delete. With `cascade` a molecule takes its atoms along; else they become orphans."""

    entity_type: EntityType
    id: str
    version: Version
    project_id: Name | None = None
    cascade: bool = False
    last_task_id: TaskRef | None = None
    op_id: OpId = field(name="op_id", default=None)


class Deleted(Struct, rename="camel"):
    """What is gone, and what became of a molecule's atoms."""

    deleted: str
    orphaned_atoms: int | UnsetType = UNSET
    deleted_atoms: int | UnsetType = UNSET


def delete(tx: Transaction, request: Delete) -> Deleted:
    """Delete an atom, or a molecule with or without its atoms.

    Raises:
        StaleVersion: it is at another version; `currentVersion` says at which.
        NotFound: it or the task is not there.
    """
    id_ = checked_id(request.id, ("id",))
    refuse_other_project(tx, request.project_id, request.entity_type, id_)
    task_id = None if request.last_task_id is None else checked_task(tx, request.last_task_id, "lastTaskId")
    if request.entity_type is EntityType.ATOM:
        atom = atom_row(tx, id_)
        refuse_stale(EntityType.ATOM, atom.id, current=atom.version, given=request.version)
        _delete_atoms(tx, [atom], move_on(tx, patterns=-atom.patterns).rev, task_id)
        return Deleted(id_)
    molecule = molecule_row(tx, id_)
    refuse_stale(EntityType.MOLECULE, molecule.id, current=molecule.version, given=request.version)
    members: dict[str, str] = dict(tx.all(sql.members, project_id=tx.project.id, molecule_id=id_))
    deleted = Deleted(id_)
    if request.cascade:
        atoms = atom_rows(tx, members)
        rev = move_on(tx, patterns=-sum(atom.patterns for atom in atoms)).rev
        _delete_atoms(tx, atoms, rev, task_id)
        deleted.deleted_atoms = len(members)
    else:
        rev = move_on(tx).rev
        _orphan(tx, members, molecule, task_id)
        deleted.orphaned_atoms = len(members)
    _delete_molecule(tx, molecule, rev, task_id)
    return deleted


def _delete_atoms(tx: Transaction, atoms: Sequence[AtomRow], rev: int, task_id: str | None) -> None:
    for atom in atoms:
        tx.record(
            Op.DELETED,
            atom.id,
            changed("entity_type", EntityType.ATOM, None),
            changed("name", atom.name, None),
            changed("molecule_id", atom.molecule_id, None),
            changed("paths", atom.path_list, None),
            changed("knowledge", atom.knowledge, None),
            changed("related_atoms", atom.relations, None),
            changed("last_task_id", atom.last_task_id, task_id),
        )
    ids = listed(atom.id for atom in atoms)
    tx.run(sql.forget_freshness, project_id=tx.project.id, ids=ids)
    tx.run(sql.delete_atoms, project_id=tx.project.id, ids=ids)
    tx.run(sql.remember_deleted, project_id=tx.project.id, ids=ids, entity_type=EntityType.ATOM.value, rev=rev)


def _orphan(tx: Transaction, members: Mapping[str, str], molecule: MoleculeRow, task_id: str | None) -> None:
    """Take atoms, which are given with the task that last touched each, out of their molecule."""
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
        changed("entity_type", EntityType.MOLECULE, None),
        changed("name", molecule.name, None),
        changed("knowledge", molecule.knowledge, None),
        changed("related_molecules", molecule.relations, None),
        changed("last_task_id", molecule.last_task_id, task_id),
    )
    tx.run(sql.delete_molecule, project_id=tx.project.id, id=molecule.id)
    ids = listed([molecule.id])
    tx.run(sql.remember_deleted, project_id=tx.project.id, ids=ids, entity_type=EntityType.MOLECULE.value, rev=rev)


OPERATION = Operation(
    name="knowledge.delete",
    summary="Delete one; a molecule's atoms become orphans, or go with it (cascade).",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.DESTROY,
    input=Delete,
    output=Deleted,
    handler=delete,
    project=lambda tx, request: project_of(tx, request.entity_type, request.id, "id"),
    tool=Tool("manage_graph", Group.KNOWLEDGE, "delete"),
    command=Command(
        ("knowledge", "delete"),
        arguments=("id",),
        names={"entity_type": "type", "project_id": "project", "last_task_id": "task"},
    ),
)
