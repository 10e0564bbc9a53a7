"""The words of Taskmaster: statuses, priorities and fields."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.work.importing.source_items import Fate

TOOL = "taskmaster"
MASTER = "master"  # the tag of a file without tags

FATES: Mapping[str, Fate] = {
    "done": "done",
    "completed": "done",
    "cancelled": "dropped",
    "canceled": "dropped",
    "pending": "open",
    "in progress": "open",
}
STARTED = "in progress"
PRIORITIES: Mapping[str, float] = {"critical": 4, "high": 3, "medium": 2, "low": 1}
PRIORITY_DEFAULT = "medium"

# The property with dependencies that name nothing, for an export.
MISSING_DEPENDENCIES = "missing_dependencies"
SECTIONS = ("description", "details", "testStrategy", "acceptanceCriteria", "completionNotes", "analysisResults")
PROPERTIES: Mapping[str, str] = {"updatedAt": "source_updated_at"}
# What is taken over elsewhere, or says again what the place in the file says.
KNOWN_FIELDS = frozenset(
    {
        *SECTIONS,
        *PROPERTIES,
        *("id", "title", "status", "priority", "dependencies", "subtasks", "tags"),
        *("parentTaskId", "parentId", "parentTask", "isSubtask"),
    }
)
