"""The overview of a project for a new agent, shortened to a fixed number of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from groundplan.kernel.answers import LeftOut, fit_excerpts
from groundplan.work.nodes import WorkCounts

TOKENS_MAX = 600

# The lists, the most important first: how many entries each has at most, and how many it keeps as long as possible.
LISTS_MAX = {"next": 3, "marks": 3, "my_claims": 5, "blocked": 3, "tree": 8, "recent": 5, "projects": 20}
LISTS_MIN = {"next": 2, "marks": 1, "my_claims": 2, "blocked": 1, "tree": 4, "recent": 2, "projects": 5}

# A goal and a decision get a multiple of the room that a summary gets.
GOAL_WIDTHS = 4
DECISION_WIDTHS = 2


class ProjectBrief(Struct, kw_only=True):
    """The id, name and goal of a project."""

    id: str
    name: str
    goal: str | UnsetType = UNSET
    goal_excerpt: str | UnsetType = UNSET
    archived_at: str | UnsetType = UNSET


class NodeBrief(Struct, kw_only=True):
    """The id of a node with its summary, or with the excerpt that there is room for."""

    id: str
    summary: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET


class ClaimBrief(NodeBrief, kw_only=True):
    """A node that the caller has claimed."""

    claimed_at: str | UnsetType = UNSET


class BranchBrief(NodeBrief, kw_only=True):
    """A top-level node, with the number of its open children."""

    resolved: bool | UnsetType = UNSET  # set only if it is true
    open_children: int | UnsetType = UNSET


class BlockedBrief(NodeBrief, kw_only=True):
    """A blocked node, with what it waits for; `through` is the ancestor that waits, if it is not the node itself."""

    through: str | UnsetType = UNSET
    waits_for: list[NodeBrief]
    hold: str | UnsetType = UNSET  # why the node, or that ancestor, is on hold
    hold_excerpt: str | UnsetType = UNSET


class RecentBrief(NodeBrief, kw_only=True):
    """A recent event: a node that was resolved or dropped, or a decision."""

    action: str
    agent: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    decision: str | UnsetType = UNSET
    decision_excerpt: str | UnsetType = UNSET


class ProjectChoice(NodeBrief, kw_only=True):
    """A project to choose from."""

    name: str
    unresolved: int
    actionable: int


class Orientation(Struct, kw_only=True):
    """An overview of one project, or the projects to choose from."""

    project: ProjectBrief | UnsetType = UNSET
    counts: WorkCounts | UnsetType = UNSET
    next: list[NodeBrief] | UnsetType = UNSET
    marks: list[str] | UnsetType = UNSET  # assumptions in doubt and changed facts, the latest first
    my_claims: list[ClaimBrief] | UnsetType = UNSET
    blocked: list[BlockedBrief] | UnsetType = UNSET
    tree: list[BranchBrief] | UnsetType = UNSET
    recent: list[RecentBrief] | UnsetType = UNSET
    projects: list[ProjectChoice] | UnsetType = UNSET
    left_out: LeftOut = UNSET  # for marks, my_claims, tree (only open nodes) and projects
    hint: str | UnsetType = UNSET


AnyBrief = TypeVar("AnyBrief", bound=NodeBrief)


def shorten_orientation(
    orientation: Orientation, unlisted: Mapping[str, int], *, tokens_max: int, lean: bool
) -> Orientation:
    """Return as much of an orientation as fits; `unlisted` counts the entries that its lists do not have."""
    lists = {name: len(getattr(orientation, name)) for name in LISTS_MAX if getattr(orientation, name) is not UNSET}
    limit = min(TOKENS_MAX, tokens_max or TOKENS_MAX)
    return fit_excerpts(
        lambda chars, kept: _shorten(orientation, unlisted, chars, kept, lean=lean),
        lists,
        floors=LISTS_MIN,
        tokens_max=limit,
    )


def _shorten(
    orientation: Orientation, unlisted: Mapping[str, int], chars: int, list_lengths: Mapping[str, int], *, lean: bool
) -> Orientation:
    parts: dict[str, Any] = {
        name: [
            _cut(entry, chars) if isinstance(entry, str) else _shorten_entry(entry, chars, lean=lean)
            for entry in getattr(orientation, name)[:count]
        ]
        for name, count in list_lengths.items()
    }
    if orientation.project is not UNSET:
        goal, goal_excerpt = _make_excerpt(orientation.project.goal, chars * GOAL_WIDTHS)
        parts["project"] = replace(orientation.project, goal=goal, goal_excerpt=goal_excerpt)
    parts["left_out"] = _count_left_out(orientation, unlisted, list_lengths)
    if lean:
        parts = {name: part or UNSET for name, part in parts.items()}
    return replace(orientation, **parts)


def _shorten_entry(entry: AnyBrief, chars: int, *, lean: bool) -> AnyBrief:
    summary, excerpt = _make_excerpt(entry.summary, chars)
    shortened = replace(entry, summary=summary, excerpt=excerpt)
    match shortened:
        case RecentBrief():
            shortened.decision, shortened.decision_excerpt = _make_excerpt(shortened.decision, chars * DECISION_WIDTHS)
            if lean:
                shortened.agent = shortened.at = UNSET
        case BlockedBrief():
            shortened.waits_for = [_shorten_entry(other, chars, lean=lean) for other in shortened.waits_for]
            shortened.hold, shortened.hold_excerpt = _make_excerpt(shortened.hold, chars)
        case ClaimBrief() if lean:
            shortened.claimed_at = UNSET
    return shortened


def _cut(line: str, chars_max: int) -> str:
    return line if len(line) <= chars_max else line[: chars_max - 1] + "…"


def _make_excerpt(stored: str | UnsetType, chars_max: int) -> tuple[str | UnsetType, str | UnsetType]:
    """Return a stored text if it is short enough, else as much of it as is allowed."""
    if stored is UNSET or len(stored) <= chars_max:
        return stored, UNSET
    return UNSET, stored[: chars_max - 1] + "…"


def _count_left_out(orientation: Orientation, unlisted: Mapping[str, int], list_lengths: Mapping[str, int]) -> LeftOut:
    counted = {
        name: count
        + sum(not getattr(entry, "resolved", False) for entry in getattr(orientation, name)[list_lengths[name] :])
        for name, count in unlisted.items()
    }
    return {name: count for name, count in counted.items() if count} or UNSET
