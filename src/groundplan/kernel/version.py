"""The version that a caller read must be the present one, else somebody's change would be lost."""

from __future__ import annotations

from groundplan.kernel.errors import Conflict


class StaleVersion(Conflict):
    """Somebody changed it since the caller read it."""

    code = "stale_version"

    def __init__(self, thing: str, id_: str, *, current: int, given: int) -> None:
        super().__init__(
            f"{thing} {id_} is at version {current}, not {given}; read it again, then decide",
            id=id_,
            version=given,
            currentVersion=current,
        )


def refuse_stale(thing: str, id_: str, *, current: int, given: int) -> None:
    """Raises StaleVersion where the caller saw another version."""
    if current != given:
        raise StaleVersion(thing, id_, current=current, given=given)
