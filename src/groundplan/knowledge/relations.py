"""Relations between atoms, and between molecules, of one project."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, invalid_argument
from groundplan.knowledge.refs import refuse_unknown_ids
from groundplan.knowledge.requests import KnowledgeEntityType, RelatedAtom, RelatedMolecule, parse_id


class RelatedToItself(RuleViolated):
    """An atom or molecule cannot be related to itself."""

    code = "related_to_itself"

    def __init__(self, entity_type: KnowledgeEntityType, field: str) -> None:
        super().__init__(f"{field} names the {entity_type} itself; name another one", field=field)


def validate_related_atoms(tx: Transaction, related: Sequence[RelatedAtom], *, own_id: str) -> list[RelatedAtom]:
    """Return the relations of an atom with canonical ids and trimmed reasons."""
    ids = [parse_id(one.atom_id, ("relatedAtoms", index, "atomId")) for index, one in enumerate(related)]
    _check_related_ids(tx, KnowledgeEntityType.ATOM, "relatedAtoms", "atomId", ids, own_id)
    reasons = _normalize_reasons(related, "relatedAtoms")
    return [RelatedAtom(id_, reason) for id_, reason in zip(ids, reasons, strict=True)]


def validate_related_molecules(
    tx: Transaction, related: Sequence[RelatedMolecule], *, own_id: str
) -> list[RelatedMolecule]:
    """Return the relations of a molecule with canonical ids and trimmed reasons."""
    ids = [parse_id(one.molecule_id, ("relatedMolecules", index, "moleculeId")) for index, one in enumerate(related)]
    _check_related_ids(tx, KnowledgeEntityType.MOLECULE, "relatedMolecules", "moleculeId", ids, own_id)
    reasons = _normalize_reasons(related, "relatedMolecules")
    return [RelatedMolecule(id_, reason) for id_, reason in zip(ids, reasons, strict=True)]


def encode_relations(related: Sequence[RelatedAtom] | Sequence[RelatedMolecule]) -> str:
    """Return relations as the JSON that is stored."""
    return msgspec.json.encode(related).decode()


def _normalize_reasons(related: Sequence[RelatedAtom] | Sequence[RelatedMolecule], field: str) -> list[str]:
    reasons = [one.reason.strip() for one in related]
    if "" in reasons:
        raise invalid_argument((field, reasons.index(""), "reason"), "must not be empty; say how the two are related")
    return reasons


def _check_related_ids(
    tx: Transaction, entity_type: KnowledgeEntityType, field: str, key: str, ids: list[str], own_id: str
) -> None:
    argument_by_id: dict[str, ArgumentPath] = {}
    for index, id_ in enumerate(ids):
        argument_by_id.setdefault(id_, (field, index, key))
    if own_id in argument_by_id:
        raise RelatedToItself(entity_type, field)
    refuse_unknown_ids(tx, entity_type, argument_by_id)
