"""Examples of briefings."""

from __future__ import annotations

from typing import Any

from reference.examples import work

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "briefing": [
        ("work.open", {"project": "atlas", "goal": "A map that every walker trusts"}),
        ("work.plan", work.EXAMPLES["work.plan"]),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "briefing.brief": {"node_id": "{coast}", "budget": 1500},
}
