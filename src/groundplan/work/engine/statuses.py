"""The status of a task or a feature.

    NEW → ACTIVE → (further statuses of the project) → CLOSED      exit: WILL_NOT_IMPLEMENT

The graph dialect has no statuses, only open, claimed, resolved and dropped. A status is therefore stored in its own
column only where it does not follow from these. A resolved node is CLOSED and a dropped one WILL_NOT_IMPLEMENT. An open
node has the status it was advanced to; one that never was is ACTIVE while a claim on it is live, else NEW.
"""

from __future__ import annotations

from typing import Protocol

NEW = "NEW"
ACTIVE = "ACTIVE"
CLOSED = "CLOSED"
WILL_NOT_IMPLEMENT = "WILL_NOT_IMPLEMENT"

TERMINAL = (CLOSED, WILL_NOT_IMPLEMENT)


class StatusFields(Protocol):
    """The fields that determine the status of a node."""

    @property
    def resolved(self) -> bool: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def status(self) -> str | None: ...
    @property
    def claimed_by(self) -> str | None: ...
    @property
    def claimed_until(self) -> str | None: ...


def status_of(node: StatusFields, *, now: str) -> str:
    """Return the status of a node at the time `now`."""
    if node.resolved:
        return WILL_NOT_IMPLEMENT if node.outcome is not None else CLOSED
    if node.status is not None:
        return node.status
    return ACTIVE if is_claim_live(node.claimed_by, node.claimed_until, now=now) else NEW


def is_claim_live(claimed_by: str | None, claimed_until: str | None, *, now: str) -> bool:
    """Return whether a claim exists and has not expired at the time `now`."""
    return claimed_by is not None and (claimed_until is None or claimed_until > now)
