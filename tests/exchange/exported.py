"""Items of a reader as an export returns them, without a store in between."""

from __future__ import annotations

from groundplan.exchange.items import SourcePlan
from groundplan.work.importing.export import ExportedItem, ExportedLink
from groundplan.work.importing.items import SourceItem, build_properties, describe_fate
from groundplan.work.kinds import FEATURE


def to_exported(plan: SourcePlan) -> list[ExportedItem]:
    """Return the nodes that the items of a plan become; ids are source ids with a sign in front."""
    return [_to_exported(item, plan.tool) for item in plan.items]


def _to_exported(item: SourceItem, tool: str) -> ExportedItem:
    return ExportedItem(
        id=f"@{item.source_id}",
        title=item.title,
        fate=item.fate,
        hold_reason=item.hold_reason,
        state=item.state,
        priority=item.priority,
        kind=FEATURE if item.is_group else None,
        parent=None if item.parent is None else f"@{item.parent}",
        depends_on=[f"@{one}" for one in item.depends_on],
        links=[ExportedLink(one.type, f"@{one.source_id}") for one in item.links],
        sections=item.sections,
        evidence=item.evidence,
        context_links=item.context_links,
        tags=item.tags,
        properties=build_properties(item, tool),
        sources={tool: item.source_id},
        imported_fate=describe_fate(item.fate, item.hold_reason),
        created_at="2026-01-01T00:00:00.000Z",
        updated_at="2026-01-01T00:00:00.000Z",
    )
