"""What the reference pages say about containers, dependencies, sections, templates and tags that the code does not."""

from __future__ import annotations

from typing import Any

BUILT_IN = "5f0c1b8e-6c1d-4a35-9e0b-2f6f8f3a7d10"  # a template that comes with Groundplan

_TAGS = "Tags, with commas between them or as an array; at most 50, of 100 characters each."
_ONLY_TAGS = "Only those with any of these tags, with commas between them or as an array."
_ALL_TAGS = "All tags that it has from now on; none for an empty text."
_ANYWHERE = "The project, by id or by name. Without it every one that you see."
_SURE = "if you want to be sure."

# By the path on the wire; behind its thing (`section/title`) or its operation where that means something else by it.
ARGUMENTS = {
    # Projects, features and tasks
    "containerType": "What it is.",
    "container/id": "The container: a project by id or name; a feature or a task by its id, or by a beginning of 4 "
    "characters or more that only one has.",
    "container.overview/id": "One container. Without it a list of those of the type.",
    "container/query": "Words that must all be in its name, title, summary or description, in any order.",
    "status": "Only those at this step of the pipeline, or `WILL_NOT_IMPLEMENT`.",
    "priority": "Only `HIGH`, `MEDIUM` or `LOW` ones.",
    "container.create/priority": "`HIGH`, `MEDIUM` or `LOW`; `MEDIUM` without it. In the graph dialect 3, 2, 1.",
    "container.update/priority": "`HIGH`, `MEDIUM` or `LOW`. In the graph dialect 3, 2, 1.",
    "container/tags": _ONLY_TAGS,
    "container.create/tags": _TAGS,
    "container.update/tags": _ALL_TAGS,
    "container/projectId": _ANYWHERE,
    "container.create/projectId": "The project, by id or by name. Not needed with a `featureId`.",
    "container.update/projectId": f"The project that it is of, {_SURE} It cannot change.",
    "featureId": "Only tasks of this feature.",
    "container.create/featureId": "The feature that a task belongs to. Without it the project.",
    "container.update/featureId": "The feature that a task belongs to from now on; null for none.",
    "container/limit": "How many on a page.",
    "includeSections": "With its sections.",
    "includeGraphContext": "With what to know about the files that the section Context Files of a task names.",
    "container.create/name": "What a project or a feature is called.",
    "container.update/name": "What a feature is called from now on. A project keeps its name.",
    "container.create/title": "What a task is called: what is to be done.",
    "container.update/title": "What a task is called from now on.",
    "container/summary": "It in a paragraph; of a project what it is for.",
    "container/description": "It at length.",
    "complexity": "How hard a task is. Of two that matter as much, the simpler one is next.",
    "container.update/complexity": "How hard a task is; null takes it away.",
    "relatedTo": "What it has to do with, by ids; with commas between them or as an array.",
    "container.update/relatedTo": "All that it has to do with from now on, by ids; none for an empty text.",
    "pipeline": 'The steps of a project: an array for both, or `{"task": […], "feature": […]}`. Each begins with '
    "`NEW`, `ACTIVE` and ends with `CLOSED`.",
    "container.delete/cascade": "With everything below it. Without it, what has something below it is refused.",
    "direction": "What it waits for, what waits for it, or both.",
    "reason": "Why. Kept as evidence of the type `dropped`.",
    "blockedBy": "What it shall wait for: ids with commas between them or as an array, or `NO_OP` for a hold.",
    "container.unblock/blockedBy": "What it waits for no more: ids, with commas between them or as an array, or "
    "`NO_OP` for its hold.",
    "blockedReason": "Why. A hold needs one.",
    # Dependencies
    "dependency/id": "The two and the type as an answer named them, instead of the three.",
    "fromId": "The task or feature that blocks, or is related.",
    "toId": "The task or feature that is blocked, or related to.",
    "dependency/containerType": f"What the one is that is blocked, {_SURE}",
    "dependency/type": "`BLOCKS` is `depends_on` of the graph dialect, seen from the other end.",
    # Sections
    "entityId": "The container: a project by id or name, a feature or a task by its id.",
    "section/entityType": "What the sections are of.",
    "includeContent": "With their contents.",
    "sectionId": "The section: its UUID, with or without dashes.",
    "sectionIds": "Sections by their ids, with commas between them or as an array.",
    "section.list/sectionIds": "Only these, by their ids, with commas between them or as an array.",
    "title": "What it is called, on one line.",
    "usageDescription": "What it is for.",
    "content": "The text itself.",
    "contentFormat": "How the text is written; `JSON` must be JSON.",
    "tags": _TAGS,
    "section.list/tags": _ONLY_TAGS,
    "section.update/tags": _ALL_TAGS,
    "ordinal": "Where it stands; behind the last without it. One that is taken is refused.",
    "section.update/ordinal": "Where it stands from now on. One that is taken is refused; reorder moves several.",
    "orderedIds": "The ids of all sections of the container, in the order in which they shall stand.",
    "sections": "The sections to add: all of them, or none.",
    "sections[].title": "What it is called, on one line.",
    "sections[].usageDescription": "What it is for.",
    "sections[].content": "The text itself.",
    "sections[].contentFormat": "How the text is written.",
    "sections[].tags": "Its tags.",
    "sections[].ordinal": "Where it stands; behind all others without it.",
    **{
        f"section.{one}/{path}": f"{words}, {_SURE}"
        for one in ("update", "update_text", "delete", "bulk_delete")
        for path, words in {"entityType": "What it is of", "entityId": "Whose it is"}.items()
    },
    # Templates
    "template/id": "The template: its UUID, with or without dashes.",
    "template/name": "What it is called; unique in the organization.",
    "template/description": "What it is for.",
    "template.list/tags": "Only those with one of these tags.",
    "template.update/tags": _ALL_TAGS,
    "targetEntityType": "What it is for: a project, a feature or a task.",
    "isBuiltIn": "That it belongs to the house. A mark only; what comes with Groundplan has it too.",
    "template.list/isBuiltIn": "Only those with this mark, or only those without.",
    "isEnabled": "Only those that can be applied, or only those that cannot.",
    "isProtected": "Whether it is kept from changes until that is taken back.",
    "createdBy": "Who wrote it; without it, whoever makes it.",
    "template/title": "What the section is called.",
    "contentSample": "What the section says at first.",
    "template/contentFormat": "How the sample is written.",
    "isRequired": "Whether it should be filled in.",
    "templateId": "The template: its UUID, with or without dashes.",
    "template/entityType": "What gets the sections: a project, a feature or a task.",
    # Tags
    "tag": "The tag, in its own case.",
    "tag/entityType": "Only tags of these.",
    "tag/projectId": _ANYWHERE,
    "oldTag": "The tag as it is.",
    "newTag": "What it is called from now on: 100 characters at most, no comma.",
    "dryRun": "Only see what would change.",
    "tag.rename/projectId": "The project, by id or by name. Needed where several use the tag.",
}

NOTES = {
    "container.get": "Projects, features and tasks are the nodes of the work graph: what `graph_plan` makes is a task "
    "here, and the other way round. `version` is the `rev` of the node. Over MCP every answer stands in "
    "`{success, data}`, and a refusal in `{success, error}`.",
    "container.overview": "Without an `id` the answer is a page of containers; with one it is the other answer: that "
    "container and what is in it.",
    "container.create": "A new task reopens its feature; `featureTransition` says so.",
    "container.update": "What is left out stays as it is. Statuses are for advance, revert and terminate.",
    "container.delete": "Ids stay taken, and the history stays readable. A project is put away; `project.restore` "
    "brings it back.",
    "container.next_task": "The same tasks as `graph_next` offers: by priority, then the lower complexity, then the "
    "oldest. Null where there is none.",
    "container.next_feature": "Active ones before new ones, by priority, then the oldest. Null where there is none.",
    "container.advance": "`ACTIVE` claims the task for whoever asks, the next step lets it go, `CLOSED` resolves it. "
    "The first task that is active makes its feature active, the last one that is done closes it: "
    "`featureTransition`. `unblockedEntities` waited for it and do not wait any more.",
    "container.revert": "From `CLOSED` the task is open again, and what lies above it with it.",
    "container.terminate": "Who waited for it waits no more, which may not be what they need: `affectedDependents`.",
    "container.block": "What blocks a feature holds back all its tasks.",
    "section.list": "In the order of their ordinals. What would not fit into the answer is left out as a whole: "
    "contents first, of the last section first. A section says in its own `left_out` what it lacks; `sectionIds` asks "
    "for it.",
    "section.update": "Raises the version of the section by one; that of its container stays.",
    "section.reorder": "They get the ordinals 0, 1, 2 …; only what moves is at a new version.",
    "section.bulk_delete": "All of one project, at whatever version they are.",
    "template.update": "All that a protected template takes is `isProtected: false`, and nothing beside it. What comes "
    "with Groundplan never changes.",
    "template.apply": "The sections go behind those that are there. Applied twice, they are there twice.",
    "tag.list": "Archived projects count only where they are named.",
    "tag.rename": "One call changes one project. Where something has the new tag already, the two become one. A dry "
    "run needs no more than a viewer.",
}

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
        "reason": "The land registry has drawn it",
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
    "section.update": {"sectionId": "{section}", "version": 1, "usageDescription": "The files this is about"},
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

# What the pages show in the place of ids, and under what name the tests meet what has it.
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
