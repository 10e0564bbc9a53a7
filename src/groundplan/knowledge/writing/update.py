"""Update an atom or a molecule, if it did not change since it was read."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType, field, structs

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import refuse_stale
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.knowledge.atom import Atom, AtomRow, build_atoms, load_atom
from groundplan.knowledge.events import Op
from groundplan.knowledge.molecule import Molecule, MoleculeRow, build_molecules, load_molecule
from groundplan.knowledge.refs import (
    refuse_other_project,
    resolve_entity_project,
    resolve_task_id,
    validate_molecule_id,
)
from groundplan.knowledge.relations import encode_relations, validate_related_atoms, validate_related_molecules
from groundplan.knowledge.requests import (
    KNOWLEDGE_BYTES_MAX,
    KnowledgeEntityType,
    MoleculeRef,
    Patterns,
    RelatedAtoms,
    RelatedMolecules,
    TaskRef,
    Version,
    normalize_knowledge,
    parse_commit,
    parse_id,
    parse_patterns,
    refuse_foreign_fields,
)
from groundplan.knowledge.revision import advance_revision
from groundplan.knowledge.words import build_word_index
from groundplan.knowledge.writing.create import WrittenKnowledge
from groundplan.knowledge.writing.folder_patterns import warn_about_folder_patterns

R = TypeVar("R", AtomRow, MoleculeRow)

sql = load_queries(__file__)

# The attribute with the decoded list, for columns that hold JSON.
DECODED_ATTRIBUTES = {"paths": "path_list", "related_atoms": "relations", "related_molecules": "relations"}
# The fields that an update can change, with their wire names; moleculeId is checked apart, because null is a change.
CHANGEABLE_FIELDS = {
    "name": "name",
    "knowledge": "knowledge",
    "paths": "paths",
    "related_atoms": "relatedAtoms",
    "related_molecules": "relatedMolecules",
    "last_task_id": "lastTaskId",
    "confirm": "confirm",
}


class KnowledgeMode(StrEnum):
    """How new knowledge is combined with the old."""

    OVERWRITE = "overwrite"
    APPEND = "append"


class UpdateKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes to one atom or molecule; omitted fields stay. A moleculeId of null makes the atom an orphan."""

    entity_type: KnowledgeEntityType
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


def update(tx: Transaction, request: UpdateKnowledge) -> WrittenKnowledge:
    """Change an atom or a molecule, and raise its version by one.

    Raises:
        StaleVersion: the entity has another version, given in `currentVersion`.
        EmptyPaths: an atom would be left without a pattern.
        TooManyPatterns: the project would exceed its limit of patterns.
        NotFound: the entity, the task, the molecule or a related entity does not exist.
        OtherProject: the molecule or a related entity belongs to another project.
        RelatedToItself: the entity would be related to itself.
    """
    id_ = parse_id(request.id, ("id",))
    refuse_other_project(tx, request.project_id, request.entity_type, id_)
    if request.entity_type is KnowledgeEntityType.ATOM:
        atom = _update_atom(tx, request, id_)
        new_paths = () if request.paths is UNSET else atom.paths or ()
        return WrittenKnowledge(atom=atom, warnings=warn_about_folder_patterns(new_paths, tx.preferences.working_copy))
    return WrittenKnowledge(molecule=_update_molecule(tx, request, id_))


def _update_atom(tx: Transaction, request: UpdateKnowledge, id_: str) -> Atom:
    refuse_foreign_fields(KnowledgeEntityType.ATOM, {"relatedMolecules": request.related_molecules is not UNSET})
    before = load_atom(tx, id_)
    refuse_stale(KnowledgeEntityType.ATOM, id_, current=before.version, given=request.version)
    after = _revise(tx, before, request)
    if request.paths is not UNSET:
        paths, after.patterns = parse_patterns(request.paths, tx.preferences.working_copy)
        after.paths = to_json_array(paths)
    if request.molecule_id is not UNSET:
        given = request.molecule_id
        after.molecule_id = validate_molecule_id(tx, given) if given else None  # an empty text means null
    if request.related_atoms is not UNSET:
        after.related_atoms = encode_relations(validate_related_atoms(tx, request.related_atoms, own_id=id_))
    if request.confirm is not UNSET:
        after.confirmed_commit, after.confirmed_at = parse_commit(request.confirm, ("confirm",)), tx.now
    changes = _diff_columns(before, after, "paths", "molecule_id", "related_atoms")
    if request.confirm is not UNSET:
        changes.append(changed("confirmed_commit", before.confirmed_commit, after.confirmed_commit))
    has_moved = after.paths != before.paths
    revision = advance_revision(tx, patterns=after.patterns - before.patterns if has_moved else None)
    if has_moved:
        after.patterns_rev = revision.rev
    _write(tx, sql.change_atom, after, expected_version=request.version)
    if request.confirm is not UNSET or has_moved:
        # The last check compared another commit or other files.
        tx.run(sql.delete_freshness, project_id=tx.project.id, ids=to_json_array([id_]))
    tx.record(Op.UPDATED, id_, *changes)
    return build_atoms(tx, [after])[0]


def _update_molecule(tx: Transaction, request: UpdateKnowledge, id_: str) -> Molecule:
    refuse_foreign_fields(
        KnowledgeEntityType.MOLECULE,
        {
            "paths": request.paths is not UNSET,
            "moleculeId": request.molecule_id is not UNSET,
            "relatedAtoms": request.related_atoms is not UNSET,
            "confirm": request.confirm is not UNSET,
        },
    )
    before = load_molecule(tx, id_)
    refuse_stale(KnowledgeEntityType.MOLECULE, id_, current=before.version, given=request.version)
    after = _revise(tx, before, request)
    if request.related_molecules is not UNSET:
        after.related_molecules = encode_relations(
            validate_related_molecules(tx, request.related_molecules, own_id=id_)
        )
    advance_revision(tx)
    _write(tx, sql.change_molecule, after, expected_version=request.version)
    tx.record(Op.UPDATED, id_, *_diff_columns(before, after, "related_molecules"))
    return build_molecules(tx, [after])[0]


def _revise(tx: Transaction, row: R, request: UpdateKnowledge) -> R:
    """Return the next version of a row with the changes to the columns that atoms and molecules share."""
    if (
        not any(getattr(request, name) not in (UNSET, None) for name in CHANGEABLE_FIELDS)
        and request.molecule_id is UNSET
    ):
        raise invalid_argument(
            (), f"contain nothing to change; send at least one of {', '.join(CHANGEABLE_FIELDS.values())}"
        )
    task_id = None if request.last_task_id is None else resolve_task_id(tx, request.last_task_id, "lastTaskId")
    return structs.replace(
        row,
        name=row.name if request.name is UNSET else request.name,
        version=row.version + 1,
        last_task_id=task_id or row.last_task_id,
        updated_at=tx.now,
        updated_by=tx.actor.id,
        knowledge=_merge_knowledge(tx, row.knowledge, request, task_id),
    )


def _merge_knowledge(tx: Transaction, before: str, request: UpdateKnowledge, task_id: str | None) -> str:
    if request.knowledge_mode is KnowledgeMode.OVERWRITE:
        return before if request.knowledge is UNSET else normalize_knowledge(request.knowledge)
    if request.knowledge is UNSET:
        raise missing_argument("knowledge", (), expected="the text to append")
    if task_id is None:
        raise missing_argument(
            "lastTaskId", (), expected="the task that appends, which the line above the appended text names"
        )
    appended = request.knowledge.strip()
    if not appended:
        raise invalid_argument(("knowledge",), "is empty, so there is nothing to append")
    separator = f"\n\n---[{tx.now} task:{task_id}]---\n"
    whole = (before + separator + appended).strip()
    actual = len(whole.encode())
    if actual > KNOWLEDGE_BYTES_MAX:
        excess = actual - KNOWLEDGE_BYTES_MAX
        wrong = f"is {excess} bytes too long to append; append less, or overwrite all of it with a shorter text"
        raise invalid_argument(
            ("knowledge",), wrong, code="too_long", limit_bytes=KNOWLEDGE_BYTES_MAX, actual_bytes=actual
        )
    return whole


def _diff_columns(before: R, after: R, *columns: str) -> list[Change]:
    """Return the columns that differ, with JSON decoded."""
    found = []
    for column in ("name", "knowledge", "last_task_id", *columns):
        if getattr(before, column) != getattr(after, column):
            value = DECODED_ATTRIBUTES.get(column, column)
            found.append(changed(column, getattr(before, value), getattr(after, value)))
    return found


def _write(tx: Transaction, query: Query, after: AtomRow | MoleculeRow, *, expected_version: int) -> None:
    words = build_word_index(after.name, after.knowledge)
    # The statement checks the version too, in case of a concurrent write.
    if not tx.run_with_record(query, after, project_id=tx.project.id, words=words, seen_version=expected_version):
        raise LookupError("a row that was read under the lock of its project is gone")


OPERATION = declare(
    update,
    name="knowledge.update",
    summary="Update one at the version you read; append adds below; confirm: a commit at which it is right.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.id, "id"),
    tool=Tool("manage_graph", Group.KNOWLEDGE, "update"),
    command=Command(
        ("knowledge", "update"),
        texts=("knowledge",),
        patterns=("paths",),
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
    http=Route("PATCH", "/projects/{project}/knowledge/{entityType}s/{id}"),
)
