"""How far a task or a feature is.

    NEW → ACTIVE → (what a project puts between them) → CLOSED      exit: WILL_NOT_IMPLEMENT

The graph dialect has no statuses, only open, claimed, resolved and dropped; so a status is kept in its own column only
where these do not tell it. A resolved node is CLOSED, a dropped one WILL_NOT_IMPLEMENT; an open one has the status it
was advanced to, and one that never was is ACTIVE while somebody's claim holds, else NEW.
"""

from __future__ import annotations

from typing import Protocol

NEW = "NEW"
ACTIVE = "ACTIVE"
CLOSED = "CLOSED"
WILL_NOT_IMPLEMENT = "WILL_NOT_IMPLEMENT"

TERMINAL = (CLOSED, WILL_NOT_IMPLEMENT)


class StatusFields(Protocol):
    """What of a node tells its status."""

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
    """The status of a node at a moment."""
    if node.resolved:
        return WILL_NOT_IMPLEMENT if node.outcome is not None else CLOSED
    if node.status is not None:
        return node.status
    return ACTIVE if is_claim_live(node.claimed_by, node.claimed_until, now=now) else NEW


def is_claim_live(claimed_by: str | None, claimed_until: str | None, *, now: str) -> bool:
    """Whether a claim holds at this moment."""
    return claimed_by is not None and (claimed_until is None or claimed_until > now)
