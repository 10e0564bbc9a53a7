"""Examples of containers, dependencies, sections, templates and tags."""

from __future__ import annotations

from typing import Any

BUILT_IN = "5f0c1b8e-6c1d-4a35-9e0b-2f6f8f3a7d10"  # the id of a built-in template

_ATLAS = ("project.create", {"name": "atlas"})
_SURVEY = {"containerType": "task", "title": "Survey the island", "projectId": "atlas"}

FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "containers": [
        _ATLAS,
        ("container.create", {"containerType": "feature", "name": "The coast", "projectId": "atlas"}),
        ("container.create", {"containerType": "task", "title": "Walk it", "featureId": "{feature}"}),
        ("container.create", {"containerType": "task", "title": "Draw it", "featureId": "{feature}"}),
    ],
    "sections": [
        _ATLAS,
        ("container.create", _SURVEY),
        ("section.add", {"entityType": "TASK", "entityId": "{survey}", "title": "Tides"}),
    ],
    "templates": [_ATLAS, ("container.create", _SURVEY)],
    "tags": [_ATLAS, ("container.create", {**_SURVEY, "tags": "coast"})],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "container.get": {"containerType": "task", "id": "{walk}", "includeSections": True},
    "container.search": {"containerType": "task", "query": "walk", "status": "NEW", "projectId": "atlas"},
    "container.overview": {"containerType": "feature", "id": "{feature}"},
    "container.create": {
        "containerType": "task",
        "title": "Print it",
        "featureId": "{feature}",
        "priority": "HIGH",
        "tags": "print,paper",
    },
    "container.update": {
        "containerType": "task",
        "id": "{print}",
        "version": 1,
        "description": "Two colours, on thin paper",
        "complexity": 2,
    },
    "container.delete": {"containerType": "task", "id": "{print}", "version": 2},
    "container.next_task": {"projectId": "atlas"},
    "container.next_feature": {"projectId": "atlas"},
    "container.blocked_tasks": {"featureId": "{feature}"},
    "container.blocked_features": {"projectId": "atlas"},
    "container.workflow_state": {"containerType": "task", "id": "{walk}"},
    "container.dependencies": {"id": "{draw}", "containerType": "task", "direction": "dependencies"},
    "dependency.create": {"fromId": "{walk}", "toId": "{draw}"},
    "dependency.delete": {"fromId": "{walk}", "toId": "{draw}"},
    "container.advance": {"containerType": "task", "id": "{walk}", "version": 1},
    "container.revert": {"containerType": "task", "id": "{walk}", "version": 2},
    "container.terminate": {
        "containerType": "task",
        "id": "{draw}",
        "version": 3,
        "reason": "The land registry has a drawing",
    },
    "container.block": {
        "containerType": "feature",
        "id": "{feature}",
        "version": 2,
        "blockedBy": "NO_OP",
        "blockedReason": "No ship before the storm is over",
    },
    "container.unblock": {"containerType": "feature", "id": "{feature}", "version": 3, "blockedBy": "NO_OP"},
    "section.list": {"entityType": "TASK", "entityId": "{survey}"},
    "section.add": {
        "entityType": "TASK",
        "entityId": "{survey}",
        "title": "Context Files",
        "content": "- sheets/coast/north.svg",
        "tags": "context",
    },
    "section.update": {"sectionId": "{section}", "version": 1, "usageDescription": "The files of this task"},
    "section.update_text": {
        "sectionId": "{section}",
        "version": 2,
        "content": "sheets/coast/north.svg, legend/tides-2027.md",
    },
    "section.reorder": {"entityType": "TASK", "entityId": "{survey}", "orderedIds": "{section},{tides}"},
    "section.bulk_create": {
        "entityType": "PROJECT",
        "entityId": "atlas",
        "sections": [{"title": "Scale"}, {"title": "Colours", "content": "Blue is water."}],
    },
    "section.delete": {"sectionId": "{section}", "version": 4},
    "section.bulk_delete": {"sectionIds": "{tides}"},
    "template.get": {"id": BUILT_IN, "includeSections": True},
    "template.list": {"targetEntityType": "TASK"},
    "template.create": {"name": "Sheet to print", "targetEntityType": "TASK", "tags": "print"},
    "template.update": {"id": "{template}", "description": "From the draft to the press"},
    "template.enable": {"id": "{template}"},
    "template.disable": {"id": "{template}"},
    "template.add_section": {"id": "{template}", "title": "Proofs", "contentSample": "- [ ] Colours", "tags": "print"},
    "template.delete": {"id": "{template}"},
    "template.apply": {"templateId": BUILT_IN, "entityType": "TASK", "entityId": "{survey}"},
    "tag.list": {"entityType": "TASK"},
    "tag.usage": {"tag": "coast"},
    "tag.rename": {"oldTag": "coast", "newTag": "shore"},
}

NODES = {
    "feature": "b8f4ws",
    "walk": "k7m2qp",
    "draw": "t2hv6k",
    "section": "6a1f0c7be0d24f5b8c39d7a4e6b2c815",
    "tides": "0e9d5b3c71f84a6db2c4f80a1d7e3b96",
    "template": "c47a2e9d5f10436b8e7d0b1a3f6c5289",
}
MADE_AS = {
    "The coast": "feature",
    "Walk it": "walk",
    "Draw it": "draw",
    "Print it": "print",
    "Survey the island": "survey",
    "Context Files": "section",
    "Tides": "tides",
    "Sheet to print": "template",
}
