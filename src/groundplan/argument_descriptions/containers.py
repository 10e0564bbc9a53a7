"""Arguments of projects, features and tasks as containers, and of dependencies, sections, templates and tags."""

from __future__ import annotations

from collections.abc import Mapping

_LIST = "a list, or comma-separated"
_TAGS = f"The tags: {_LIST}; at most 50, of 100 characters each."
_NEW_TAGS = f"The tags: {_LIST}. They replace all tags; an empty text removes them."
_ANY_TAG = f"Only items with any of these tags: {_LIST}."
_ANY_PROJECT = "The project, by name or id. Without it: all projects that you can see."
_CHECK = "as a check."
_CONTAINER = "The container: a project by name or id, a feature or a task by id."

_SECTION = {
    "title": "The title, on one line.",
    "usageDescription": "What the text is for.",
    "content": "The text.",
    "contentFormat": "The format of the text; `JSON` must be valid.",
    "tags": _TAGS,
    "ordinal": "The position; one in use is refused. Default: after the last section.",
}

ARGUMENTS: Mapping[str, str] = {
    # Projects, features and tasks
    "containerType": "The type of the container.",
    "container/id": "The container: a project by name or id; a feature or a task by its id, or by an unambiguous "
    "prefix of at least 4 characters.",
    "container.overview/id": "The container to show, with what is in it. Without it: list those of the type.",
    "container/query": "Words to search for in name, title, summary and description; all must match, in any order.",
    "status": "Only items with this status, such as `NEW`, `ACTIVE`, `CLOSED` or `WILL_NOT_IMPLEMENT`.",
    "priority": "Only items with this priority: `HIGH`, `MEDIUM` or `LOW`.",
    "container.create/priority": "`HIGH`, `MEDIUM` or `LOW`; in the work graph 3, 2 and 1. Default: `MEDIUM`.",
    "container.update/priority": "`HIGH`, `MEDIUM` or `LOW`; in the work graph 3, 2 and 1.",
    "container/tags": _ANY_TAG,
    "container.create/tags": _TAGS,
    "container.update/tags": _NEW_TAGS,
    "container/projectId": _ANY_PROJECT,
    "container.create/projectId": "The project, by name or id; not needed with a feature.",
    "container.update/projectId": f"The project that it must belong to, {_CHECK} It cannot change.",
    "featureId": "Only tasks of this feature, by id.",
    "container.create/featureId": "The feature of the task, by id. Default: none; the task belongs to the project.",
    "container.update/featureId": "The new feature of the task, by id; null for none.",
    "includeSections": "Include its sections.",
    "includeGraphContext": "Include the knowledge about the paths in its context links and its section Context Files.",
    "container.create/name": "The name of the project or feature.",
    "container.update/name": "The new name of the feature; a project keeps its name.",
    "container/title": "The title of the task, on one line.",
    "container/summary": "The summary, in one paragraph.",
    "container/description": "The full description.",
    "complexity": "How hard the task is, from 1 to 10; of two tasks with equal priority, the simpler one is next.",
    "container.update/complexity": "How hard the task is, from 1 to 10; null removes it.",
    "relatedTo": f"Related tasks or features, by id: {_LIST}.",
    "container.update/relatedTo": f"Related tasks or features, by id: {_LIST}. They replace all; an empty text removes "
    "them.",
    "container.create/serves": "What it is for: keys of the purpose, such as `OC1`. Without it: as what it is in.",
    "container.update/serves": "What it is for: keys of the purpose, such as `OC1`. They replace all; an empty list "
    "removes them.",
    "container.create/rests_on": "The facts it rests on: pointers, such as `/site/size`.",
    "container.update/rests_on": "The facts it rests on: pointers, such as `/site/size`. They replace all; an empty "
    "list removes them.",
    "pipeline": 'The statuses of its tasks and features: `{"task": […], "feature": […]}`, or one list for both. Each '
    "begins with `NEW`, `ACTIVE` and ends with `CLOSED`.",
    "container.delete/cascade": "Also delete everything below it; without it, a container that is not empty is "
    "refused.",
    "direction": "Show what it waits for, what waits for it, or both.",
    "reason": "The reason; stored as evidence of the type `dropped`.",
    "blockedBy": f"What blocks it, by id: {_LIST}; or `NO_OP` for a hold.",
    "container.unblock/blockedBy": f"What no longer blocks it, by id: {_LIST}; or `NO_OP` for its hold.",
    "blockedReason": "The reason; required for a hold.",
    # Dependencies
    "dependency/id": "The dependency, by the id from an earlier answer; instead of its two ends and its type.",
    "fromId": "The blocking task or feature, by id.",
    "toId": "The blocked task or feature, by id.",
    "dependency/containerType": f"The type that the blocked item must have, {_CHECK}",
    "dependency/type": "`BLOCKS`, or `RELATES_TO` for a relation that blocks nothing. `BLOCKS` is `depends_on` of the "
    "work graph in the other direction.",
    # Sections
    "entityId": _CONTAINER,
    "entityType": "The type of the container.",
    **{
        f"section.{verb}/{path}": f"{text}, {_CHECK}"
        for verb in ("update", "update_text", "delete", "bulk_delete")
        for path, text in {
            "entityType": "The type of the container that it must belong to",
            "entityId": "The container that it must belong to",
        }.items()
    },
    "includeContent": "Include the texts.",
    "sectionId": "The section, by its UUID, with or without dashes.",
    "sectionIds": f"The sections, by id: {_LIST}.",
    "section.list/sectionIds": f"Only these sections, by id: {_LIST}.",
    **_SECTION,
    "section.list/tags": _ANY_TAG,
    "section.update/tags": _NEW_TAGS,
    "section.update/ordinal": "The new position; one in use is refused. To move several, reorder them.",
    "orderedIds": f"All sections of the container, by id, in the new order: {_LIST}.",
    "sections": "The sections to add: all of them, or none.",
    **{f"sections[].{path}": text for path, text in _SECTION.items()},
    # Templates
    "template/id": "The template, by its UUID, with or without dashes.",
    "template/name": "The name; unique in the organization.",
    "template/description": "What the template is for.",
    "template.add_section/title": "The title of the section.",
    "template.list/tags": _ANY_TAG,
    "template.update/tags": _NEW_TAGS,
    "targetEntityType": "The type of item that the template is for: a project, a feature or a task.",
    "isBuiltIn": "Mark the template as built in, like those that come with Groundplan. It has no other effect.",
    "template.list/isBuiltIn": "Only built-in templates, or only the others.",
    "isEnabled": "Only enabled templates, or only disabled ones.",
    "isProtected": "Protect the template from changes until the protection is removed.",
    "createdBy": "The author. Default: you.",
    "contentSample": "The initial text of the section.",
    "template/contentFormat": "The format of the initial text; `JSON` must be valid.",
    "isRequired": "Mark the section as required.",
    "templateId": "The template, by its UUID, with or without dashes.",
    "template.apply/entityType": "The type of the item that gets the sections.",
    "template.apply/entityId": "The item that gets the sections: a project by name or id, a feature or a task by id.",
    # Tags
    "tag": "The tag; case-sensitive.",
    "tag/entityType": "Only tags of items of these types.",
    "tag/projectId": _ANY_PROJECT,
    "tag.rename/projectId": "The project, by name or id; required if several projects use the tag.",
    "oldTag": "The current tag.",
    "newTag": "The new tag: at most 100 characters, without a comma.",
    "dryRun": "Only show what would change.",
}
