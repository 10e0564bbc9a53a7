"""The words of beads: statuses, types that are no work, and dependencies that block."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.work.importing.source_items import Fate

TOOL = "beads"
PRIORITY_MAX = 4  # 0 is the highest there, and the lowest here

TOMBSTONE = "tombstone"
PINNED = "pinned"

# By normalized word; all others are held.
FATES: Mapping[str, Fate] = {
    "closed": "done",
    "complete": "done",
    "completed": "done",
    "cancelled": "dropped",
    "canceled": "dropped",
    "open": "open",
    "in progress": "open",
}
STARTED = "in progress"

# Types that beads never offers as work.
NO_WORK_TYPES = frozenset({"merge-request", "gate", "molecule", "message", "agent", "role", "rig"})

PARENT_CHILD = "parent-child"
BLOCKING = frozenset({"blocks", "conditional-blocks", "waits-for"})
# Dependency types that have an edge type of ours.
EDGE_TYPES: Mapping[str, str] = {"related": "relates_to", "relates-to": "relates_to"}

# Fields that become properties under another name.
PROPERTIES: Mapping[str, str] = {
    "issue_type": "type",
    "assignee": "assignee",
    "owner": "owner",
    "created_by": "created_by",
    "created_at": "source_created_at",
    "updated_at": "source_updated_at",
    "closed_at": "source_closed_at",
    "started_at": "source_started_at",
    "due_at": "due",
    "defer_until": "defer_until",
    "estimated_minutes": "estimated_minutes",
    "spec_id": "spec_id",
}
SECTIONS = ("description", "design", "acceptance_criteria", "notes")

# Fields that say nothing about the work: bookkeeping of the tool, and what is taken over elsewhere.
KNOWN_FIELDS = frozenset(
    {
        *PROPERTIES,
        *SECTIONS,
        *("id", "title", "status", "priority", "labels", "dependencies", "comments", "close_reason", "external_ref"),
        *("parent", "pinned", "ephemeral", "is_template", "metadata"),
        *("deleted_at", "deleted_by", "delete_reason", "original_type"),
        *("source_repo", "source_repo_path", "content_hash", "compaction_level", "compacted_at", "original_size"),
        *("dependency_count", "dependent_count", "comment_count", "_type"),
    }
)
