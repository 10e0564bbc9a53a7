"""Examples of operations that join the slices."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "briefing": [
        ("work.open", {"project": "atlas"}),
        ("work.plan", {"project": "atlas", "nodes": [{"ref": "coast", "summary": "Draw the coast"}]}),
        ("work.update", {"updates": [{"node_id": "{coast}", "state": "begun"}]}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "briefing.search": {"text": "coast", "project": "atlas", "slices": ["work", "knowledge"]},
    "briefing.undo": {"project": "atlas", "dry_run": True},
}
