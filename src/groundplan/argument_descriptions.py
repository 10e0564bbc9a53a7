"""Descriptions of the arguments of operations, for `--help` and the reference.

The JSON Schemas of tools have only a few of them, because every conversation pays for these. A description names no
option and no tool. Code stands in backticks.
"""

from __future__ import annotations

from collections.abc import Mapping

# Arguments that operations of several slices have.

SHARED: Mapping[str, str] = {
    "budget": "200 to 20,000 tokens for the whole answer; adds a briefing: why, facts, knowledge.",
    "cursor": "Continue after this cursor: `next_cursor` of the previous page, with the same arguments.",
    "expected_rev": "The `rev` that you read; the request is refused if it has changed since.",
    "lean": "Omit null, empty and bookkeeping fields from the answer. Default: as configured.",
    "limit": "Maximum number of results on a page.",
    "offset": "Number of results to skip: `nextOffset` of the previous page.",
    "op_id": "An id for this request; repeating the request with the same id has no second effect.",
    "project": "The project, by name or id.",
    "projectId": "The project, by name or id.",
    "scopeId": "The project, by name or id.",
    "version": "The version that you read; the request is refused if it has changed since.",
}

# Arguments of the work graph.

_PROPERTIES_FILTER = "Only nodes with these properties."

WORK: Mapping[str, str] = {
    "decision": "The reason; kept with the events of the call and shown in the history.",
    "node_id": "The node: its id, or an unambiguous prefix of at least 4 characters.",
    "work.open/project": "The project, by name or id; created if it does not exist. Without it: list all projects.",
    "work.next/project": "By name or id; not needed with `node_id`.",
    "work.claim/project": "The project, by name or id; not needed with `node_id`.",
    "work.context/budget": "200 to 20,000 tokens for the whole answer instead of 1,000 for its lists; adds a briefing: "
    "why, facts, knowledge.",
    "work.next/budget": "200 to 20,000 tokens for the answer instead of 1,000 for its lists; adds a briefing: why, "
    "facts, knowledge. Refused unless count is 1.",
    "work.next/node_id": "Offer or claim exactly this node.",
    "work.claim/node_id": "Claim exactly this node, by id.",
    "work.plan/project": "By name or id; not needed below existing nodes.",
    "work.add/project": "The project, by name or id; not needed below existing nodes.",
    "work.analyse/project": "The project, by name or id; not needed with `node_id`.",
    "work.analyse/what": "`critical_path` (the default): the chain of open nodes that takes longest, by "
    "`properties.estimate`. `unlocks`: what makes most nodes actionable at once. `bottlenecks`: what most nodes wait "
    "for. `if_resolved`, `if_dropped`: what would follow.",
    "work.analyse/node_id": "The node of `if_resolved` and `if_dropped`.",
    "work.analyse/limit": "Maximum number of rows.",
    "work.onboard/project": "The project, by name or id. Without it: the only project, or a list.",
    "goal": "What a new project is for; the summary of its root node.",
    "policies": "Only the given ones change; only an owner may set them.",
    "policies.evidence": "What happens when a node is resolved without evidence: nothing, a warning (the default), or "
    "an error.",
    "policies.claims": "Whether others may resolve a claimed node: `soft` (the default) allows it.",
    "policies.overlap": "What happens to a node whose files another actor works on: it is offered with a warning "
    "(`warn`, the default), passed over (`avoid`), or offered without one (`off`).",
    "policies.inherit_dependencies": "Whether the dependencies of a node also block everything below it. Default: no.",
    "policies.auto_resolve_parents": "Whether resolving the last open child resolves its parent. Default: no.",
    "policies.claim_ttl_minutes": "How long a claim lasts. Default, and null: as the server is configured.",
    "policies.claim_minutes_people": "How long a person's claim lasts. Default, and null: until they release it.",
    "policies.agents": "The largest role of an agent in the project, whatever its membership: `viewer`, `editor` (the "
    "default) or `owner`.",
    "policies.secrets": "What happens when a request contains what looks like a token, a key or a password: a warning "
    "(`warn`, the default), a refusal (`refuse`), or nothing (`off`).",
    "policies.publish_role": "The role that may publish a version of the theory of change. Default: `owner`; `editor` "
    "also allows editors.",
    "policies.publish_gates": "The gates that a version must pass to be published: `A` (the default), or A and B.",
    "policies.profile_min": "The least strict profile that a draft may have. Default: `standard`; `light` allows all.",
    "nodes": "The nodes to create: all of them, or none.",
    "nodes[].ref": "A name for the node in this request; the answer maps it to the new id.",
    "nodes[].summary": "What is to be done.",
    "nodes[].parent_ref": "A ref or an id; default: the root.",
    "nodes[].depends_on": "What must be resolved first: refs or ids.",
    "nodes[].context_links": "Links to files, commits or pages that matter for it.",
    "nodes[].properties": "Free properties; `priority` is a number, a higher one comes first.",
    "nodes[].serves": "What it is for: purpose keys, such as `OC1`; inherited below.",
    "nodes[].rests_on": "Facts it rests on: pointers, such as `/site/size`; inherited below.",
    "nodes[].tags": "The tags: at most 50, of 100 characters each.",
    "scope": "Only nodes below this node, by its id.",
    "filter": _PROPERTIES_FILTER,
    "parent": "The node whose children to list. Default: the root.",
    "work.outline/node": "One node by itself.",
    "work.dependencies/node": "The node around which to read, the nearest nodes first.",
    "direction": "From the node: what it waits for, what it holds up, or both.",
    "work.dependencies/nodes": "Exactly these nodes, and the links between them.",
    "ancestor": "The open nodes that wait, among this node and everything below it. Default: of the project.",
    "lane": "One column of the board instead of children.",
    "work.lookup/refs": "What people type for nodes: ids, beginnings of at least 3 characters, or titles.",
    "work.lookup/beginning": "List the nodes whose ids begin with this text instead.",
    "work.lookup/project": "The project in which titles are looked up, and whose nodes come first.",
    "work.outline/filter": "What to list instead of children; all conditions must hold.",
    "work.outline/sort": "The order of what the filter finds. Default: `readiness`, as nodes are offered.",
    "work.query/filter": "Which nodes to find; all conditions must hold.",
    "filter.resolved": "Whether the node is resolved.",
    "filter.outcome": "Resolved nodes that were done, or dropped.",
    "filter.properties": "Nodes with these property values; null finds nodes without the property.",
    "filter.text": "Nodes whose summary contains this text, case-insensitively.",
    "filter.ancestor": "Nodes anywhere below this node.",
    "filter.parent": "Direct children of this node.",
    "filter.depends_on": "Nodes that depend on this node.",
    "filter.depended_by": "Nodes that this node depends on.",
    "filter.has_evidence_type": "Nodes with evidence of this type.",
    "filter.is_leaf": "Whether the node has no open children.",
    "filter.is_actionable": "Whether the node can be started now.",
    "filter.is_blocked": "Whether the node waits for an open dependency.",
    "filter.tag": "Nodes with this tag.",
    "filter.claimed_by": "By an actor; null finds unclaimed nodes.",
    "count": "Maximum number of nodes.",
    "claim": "Claim the nodes, so that they are not offered to anyone else.",
    "work.claim/claim": "Always true: the nodes are claimed.",
    "depth": "Number of levels to show below the node.",
    "updates": "The changes, in order: all of them, or none.",
    "updates[].node_id": "The node: its id, or an unambiguous prefix.",
    "updates[].resolved": "Whether it is done; false reopens it and its ancestors.",
    "updates[].state": "A free value; the engine does not interpret it.",
    "updates[].summary": "The new summary.",
    "updates[].properties": "Merged with the existing ones; null removes one.",
    "updates[].add_context_links": "Links to add; a node has at most 50.",
    "updates[].remove_context_links": "Links to remove.",
    "updates[].serves": "What it is for: keys of the purpose, such as `OC1`. They replace its own; `[]` removes them.",
    "updates[].rests_on": "The facts it rests on: pointers, such as `/site/size`. They replace its own; `[]` removes "
    "them.",
    "updates[].add_evidence": "Evidence of what was done, and notes for whoever continues.",
    "updates[].add_evidence[].type": "`git`, `test`, `note`, `hint`, `file`, or a type of your own.",
    "updates[].add_evidence[].ref": "The evidence itself: a commit, a path, a sentence.",
    "updates[].retract_note": "The event, as `rev.n`, whose write added notes to the node that are taken back.",
    "updates[].expected_rev": "The `rev` that you read; the request is refused if the node has changed since.",
    "updates[].claim": "The number of your claim; refused if another took the node since.",
    "updates[].renew": "Restart the time limit of your claim.",
    "updates[].release": "Release your claim.",
    "updates[].hold": "Keep your claim without a time limit; people only.",
    "edges": "The edges to add or remove, in order. Invalid ones are listed in `rejected`; the others are applied.",
    "work.connect/project": "The project, by name or id; needed if no edge names a node.",
    "edges[].from": "An id, no ref of a plan. With `depends_on`, the node that waits.",
    "edges[].to": "The target of the edge: with `depends_on`, the node that it waits for. `serves` leads to a purpose "
    "key, `rests_on` (also from a purpose key) to a pointer, `supports` and `refutes` lead to an assumption.",
    "edges[].type": "`depends_on`, your own, or a link: `serves`, `rests_on`, `supports`, `refutes`.",
    "edges[].remove": "Remove the edge.",
    "sort": "Sort order: `readiness` lists actionable nodes first, in the order in which they are offered; `recent` "
    "lists the latest change first.",
    "operations": "The operations, in order: all of them, or none.",
    "operations[].op": "`move` needs node_id, new_parent; `merge` needs source, target; `drop` needs node_id, reason.",
    "operations[].node_id": "The node to move or drop, with everything below it.",
    "operations[].new_parent": "The new parent of the node.",
    "operations[].source": "The node that is merged into the target. Its id stays readable in the history.",
    "operations[].target": "The node that receives its children, evidence and edges.",
    "operations[].reason": "For drop only: why; kept as evidence.",
    "work.history/node_id": "The node, by id; also one that was merged into another.",
    "work.import/project": "The project, by name or id; created if it does not exist.",
    "tool": "The tool that the items come from. An item is known again by the tool and its `source_id`.",
    "file": "The file that they come from; kept with the events of the import.",
    "inherits_dependencies": "Whether in that tool an item also waits for what its ancestors wait for; switches the "
    "policy on if the project has no other nodes.",
    "dry_run": "Say what would happen, and write nothing.",
    "items": "The items, in the order of the file: all of them, or none.",
    "items[].source_id": "The key of the item in its tool. It must not change from one import to the next.",
    "items[].title": "The summary of the node.",
    "items[].aliases": "Other ids by which the node is found, such as the id in the tool.",
    "items[].fate": "`done` and `dropped` are resolved; `held` is on hold until somebody releases it.",
    "items[].hold_reason": "The reason of a hold.",
    "items[].source_status": "The status in the words of the tool, for an export.",
    "items[].state": "The state of the node.",
    "items[].priority": "A higher one comes first.",
    "items[].parent": "The parent, by `source_id`. Default: the root.",
    "items[].depends_on": "The items that must be finished first, by `source_id`.",
    "items[].links": "Links to other items that have no effect on the order.",
    "items[].links[].type": "The type of the edge.",
    "items[].links[].source_id": "The item that it leads to.",
    "items[].sections": "Long texts, as Markdown.",
    "items[].sections[].title": "The title of the section.",
    "items[].sections[].text": "Its content, up to 32,768 bytes.",
    "items[].evidence": "Comments, and what was done.",
    "items[].evidence[].type": "`comment`, `note` or `dropped`.",
    "items[].evidence[].text": "The evidence itself.",
    "items[].context_links": "Links to files, commits or pages.",
    "items[].tags": "Tags.",
    "items[].properties": "Free properties.",
    "items[].node": "The id of the node that an export made the item of, for one that was not imported.",
    "items[].is_group": "Whether it is only a heading: it is never offered, and finished with its last item.",
    "items[].file": "The file of the item.",
    "items[].line": "Its line in the file.",
    "deleted": "Items that were deleted in the tool. Those that have a node here are dropped.",
    "deleted[].source_id": "The key of the item in its tool.",
    "deleted[].reason": "Why; stored as evidence of the type `dropped`.",
    "molecules": "Knowledge without files.",
    "molecules[].name": "The name, which is also the key.",
    "molecules[].knowledge": "The text.",
    "molecules[].related": "Related molecules of the same file.",
    "molecules[].related[].name": "The name of the other one.",
    "molecules[].related[].reason": "How the two are related.",
    "molecules[].file": "The file that it comes from.",
    "molecules[].line": "Its line in the file.",
    "atoms": "Knowledge about files.",
    "atoms[].name": "The name, which is also the key.",
    "atoms[].knowledge": "The text.",
    "atoms[].paths": "The files, as path patterns.",
    "atoms[].file": "The file that it comes from.",
    "atoms[].line": "Its line in the file.",
}

# Arguments of organizations, invitations, projects, members, tokens and events.

_OF_POLICIES = {
    f"organization.configure/default_{path}": text for path, text in WORK.items() if path.startswith("policies.")
}

KERNEL: Mapping[str, str] = {
    "archived": "Include archived projects.",
    "createDraftRun": "Also create a first draft of facts; `runId` in the answer is its id.",
    "goal": "What the project is for, in a sentence or a page.",
    "kind": "Whether the actor is an agent or a person; used only if the name is new.",
    "limit": "Maximum number of results on a page. Default: all.",
    "name": "The name; unique in the organization.",
    "role": "The role of the member in the project.",
    "userId": "The member, by name or id.",
    "member.add/userId": "The member, by name or id; a new name adds a new actor, and an e-mail address is invited.",
    "member.bootstrap/name": "What the project is for.",
    "member.bootstrap/scopeId": "The project; with bootstrap the name of the new one.",
    "ended": "Include expired and revoked tokens.",
    "actor": "Only what this actor did, by name or id.",
    "op": "Only these events: `work` for all of a slice, `work.resolved` for one kind.",
    "since": "After the event with this `id`, or from a date or an instant on; oldest first.",
    "subject": "Only what happened to this thing, by its id or key.",
    "until": "Only what came up to and including this event, date or instant.",
    "event/limit": "Maximum number of results on a page.",
    "organization/limit": "Maximum number of results on a page.",
    "organization/name": "The member of the organization, by name or id.",
    "organization.configure/name": "The new name of the organization; its id stays.",
    "organization.configure/project_creators": "Who may create projects, besides administrators: `members`, those who "
    "are `owners` of a project already, or nobody else (`administrators`).",
    "organization.configure/allowed_domains": "Domains whose verified e-mail addresses may join without an "
    "invitation; they replace those before. `none` alone allows no domain.",
    "organization.configure/default_policies": "The policies of new projects; those that are not given stay.",
    **_OF_POLICIES,
    "organization.configure/decision": "Why, for the history.",
    "organization.add_member/name": "The member, by name or id; a new name adds a new actor, and an e-mail address is "
    "invited.",
    "organization.add_member/role": "The role in the organization. Default: `member`, or the role they have.",
    "organization.add_member/email": "The e-mail address under which a person of another name logs in.",
    "invitation/ended": "Include used and revoked invitations.",
    "invitation/id": "The invitation, by its id.",
    "token/expires": "When it expires: a number of hours, days or weeks, such as `12h`, `30d` or `8w`, or `never`. "
    "Default: 30 days for a person, 90 days for an agent or a service.",
    "token/id": "The token, by its id.",
    "token/kind": "Whom the token is for.",
    "token/label": "What the token is for, in a few words.",
    "token/name": "The agent, the service or the person, by name or id; a new name adds a new actor. Default for a "
    "person: yourself.",
    "token/projects": "The only projects that the token opens, by name or id. Default: every project of the actor.",
    "token/role": "The largest role that the token allows in any project. Default: `viewer` for an agent or a "
    "service, no limit for a person.",
    "token/trusted": "Act without stored roles, as in local mode: in every project, up to `role`. Only for an owner of "
    "the organization.",
}

# Arguments of projects, features and tasks as containers, and of dependencies, sections, templates and tags.

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

CONTAINERS: Mapping[str, str] = {
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

# Arguments of knowledge about files.

KNOWLEDGE: Mapping[str, str] = {
    "entityType": "An atom (an area, by its paths) or a molecule (a group of atoms).",
    "id": "The atom or molecule, by its UUID, with or without dashes.",
    **{f"knowledge.{verb}/projectId": "The project that it must belong to, as a check." for verb in ("get", "delete")},
    "knowledge.update/projectId": "The project that it must belong to, as a check. It cannot change.",
    "name": "The name; lists are sorted by it.",
    "createdByTaskId": "The task that this is recorded for: a work node of the project.",
    "lastTaskId": "The task that this is done for: a work node of the project. Required to append; without it: "
    "unchanged.",
    "knowledge.delete/lastTaskId": "The task that this is done for; atoms that lose their molecule get it too.",
    "paths": "Patterns of the files it covers, such as `src/pay/**`, relative to the root of the repository; at least "
    "one.",
    "knowledge.context/paths": "The files and folders, as paths from the root of the repository or absolute: a list, "
    "or separated by commas or line breaks. A folder stands for everything below it. At most 1,000 paths of 4,096 "
    "characters each, and 65,536 characters in total.",
    "knowledge": "The knowledge text; at most 32,768 bytes. Surrounding white space is removed.",
    "knowledgeMode": "Replace the existing text, or append to it below a line with the time and the task.",
    "moleculeId": "The molecule of the atom, by id.",
    "knowledge.update/moleculeId": "The molecule of the atom, by id; null for none.",
    "knowledge.search/moleculeId": "Only atoms of this molecule, by id.",
    "relatedAtoms": "Related atoms of the project, each with the reason; also as an answer shows them.",
    "relatedAtoms[].atomId": "The related atom, by id.",
    "relatedAtoms[].reason": "How they are related.",
    "relatedMolecules": "Related molecules of the project, each with the reason; also as an answer shows them.",
    "relatedMolecules[].moleculeId": "The related molecule, by id.",
    "relatedMolecules[].reason": "How they are related.",
    "confirm": "The commit at which the knowledge was confirmed, by id; `HEAD` where a repository is known.",
    "cascade": "Also delete the atoms of a molecule; otherwise they stay without a molecule.",
    "includeChangelog": "Include the latest changelog entries.",
    "changelogLimit": "Maximum number of changelog entries.",
    "query": "Words to search for in the name and the knowledge; all must match, in any order. The beginning of a word "
    "is enough, or four letters of its inside.",
    "orphansOnly": "Only atoms without a molecule.",
    "parentType": "Whether the changelog is that of an atom or of a molecule.",
    "parentId": "The atom or molecule, by its UUID, with or without dashes.",
    "taskId": "The task that changed it: a work node of the project.",
    "summary": "What changed and why; at most 4,096 bytes.",
    "commit": "The commit that was checked.",
    "files": "Files of that commit, relative to the root of the repository. They are kept beside those that earlier "
    "requests named for the same commit, at most 20,000; a larger repository sends every n-th.",
    "filesTotal": "The number of files of that commit, also of those that are not sent.",
    "knowledge.list/freshness": "Only atoms with one of these results of the last check.",
    "knowledge.list/paths": "Only atoms that match one of these files or folders: a list, or separated by commas.",
    "knowledge.match/paths": "Patterns of files, such as `src/pay/**`, relative to the root of the repository.",
    "folder": "The folder to look into, relative to the root of the repository. Default: the root.",
    "knowledge.delete/decision": "Why it is deleted; kept in the history.",
    "atoms": "The results, one for each atom.",
    "atoms[].id": "The atom, by id.",
    "atoms[].version": "The version that was checked; an atom that has changed since is skipped.",
    "atoms[].freshness": "The result of the check.",
    "atoms[].commit": "The commit at which the atom was confirmed.",
    "atoms[].files": "The files of its area that have changed since.",
}

# Arguments of facts, their runs, sources and suggestions.

_DRAFT = "The draft, by its UUID, with or without dashes."
_COPIED = "Ignored: it belongs to the run that the document was exported from."

# The fields that inputs and constraints share.
_VALUE = {
    "domain": "The domain, in a word of your own. Default: `general`.",
    "label": "The label, for people; required for a new constraint. Default of an input: the last step of its pointer.",
    "valueKind": "The kind of the value. Default: unchanged; for a new one derived from the value, except `enum`, "
    "which must be given.",
    "value": "The value, of any kind. Null means UNSET; an empty text is a value.",
    "valueString": "The value in the field of its kind, as answers have it, instead of `value`. Null means UNSET.",
    "valueNumber": "The same for `number`; it must be finite.",
    "valueBoolean": "The same for `boolean`.",
    "valueEnum": "The same for `enum`: one of the options, if there are any.",
    "valueJson": "The same for `json`: an array, an object, or any value in them.",
    "provenance": "The origin; `user-entered` only by a person. Default: `source-backed` with a source, "
    "else `user-entered` or `model-inferred`, by who writes.",
    "rationale": "The reason, for the history and for reviewers of a suggestion.",
}

CONTEXT: Mapping[str, str] = {
    "context.create_draft/scopeId": "The project, by name or id; created if it does not exist, and then yours.",
    "userId": "Only runs of this user, and shared runs.",
    "context.view/userId": "The latest commit among the runs of this user and shared runs.",
    "limit": "Maximum number of results on a page. Default: as many as fit.",
    "status": "Only runs with this status.",
    "pointers": "Only inputs at or below these JSON Pointers, such as `/site`. Constraints are always included.",
    "prefer": "Whether to show the given run, or the latest commit even if a run is given.",
    "runId": "The run, by its UUID, with or without dashes.",
    "context.view/runId": "The run, by id; a draft is allowed. Default: the latest commit, full or partial.",
    "context.export/runId": "The run, by id; a draft is allowed. Default: the latest commit, full or partial.",
    **{f"context.{verb}/runId": _DRAFT for verb in ("commit", "discard", "edit", "update_draft")},
    "ownership": "Whether the run is yours or shared. It does not affect permissions, which come from roles.",
    "context.update_draft/ownership": "Whether the run is yours or shared. Without it only the time of its last change "
    "is updated.",
    "copyFrom": "The run to copy, with its suggestions, under new ids: an id; `latest`, the default, which is empty if "
    "nothing was committed; or `none`: start empty, and replace all facts in force.",
    "allowPartial": "Allow required inputs to be unset; they are still reported as missing. The status is then "
    "`partial_committed`, even if nothing is missing.",
    "allowDrop": "Allow a draft that began with `copyFrom: none` to lack facts that are in force.",
    "resolve": "For each name in the conflicts of a refused commit, such as `/site` or `constraint:KEY`, the side to "
    "keep: `mine` for the draft, `theirs` for the run in force.",
    "lean": "Omit null, empty and bookkeeping fields from the answer.",
    "hydrate": "A document to fill with the facts, each at its pointer; `unplaced` lists those without a place.",
    "overwrite": "With `hydrate`: model-inferred facts replace other values, too. Default: false, those are `kept`.",
    "context.trace/pointer": "The fact, by its JSON Pointer.",
    "context.trace/limit": "How many of the latest runs to look into. Default: 10.",
    "from": "The base run of the comparison, by id.",
    "to": "The run to compare with the base, by id; of the same project.",
    # An edit
    "sources": "Sources to add or change; written first, so that the rest can refer to them.",
    "sources[].id": "A UUID: of the source to change, or a new one of your own, to cite it in this request.",
    "sources[].kind": "The kind of the source; required for a new one.",
    "sources[].title": "The title; required for a new source.",
    "sources[].uri": "The location: an address, a path, a shelf; required for a new source. Default for `manual`: "
    "the title.",
    "sources[].fileId": "The UUID of a file that is stored elsewhere.",
    "sources[].mimeType": "The media type of the file.",
    "sources[].sizeBytes": "The size of the file.",
    "sources[].parseStatus": "Whether the source has been read. Default: `pending`.",
    "sources[].excerpt": "A quotation from the source.",
    "sources[].rawMeta": "Free metadata, up to 16,384 bytes.",
    "inputs": "Inputs to add, or to change if there is one at the pointer. Omitted fields keep their values.",
    "inputs[].pointer": "Its JSON Pointer, such as `/site/location`.",
    **{f"inputs[].{name}": text for name, text in _VALUE.items()},
    "inputs[].required": "Whether a full commit requires a value. Default: `false`.",
    "inputs[].fieldType": "The form control, in a word of your own. Default: `text`, `select` or `boolean`, by the "
    "kind of the value.",
    "inputs[].options": "The allowed values of an `enum`, up to 8,192 bytes in total; null allows any.",
    "inputs[].sourceIds": "All sources of the value, by id; sources of this run.",
    "inputs[].evidenceSnippet": "A quotation from the source that supports the value.",
    "inputs[].id": "The id of a new input: a new UUID. An existing input keeps its id.",
    "constraints": "Constraints to add, or to change if the id or the key exists. Omitted fields keep their values.",
    "constraints[].id": "The id of the constraint to change; a new UUID adds a constraint under that id. Default: the "
    "constraint with the key.",
    "constraints[].key": "The subject; required for a new one. A run has one constraint for each key.",
    **{f"constraints[].{name}": text for name, text in _VALUE.items()},
    "constraints[].valueEnum": "The same for `enum`.",
    "constraints[].sourceId": "The source of the value, by id; a source of this run.",
    "constraints[].snippet": "A quotation from the source that supports the value.",
    "artifacts": "Artifacts made from the facts, to add, or to change if the id exists.",
    "artifacts[].id": "The id of the artifact to change; a new UUID adds an artifact under that id.",
    "artifacts[].type": "The type, in a word of your own; required for a new artifact.",
    "artifacts[].title": "The title; required for a new artifact.",
    "artifacts[].payload": "The content: an object of up to 65,536 bytes.",
    "links": "Links from inputs and constraints to their sources, to add; a constraint has one source.",
    "links[].pointer": "The JSON Pointer of the input.",
    "links[].constraint": "The key of the constraint, instead of `pointer`.",
    "links[].sourceId": "The source, by id; a source of this run.",
    "unlinks": "Links from inputs and constraints to their sources, to remove.",
    "unlinks[].pointer": "The JSON Pointer of the input.",
    "unlinks[].constraint": "The key of the constraint, instead of `pointer`.",
    "unlinks[].sourceId": "The source, by id.",
    "accept": "Suggestions that replace the current values, by id; people only.",
    "reject": "Suggestions to reject, by id; people only.",
    "remove": "What to remove from the draft: inputs by pointer, the others by id. Removed last, with links and "
    "suggestions.",
    "remove.inputs": "Inputs, by pointer. Only people may remove required, source-backed and user-entered ones.",
    "remove.constraints": "Constraints, by id. Only people may remove source-backed and user-entered ones.",
    "remove.sources": "Sources, by id. The only source of a value that stays is refused.",
    "remove.artifacts": "Artifacts, by id.",
    # A document to import
    "document": "The document: an export, or a complete view.",
    "document.sourcesById": "The sources, as in an edit, by the ids that the rest of the document uses.",
    "document.inputsByPointer": "The inputs, as in an edit, by pointer.",
    "document.constraints": "The constraints, as in an edit.",
    "document.artifactsByType": "Lists of artifacts, as in an edit, by type.",
    "document.format": "The version of the document format.",
    "document.suggestions": "Not imported, because suggestions are not facts yet; the answer says how many there were.",
    "document.next_cursor": "Refused: a view with a cursor is only one page.",
    **{
        f"document.{name}": _COPIED
        for name in ("scopeId", "contextVersionId", "run", "missing", "warnings", "rev", "displaced", "left_out")
    },
}

# Arguments of the theory of change, its versions and observations.

_VERSION = "The version: a number, `draft`, `published` or an id. Default: the draft, else the latest published one."
_VERSION_OUT = (
    "The version: a number, `draft`, `published` or an id. Default: the latest published one, else the draft."
)
_AS_OF = "Only what was recorded by then: a date such as 2026-11-15, or an instant with its time zone."
_BY_KEY = "its key, row id, or a `ref` of this request, earlier or later."
_ABOUT = "The subjects: keys, edges such as `AC1->OP2`, pointers of facts, ids of work nodes."
_IN_ANY_VERSION = "its key, or the id of its row in any version."

# Fields that an edit, a proposed operation and a document share.
_NODE = {
    "node_type": "The type of the node.",
    "title": "The title.",
    "description": "The full description.",
    "narrative": "The story around it.",
    "owner": "Who is responsible: any name, not necessarily that of a member.",
    "metadata": "Free metadata, up to 16,384 bytes as JSON.",
}
_EDGE = {
    "source": "The node at the start of the edge, the cause.",
    "target": "The node at the end of the edge, the effect.",
    "edge_type": "The type of the edge. Default: `CONTRIBUTES_TO`.",
    "mechanism": "How the cause brings about the effect.",
    "confidence": "How confident you are that it does.",
}
_ASSUMPTION = {
    "assumption_text": "What must hold.",
    "risk_level": "The risk if it does not hold.",
    "review_by": "The date by which it should be reviewed.",
}
_INDICATOR = {
    "name": "What is measured.",
    "unit": "The unit.",
    "direction": "The direction in which it should move.",
    "baseline": "The value at the start.",
    "baseline_verified": "Whether the baseline has been verified.",
    "target": "The value to reach.",
    "method": "How it is measured.",
    "frequency": "How often it is measured.",
}
_WAIVER = {
    "code": "The check, by its code.",
    "refs": "Which `refs` of the check; none for the whole check.",
    "reason": "Why the check may fail.",
    "owner": "Who is responsible for the waiver.",
    "due": "The last day of the waiver.",
}
_OWNER = {"owner": _NODE["owner"]}

PURPOSE: Mapping[str, str] = {
    "version": _VERSION,
    "purpose.export/version": _VERSION_OUT,
    "purpose.render/version": _VERSION_OUT,
    "purpose.render/detail": "`overview` draws groups of nodes, `all` every node. Default: overview above 120 nodes.",
    "purpose.render/group": "The id of a group of the overview, which is opened: its nodes, or the groups inside it.",
    "purpose.render/view": "The name of a view, as an imported Miradi diagram: only its nodes.",
    "purpose.observations/version": "Refused: observations belong to all versions.",
    "as_of": _AS_OF,
    "detail": "`full` omits nothing; `summary` omits nodes, edges and indicators; `observations` shows only what was "
    "recorded. Without it a long answer to an agent is shortened: row ids go first, mechanisms, confidences and "
    "assumptions never.",
    "purpose.observations/detail": "Always `observations`.",
    "keys": "Read only these items, whole: keys, row ids, or names of edges such as `AC1->OP1`; in one text, commas "
    "separate them. A node comes with its edges and indicators, an assumption with what it is on.",
    # An edit
    "operations": "The operations on the draft, which must exist, in order: all of them, or none.",
    "operations[].op": "The operation. `create_` means `add_`, and `delete_` means `remove_`.",
    "operations[].ref": "Your name for what is added, within this request; it hides an equal key.",
    **{f"operations[].{name}": text for name, text in {**_INDICATOR, **_NODE, **_EDGE, **_ASSUMPTION}.items()},
    "operations[].node_type": "The type of the node. Its key keeps the letters of its first type.",
    "operations[].metadata": "Free metadata, up to 16,384 bytes as JSON; merged with the existing one, and null "
    "removes a name.",
    "operations[].node": f"The node: {_BY_KEY}",
    "operations[].source": "As `node`: the cause; of `DEPENDS_ON`, what depends.",
    "operations[].target": "As `node`: the effect; of `DEPENDS_ON`, what it depends on. Of an indicator: the number to "
    "reach.",
    "operations[].edge_type": "The type of the edge; required if there are several between the two nodes. Default for "
    "a new edge: `CONTRIBUTES_TO`.",
    "operations[].new_edge_type": "The new type of the edge.",
    "operations[].was": "For an update: the fields as you read them. A field that somebody changed since is refused "
    "with `stale_item`, and the others of the item stay as they are.",
    "operations[].assumption": f"The assumption: {_BY_KEY}",
    "operations[].indicator": f"The indicator: {_BY_KEY}",
    # Versions
    "from": "The base version of the comparison: its number, `draft`, `published` or its id.",
    "to": "The version to compare with the base: its number, `draft`, `published` or its id.",
    "purpose.draft/from": "The published version to start from: its number, id, or `published`. Keys stay the same. "
    "Default: the latest one, or an empty draft if there is none.",
    "purpose.draft/profile": "How strict its gates are. Default: that of the version it starts from, else `standard`.",
    "purpose.publish/detail": "`full` lists every check of the gates. Default: those that failed or are waived.",
    "label": "The label of the version. Default: v and its number.",
    # Checks
    "gate": "`A`: is it consistent? `B`: is it ready to run and to measure? Or `health`, `analysis`, `compliance`. "
    "Default: `A`; for an operation `compliance`.",
    "purpose.check/detail": "`short` lists only the checks that failed or are waived. Default: `full`.",
    **{f"purpose.{name}/gate": f"Always `{name}`." for name in ("health", "analysis", "compliance")},
    **{
        f"purpose.{operation}/{name}": f"Refused: only for {uses}."
        for operation in ("check", "health", "analysis", "compliance")
        for name, uses in {
            "profile": "gates",
            "operation": "compliance",
            "node": "analysis",
            "assumption": "analysis",
            "limit": "analysis",
            "as_of": "gates, health and analysis",
            "detail": "gates and compliance",
            "code": "compliance",
        }.items()
        if operation not in uses.replace("gates", "check")
    },
    "profile": "How strict the gates are. Default: the profile of the version.",
    "purpose.compliance/code": "Files to check in place of an operation: SQL, migrations and source code that name "
    "`toc_*` tables.",
    "code[].path": "The path of the file; its suffix tells the language.",
    "code[].text": "Its text.",
    "purpose.compliance/detail": "`short`: the decision, its reasons and the items that fail. `full`, the default: the "
    "whole checklist, as data and as Markdown.",
    "operation": 'The proposed operation as an edit has it, such as `{"op": "remove_node", "node": "OP1"}`, or the op '
    "`create_draft`, `publish` or `read`. Wrong values in it are reported in the checklist.",
    "operation.kind": "The operation, also called `op`, with its verb here or in an edit.",
    "operation.version": _VERSION,
    "operation.node": "The node, by key or row id.",
    "operation.assumption": "The assumption, by key or row id.",
    "operation.indicator": "The indicator, by key or row id.",
    **{f"operation.{name}": text for name, text in {**_INDICATOR, **_NODE, **_EDGE, **_ASSUMPTION}.items()},
    "operation.target": "The node at the end of the edge, by key or row id; of an indicator, the value to reach.",
    "operation.edge_type": "The type of the edge.",
    "operation.metadata": "The metadata.",
    **{
        f"operation.{name}": "Structure of the theory, which no operation has: the checklist blocks it."
        for name in ("parent_id", "parent", "children", "path", "tree")
    },
    "operation.new_edge_type": "The new type of the edge.",
    "operation.profile": "How strict the gates of the draft are.",
    "operation.label": "The label of the version.",
    "operation.from": "The version that a draft starts from.",
    "node": "List every path from this node to the goals, by key.",
    "assumption": "Show what depends on this assumption, by key.",
    "limit": "Maximum number of paths, and of refuted assumptions. Default: 50.",
    # Observations
    "measurements": "Measured values of indicators.",
    "measurements[].indicator": f"The indicator: {_IN_ANY_VERSION}",
    "measurements[].value": "The measured value.",
    "measurements[].as_of": "When it was measured: a date, or an instant with its time zone; not in the future.",
    "measurements[].source": "The source of the value.",
    "measurements[].note": "A note.",
    "reviews": "Reviews of assumptions.",
    "reviews[].assumption": f"The assumption: {_IN_ANY_VERSION}",
    "reviews[].status": "The new status; the latest review decides.",
    "reviews[].reason": "The reason.",
    "reviews[].evidence": "The evidence: an address, a place in a text.",
    "waivers": "Waivers for failing checks, each until a date; only an owner may add them.",
    **{f"waivers[].{name}": text for name, text in _WAIVER.items()},
    "decisions": "Decisions.",
    "decisions[].text": "The decision.",
    "decisions[].rationale": "The reason.",
    "decisions[].about": _ABOUT + " Default: those of what it supersedes and answers.",
    "decisions[].outcome": "The outcome.",
    "decisions[].supersedes": "The id of the decision that it replaces.",
    "decisions[].answers": "The id of the request that it answers.",
    "requests": "Questions that wait for a decision.",
    "requests[].question": "The question.",
    "requests[].about": _ABOUT,
    "requests[].to": "Who should decide.",
    # Files and pictures
    "format": "The format of the file. Only `json` can be imported again without loss.",
    "pathway": "Show only the paths through this node, by key; not together with a comparison.",
    "compare": "Show what changed since this version: its number, `draft`, `published` or its id.",
    "theme": "The colours; `auto` follows the reader's screen. Default: `light`.",
    "document": "The theory of change, as exported in the format `json`.",
    "document.nodes": "The nodes.",
    "document.nodes[].key": "The name of the node in the document: a key such as `G1`, which is kept, or any name.",
    **{f"document.nodes[].{name}": text for name, text in _NODE.items()},
    "document.nodes[].title": "The title. It may be empty; gate A reports it.",
    "document.edges": "The edges, from cause to effect. Downward edges and cycles are accepted; gate A reports them.",
    **{f"document.edges[].{name}": text for name, text in _EDGE.items()},
    "document.assumptions": "The assumptions, each on a node or on an edge.",
    "document.assumptions[].key": "The name in the document, like the key of a node.",
    **{f"document.assumptions[].{name}": text for name, text in {**_ASSUMPTION, **_OWNER}.items()},
    "document.assumptions[].node": "The node that it belongs to; otherwise it belongs to an edge.",
    "document.assumptions[].source": "The node at the start of that edge.",
    "document.assumptions[].target": "The node at the end of that edge.",
    "document.assumptions[].edge_type": "The type of that edge. Default: `CONTRIBUTES_TO`.",
    "document.indicators": "The indicators.",
    "document.indicators[].key": "The name in the document, like the key of a node.",
    "document.indicators[].node": "The node that it belongs to.",
    **{f"document.indicators[].{name}": text for name, text in {**_INDICATOR, **_OWNER}.items()},
    "document.measurements": "Measurements of the indicators. Those that are recorded already are skipped.",
    "document.measurements[].indicator": "The name of the indicator in the document.",
    "document.measurements[].value": "The measured value.",
    "document.measurements[].as_of": "The day or instant of the measurement.",
    "document.measurements[].note": "A remark.",
    "document.waivers": "Waivers for failing checks, each until a date; only an owner may import them.",
    **{f"document.waivers[].{name}": text for name, text in _WAIVER.items()},
    "document.waivers[].refs": "Which `refs` of the check, by their names in the document; none for the whole check.",
    "document.format": "The version of the document format.",
    "document.profile": "How strict the gates of the draft are.",
    "purpose.import/keys": "`same`: keys of the document mean the same as in this project. `new`: everything gets a "
    "new key. Default: `same`, but a document is refused if most of its keys have other titles here.",
}

# Arguments of the operations that join the slices.

BRIEFING: Mapping[str, str] = {
    "briefing.inbox/project": "The project, by name or id. Default: all of yours.",
    "briefing.search/project": "The project, by name or id. Without it: all projects that you may see.",
    "node_id": "The task: the id of its node, or an unambiguous prefix of at least 4 characters.",
    "budget": "Tokens that the whole answer may have; a token is 4 characters.",
    "markdown": "Return one text of Markdown, to paste into a chat, instead of data.",
    "from": "Where to start: the id of a work node, or the key of a purpose node such as `OC1`.",
    "direction": "`up`: to the goals. `down`: to causes, work, evidence and measurements. Default: `up` from work, "
    "`down` from a purpose node.",
    "format": "The form of the answer: fields, an outline to paste into a text, or a picture.",
    "dry_run": "Say what would be done, and change nothing.",
    "event": "The event whose write is undone, as `rev.n`. Default: your last change of the project that is in effect.",
    "redo": "Do again what your last undo took back; a change of yours in between ends that.",
    "briefing.search/limit": "Maximum number of results.",
    "slices": "The slices to search: `work`, `knowledge`, `purpose`, `context`. Default: all of them.",
    "refs": "Ids of tasks, notes or facts of a draft, keys of the theory of change, or pointers of facts.",
    "text": "Words to search for; all must match, in any order. Keys, ids and pointers are found, too.",
}

# By the first word of an operation.
TABLES: Mapping[str, Mapping[str, str]] = {
    "organization": KERNEL,
    "invitation": KERNEL,
    "project": KERNEL,
    "member": KERNEL,
    "token": KERNEL,
    "event": KERNEL,
    "work": WORK,
    "container": CONTAINERS,
    "dependency": CONTAINERS,
    "section": CONTAINERS,
    "template": CONTAINERS,
    "tag": CONTAINERS,
    "knowledge": KNOWLEDGE,
    "context": CONTEXT,
    "purpose": PURPOSE,
    "briefing": BRIEFING,
}


def describe_argument(operation: str, path: str) -> str:
    """Return the description of an argument by its path on the wire, such as `nodes[].ref`; empty if there is none.

    A key `operation/path` is more specific than `thing/path`, and that than `path` alone.
    """
    thing = operation.partition(".")[0]
    own = TABLES.get(thing, SHARED)
    keys = (f"{operation}/{path}", f"{thing}/{path}", path)
    return next((table[key] for key in keys for table in (own, SHARED) if key in table), "")
