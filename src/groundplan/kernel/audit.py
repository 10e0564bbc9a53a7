"""What happened: append-only events, written in the transaction of the change they tell about.

An event is `(project, rev, n, v, at, actor, op, subject, changes, decision)`. `rev` is the revision that the write gave
its project and `n` the event's place within that write, so `rev.n` orders all events of a project and serves as a
cursor. `v` is the format of the record, so that readers of old events know what they read.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

EVENT_FORMAT = 1


class KernelOp(StrEnum):
    """What the kernel itself records; each slice has its own list."""

    PROJECT_CREATED = "project.created"
    PROJECT_ARCHIVED = "project.archived"
    PROJECT_RESTORED = "project.restored"
    PROJECT_CONFIGURED = "project.configured"
    MEMBER_ADDED = "member.added"
    MEMBER_CHANGED = "member.changed"
    MEMBER_REMOVED = "member.removed"


class Change(Struct, frozen=True):
    """One field that an event moved, with enough to rebuild the state before and after it."""

    field: str
    before: Any
    after: Any


class Event(Struct, frozen=True):
    """A recorded change, before the store gives it its place."""

    op: str
    subject: str
    changes: list[Change]
    decision: str | None = None


def changed(field: str, before: Any, after: Any) -> Change:
    """A field's move from one value to another."""
    return Change(field, before, after)
