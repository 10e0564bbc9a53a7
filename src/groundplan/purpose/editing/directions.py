"""The direction rule: a causal edge never points down the chain activity, output, outcome, goal."""

from __future__ import annotations

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.purpose.editing.rules import TypedEdge


class InvalidDirection(RuleViolated):
    """An edge points from an effect to its cause."""

    code = "invalid_direction"

    def __init__(self, edge: TypedEdge, path: ArgumentPath) -> None:
        name, source_type, target_type = edge
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


def refuse_downward(edge: TypedEdge, path: ArgumentPath) -> None:
    """Raise InvalidDirection if the edge points down the chain."""
    if edge.points_down:
        raise InvalidDirection(edge, path)
