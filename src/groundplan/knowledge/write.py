"""Write atoms and molecules: create, update and delete them, and append to their changelogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from random import SystemRandom
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

from msgspec import UNSET, Struct, UnsetType, field, structs

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Trimming
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import RuleViolated, Unavailable, refuse_stale
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name, apply_marker
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.preferences import RepositoryPaths
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument, quote_text
from groundplan.knowledge.entities import (
    Atom,
    AtomRelation,
    AtomRow,
    ChangelogEntry,
    Molecule,
    MoleculeRelation,
    MoleculeRow,
    build_atoms,
    build_molecules,
    drop_parts,
    encode_relations,
    load_atom,
    load_atoms,
    load_molecule,
    load_names,
    missing_entity,
    refuse_other_project,
    resolve_entity_project,
    resolve_task_id,
    validate_molecule_id,
    validate_relations,
)
from groundplan.knowledge.events import Op
from groundplan.knowledge.paths.names import looks_like_folder
from groundplan.knowledge.paths.pattern import parse_pattern
from groundplan.knowledge.requests import (
    KNOWLEDGE_BYTES_MAX,
    PROJECT_PATTERNS_MAX,
    SUMMARY_BYTES_MAX,
    KnowledgeEntityType,
    MoleculeRef,
    Patterns,
    RelatedAtoms,
    RelatedMolecules,
    TaskRef,
    Version,
    drop_foreign_fields,
    normalize_knowledge,
    parse_id,
    parse_patterns,
    resolve_commit,
)
from groundplan.knowledge.words import build_word_index

PROJECT_NUMBERS_MAX = 2**31  # the upper half of a key of 63 bits, see graph_text in the migration
NUMBER_TRIES_MAX = 8
WARNINGS_MAX = 5
R = TypeVar("R", AtomRow, MoleculeRow)

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
DECISION_BYTES_MAX = 4_096

sql = load_queries(__file__)


class Revision(NamedTuple):
    """The revision of the knowledge of a project, and the last number that was reserved."""

    rev: int
    last_n: int


class TooManyPatterns(RuleViolated):
    """The project would exceed its limit of path patterns. An index of them is kept in memory."""

    code = "too_many_patterns"

    def __init__(self, current: int, more: int) -> None:
        super().__init__(
            f"the project has {current:,} patterns with braces expanded, and these would add {more:,}; the limit is "
            f"{PROJECT_PATTERNS_MAX:,}. Use * instead of braces, or fewer and wider patterns",
            field="paths",
            limit=PROJECT_PATTERNS_MAX,
        )


def advance_revision(tx: Transaction, *, numbers: int = 0, patterns: int | None = None) -> Revision:
    """Increase the revision of the project's knowledge, and reserve as many numbers as requested.

    `patterns` is the change in the number of patterns; None means that no pattern changed.
    """
    revision = tx.one_or_none(
        sql.advance_revision,
        Revision,
        project_id=tx.project.id,
        numbers=numbers,
        patterns=patterns,
        patterns_max=PROJECT_PATTERNS_MAX,
    )
    if revision:
        return revision
    current = tx.scalar(sql.count_patterns, project_id=tx.project.id)
    if current is not None:
        raise TooManyPatterns(current, patterns or 0)
    return _insert_first_revision(tx, numbers, patterns or 0)


def _insert_first_revision(tx: Transaction, numbers: int, patterns: int) -> Revision:
    # The number is random, because only somebody who sees every project could know the next free one.
    for _ in range(NUMBER_TRIES_MAX):
        number = SystemRandom().randrange(1, PROJECT_NUMBERS_MAX)
        columns = {"number": number, "last_n": numbers, "patterns": patterns}
        if first := tx.one_or_none(sql.insert_first_revision, Revision, project_id=tx.project.id, **columns):
            return first
    raise Unavailable("no free number was found for this project; try again")


def warn_about_folder_patterns(patterns: Sequence[str], working_copy: RepositoryPaths | None) -> list[str]:
    """Return a warning for each pattern without wildcards that is a folder or has no extension."""
    warnings = []
    for index, pattern in enumerate(patterns):
        if parse_pattern(pattern).routes:
            continue
        is_folder = None if working_copy is None else working_copy.is_folder(pattern)
        if is_folder or (is_folder is None and looks_like_folder(pattern)):
            why = "is a folder, and matches none of its files" if is_folder else "has no ending, so it may be a folder"
            instead = f"{pattern}/**" if working_copy is None else working_copy.spell_pattern(f"{pattern}/**")
            warnings.append(f"paths[{index}] {quote_text(pattern)} {why}; for everything below it write {instead}")
    return warnings


def _warn_about_missing(field: str, related: Sequence[AtomRelation | MoleculeRelation]) -> list[str]:
    """Return a warning if relations that were written lead to what was deleted."""
    missing = [index for index, relation in enumerate(related) if relation.missing is True]
    if not missing:
        return []
    places = ", ".join(f"{field}[{index}]" for index in missing)
    return [f"{places}: deleted since, and kept as related; leave out what is no longer needed"]


def _limit_warnings(warnings: list[str]) -> list[str] | UnsetType:
    """Return at most WARNINGS_MAX lines. If lines are left out, the last line has their number."""
    if len(warnings) > WARNINGS_MAX:
        warnings = [*warnings[: WARNINGS_MAX - 1], f"{len(warnings) - WARNINGS_MAX + 1} more warnings"]
    return warnings or UNSET


class CreateKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """A new atom or molecule. Only atoms have paths, a molecule and related atoms; only molecules related molecules."""

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
    request = drop_foreign_fields(request, request.entity_type)
    if request.entity_type is KnowledgeEntityType.ATOM:
        atom = _create_atom(tx, request)
        warnings = warn_about_folder_patterns(atom.paths or (), tx.preferences.working_copy)
        return WrittenKnowledge(atom=atom, warnings=_limit_warnings(warnings))
    return WrittenKnowledge(molecule=_create_molecule(tx, request))


def _create_atom(tx: Transaction, request: CreateKnowledge) -> Atom:
    if request.paths is UNSET:
        raise missing_argument("paths", (), expected="an array of path patterns, such as src/area/**")
    id_ = new_uuid()
    paths, patterns = parse_patterns(request.paths, tx.preferences.working_copy)
    related = validate_relations(tx, KnowledgeEntityType.ATOM, request.related_atoms or [], own_id=id_)
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
    id_ = new_uuid()
    related = validate_relations(tx, KnowledgeEntityType.MOLECULE, request.related_molecules or [], own_id=id_)
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


CREATE = declare(
    create,
    name="knowledge.create",
    summary="Create an atom (an area by its paths) or a molecule (a group of atoms).",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    tool=Tool("manage_graph", Group.KNOWLEDGE, "create"),
    http=Route(
        "POST",
        "/projects/{project}/knowledge/{entityType}s",
        location="/projects/{project}/knowledge/{entityType}s/{*.id}",
    ),
)


class KnowledgeMode(StrEnum):
    """The way in which new knowledge is combined with the old."""

    OVERWRITE = "overwrite"
    APPEND = "append"


class UpdateKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes of an atom or molecule. Omitted fields are kept; moleculeId null takes an atom out of its molecule."""

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
    """Change an atom or a molecule, and increase its version by one.

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
    request = drop_foreign_fields(request, request.entity_type)
    request = structs.replace(request, confirm=request.confirm or UNSET)  # an empty text means that it is not given
    warnings: list[str] = []
    if request.entity_type is KnowledgeEntityType.ATOM:
        written = WrittenKnowledge(atom=(atom := _update_atom(tx, request, id_)))
        if request.related_atoms is not UNSET:
            warnings += _warn_about_missing("relatedAtoms", atom.related_atoms or ())
        if request.paths is not UNSET:
            warnings += warn_about_folder_patterns(atom.paths or (), tx.preferences.working_copy)
    else:
        written = WrittenKnowledge(molecule=(molecule := _update_molecule(tx, request, id_)))
        if request.related_molecules is not UNSET:
            warnings += _warn_about_missing("relatedMolecules", molecule.related_molecules or ())
    written.warnings = _limit_warnings(warnings)
    return written


def _update_atom(tx: Transaction, request: UpdateKnowledge, id_: str) -> Atom:
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
        after.related_atoms = encode_relations(
            validate_relations(tx, KnowledgeEntityType.ATOM, request.related_atoms, own_id=id_, stored=before.relations)
        )
    if request.confirm is not UNSET:
        after.confirmed_commit = resolve_commit(request.confirm, ("confirm",), tx.preferences.working_copy)
        after.confirmed_at = tx.now
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
    before = load_molecule(tx, id_)
    refuse_stale(KnowledgeEntityType.MOLECULE, id_, current=before.version, given=request.version)
    after = _revise(tx, before, request)
    if request.related_molecules is not UNSET:
        after.related_molecules = encode_relations(
            validate_relations(
                tx, KnowledgeEntityType.MOLECULE, request.related_molecules, own_id=id_, stored=before.relations
            )
        )
    advance_revision(tx)
    _write(tx, sql.change_molecule, after, expected_version=request.version)
    tx.record(Op.UPDATED, id_, *_diff_columns(before, after, "related_molecules"))
    return build_molecules(tx, [after])[0]


def _revise(tx: Transaction, row: R, request: UpdateKnowledge) -> R:
    """Return the next version of a row, with the changed columns that atoms and molecules share."""
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
    merged = (before + separator + appended).strip()
    actual = len(merged.encode())
    if actual > KNOWLEDGE_BYTES_MAX:
        excess = actual - KNOWLEDGE_BYTES_MAX
        wrong = f"is {excess} bytes too long to append; append less, or overwrite all of it with a shorter text"
        raise invalid_argument(
            ("knowledge",), wrong, code="too_long", limit_bytes=KNOWLEDGE_BYTES_MAX, actual_bytes=actual
        )
    return merged


def _diff_columns(before: R, after: R, *columns: str) -> list[Change]:
    """Return the columns that differ, with JSON decoded."""
    changes = []
    for column in ("name", "knowledge", "last_task_id", *columns):
        if getattr(before, column) != getattr(after, column):
            value = DECODED_ATTRIBUTES.get(column, column)
            changes.append(changed(column, getattr(before, value), getattr(after, value)))
    return changes


def _write(tx: Transaction, query: Query, after: AtomRow | MoleculeRow, *, expected_version: int) -> None:
    words = build_word_index(after.name, after.knowledge)
    # The statement checks the version too, in case of a concurrent write.
    if not tx.run_with_record(query, after, project_id=tx.project.id, words=words, seen_version=expected_version):
        raise LookupError("a row that was read under the lock of its project is gone")


UPDATE = declare(
    update,
    name="knowledge.update",
    summary="Update one at the version you read; append adds below; confirm: a commit or HEAD, where it is right.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.id, "id"),
    tool=Tool("manage_graph", Group.KNOWLEDGE, "update"),
    http=Route("PATCH", "/projects/{project}/knowledge/{entityType}s/{id}"),
)


class DeleteKnowledge(Struct, rename="camel", forbid_unknown_fields=True):
    """The entity to delete. With `cascade`, the atoms of a molecule are deleted, too; else they lose their molecule."""

    entity_type: KnowledgeEntityType
    id: str
    version: Version
    project_id: Name | None = None
    cascade: bool = False
    last_task_id: TaskRef | None = None
    decision: Annotated[str, MaxBytes(DECISION_BYTES_MAX)] | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeletedKnowledge(Struct, rename="camel"):
    """The id of the deleted entity, and the number of atoms that were deleted or lost their molecule."""

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
    members: dict[str, str] = dict(tx.all(sql.members_of_molecule, project_id=tx.project.id, molecule_id=id_))
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
    """Remove atoms from their molecule. Each atom is given with its last task."""
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


DELETE = declare(
    delete,
    name="knowledge.delete",
    summary="Delete one; the atoms of a molecule become orphans, or are deleted too (cascade).",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.id, "id"),
    tool=Tool("manage_graph", Group.KNOWLEDGE, "delete"),
    http=Route("DELETE", "/projects/{project}/knowledge/{entityType}s/{id}"),
)


class AppendChangelog(Struct, rename="camel", forbid_unknown_fields=True):
    """The entry to append: the change that a task made, and its reason."""

    parent_type: KnowledgeEntityType
    parent_id: str
    task_id: TaskRef
    summary: str
    op_id: OpId = field(name="op_id", default=None)


class AppendedEntry(Struct):
    """The appended entry."""

    entry: ChangelogEntry


def append_changelog(tx: Transaction, request: AppendChangelog) -> AppendedEntry:
    """Add an entry to the changelog of an atom or a molecule.

    Raises:
        NotFound: the atom, the molecule or the task does not exist.
    """
    parent_id = parse_id(request.parent_id, ("parentId",))
    if not load_names(tx, request.parent_type, {parent_id}):
        raise missing_entity(request.parent_type, request.parent_id, ("parentId",))
    summary = apply_marker(MaxBytes(SUMMARY_BYTES_MAX), request.summary.strip(), ("summary",))
    if not summary:
        raise invalid_argument(("summary",), "must not be empty; say what changed and why")
    task_id = resolve_task_id(tx, request.task_id, "taskId")
    entry = ChangelogEntry(new_uuid(), request.parent_type, parent_id, task_id, summary, tx.now, tx.actor.id)
    tx.run_with_record(sql.add_entry, entry, project_id=tx.project.id, rev=advance_revision(tx).rev)
    tx.record(
        Op.CHANGELOG_APPENDED,
        parent_id,
        changed("entry", None, {"id": entry.id, "parent_type": entry.parent_type, "task_id": task_id}),
        changed("summary", None, summary),
    )
    return AppendedEntry(entry)


APPEND_CHANGELOG = declare(
    append_changelog,
    name="knowledge.append_changelog",
    summary="Add what a task changed and why; entries are never edited.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_entity_project(tx, request.parent_type, request.parent_id, "parentId"),
    tool=Tool("manage_changelog", Group.KNOWLEDGE, "append"),
    http=Route(
        "POST",
        "/projects/{project}/knowledge/{parentType}s/{parentId}/changelog",
        location="/projects/{project}/knowledge/{parentType}s/{parentId}/changelog",
    ),
)
