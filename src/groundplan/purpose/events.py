"""The events recorded for purpose."""

from __future__ import annotations

from enum import StrEnum


class Op(StrEnum):
    """The kinds of change to versions, their content and observations."""

    DRAFT_CREATED = "purpose.draft_created"
    PUBLISHED = "purpose.published"
    DISCARDED = "purpose.discarded"
    NODE_ADDED = "purpose.node_added"
    NODE_CHANGED = "purpose.node_changed"
    NODE_REMOVED = "purpose.node_removed"
    EDGE_ADDED = "purpose.edge_added"
    EDGE_CHANGED = "purpose.edge_changed"
    EDGE_REMOVED = "purpose.edge_removed"
    ASSUMPTION_ADDED = "purpose.assumption_added"
    ASSUMPTION_CHANGED = "purpose.assumption_changed"
    ASSUMPTION_REMOVED = "purpose.assumption_removed"
    INDICATOR_ADDED = "purpose.indicator_added"
    INDICATOR_CHANGED = "purpose.indicator_changed"
    INDICATOR_REMOVED = "purpose.indicator_removed"
    MEASURED = "purpose.measured"
    REVIEWED = "purpose.reviewed"
    WAIVED = "purpose.waived"
    DECIDED = "purpose.decided"
    REQUESTED = "purpose.requested"
