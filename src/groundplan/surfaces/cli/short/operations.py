"""The operations that the short words call, by their names, each loaded from its own module.

The catalog would import every slice. A test compares this table with the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from groundplan.kernel.ports import load_by_name

if TYPE_CHECKING:
    from groundplan.kernel.operations.registry import Operation

SOURCES: Mapping[str, str] = {
    "work.add": "work.graph.add:OPERATION",
    "work.next": "work.graph.next:OPERATION",
    "work.claim": "work.graph.next:CLAIM",
    "work.update": "work.graph.update:OPERATION",
    "work.restructure": "work.graph.restructure:OPERATION",
    "work.connect": "work.graph.connect:OPERATION",
    "work.context": "work.graph.reading.context:OPERATION",
    "work.history": "work.graph.reading.history:OPERATION",
    "work.lookup": "work.graph.search.lookup:OPERATION",
    "work.outline": "work.graph.search.outline:OPERATION",
    "container.get": "work.containers.get:OPERATION",
    "container.update": "work.containers.update:OPERATION",
    "container.block": "work.containers.workflow.block:OPERATION",
    "container.unblock": "work.containers.workflow.unblock:OPERATION",
    "tag.list": "work.containers.tags.list:OPERATION",
    "project.list": "kernel.projects.list:OPERATION",
    "event.list": "kernel.events.list:OPERATION",
    "purpose.open": "purpose.open:OPERATION",
    "briefing.search": "briefing.search.search:OPERATION",
    "briefing.throughline": "briefing.throughline.throughline:OPERATION",
    "briefing.undo": "briefing.undo.undo:OPERATION",
    "briefing.inbox": "briefing.inbox.inbox:OPERATION",
}


def load_operation(name: str) -> Operation[Any, Any]:
    """Return an operation; its module is imported."""
    operation: Operation[Any, Any] = load_by_name(f"groundplan.{SOURCES[name]}")
    return operation
