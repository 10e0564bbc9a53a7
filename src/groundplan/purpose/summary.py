"""The purpose of a project in one line, for newcomers."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.model import LEVELS, NodeType
from groundplan.purpose.versions.versions import read_versions

PLURALS = {
    NodeType.GOAL: "goals",
    NodeType.OUTCOME: "outcomes",
    NodeType.OUTPUT: "outputs",
    NodeType.ACTIVITY: "activities",
}

sql = load_queries(__file__)


class PurposeSummary(NamedTuple):
    """The purpose in force in one line, and the number of the draft."""

    line: str
    draft: int | None


def summarize_purpose(tx: Transaction) -> PurposeSummary | None:
    """Return the summary of the latest published version, else of the draft; None if there is no version."""
    rows = read_versions(tx)
    if not rows:
        return None
    draft = rows[-1] if rows[-1].is_draft else None
    version = next((row for row in reversed(rows) if not row.is_draft), rows[-1])
    goal = tx.one_or_none(sql.first_goal, version_id=version.id)
    counts = {NodeType(node_type): total for node_type, total in tx.all(sql.counts_by_type, version_id=version.id)}
    state = "draft" if version.is_draft else "published"
    named = "no goal yet" if goal is None else f"{goal[0]} {goal[1]}"
    types = sorted(counts, key=lambda node_type: -LEVELS[node_type])
    sizes = ", ".join(_count(counts[node_type], node_type) for node_type in types)
    return PurposeSummary(
        f"v{version.number}, {state}: {named}" + (f"; {sizes}" if sizes else ""), draft and draft.number
    )


def _count(number: int, node_type: NodeType) -> str:
    return f"{number} {node_type.lower() if number == 1 else PLURALS[node_type]}"
