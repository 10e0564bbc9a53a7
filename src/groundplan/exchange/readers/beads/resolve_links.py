"""Parents, dependencies and holds of the issues of beads, by its own rule of what is ready.

An issue is ready there if it is open or in progress; not pinned, ephemeral or a template; of a type that is work; not
deferred, nor its parent; blocked by no issue that is neither closed nor pinned; and below no blocked parent. Targets
that are not in the file do not block. Holds on parents do not reach their parts, so only issues without unfinished
parts are held.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from groundplan.exchange.model import SourcePlan
from groundplan.exchange.readers.beads.issue import Issue, parse_time
from groundplan.exchange.readers.beads.rules import (
    BLOCKING,
    EDGE_TYPES,
    NO_WORK_TYPES,
    PARENT_CHILD,
    PINNED,
)
from groundplan.work.importing.source_items import DeletedItem, SourceItem, SourceLink


def resolve_links(
    plan: SourcePlan, issues: Mapping[str, Issue], items: Mapping[str, SourceItem], *, now: datetime
) -> None:
    """Set the parents, dependencies, links and holds of all items."""
    deleted = {one.source_id for one in plan.deleted if isinstance(one, DeletedItem)}
    for source_id, item in items.items():
        _set_parent(plan, issues[source_id], item, items)
        for type_, target in dict.fromkeys(issues[source_id].iter_dependencies()):
            if type_ == PARENT_CHILD:
                continue
            if target not in items:
                if target not in deleted:
                    plan.note_lost(source_id, type_, f"{target} is not in the file")
            elif type_ in BLOCKING:
                _add_dependency(plan, issues, item, target, type_)
            elif target != source_id:
                item.links.append(SourceLink(EDGE_TYPES.get(type_, type_)[:255], target))
    _hold(plan, issues, items, now=now)


def _set_parent(plan: SourcePlan, issue: Issue, item: SourceItem, items: Mapping[str, SourceItem]) -> None:
    """Set the parent: that of a dependency, or else the one that the dotted id names."""
    named = [target for type_, target in issue.iter_dependencies() if type_ == PARENT_CHILD]
    if (parent := issue.text("parent")) and parent not in named:
        named.append(parent)
    dotted = issue.id.rpartition(".")[0]
    for missing in dict.fromkeys(target for target in named if target not in items):
        plan.note_lost(issue.id, PARENT_CHILD, f"{missing} is not in the file")
    known = list(dict.fromkeys(target for target in named if target in items))
    if not known:
        if dotted in items:
            item.parent = dotted
            plan.note_placed(issue.id, "parent", f"its id says that it is below {dotted}")
        return
    item.parent = dotted if dotted in known else known[0]
    for other in known:
        if other != item.parent:
            item.links.append(SourceLink("relates_to", other))
            plan.note_placed(issue.id, "parent", f"has a second parent {other}; it is related to it now")


def _add_dependency(plan: SourcePlan, issues: Mapping[str, Issue], item: SourceItem, target: str, type_: str) -> None:
    """Add a dependency. One on a pinned issue is met there, so it is only a link here."""
    if issues[target].status == PINNED:
        item.links.append(SourceLink(type_, target))
        plan.note_placed(item.source_id, type_, f"{target} is pinned, and does not block; it is linked")
    else:
        item.depends_on.append(target)


def _hold(plan: SourcePlan, issues: Mapping[str, Issue], items: Mapping[str, SourceItem], *, now: datetime) -> None:
    unfinished_parents = _find_unfinished_parents(items)
    for source_id, item in items.items():
        if item.fate not in ("open", "held"):
            continue
        reason = item.hold_reason or _find_hold_reason(issues[source_id], now)
        if reason is None and item.parent is not None and _is_deferred(issues[item.parent], now):
            reason = f"its parent {item.parent} is deferred"
        if reason is None:
            continue
        if source_id in unfinished_parents:
            item.fate, item.hold_reason = "open", None
            plan.note_placed(source_id, "hold", f"{reason}, but is not held: its unfinished parts are ready in beads")
        else:
            if item.fate == "open":
                plan.note_placed(source_id, "hold", f"is held: {reason}")
            item.fate, item.hold_reason = "held", reason


def _find_unfinished_parents(items: Mapping[str, SourceItem]) -> set[str]:
    """Return the items with an unfinished item anywhere below them: one below a finished parent moves to its parent."""
    found: set[str] = set()
    for item in items.values():
        above = item.parent if item.fate in ("open", "held") else None
        while above is not None and above not in found:
            found.add(above)
            above = items[above].parent
    return found


def _find_hold_reason(issue: Issue, now: datetime) -> str | None:
    """Return why beads does not offer an open issue as work, or None."""
    for flag in ("pinned", "ephemeral", "is_template"):
        if issue.is_set(flag):
            return flag.removeprefix("is_")
    if issue.type in NO_WORK_TYPES:
        return f"type {issue.type}"
    if _is_deferred(issue, now):
        return f"deferred until {issue.fields['defer_until']}"
    return None


def _is_deferred(issue: Issue, now: datetime) -> bool:
    until = parse_time(issue.fields.get("defer_until"))
    return until is not None and until > now
