"""An edge goes from cause to effect, so it never points down: activity, output, outcome, goal."""

from __future__ import annotations

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.purpose.model import LEVELS, EdgeName, EdgeType, NodeType


class InvalidDirection(RuleViolated):
    """An edge would point from an effect to its cause."""

    code = "invalid_direction"

    def __init__(self, name: EdgeName, source_type: NodeType, target_type: NodeType, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: {name.source} is {source_type} and {name.target} is {target_type}, "
            f"so {name} would "
            "point down the chain ACTIVITY, OUTPUT, OUTCOME, GOAL; turn it round, or say edge_type FEEDBACK",
            field=format_argument_path(path),
            edge=str(name),
            nodes=[name.source, name.target],
            source_type=source_type,
            target_type=target_type,
        )


def points_down(edge_type: EdgeType, source_type: NodeType, target_type: NodeType) -> bool:
    """Whether an edge points from an effect to a cause."""
    return edge_type is not EdgeType.FEEDBACK and LEVELS[source_type] > LEVELS[target_type]


def refuse_downward(name: EdgeName, source_type: NodeType, target_type: NodeType, *, path: ArgumentPath) -> None:
    """Raises InvalidDirection for an edge that points down."""
    if points_down(name.edge_type, source_type, target_type):
        raise InvalidDirection(name, source_type, target_type, path)
