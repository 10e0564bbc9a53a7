"""Examples of the theory of change, its versions and observations."""

from __future__ import annotations

from typing import Any

_ATLAS = {"project": "atlas"}

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "purpose": [
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
        ("purpose.publish", _ATLAS),
        ("purpose.draft", _ATLAS),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "purpose.edit": {
        **_ATLAS,
        "operations": [
            {"op": "add_edge", "source": "walk", "target": "OP1", "mechanism": "Surveyors draw it the same day"},
            {"op": "add_node", "ref": "walk", "node_type": "ACTIVITY", "title": "Walk the coast", "owner": "ben"},
            {
                "op": "add_assumption",
                "source": "OP1",
                "target": "OC1",
                "assumption_text": "Walkers take a map along",
                "risk_level": "HIGH",
                "owner": "ada",
                "review_by": "2099-06-01",
            },
            {
                "op": "add_indicator",
                "node": "OC1",
                "name": "Walkers seen off the paths",
                "unit": "a month",
                "direction": "decrease",
                "baseline": 40,
                "target": 5,
            },
            {"op": "update_node", "node": "G1", "description": "By day and by night, in every season"},
        ],
    },
    "purpose.open": _ATLAS,
    "purpose.check": {**_ATLAS, "gate": "A"},
    "purpose.health": {**_ATLAS, "gate": "health"},
    "purpose.analysis": {**_ATLAS, "gate": "analysis", "node": "AC1", "assumption": "AS1"},
    "purpose.compliance": {
        **_ATLAS,
        "gate": "compliance",
        "operation": {"kind": "create_edge", "source": "AC1", "target": "OC1"},
    },
    "purpose.record": {
        **_ATLAS,
        "measurements": [{"indicator": "IN1", "value": 31, "as_of": "2026-05-01", "source": "Logbook of the wardens"}],
        "reviews": [{"assumption": "AS1", "status": "at_risk", "reason": "Many walkers use their phones"}],
        "decisions": [
            {
                "text": "Offer the map for phones too",
                "rationale": "Walkers carry phones",
                "about": ["AS1", "OP1->OC1"],
            }
        ],
        "requests": [{"question": "Do we print the next edition?", "about": ["OP1"], "to": "ben"}],
    },
    "purpose.observations": {**_ATLAS, "detail": "observations"},
    "purpose.items": {**_ATLAS, "keys": "OC1"},
    "purpose.diff": {**_ATLAS, "from": 1, "to": "draft"},
    "purpose.publish": {**_ATLAS, "label": "Second edition"},
    "purpose.versions": _ATLAS,
    "purpose.draft": {**_ATLAS, "from": 1, "profile": "strict"},
    "purpose.discard": _ATLAS,
    "purpose.export": {**_ATLAS, "format": "json"},
    "purpose.render": {**_ATLAS, "compare": 1},
    "purpose.import": {
        **_ATLAS,
        "document": {
            "nodes": [
                {"key": "G1", "node_type": "GOAL", "title": "Nobody gets lost on the island"},
                {"key": "signs", "node_type": "OUTCOME", "title": "Walkers see where they are"},
            ],
            "edges": [{"source": "signs", "target": "G1", "mechanism": "Walkers notice a wrong turn"}],
        },
    },
}

WRITTEN = {
    "purpose.export": "groundplan purpose export --project atlas --out theory.json",
    "purpose.render": "groundplan purpose render --project atlas --compare 1 --svg changes.svg",
    "purpose.import": "groundplan purpose import theory.json --project atlas",
}

FURTHER: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "purpose.check": [
        ("The same check in another profile:", {**_ATLAS, "gate": "A", "version": "published", "profile": "strict"}),
    ],
    "purpose.record": [
        (
            "An owner waives a check:",
            {
                **_ATLAS,
                "waivers": [
                    {
                        "code": "GA_MECHANISM",
                        "refs": ["OC1->G1"],
                        "reason": "The mechanism is well known",
                        "owner": "ada",
                        "due": "2099-12-31",
                    }
                ],
            },
        ),
    ],
}
