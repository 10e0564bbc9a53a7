"""Errors for callers that read an older state; without them a write would undo the change of somebody else."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.errors import Conflict


class StaleVersion(Conflict):
    """The thing has another version than the caller read."""

    code = "stale_version"

    def __init__(self, thing: str, id_: str, *, current: int, given: int) -> None:
        super().__init__(
            f"{thing} {id_} is at version {current}, not {given}; read it again, then decide",
            id=id_,
            version=given,
            currentVersion=current,
        )


class StaleRevision(Conflict):
    """The thing has another revision than the caller read."""

    code = "stale_rev"

    def __init__(self, thing: str, advice: str, *, current: int, expected: int, **details: Any) -> None:
        super().__init__(
            f"{thing} is at rev {current}, not {expected}; {advice}, then decide",
            **details,
            expected=expected,
            current=current,
        )


def refuse_stale(thing: str, id_: str, *, current: int, given: int) -> None:
    """Raise StaleVersion if the current version is not the given one."""
    if current != given:
        raise StaleVersion(thing, id_, current=current, given=given)
