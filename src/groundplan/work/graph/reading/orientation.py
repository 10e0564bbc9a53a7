"""A project at a glance, as an agent reads it that has never been here: always short, whatever the project is like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from groundplan.kernel.budget import LeftOut, fit_excerpts
from groundplan.work.engine.node import WorkCounts

TOKENS_MAX = 600

# The lists, the most important first: how many entries each has at most, and how many it keeps as long as possible.
LISTS_MAX = {"next": 3, "my_claims": 5, "blocked": 3, "tree": 8, "recent": 5, "projects": 20}
LISTS_MIN = {"next": 2, "my_claims": 2, "blocked": 1, "tree": 4, "recent": 2, "projects": 5}

# A goal and a reason may be longer than what a node is called.
GOAL_WIDTHS = 4
DECISION_WIDTHS = 2


class ProjectBrief(Struct, kw_only=True):
    """Which project it is, and what for."""

    id: str
    name: str
    goal: str | UnsetType = UNSET
    goal_excerpt: str | UnsetType = UNSET
    archived_at: str | UnsetType = UNSET


class NodeBrief(Struct, kw_only=True):
    """A node by name: its summary, or what there is room for."""

    id: str
    summary: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET


class ClaimBrief(NodeBrief, kw_only=True):
    """A node that the caller works on."""

    claimed_at: str | UnsetType = UNSET


class BranchBrief(NodeBrief, kw_only=True):
    """A node on the top level of the tree, with how many of its children are open."""

    resolved: bool | UnsetType = UNSET  # only where it is
    open_children: int | UnsetType = UNSET


class BlockedBrief(NodeBrief, kw_only=True):
    """A node that cannot be started, and what for; `through` is the ancestor that waits, if it is not the node."""

    through: str | UnsetType = UNSET
    waits_for: list[NodeBrief]
    hold: str | UnsetType = UNSET  # why somebody put it, or that ancestor, on hold
    hold_excerpt: str | UnsetType = UNSET


class RecentBrief(NodeBrief, kw_only=True):
    """Something that was finished, given up or decided lately."""

    action: str
    agent: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    decision: str | UnsetType = UNSET
    decision_excerpt: str | UnsetType = UNSET


class ProjectChoice(NodeBrief, kw_only=True):
    """A project among several."""

    name: str
    unresolved: int
    actionable: int


class Orientation(Struct, kw_only=True):
    """One project at a glance, or the projects to choose from."""

    project: ProjectBrief | UnsetType = UNSET
    counts: WorkCounts | UnsetType = UNSET
    next: list[NodeBrief] | UnsetType = UNSET
    my_claims: list[ClaimBrief] | UnsetType = UNSET
    blocked: list[BlockedBrief] | UnsetType = UNSET
    tree: list[BranchBrief] | UnsetType = UNSET
    recent: list[RecentBrief] | UnsetType = UNSET
    projects: list[ProjectChoice] | UnsetType = UNSET
    left_out: LeftOut = UNSET  # of my_claims, tree (those that are open) and projects
    hint: str | UnsetType = UNSET


AnyBrief = TypeVar("AnyBrief", bound=NodeBrief)


def shorten_orientation(whole: Orientation, unlisted: Mapping[str, int], *, tokens_max: int, lean: bool) -> Orientation:
    """As much of an orientation as fits. `unlisted` says how many more there are than its lists have."""
    lists = {name: len(getattr(whole, name)) for name in LISTS_MAX if getattr(whole, name) is not UNSET}
    limit = min(TOKENS_MAX, tokens_max or TOKENS_MAX)
    return fit_excerpts(
        lambda chars, kept: _shorten(whole, unlisted, chars, kept, lean=lean),
        lists,
        floors=LISTS_MIN,
        tokens_max=limit,
    )


def _shorten(
    whole: Orientation, unlisted: Mapping[str, int], chars: int, kept: Mapping[str, int], *, lean: bool
) -> Orientation:
    parts: dict[str, Any] = {
        name: [_shorten_entry(one, chars, lean=lean) for one in getattr(whole, name)[:count]]
        for name, count in kept.items()
    }
    if whole.project is not UNSET:
        goal, goal_excerpt = _excerpt(whole.project.goal, chars * GOAL_WIDTHS)
        parts["project"] = replace(whole.project, goal=goal, goal_excerpt=goal_excerpt)
    parts["left_out"] = _left_out(whole, unlisted, kept)
    if lean:
        parts = {name: part or UNSET for name, part in parts.items()}
    return replace(whole, **parts)


def _shorten_entry(one: AnyBrief, chars: int, *, lean: bool) -> AnyBrief:
    summary, excerpt = _excerpt(one.summary, chars)
    shown = replace(one, summary=summary, excerpt=excerpt)
    match shown:
        case RecentBrief():
            shown.decision, shown.decision_excerpt = _excerpt(shown.decision, chars * DECISION_WIDTHS)
            if lean:
                shown.agent = shown.at = UNSET
        case BlockedBrief():
            shown.waits_for = [_shorten_entry(other, chars, lean=lean) for other in shown.waits_for]
            shown.hold, shown.hold_excerpt = _excerpt(shown.hold, chars)
        case ClaimBrief() if lean:
            shown.claimed_at = UNSET
    return shown


def _excerpt(stored: str | UnsetType, chars_max: int) -> tuple[str | UnsetType, str | UnsetType]:
    """Return a stored text if it is short enough, else as much of it as is allowed."""
    if stored is UNSET or len(stored) <= chars_max:
        return stored, UNSET
    return UNSET, stored[: chars_max - 1] + "…"


def _left_out(whole: Orientation, unlisted: Mapping[str, int], kept: Mapping[str, int]) -> LeftOut:
    counted = {
        name: count + sum(not getattr(one, "resolved", False) for one in getattr(whole, name)[kept[name] :])
        for name, count in unlisted.items()
    }
    return {name: count for name, count in counted.items() if count} or UNSET
