"""The kinds of nodes. Most nodes have none; the container dialect counts them as tasks."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than a short read of the plan
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # only type checkers compare the fields

ROOT_N = 1  # the number of the root of each project

PROJECT = "project"  # the root
FEATURE = "feature"  # tasks that belong together; never work itself
TASK = "task"

DROPPED = "dropped"  # the outcome of a node that will not be done


class FeatureFields(Protocol):
    """The fields of a node that determine the feature of its children."""

    @property
    def n(self) -> int: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def feature_n(self) -> int | None: ...


def get_feature_of_children(parent: FeatureFields) -> int | None:
    """Return the nearest feature above the children of a node, or None."""
    return parent.n if parent.kind == FEATURE else parent.feature_n
