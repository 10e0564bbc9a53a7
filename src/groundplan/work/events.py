"""The kinds of events of work, and the names of actions in the history of a node."""

from __future__ import annotations

from enum import StrEnum


class WorkOp(StrEnum):
    """The kinds of changes of a work node. The part after the dot is the `action` in its history."""

    CREATED = "work.created"
    UPDATED = "work.updated"
    RESOLVED = "work.resolved"
    REOPENED = "work.reopened"
    MOVED = "work.moved"
    MERGED = "work.merged"
    UNMERGED = "work.unmerged"
    DROPPED = "work.dropped"
    CLAIMED = "work.claimed"
    RENEWED = "work.renewed"
    RELEASED = "work.released"
    LEASE_MOVED = "work.lease_moved"
    CONNECTED = "work.connected"
    DISCONNECTED = "work.disconnected"
    ADVANCED = "work.advanced"
    REVERTED = "work.reverted"
    HELD = "work.held"
    UNHELD = "work.unheld"
    DELETED = "work.deleted"
    RESTORED = "work.restored"
    TAGGED = "work.tagged"
    SECTION_ADDED = "work.section_added"
    SECTION_CHANGED = "work.section_changed"
    SECTION_DELETED = "work.section_deleted"

    @property
    def action(self) -> str:
        return self.value.partition(".")[2]


class TemplateOp(StrEnum):
    """The kinds of changes of a template. They are recorded in the history of the organization."""

    CREATED = "template.created"
    UPDATED = "template.updated"
    DELETED = "template.deleted"


ACTIONS = {op.value: op.action for op in WorkOp}
