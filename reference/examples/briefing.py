"""Examples of what joins the slices."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "briefing": [
        ("project.create", {"name": "atlas"}),
        ("purpose.draft", {"project": "atlas"}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "briefing.inbox": {"project": "atlas", "limit": 5},
}
