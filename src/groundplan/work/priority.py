"""The one property that the engine reads: `priority`, higher first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRIORITY = "priority"
ABSENT = float("-inf")  # a node without a priority ranks behind every node that has one


def priority_of(properties: Mapping[str, Any]) -> float:
    """Where a node with these properties ranks."""
    given = properties.get(PRIORITY)
    return float(given) if isinstance(given, int | float) and _is_number(given) else ABSENT


def warning(node: str, properties: Mapping[str, Any]) -> str | None:
    """What to tell whoever gave a priority that cannot be compared."""
    if _is_number(properties.get(PRIORITY, 0)):
        return None
    return f"{node}: priority is no number and ranks as absent"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
