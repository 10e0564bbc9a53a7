"""Import knowledge from the file of another tool, by name; knowledge that changed here since is not overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.entities import load_molecule
from groundplan.knowledge.requests import RELATED_MAX, KnowledgeEntityType, RelatedMolecule, normalize_knowledge
from groundplan.knowledge.write import CreateKnowledge, UpdateKnowledge, create, update
from groundplan.providers import KnowledgeDraft, KnowledgeImport, KnowledgeOutcome

sql = load_queries(__file__)

CREATED, UPDATED, UNCHANGED, CONFLICT = "created", "updated", "unchanged", "conflict"

RELATED = "related"  # the reason of a relation without one

_NAME = NormalizedName()


class NamedKnowledgeRow(Struct):
    """An atom or a molecule by name."""

    name: str
    id: str
    version: int
    knowledge: str


def import_knowledge(tx: Transaction, request: KnowledgeImport) -> list[KnowledgeOutcome]:
    """Create or update the atom or molecule of each draft, and return the outcome of each."""
    existing = _load_existing(tx, request.drafts)
    outcomes = []
    ids = {name: row.id for (is_atom, name), row in existing.items() if not is_atom}  # of molecules, by name
    for draft in request.drafts:
        name = _normalize_name(draft.name)
        row = existing.get((bool(draft.paths), name))
        outcome, digest = _compare(draft, row)
        outcomes.append(KnowledgeOutcome(draft.name, outcome, row.knowledge if row else None, digest))
        if outcome in (CREATED, UPDATED):
            id_ = f"new {name}" if request.task_id is None else _write(tx, draft, row, request.task_id)
            if not draft.paths:
                ids[name] = id_
    for at, draft in enumerate(request.drafts):
        outcome = outcomes[at].outcome
        is_here = outcome == CREATED or (outcome != CONFLICT and _normalize_name(draft.name) in ids)
        if not draft.paths and is_here and _relate(tx, draft, ids, request.task_id) and outcome == UNCHANGED:
            outcomes[at] = msgspec.structs.replace(outcomes[at], outcome=UPDATED)
    return outcomes


def _normalize_name(name: str) -> str:
    return apply_marker(_NAME, name, ("name",))


def _load_existing(tx: Transaction, drafts: list[KnowledgeDraft]) -> dict[tuple[bool, str], NamedKnowledgeRow]:
    """Return the atoms and molecules with the names of drafts. If several have one name, the first is returned."""
    rows: dict[tuple[bool, str], NamedKnowledgeRow] = {}
    for is_atom, query in ((True, sql.named_atoms), (False, sql.named_molecules)):
        names = to_json_array({_normalize_name(draft.name) for draft in drafts if bool(draft.paths) == is_atom})
        for row in tx.all(query, NamedKnowledgeRow, project_id=tx.project.id, names=names):
            rows.setdefault((is_atom, row.name), row)
    return rows


def _compare(draft: KnowledgeDraft, row: NamedKnowledgeRow | None) -> tuple[str, str]:
    """Return the outcome of a draft (created, updated, unchanged, conflict), and its digest."""
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
    request = CreateKnowledge(type_, tx.project.id, _normalize_name(draft.name), task_id, knowledge=draft.knowledge)
    if draft.paths:
        request.paths = draft.paths
    made = create(tx, request)
    return str((made.atom or made.molecule).id)  # type: ignore[union-attr] # one of them is set


def _relate(tx: Transaction, draft: KnowledgeDraft, ids: dict[str, str], task_id: str | None) -> bool:
    """Store the relations that changed in the file since the last import. Return True if a relation changes.

    A relation that was removed or got another reason here stays as it is here. Without a task, nothing is written.
    """
    before, after = _resolve_relations(draft.last_related, ids), _resolve_relations(draft.related, ids)
    molecule_id = ids[_normalize_name(draft.name)]
    after.pop(molecule_id, None)
    if before == after:
        return False
    row = None if molecule_id.startswith("new ") else load_molecule(tx, molecule_id)
    stored = {relation.molecule_id: relation.reason for relation in row.relations} if row else {}
    merged = dict(stored)
    for target, reason in before.items():
        if target not in after and stored.get(target) == reason:
            del merged[target]
    for target, reason in after.items():
        if target not in before or (before[target] != reason and stored.get(target) == before[target]):
            merged[target] = stored.get(target, reason) if target not in before else reason
    related = [RelatedMolecule(target, reason) for target, reason in merged.items()][:RELATED_MAX]
    if {relation.molecule_id: relation.reason for relation in related} == stored:
        return False
    if task_id is not None and row is not None:
        type_ = KnowledgeEntityType.MOLECULE
        update(tx, UpdateKnowledge(type_, row.id, row.version, related_molecules=related, last_task_id=task_id))
    return True


def _resolve_relations(related: Sequence[tuple[str, str]], ids: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons of relations by the id of the related molecule. Unknown molecules are left out."""
    reasons = ((ids.get(_normalize_name(name)), reason) for name, reason in related)
    return {id_: reason or RELATED for id_, reason in reasons if id_ is not None}
