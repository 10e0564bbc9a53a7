"""The changes between two versions in words, for the summary of a draft and for the view Compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from msgspec import UNSET

from groundplan.purpose.model import NodeType, RiskLevel
from groundplan.purpose.versions.versions import Version
from groundplan.surfaces.web.areas.plan.plan_visit import PlanView, PlanVisit, open_version
from groundplan.surfaces.web.areas.plan.theory import TheoryItems
from groundplan.surfaces.web.areas.throughline import Item, read_linked_work
from groundplan.surfaces.web.render import inline_picture
from groundplan.surfaces.web.words import FieldChange, describe_value

CHANGES_SHOWN = 300
KINDS = {"nodes": "part", "edges": "link", "assumptions": "assumption", "indicators": "indicator"}
GROUPS = {"nodes": "Items", "edges": "Links", "assumptions": "Assumptions", "indicators": "Indicators"}
SIGNS = ("added", "changed", "removed")
RISKS = [None, RiskLevel.LOW, RiskLevel.MEDIUM, RiskLevel.HIGH]
FIELD_NAMES = {
    "assumption_text": "text",
    "risk_level": "risk",
    "review_by": "review by",
    "node_type": "type",
    "edge_type": "type",
    "baseline_verified": "baseline verified",
}


class VersionChange(NamedTuple):
    """One difference: of a node, a link, an assumption or an indicator."""

    part: str  # of the comparison: nodes, edges, assumptions or indicators
    sign: str
    key: str
    kind: str
    title: str
    fields: Sequence[FieldChange]
    risk: str  # of an assumption: `rose` or `new` if it is high; else empty
    card: str  # the card or the link of the picture that shows it


class Comparison(NamedTuple):
    """Two versions and the differences."""

    before: TheoryItems
    after: TheoryItems
    changes: Sequence[VersionChange]


def compare_versions(plan: PlanVisit, base: Version, after: TheoryItems) -> Comparison:
    """Return the changes from `base` to `after`. Assumptions with an increased risk come first."""
    before = open_version(plan.visit, plan.today, {"version": base.number})
    diff = plan.visit.call("purpose.diff", **{"from": base.number, "to": after.version.number})
    changes = [
        _describe(before, after, part, sign, item)
        for part, sign in product(KINDS, SIGNS)
        for item in getattr(getattr(diff, part), sign)
    ]
    return Comparison(before, after, sorted(changes, key=lambda change: change.risk != "rose"))


def group_changes(changes: Sequence[VersionChange]) -> list[tuple[str, list[VersionChange]]]:
    """Return the changes in titled groups, without empty ones. The first group has increased and new risks."""
    groups = {"Risks that rose or are new": [change for change in changes if change.risk]}
    for part, title in GROUPS.items():
        groups[title] = [change for change in changes if change.part == part and not change.risk]
    return [(title, group) for title, group in groups.items() if group]


def _describe(before: TheoryItems, after: TheoryItems, part: str, sign: str, item: Any) -> VersionChange:
    theory = after if item.key in after else before
    node = theory.nodes.get(item.key)
    return VersionChange(
        part,
        sign,
        item.key,
        node.node_type.lower() if node else KINDS[part],
        theory.describe(item.key),
        [_describe_field(field) for field in item.fields] if sign == "changed" else (),
        _judge_risk(sign, item) if part == "assumptions" else "",
        theory.find_card(item.key),
    )


def _describe_field(field: Any) -> FieldChange:
    name = FIELD_NAMES.get(field.field, field.field).replace("_", " ")
    return FieldChange(name, _describe_value(field.before), _describe_value(field.after))


def _describe_value(value: Any) -> str:
    if value is UNSET:
        return "too long to show"
    if isinstance(value, str):
        return (value.lower() if value in RiskLevel.__members__ else value) or "nothing"
    return describe_value(value) or "nothing"


def _judge_risk(sign: str, assumption: Any) -> str:
    if sign == "added":
        return "new" if assumption.risk_level is RiskLevel.HIGH else ""
    fields = assumption.fields if sign == "changed" else ()
    has_risen = any(
        RISKS.index(field.after or None) > RISKS.index(field.before or None)
        for field in fields
        if field.field == "risk_level"
    )
    return "rose" if has_risen else ""


def read_comparison(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the view Compare, from the version that the address names as `base` to the shown version."""
    shown = theory.version
    base = _choose_base(plan, shown)
    if base is None:
        return {"base": None}
    visit = plan.visit
    before, after, changes = compare_versions(plan, base, theory)
    goals = [node.key for version in (before, after) for node in version.list_nodes(NodeType.GOAL)]
    work = read_linked_work(visit, goals)
    chosen = next((change for change in changes if change.key == visit.query.get("change")), None)
    drawn = visit.call("purpose.render", version=shown.number, compare=base.number, theme="auto")
    label = f"Changes from version {base.number} to version {shown.number}; the list has the same"
    return {
        "base": base,
        "changes": changes,
        "shown_max": CHANGES_SHOWN,
        "signs": SIGNS,
        "chosen": chosen,
        "tasks_of": lambda card: _find_tasks(work, card),
        "picture": inline_picture(drawn.svg, label, "" if chosen is None else chosen.card),
    }


def _choose_base(plan: PlanVisit, shown: Version) -> Version | None:
    """Return the version in the address, else the origin of the shown version, else the version before it."""
    wanted = plan.visit.query.get("base", "")
    others = [version for version in plan.versions if version.number != shown.number]
    named = next((version for version in others if wanted in (str(version.number), version.status.lower())), None)
    source = next((version for version in others if version.number == shown.source), None)
    earlier = [version for version in others if version.number < shown.number]
    return named or source or max(earlier or others, key=lambda version: version.number, default=None)


def _find_tasks(work: Mapping[str, list[Item]], card: str) -> list[Item]:
    """Return the tasks for a node, or for both ends of a link."""
    ends = card.split("/")[0].split("->")
    return list({task.ref: task for end in ends for task in work.get(end, ())}.values())


VIEW = PlanView("compare", "Compare", "v", "plan_compare.html", read_comparison)
