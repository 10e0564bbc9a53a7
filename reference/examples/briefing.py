"""Examples of operations that join the slices."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "briefing": [
        ("work.open", {"project": "atlas"}),
        ("work.plan", {"project": "atlas", "nodes": [{"ref": "coast", "summary": "Draw the coast"}]}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "briefing.search": {"text": "coast", "project": "atlas", "slices": ["work", "knowledge"]},
}
