"""Bring knowledge up to date, if nobody else did since it was read."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.input_gate.shapes import missing
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.version import refuse_stale
from groundplan.kernel.wording import refusal
from groundplan.knowledge.atom import Atom, AtomRow, atom_row, atoms_shown
from groundplan.knowledge.entity import OneEntity, shown
from groundplan.knowledge.events import Op
from groundplan.knowledge.molecule import Molecule, MoleculeRow, molecule_row, molecules_shown
from groundplan.knowledge.refs import checked_molecule, checked_task, project_of, refuse_other_project
from groundplan.knowledge.relations import checked_atoms, checked_molecules, kept
from groundplan.knowledge.requests import (
    KNOWLEDGE_BYTES_MAX,
    EntityType,
    MoleculeRef,
    Patterns,
    RelatedAtoms,
    RelatedMolecules,
    TaskRef,
    Version,
    checked_commit,
    checked_id,
    checked_knowledge,
    checked_paths,
    refuse_foreign,
)
from groundplan.knowledge.revision import move_on
from groundplan.knowledge.words import stored_words

sql = load_queries(__file__)

# What an update can change, with its name on the wire; a molecule of null is a change too.
CHANGING = {
    "name": "name",
    "knowledge": "knowledge",
    "paths": "paths",
    "related_atoms": "relatedAtoms",
    "related_molecules": "relatedMolecules",
    "last_task_id": "lastTaskId",
    "confirm": "confirm",
}


class KnowledgeMode(StrEnum):
    """What becomes of the knowledge that is there."""

    OVERWRITE = "overwrite"
    APPEND = "append"


class Update(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes to one atom or molecule; what is left out stays. A molecule of null makes the atom an orphan."""

    entity_type: EntityType
    id: str
    version: Version
    project_id: Name | None = None
    name: Name | UnsetType = UNSET
    paths: Patterns | UnsetType = UNSET
    knowledge: str | UnsetType = UNSET
    knowledge_mode: KnowledgeMode = KnowledgeMode.OVERWRITE
    molecule_id: MoleculeRef | UnsetType = UNSET
    related_atoms: RelatedAtoms | UnsetType = UNSET
    related_molecules: RelatedMolecules | UnsetType = UNSET
    last_task_id: TaskRef | None = None
    confirm: str | UnsetType = UNSET
    op_id: OpId = field(name="op_id", default=None)


def update(tx: Transaction, request: Update) -> OneEntity:
    """Change an atom or a molecule, and raise its version by one.

    Raises:
        StaleVersion: it is at another version; `currentVersion` says at which.
        EmptyPaths: an atom would be left without a pattern.
        TooManyPatterns: the project would have more than can be kept.
        NotFound: it, the task, the molecule or something related is not there.
        OtherProject: the molecule or something related is of another project.
        RelatedToItself: it would be related to itself.
    """
    id_ = checked_id(request.id, ("id",))
    refuse_other_project(tx, request.project_id, request.entity_type, id_)
    if request.entity_type is EntityType.ATOM:
        return shown(tx, OneEntity(atom=_atom(tx, request, id_)))
    return shown(tx, OneEntity(molecule=_molecule(tx, request, id_)))


def _atom(tx: Transaction, request: Update, id_: str) -> Atom:
    refuse_foreign(EntityType.ATOM, {"relatedMolecules": request.related_molecules is not UNSET})
    row = atom_row(tx, id_)
    refuse_stale(EntityType.ATOM, row.id, current=row.version, given=request.version)
    values = _common(tx, row, request)
    changes = _changes(row, values)
    if request.paths is not UNSET:
        paths, values["patterns"] = checked_paths(request.paths)
        values["paths"] = listed(paths)
        changes += _moved("paths", row.path_list, paths)
    if request.molecule_id is not UNSET:
        given = request.molecule_id
        values["molecule_id"] = checked_molecule(tx, given) if given else None  # an empty text stands for null
        changes += _moved("molecule_id", row.molecule_id, values["molecule_id"])
    if request.related_atoms is not UNSET:
        values["related_atoms"] = kept(related := checked_atoms(tx, request.related_atoms, own_id=id_))
        changes += _moved("related_atoms", row.relations, related)
    if request.confirm is not UNSET:
        values |= {"confirmed_commit": checked_commit(request.confirm, ("confirm",)), "confirmed_at": tx.now}
        changes.append(changed("confirmed_commit", row.confirmed_commit, values["confirmed_commit"]))
    has_moved = values["paths"] != row.paths
    revision = move_on(tx, patterns=values["patterns"] - row.patterns if has_moved else None)
    if has_moved:
        values["patterns_rev"] = revision.rev
    _write(tx, sql.change_atom, values, request)
    if request.confirm is not UNSET or has_moved:
        # What was seen was compared with another commit, or seen of other files.
        tx.run(sql.forget_freshness, project_id=tx.project.id, ids=listed([id_]))
    tx.record(Op.UPDATED, id_, *changes)
    return atoms_shown(tx, [atom_row(tx, id_)])[0]


def _molecule(tx: Transaction, request: Update, id_: str) -> Molecule:
    refuse_foreign(
        EntityType.MOLECULE,
        {
            "paths": request.paths is not UNSET,
            "moleculeId": request.molecule_id is not UNSET,
            "relatedAtoms": request.related_atoms is not UNSET,
            "confirm": request.confirm is not UNSET,
        },
    )
    row = molecule_row(tx, id_)
    refuse_stale(EntityType.MOLECULE, row.id, current=row.version, given=request.version)
    values = _common(tx, row, request)
    changes = _changes(row, values)
    if request.related_molecules is not UNSET:
        values["related_molecules"] = kept(related := checked_molecules(tx, request.related_molecules, own_id=id_))
        changes += _moved("related_molecules", row.relations, related)
    move_on(tx)
    _write(tx, sql.change_molecule, values, request)
    tx.record(Op.UPDATED, id_, *changes)
    return molecules_shown(tx, [molecule_row(tx, id_)])[0]


def _common(tx: Transaction, row: AtomRow | MoleculeRow, request: Update) -> dict[str, Any]:
    """The row with what atoms and molecules both have as the request wants it."""
    if not any(getattr(request, name) not in (UNSET, None) for name in CHANGING) and request.molecule_id is UNSET:
        raise refusal((), f"say nothing to change; send some of {', '.join(CHANGING.values())}")
    task_id = None if request.last_task_id is None else checked_task(tx, request.last_task_id, "lastTaskId")
    name = row.name if request.name is UNSET else request.name
    knowledge = _knowledge(tx, row.knowledge, request, task_id)
    return {
        **row._asdict(),
        "name": name,
        "knowledge": knowledge,
        "words": stored_words(name, knowledge),
        "last_task_id": task_id or row.last_task_id,
    }


def _knowledge(tx: Transaction, before: str, request: Update, task_id: str | None) -> str:
    if request.knowledge_mode is KnowledgeMode.OVERWRITE:
        return before if request.knowledge is UNSET else checked_knowledge(request.knowledge)
    if request.knowledge is UNSET:
        raise missing("knowledge", (), wanted="the text to append")
    if task_id is None:
        raise missing("lastTaskId", (), wanted="the task that appends: the line above what is appended names it")
    appended = request.knowledge.strip()
    if not appended:
        raise refusal(("knowledge",), "is empty, so there is nothing to append")
    separator = f"\n\n---[{tx.now} task:{task_id}]---\n"
    whole = (before + separator + appended).strip()
    actual = len(whole.encode())
    if actual > KNOWLEDGE_BYTES_MAX:
        excess = actual - KNOWLEDGE_BYTES_MAX
        wrong = f"is {excess} bytes too long to go below what is there; append less, or overwrite all of it in short"
        raise refusal(("knowledge",), wrong, code="too_long", limit_bytes=KNOWLEDGE_BYTES_MAX, actual_bytes=actual)
    return whole


def _changes(row: AtomRow | MoleculeRow, values: Mapping[str, Any]) -> list[Change]:
    """What the common part says differently from the row."""
    before = row._asdict()
    return [
        change for name in ("name", "knowledge", "last_task_id") for change in _moved(name, before[name], values[name])
    ]


def _moved(name: str, before: Any, after: Any) -> list[Change]:
    return [] if before == after else [changed(name, before, after)]


def _write(tx: Transaction, query: Any, values: dict[str, Any], request: Update) -> None:
    # The version stands in the statement too: it decides, whoever wrote in between.
    if not tx.run(query, **{**values, "version": request.version}, project_id=tx.project.id):
        raise LookupError("a row that was read under the lock of its project is gone")


OPERATION = Operation(
    name="knowledge.update",
    summary="Change one at the version you read; append adds below; confirm: a commit at which it is right.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    input=Update,
    output=OneEntity,
    handler=update,
    project=lambda tx, request: project_of(tx, request.entity_type, request.id, "id"),
    tool=Tool("manage_graph", Group.KNOWLEDGE, "update"),
    command=Command(
        ("knowledge", "update"),
        texts=("knowledge",),
        arguments=("id",),
        names={
            "entity_type": "type",
            "project_id": "project",
            "paths": "path",
            "knowledge_mode": "mode",
            "molecule_id": "molecule",
            "last_task_id": "task",
        },
    ),
)
