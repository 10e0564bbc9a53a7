"""Examples of facts, their runs, sources and suggestions."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "context": [
        ("context.create_draft", {"scopeId": "atlas"}),
        (
            "context.edit",
            {
                "runId": "{before}",
                "inputs": [
                    {"pointer": "/island/name", "label": "Name of the island", "value": "Atlas"},
                    {
                        "pointer": "/coast/length",
                        "label": "Length of the coast in km",
                        "required": True,
                        "value": 210,
                        "provenance": "model-inferred",
                    },
                ],
            },
        ),
        ("context.commit", {"runId": "{before}"}),
        ("context.create_draft", {"scopeId": "atlas", "ownership": "shared"}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "context.create_draft": {"scopeId": "atlas", "copyFrom": "latest"},
    "context.trace": {"scopeId": "atlas", "pointer": "/coast/length"},
    "context.edit": {
        "runId": "{run}",
        "sources": [
            {
                "id": "7b2e94d0-53c8-4f1a-9d06-c1e8a57f3b42",
                "kind": "file",
                "title": "Survey of 2027",
                "uri": "sheets/survey-2027.pdf",
            }
        ],
        "inputs": [
            {
                "pointer": "/coast/length",
                "value": 214.5,
                "sourceIds": ["7b2e94d0-53c8-4f1a-9d06-c1e8a57f3b42"],
                "evidenceSnippet": "214.5 km at low tide",
            },
            {"pointer": "/coast/tide", "label": "Height of the tide in m", "valueKind": "number", "required": True},
        ],
        "constraints": [{"key": "scale", "label": "Largest scale in print", "value": "1:25,000"}],
    },
    "context.commit": {"runId": "{run}", "allowPartial": True},
    "context.view": {"scopeId": "atlas"},
    "context.list": {"scopeId": "atlas"},
    "context.fetch_run": {"runId": "{run}"},
    "context.diff": {"from": "{before}", "to": "{run}"},
    "context.update_draft": {"runId": "{spare}", "ownership": "owned"},
    "context.discard": {"runId": "{spare}"},
    "context.delete": {"runId": "{before}"},
    "context.export": {"scopeId": "atlas"},
    "context.import": {
        "scopeId": "atlas",
        "document": {
            "format": 1,
            "sourcesById": {},
            "inputsByPointer": {
                "/coast/tide": {"pointer": "/coast/tide", "label": "Height of the tide in m", "value": 3.2}
            },
            "constraints": [],
            "artifactsByType": {},
        },
    },
}

FURTHER: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "context.edit": [
        (
            "A value of lower provenance becomes a suggestion:",
            {
                "runId": "{run}",
                "inputs": [
                    {
                        "pointer": "/island/name",
                        "value": "Atlantis",
                        "provenance": "model-inferred",
                        "rationale": "The oldest sheet has this name",
                    }
                ],
            },
        ),
        ("A person accepts the suggestion:", {"runId": "{run}", "accept": ["{suggestion}"]}),
    ],
}

WRITTEN = {
    "context.export": "groundplan context export --project atlas --out facts.json",
    "context.import": "groundplan context import facts.json --project atlas",
}

# Runs get these names in the order in which they are created.
RUNS = ("before", "spare", "run")
NODES = {
    "before": "9f3c61d27a584be0a1f64c0d8e25b793",
    "spare": "31d8b7e4c60f4a92b85e17f9a04c6d2e",
    "run": "e5a90f427d1b4c36983ad4b2f7160c8e",
    "suggestion": "a86d13f59e024b7cb4c07e9d52f1380b",
}
