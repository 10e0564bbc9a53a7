"""Examples of knowledge about files."""

from __future__ import annotations

from typing import Any

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "knowledge": [
        ("work.open", {"project": "atlas"}),
        ("work.plan", {"project": "atlas", "nodes": [{"ref": "survey", "summary": "Survey the island"}]}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "knowledge.create": {
        "entityType": "atom",
        "projectId": "atlas",
        "name": "Coast sheets",
        "createdByTaskId": "{survey}",
        "paths": ["sheets/coast/**", "legend/tides-*.md"],
        "knowledge": "Heights are above low tide. Sheets north of the light are drawn twice a year.",
    },
    "knowledge.update": {
        "entityType": "atom",
        "id": "{atom}",
        "version": 1,
        "knowledge": "The tide table is in legend/tides-2027.md.",
        "knowledgeMode": "append",
        "lastTaskId": "{survey}",
        "confirm": "4f0c2d1",
    },
    "knowledge.append_changelog": {
        "parentType": "atom",
        "parentId": "{atom}",
        "taskId": "{survey}",
        "summary": "Redrew the north after the storm",
    },
    "knowledge.context": {"projectId": "atlas", "paths": "sheets/coast/north.svg,legend/hills.md"},
    "knowledge.get": {"entityType": "atom", "id": "{atom}"},
    "knowledge.search": {"entityType": "atom", "projectId": "atlas", "query": "tide heights"},
    "knowledge.search_changelog": {"parentType": "atom", "parentId": "{atom}"},
    "knowledge.list": {"projectId": "atlas"},
    "knowledge.record_check": {
        "projectId": "atlas",
        "commit": "9ab41c7",
        "atoms": [
            {
                "id": "{atom}",
                "version": 2,
                "freshness": "changed",
                "commit": "4f0c2d1",
                "files": ["sheets/coast/north.svg"],
            }
        ],
        "files": ["README.md", "sheets/coast/north.svg", "sheets/coast/south.svg", "survey/tides.csv"],
        "filesTotal": 4,
    },
    "knowledge.coverage": {"projectId": "atlas"},
    "knowledge.match": {"projectId": "atlas", "paths": ["sheets/**"]},
    "knowledge.delete": {"entityType": "atom", "id": "{atom}", "version": 2},
}

NODES = {
    "atom": "d3b2f6a81c4e4a53917c0e5b8f24d6a9",
}
MADE_AS = {"Coast sheets": "atom"}
