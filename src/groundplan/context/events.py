"""The events that context records."""

from __future__ import annotations

from enum import StrEnum


class Op(StrEnum):
    """Every kind of change to a run and its rows."""

    DRAFT_CREATED = "context.draft_created"
    DRAFT_UPDATED = "context.draft_updated"
    COMMITTED = "context.committed"
    DISCARDED = "context.discarded"
    DELETED = "context.deleted"
    SOURCE_ADDED = "context.source_added"
    SOURCE_CHANGED = "context.source_changed"
    SOURCE_REMOVED = "context.source_removed"
    INPUT_ADDED = "context.input_added"
    INPUT_CHANGED = "context.input_changed"
    INPUT_REMOVED = "context.input_removed"
    CONSTRAINT_ADDED = "context.constraint_added"
    CONSTRAINT_CHANGED = "context.constraint_changed"
    CONSTRAINT_REMOVED = "context.constraint_removed"
    ARTIFACT_ADDED = "context.artifact_added"
    ARTIFACT_CHANGED = "context.artifact_changed"
    ARTIFACT_REMOVED = "context.artifact_removed"
    LINKED = "context.linked"
    UNLINKED = "context.unlinked"
    SUGGESTED = "context.suggested"
    SUGGESTION_CHANGED = "context.suggestion_changed"
    SUGGESTION_REMOVED = "context.suggestion_removed"
    ACCEPTED = "context.accepted"
    REJECTED = "context.rejected"
