"""What sorts of nodes there are. Most have no kind: the container dialect counts them as tasks."""

from __future__ import annotations

from typing import Protocol

from groundplan.kernel.store.transaction import Transaction

PROJECT = "project"  # the root
FEATURE = "feature"  # tasks that belong together; never work itself
TASK = "task"

DROPPED = "dropped"  # the outcome of what was given up


def blocks_descendants(tx: Transaction, kind: str | None) -> bool:
    """Whether what a node waits for holds back everything below it."""
    return kind == FEATURE or tx.project.policies.inherit_dependencies


class FeatureFields(Protocol):
    """What of a node tells which feature its children are in."""

    @property
    def n(self) -> int: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def feature_n(self) -> int | None: ...


def feature_of_children(parent: FeatureFields) -> int | None:
    """The nearest feature above the children of a node, if there is one."""
    return parent.n if parent.kind == FEATURE else parent.feature_n
