"""A caller that read an older state is refused, else its write would undo somebody's change."""

from __future__ import annotations

from typing import Any

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


class StaleRevision(Conflict):
    """Somebody changed it since the caller read it."""

    code = "stale_rev"

    def __init__(self, thing: str, advice: str, *, current: int, expected: int, **details: Any) -> None:
        super().__init__(
            f"{thing} is at rev {current}, not {expected}; {advice}, then decide",
            **details,
            expected=expected,
            current=current,
        )


def refuse_stale(thing: str, id_: str, *, current: int, given: int) -> None:
    """Raises StaleVersion where the caller saw another version."""
    if current != given:
        raise StaleVersion(thing, id_, current=current, given=given)
