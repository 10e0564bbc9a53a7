"""The direction rule: a causal edge never points down the chain activity, output, outcome, goal."""

from __future__ import annotations

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.purpose.model import LEVELS, EdgeName, EdgeType, NodeType


class InvalidDirection(RuleViolated):
    """An edge points from an effect to its cause."""

    code = "invalid_direction"

    def __init__(self, name: EdgeName, source_type: NodeType, target_type: NodeType, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: {name.source} is {source_type} and {name.target} is {target_type}, "
            f"so {name} points "
            "down the chain ACTIVITY, OUTPUT, OUTCOME, GOAL. Swap source and target, or set edge_type to FEEDBACK",
            field=format_argument_path(path),
            edge=str(name),
            nodes=[name.source, name.target],
            source_type=source_type,
            target_type=target_type,
        )


def points_down(edge_type: EdgeType, source_type: NodeType, target_type: NodeType) -> bool:
    """Return whether a causal edge points from an effect to its cause."""
    return edge_type is not EdgeType.FEEDBACK and LEVELS[source_type] > LEVELS[target_type]


def refuse_downward(name: EdgeName, source_type: NodeType, target_type: NodeType, *, path: ArgumentPath) -> None:
    """Raise InvalidDirection if the edge points down the chain."""
    if points_down(name.edge_type, source_type, target_type):
        raise InvalidDirection(name, source_type, target_type, path)
