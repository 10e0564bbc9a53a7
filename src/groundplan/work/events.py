"""What is recorded about work, and how a node's history calls it."""

from __future__ import annotations

from enum import StrEnum


class Op(StrEnum):
    """Every kind of change to a work node. The word behind the dot is the `action` in its history."""

    CREATED = "work.created"
    UPDATED = "work.updated"
    RESOLVED = "work.resolved"
    REOPENED = "work.reopened"
    MOVED = "work.moved"
    MERGED = "work.merged"
    DROPPED = "work.dropped"
    CLAIMED = "work.claimed"
    RENEWED = "work.renewed"
    RELEASED = "work.released"
    CONNECTED = "work.connected"
    DISCONNECTED = "work.disconnected"

    @property
    def action(self) -> str:
        return self.value.partition(".")[2]


ACTIONS = {op.value: op.action for op in Op}
