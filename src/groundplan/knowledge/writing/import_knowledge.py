"""Take over knowledge from the file of another tool: by name, and never over what was changed here since."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.molecule import load_molecule
from groundplan.knowledge.requests import RELATED_MAX, KnowledgeEntityType, RelatedMolecule, normalize_knowledge
from groundplan.knowledge.writing.create import CreateKnowledge, create
from groundplan.knowledge.writing.update import UpdateKnowledge, update
from groundplan.providers import KnowledgeDraft, KnowledgeImport, KnowledgeOutcome

sql = load_queries(__file__)

CREATED, UPDATED, UNCHANGED, CONFLICT = "created", "updated", "unchanged", "conflict"

_NAME = NormalizedName()


class NamedKnowledgeRow(Struct):
    """An atom or a molecule by name."""

    name: str
    id: str
    version: int
    knowledge: str


def import_knowledge(tx: Transaction, request: KnowledgeImport) -> list[KnowledgeOutcome]:
    """Create or update atoms and molecules, and return what became of each draft."""
    existing = _load_existing(tx, request.drafts)
    outcomes = []
    written: dict[str, str] = {}  # ids of molecules that this import created or updated, by name
    for draft in request.drafts:
        row = existing.get((bool(draft.paths), _normalize_name(draft)))
        outcome, digest = _compare(draft, row)
        outcomes.append(KnowledgeOutcome(draft.name, outcome, row.knowledge if row else None, digest))
        if request.task_id is not None and outcome in (CREATED, UPDATED):
            id_ = _write(tx, draft, row, request.task_id)
            if not draft.paths:
                written[draft.name] = id_
    ids = {name: row.id for (is_atom, name), row in existing.items() if not is_atom} | written
    for draft in request.drafts:
        if draft.name in written and not draft.paths:
            _relate(tx, draft, ids, request.task_id or "")
    return outcomes


def _normalize_name(draft: KnowledgeDraft) -> str:
    return apply_marker(_NAME, draft.name, ("name",))


def _load_existing(tx: Transaction, drafts: list[KnowledgeDraft]) -> dict[tuple[bool, str], NamedKnowledgeRow]:
    """Return the atoms and molecules with the names of drafts; of several with one name, the first."""
    found: dict[tuple[bool, str], NamedKnowledgeRow] = {}
    for is_atom, query in ((True, sql.named_atoms), (False, sql.named_molecules)):
        names = to_json_array({_normalize_name(draft) for draft in drafts if bool(draft.paths) == is_atom})
        for row in tx.all(query, NamedKnowledgeRow, project_id=tx.project.id, names=names):
            found.setdefault((is_atom, row.name), row)
    return found


def _compare(draft: KnowledgeDraft, row: NamedKnowledgeRow | None) -> tuple[str, str]:
    """Return what becomes of a draft, and its digest."""
    there = _compute_digest(normalize_knowledge(draft.knowledge))
    if row is None:
        if draft.last_digest is None:
            return CREATED, there
        return (UNCHANGED if draft.last_digest == there else CONFLICT), there  # it was deleted here
    here = _compute_digest(row.knowledge)
    if there in (draft.last_digest, here):
        return UNCHANGED, there
    return (UPDATED if here == draft.last_digest else CONFLICT), there


def _compute_digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _write(tx: Transaction, draft: KnowledgeDraft, row: NamedKnowledgeRow | None, task_id: str) -> str:
    type_ = KnowledgeEntityType.ATOM if draft.paths else KnowledgeEntityType.MOLECULE
    if row is not None:
        update(tx, UpdateKnowledge(type_, row.id, row.version, knowledge=draft.knowledge, last_task_id=task_id))
        return row.id
    request = CreateKnowledge(type_, tx.project.id, _normalize_name(draft), task_id, knowledge=draft.knowledge)
    if draft.paths:
        request.paths = draft.paths
    made = create(tx, request)
    return str((made.atom or made.molecule).id)  # type: ignore[union-attr] # one of them is set


def _relate(tx: Transaction, draft: KnowledgeDraft, ids: dict[str, str], task_id: str) -> None:
    """Add the relations of a draft to those that its molecule has."""
    row = load_molecule(tx, ids[draft.name])
    known = {one.molecule_id for one in row.relations}
    fresh = {
        ids[name]: RelatedMolecule(ids[name], reason or "related")
        for name, reason in draft.related
        if name in ids and ids[name] != row.id and ids[name] not in known
    }
    if fresh:
        related = [*row.relations, *fresh.values()][:RELATED_MAX]
        update(
            tx,
            UpdateKnowledge(
                KnowledgeEntityType.MOLECULE, row.id, row.version, related_molecules=related, last_task_id=task_id
            ),
        )
