"""The limits of a throughline, so that the answer stays short in a project of any size."""

from __future__ import annotations

from msgspec import UNSET

from groundplan.kernel.answers import LeftOut


class ChainLimits:
    """The number of entries of each kind."""

    PURPOSE_NODES = 300
    WORK_NODES = 150
    ANCESTORS = 50
    GOALS = 50
    DEAD_ENDS = 100


def count_parts(**parts: int) -> LeftOut:
    """Return the parts of which something is left out."""
    return {name: count for name, count in parts.items() if count} or UNSET
