"""The two properties that the engine reads, and the order in which nodes are offered.

`priority` is higher first, `complexity` lower first among tasks.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False  # as in typing, which takes longer to import than a short read of the plan
if TYPE_CHECKING:
    from typing import Any, Protocol
else:
    Protocol = object  # only type checkers compare the fields

PRIORITY = "priority"
PRIORITY_ABSENT = float("-inf")  # a node without a priority ranks behind every node that has one
PRIORITY_IGNORED = "priority is not a number and ranks as absent"  # a warning
COMPLEXITY = "complexity"
COMPLEXITY_MAX = 10
COMPLEXITY_ABSENT = COMPLEXITY_MAX + 1


def get_priority(properties: Mapping[str, Any]) -> float:
    """Return the priority in these properties, or PRIORITY_ABSENT if it is not a number."""
    given = properties.get(PRIORITY)
    return float(given) if isinstance(given, int | float) and _is_number(given) else PRIORITY_ABSENT


def get_complexity(properties: Mapping[str, Any]) -> int:
    """Return the complexity in these properties, or COMPLEXITY_ABSENT if it is not valid."""
    given = parse_complexity(properties)
    return COMPLEXITY_ABSENT if given is None else given


def parse_complexity(properties: Mapping[str, Any]) -> int | None:
    """Return the complexity in these properties if it is an integer from 1 to COMPLEXITY_MAX, else None."""
    given = properties.get(COMPLEXITY)
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    return given if 1 <= given <= COMPLEXITY_MAX else None


def ranks_as_absent(properties: Mapping[str, Any]) -> bool:
    """Return whether the priority in these properties is not a number."""
    return not _is_number(properties.get(PRIORITY, 0))


class RankFields(Protocol):
    """The fields that determine the order in which nodes are offered."""

    @property
    def n(self) -> int: ...
    @property
    def priority(self) -> float: ...
    @property
    def depth(self) -> int: ...
    @property
    def changed_rev(self) -> int: ...


def rank(node: RankFields) -> tuple[float, int, int, int]:
    """Return the sort key of the order in which work is offered: priority, depth, least recently updated, creation."""
    return -node.priority, -node.depth, node.changed_rev, node.n


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
