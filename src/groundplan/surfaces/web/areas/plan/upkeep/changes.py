"""What a draft changes since the last published version, in plain words; risks that rose come first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from groundplan.purpose.comparing.compare import Changed
from groundplan.purpose.model import RiskLevel
from groundplan.purpose.versions.diff import VersionComparison
from groundplan.surfaces.web.areas.plan.upkeep.theory_index import TheoryIndex

RISKS = [None, RiskLevel.LOW, RiskLevel.MEDIUM, RiskLevel.HIGH]
FIELDS = {
    "node_type": "type",
    "assumption_text": "text",
    "risk_level": "risk",
    "review_by": "review by",
    "edge_type": "type of link",
    "baseline_verified": "baseline verified",
}
KINDS = {"nodes": "Items", "edges": "Links", "assumptions": "Assumptions", "indicators": "Indicators"}


class ChangedValue(NamedTuple):
    """A field before and after, in words."""

    name: str
    before: str
    after: str


class ChangeLine(NamedTuple):
    """One change."""

    sign: str  # added, removed or changed
    ref: str
    title: str
    link: str  # empty for what the draft does not have any more
    values: Sequence[ChangedValue] = ()


class ChangeGroup(NamedTuple):
    """The changes of one kind of item."""

    title: str
    lines: Sequence[ChangeLine]
    is_risk: bool = False


def describe_changes(index: TheoryIndex, found: VersionComparison) -> list[ChangeGroup]:
    """Return the changes by kind, without the kinds that did not change."""
    risen = [one for one in found.assumptions.changed if _has_risen(one)]
    fresh = [one for one in found.assumptions.added if (one.risk_level or None) is RiskLevel.HIGH]
    first = [*_show_changed(index, risen), *_show_listed(index, "added", fresh, lambda one: one.assumption_text)]
    groups = [ChangeGroup("Risks that rose or are new", first, is_risk=True)]
    for kind, title in KINDS.items():
        part = getattr(found, kind)
        name = _NAMES[kind]
        lines = [
            *_show_listed(index, "added", (one for one in part.added if one not in fresh), name),
            *_show_listed(index, "removed", part.removed, name),
            *_show_changed(index, (one for one in part.changed if one not in risen)),
        ]
        groups.append(ChangeGroup(title, lines))
    return [group for group in groups if group.lines]


def count_changes(groups: Iterable[ChangeGroup]) -> int:
    """Return the number of changes."""
    return sum(len(group.lines) for group in groups)


def _has_risen(one: Changed) -> bool:
    return any(
        field.field == "risk_level" and RISKS.index(field.after or None) > RISKS.index(field.before or None)
        for field in one.fields
    )


_NAMES: dict[str, Callable[[Any], str]] = {
    "nodes": lambda one: one.title,
    "edges": lambda one: f"{one.source} → {one.target}",
    "assumptions": lambda one: one.assumption_text,
    "indicators": lambda one: one.name,
}


def _show_listed(
    index: TheoryIndex, sign: str, rows: Iterable[Any], name: Callable[[Any], str]
) -> Iterator[ChangeLine]:
    for one in rows:
        title = index.describe(one.key) if sign == "added" else name(one)
        yield ChangeLine(sign, one.key, title, index.link(one.key) if sign == "added" else "")


def _show_changed(index: TheoryIndex, rows: Iterable[Changed]) -> Iterator[ChangeLine]:
    for one in rows:
        values = [
            ChangedValue(FIELDS.get(field.field, field.field), _format(field.before), _format(field.after))
            for field in one.fields
        ]
        yield ChangeLine("changed", one.key, index.describe(one.key), index.link(one.key), values)


def _format(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer():
            return str(int(value))
    return str(value) or "nothing"
