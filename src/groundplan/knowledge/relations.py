"""What atoms have to do with each other, and molecules: kept beside the knowledge, never leading out of the project."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, invalid_argument
from groundplan.knowledge.refs import refuse_unknown_ids
from groundplan.knowledge.requests import KnowledgeEntityType, RelatedAtom, RelatedMolecule, parse_id


class RelatedToItself(RuleViolated):
    """A relation leads somewhere else."""

    code = "related_to_itself"

    def __init__(self, entity_type: KnowledgeEntityType, field: str) -> None:
        super().__init__(f"{field} names the {entity_type} itself; name another one", field=field)


def validate_related_atoms(tx: Transaction, related: Sequence[RelatedAtom], *, own_id: str) -> list[RelatedAtom]:
    """Relations of an atom as they are kept.

    Raises:
        Invalid: an id is no UUID.
        NotFound: an atom is not there.
        OtherProject: an atom is of another project.
        RelatedToItself: it is the atom itself.
    """
    ids = [parse_id(one.atom_id, ("relatedAtoms", place, "atomId")) for place, one in enumerate(related)]
    _check(tx, KnowledgeEntityType.ATOM, "relatedAtoms", "atomId", ids, own_id)
    reasons = _reasons(related, "relatedAtoms")
    return [RelatedAtom(id_, reason) for id_, reason in zip(ids, reasons, strict=True)]


def validate_related_molecules(
    tx: Transaction, related: Sequence[RelatedMolecule], *, own_id: str
) -> list[RelatedMolecule]:
    """Relations of a molecule as they are kept.

    Raises:
        Invalid: an id is no UUID.
        NotFound: a molecule is not there.
        OtherProject: a molecule is of another project.
        RelatedToItself: it is the molecule itself.
    """
    ids = [parse_id(one.molecule_id, ("relatedMolecules", place, "moleculeId")) for place, one in enumerate(related)]
    _check(tx, KnowledgeEntityType.MOLECULE, "relatedMolecules", "moleculeId", ids, own_id)
    reasons = _reasons(related, "relatedMolecules")
    return [RelatedMolecule(id_, reason) for id_, reason in zip(ids, reasons, strict=True)]


def encode_relations(related: Sequence[RelatedAtom] | Sequence[RelatedMolecule]) -> str:
    """Relations as the row has them."""
    return msgspec.json.encode(related).decode()


def _reasons(related: Sequence[RelatedAtom] | Sequence[RelatedMolecule], field: str) -> list[str]:
    reasons = [one.reason.strip() for one in related]
    if "" in reasons:
        raise invalid_argument(
            (field, reasons.index(""), "reason"), "must not be empty; say what the two have to do with each other"
        )
    return reasons


def _check(
    tx: Transaction, entity_type: KnowledgeEntityType, field: str, key: str, ids: list[str], own_id: str
) -> None:
    places: dict[str, ArgumentPath] = {}
    for place, id_ in enumerate(ids):
        places.setdefault(id_, (field, place, key))
    if own_id in places:
        raise RelatedToItself(entity_type, field)
    refuse_unknown_ids(tx, entity_type, places)
