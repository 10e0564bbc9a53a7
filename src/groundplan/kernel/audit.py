"""Events: append-only records of changes, written in the same transaction as the change.

An event is `(project, rev, n, v, at, actor, op, subject, changes, decision)`. `rev` is the revision that the write gave
its project and `n` the index of the event in that write, so `rev.n` orders all events of a project and serves as a
cursor. `v` is the format version of the record.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

EVENT_FORMAT = 1


class KernelOp(StrEnum):
    """The events that the kernel records; each slice has its own list."""

    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_RENAMED = "organization.renamed"
    ORGANIZATION_CONFIGURED = "organization.configured"
    PERSON_JOINED = "organization.member_added"
    PERSON_CHANGED = "organization.member_changed"
    PERSON_LEFT = "organization.member_removed"
    INVITATION_CREATED = "invitation.created"
    INVITATION_ACCEPTED = "invitation.accepted"
    INVITATION_REVOKED = "invitation.revoked"
    IDENTITY_BOUND = "identity.bound"
    IDENTITY_UNBOUND = "identity.unbound"
    PROJECT_CREATED = "project.created"
    PROJECT_ARCHIVED = "project.archived"
    PROJECT_RESTORED = "project.restored"
    PROJECT_CONFIGURED = "project.configured"
    MEMBER_ADDED = "member.added"
    MEMBER_CHANGED = "member.changed"
    MEMBER_REMOVED = "member.removed"
    TOKEN_CREATED = "token.created"  # noqa: S105 - an event
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - an event
    SESSION_OPENED = "session.opened"
    SESSION_CLOSED = "session.closed"


class Change(Struct, frozen=True):
    """One changed field, with its values before and after."""

    field: str
    before: Any
    after: Any


class Event(Struct, frozen=True):
    """A recorded event before the store assigns its `rev` and `n`."""

    op: str
    subject: str
    changes: list[Change]
    decision: str | None = None


changed = Change  # where an event is recorded: `tx.record(op, subject, changed("role", before, after))`
