"""The kinds and statuses of nodes, the priority and complexity by which they are ranked, and session defaults.

Most nodes have no kind; the container dialect counts them as tasks. A task or a feature has a status:

    NEW → ACTIVE → (further statuses of the project) → CLOSED      exit: WILL_NOT_IMPLEMENT

The graph dialect has no statuses, only open, claimed, resolved and dropped. A status is therefore stored in its own
column only where it does not follow from these. A resolved node is CLOSED and a dropped one WILL_NOT_IMPLEMENT. An
open node has the status it was advanced to; one that never was is ACTIVE while a claim on it is live, else NEW.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import UNSET, Struct, UnsetType

from groundplan.policies import CLAIM_TTL_MINUTES

ROOT_N = 1  # the number of the root of each project

PROJECT = "project"  # the root
FEATURE = "feature"  # tasks that belong together; never work itself
TASK = "task"

DONE = "done"
DROPPED = "dropped"  # of a node that will not be done

Outcome = Literal["done", "dropped"]


class FeatureFields(Protocol):
    """The fields of a node that determine the feature of its children."""

    @property
    def n(self) -> int: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def feature_n(self) -> int | None: ...


def get_feature_of_children(parent: FeatureFields) -> int | None:
    """Return the feature of a node's children: the node itself or its nearest feature above; None if there is none."""
    return parent.n if parent.kind == FEATURE else parent.feature_n


NEW = "NEW"
ACTIVE = "ACTIVE"
CLOSED = "CLOSED"
WILL_NOT_IMPLEMENT = "WILL_NOT_IMPLEMENT"

TERMINAL = (CLOSED, WILL_NOT_IMPLEMENT)


class StatusFields(Protocol):
    """The fields that determine the status of a node."""

    @property
    def resolved(self) -> bool: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def status(self) -> str | None: ...
    @property
    def claimed_by(self) -> str | None: ...
    @property
    def claimed_until(self) -> str | None: ...


class OutcomeFields(Protocol):
    """The fields that determine the outcome of a node. A stored outcome is DROPPED."""

    @property
    def resolved(self) -> bool: ...
    @property
    def outcome(self) -> str | None: ...


def get_outcome(node: OutcomeFields) -> Outcome | UnsetType:
    """Return the outcome of a resolved node; UNSET if the node is open."""
    if not node.resolved:
        return UNSET
    return "done" if node.outcome is None else "dropped"


def get_status(node: StatusFields, *, now: str) -> str:
    """Return the status of a node at the time `now`."""
    if node.resolved:
        return WILL_NOT_IMPLEMENT if node.outcome is not None else CLOSED
    if node.status is not None:
        return node.status
    return ACTIVE if is_claim_live(node.claimed_by, node.claimed_until, now=now) else NEW


def is_claim_live(claimed_by: str | None, claimed_until: str | None, *, now: str) -> bool:
    """Return True if a claim exists and has not expired at the time `now`."""
    return claimed_by is not None and (claimed_until is None or claimed_until > now)


# The two properties that the engine reads: priority is higher first, complexity lower first among tasks.
PRIORITY = "priority"
PRIORITY_ABSENT = float("-inf")  # a node without a priority ranks behind every node that has one
PRIORITY_IGNORED = "priority is not a number and ranks as absent"  # a warning
COMPLEXITY = "complexity"
COMPLEXITY_MAX = 10
COMPLEXITY_ABSENT = COMPLEXITY_MAX + 1


def get_priority(properties: Mapping[str, Any]) -> float:
    """Return the priority in properties; PRIORITY_ABSENT if it is missing or not a number."""
    priority = properties.get(PRIORITY)
    return float(priority) if isinstance(priority, int | float) and _is_number(priority) else PRIORITY_ABSENT


def get_complexity(properties: Mapping[str, Any]) -> int:
    """Return the complexity in properties; COMPLEXITY_ABSENT if it is missing or invalid."""
    complexity = parse_complexity(properties)
    return COMPLEXITY_ABSENT if complexity is None else complexity


def parse_complexity(properties: Mapping[str, Any]) -> int | None:
    """Return the complexity in properties if it is an integer from 1 to COMPLEXITY_MAX, else None."""
    complexity = properties.get(COMPLEXITY)
    if not isinstance(complexity, int) or isinstance(complexity, bool):
        return None
    return complexity if 1 <= complexity <= COMPLEXITY_MAX else None


def ranks_as_absent(properties: Mapping[str, Any]) -> bool:
    """Return True if the priority in properties is missing or not a number."""
    return not _is_number(properties.get(PRIORITY, 0))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class WorkPreferences(Struct, frozen=True):
    """Defaults of one session for work."""

    claim_ttl_minutes: float = CLAIM_TTL_MINUTES
    pipelines: str | None = None  # the status pipelines of new projects, as they are stored
