"""Reminders after a completed task, in the words of the container contract."""

from __future__ import annotations

from msgspec import Struct

COMPLETION_HINT = "Task completed. Consider updating the knowledge graph."
SUGGESTED_ACTIONS = (
    "Update atom knowledge for areas affected by this task",
    "Update atom paths if files were moved or new directories created",
    "Append changelog entries for significant changes",
)


class GraphHints(Struct, rename="camel"):
    """Reminders after a completed task."""

    message: str
    suggested_actions: list[str]


def build_graph_hints() -> GraphHints:
    """Return the reminders."""
    return GraphHints(COMPLETION_HINT, list(SUGGESTED_ACTIONS))
