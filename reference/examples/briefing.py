"""Examples of the operations that join the slices."""

from __future__ import annotations

from typing import Any

_ATLAS = {"project": "atlas"}

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "briefing": [
        ("project.create", {"name": "atlas"}),
        ("purpose.draft", _ATLAS),
        (
            "purpose.edit",
            {
                **_ATLAS,
                "operations": [
                    {"op": "add_node", "ref": "goal", "node_type": "GOAL", "title": "Nobody gets lost on the island"},
                    {"op": "add_node", "ref": "use", "node_type": "OUTCOME", "title": "Walkers follow the map"},
                    {"op": "add_node", "ref": "map", "node_type": "OUTPUT", "title": "A map of the coast"},
                    {"op": "add_edge", "source": "map", "target": "use"},
                    {"op": "add_edge", "source": "use", "target": "goal"},
                ],
            },
        ),
        ("work.plan", {**_ATLAS, "nodes": [{"ref": "coast", "summary": "Walk the coast", "serves": ["OP1"]}]}),
        ("work.update", {"updates": [{"node_id": "{coast}", "state": "begun"}]}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "briefing.brief": {"node_id": "{coast}", "budget": 1500},
    "briefing.throughline": {**_ATLAS, "from": "OC1"},
    "briefing.coverage": _ATLAS,
    "briefing.serving": _ATLAS,
    "briefing.inbox": {"project": "atlas", "limit": 5},
    "briefing.titles": {"project": "atlas", "refs": ["{coast}", "OC1"]},
    "briefing.search": {"text": "coast", "project": "atlas", "slices": ["work", "knowledge"]},
    "briefing.undo": {"project": "atlas", "dry_run": True},
}

FURTHER: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "briefing.throughline": [
        ("From a node of work to the goals, as Markdown:", {**_ATLAS, "from": "{coast}", "format": "markdown"}),
    ],
}
