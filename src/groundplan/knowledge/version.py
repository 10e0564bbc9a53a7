"""The version that a caller read must be the present one, else somebody's change would be lost."""

from __future__ import annotations

from groundplan.kernel.errors import Conflict
from groundplan.knowledge.atom import AtomRow
from groundplan.knowledge.molecule import MoleculeRow
from groundplan.knowledge.requests import EntityType


class StaleVersion(Conflict):
    """Somebody changed it since the caller read it."""

    code = "stale_version"

    def __init__(self, entity_type: EntityType, id_: str, *, current: int, given: int) -> None:
        super().__init__(
            f"{entity_type} {id_} is at version {current}, not {given}; read it again, then decide",
            id=id_,
            version=given,
            currentVersion=current,
        )


def refuse_stale(entity_type: EntityType, row: AtomRow | MoleculeRow, version: int) -> None:
    """Raises StaleVersion where the caller saw another version."""
    if row.version != version:
        raise StaleVersion(entity_type, row.id, current=row.version, given=version)
