"""Examples of the work graph."""

from __future__ import annotations

from typing import Any

EXAMPLES: dict[str, dict[str, Any]] = {
    "work.open": {"project": "atlas", "goal": "A map that every walker trusts"},
    "work.plan": {
        "project": "atlas",
        "nodes": [
            {"ref": "survey", "summary": "Survey the island"},
            {"ref": "coast", "summary": "Walk the coast", "parent_ref": "survey", "properties": {"priority": 2}},
            {"ref": "hills", "summary": "Measure the hills", "parent_ref": "survey"},
            {"ref": "print", "summary": "Print the map", "depends_on": ["survey"]},
        ],
    },
    "work.add": {
        "project": "atlas",
        "nodes": [{"ref": "legend", "summary": "Draw the legend", "parent_ref": "{print}", "tags": ["drawing"]}],
    },
    "work.next": {"project": "atlas"},
    "work.claim": {"project": "atlas", "scope": "{survey}"},
    "work.context": {"node_id": "{survey}", "depth": 1},
    "work.update": {
        "updates": [
            {
                "node_id": "{coast}",
                "resolved": True,
                "add_evidence": [{"type": "note", "ref": "The old map is wrong in the north"}],
            }
        ]
    },
    "work.connect": {"edges": [{"from": "{hills}", "to": "{coast}", "type": "relates_to"}]},
    "work.query": {"project": "atlas", "filter": {"is_actionable": True}},
    "work.outline": {"project": "atlas", "lane": "ready"},
    "work.lookup": {"project": "atlas", "refs": ["{survey}", "walk the"]},
    "work.dependencies": {"project": "atlas"},
    "work.restructure": {
        "operations": [{"op": "drop", "node_id": "{hills}", "reason": "The land registry has all heights"}],
        "decision": "Take the heights from the land registry",
    },
    "work.history": {"node_id": "{hills}"},
    "work.onboard": {"project": "atlas"},
    "work.analyse": {"project": "atlas", "what": "critical_path"},
    "work.export": {"project": "atlas"},
    "work.import": {
        "project": "atlas",
        "tool": "beads",
        "file": ".beads/issues.jsonl",
        "items": [
            {"source_id": "isle-1", "title": "Draw the harbour", "aliases": ["isle-1"], "priority": 3},
            {"source_id": "isle-2", "title": "Print it", "aliases": ["isle-2"], "depends_on": ["isle-1"]},
        ],
    },
}

NODES = {
    "survey": "5vdw8h",
    "coast": "k7m2qp",
    "hills": "x3nc9t",
    "print": "e6ryb1",
    "legend": "w9f4hs",
}
