"""Fields of an offer that do not stand in the columns of its node: claim, hold, ancestors, finished dependencies."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than a short read of the plan
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar
else:
    Protocol = object  # only type checkers compare the fields

ANCESTORS_MAX = 50  # the root and the nearest ones
DEPENDENCIES_MAX = 20
EVIDENCE_MAX = 2**31  # more than a node can have


class ClaimFields(Protocol):
    """The claim fields of a row."""

    @property
    def claimed_by(self) -> str | None: ...
    @property
    def claimed_at(self) -> str | None: ...
    @property
    def claimed_until(self) -> str | None: ...


def add_claim_properties(properties: dict[str, Any], row: ClaimFields, *, now: str) -> None:
    """Add a claim that has not expired to the properties of its node."""
    if row.claimed_by is not None and (row.claimed_until is None or row.claimed_until > now):
        properties["_claimed_by"], properties["_claimed_at"] = row.claimed_by, row.claimed_at
        if row.claimed_until is None:
            properties["_held"] = True


class HoldFields(Protocol):
    """The fields of a row that say whether it is on hold."""

    @property
    def held_reason(self) -> str | None: ...
    @property
    def resolved(self) -> bool: ...


def add_hold_property(properties: dict[str, Any], row: HoldFields) -> None:
    """Add the reason of a hold to the properties of an open node."""
    if row.held_reason is not None and not row.resolved:
        properties["_hold"] = row.held_reason


class SurroundingFields(Protocol):
    """The field that tells ancestors from dependencies, which have no depth."""

    @property
    def depth(self) -> int | None: ...


if TYPE_CHECKING:
    S = TypeVar("S", bound=SurroundingFields)


def separate_surroundings(rows: list[S]) -> tuple[list[S], list[S]]:
    """Return the ancestors among the surroundings of a node, from the top, and its resolved dependencies."""
    done = [one for one in rows if one.depth is None]
    above = [one for one in rows if one.depth is not None] if done else rows
    above.sort(key=lambda one: one.depth or 0)
    return above, done
