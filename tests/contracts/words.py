"""What the reference pages say that the code does not: a sentence for every argument, an example for every operation.

Descriptions in the schemas would be paid for in every conversation, so they stand here. The tests run every example
through each surface that reaches the operation, page by page, in the order in which they stand on the page. `{coast}`
in an example is the id of the node that was planned under the ref `coast`, `{atom}` that of what was made under the
name that MADE_AS has for it: a page shows the one in NODES, a test the one that it was given.
"""

from __future__ import annotations

from typing import Any

from tests.contracts import container_words, context_words, purpose_words

# By the path on the wire; `operation/path` or `thing/path` where that means something else by it.
ARGUMENTS = {
    **container_words.ARGUMENTS,
    **context_words.ARGUMENTS,
    **purpose_words.ARGUMENTS,
    "archived": "Archived projects too.",
    "createDraftRun": "Begin a first run of facts too: `runId` in the answer is its draft.",
    "cursor": "`next_cursor` of the page before.",
    "goal": "What the project is for, in a sentence or a page.",
    "kind": "What sort of actor it is. Counts when the name is new here.",
    "limit": "How many at most; all of them without it.",
    "name": "What it is called; unique in the organization.",
    "member.bootstrap/name": "What the scope is for: the goal of its project.",
    "op_id": "An id of your own for this request. Sent again with the same request it has one effect and one answer.",
    "project": "The project, by id or by name.",
    "role": "What they may do there: see [access](access.md).",
    "scopeId": "The project, by id or by name.",
    "member.bootstrap/scopeId": "The name of the project to make.",
    "userId": "Who: the id or the name of a member, or a name that is new here.",
    # Work
    "decision": "Why. Kept with the events of the call and shown in the history.",
    "lean": "Leave null, empty and bookkeeping fields out of the answer. Without it: what the configuration says.",
    "node_id": "The node: its id, or a beginning of 4 characters or more that only one has.",
    "work.open/project": "The project, by id or by name. One that is not there is made. Without it all are listed.",
    "work.open/goal": "What a new project is for: the summary of its root.",
    "policies": "How the project wants to be worked in. Only what is given changes; an owner may do it.",
    "policies.evidence": "What comes of resolving a node without any: nothing, a warning (the default), a refusal.",
    "policies.claims": "Whether others may resolve what somebody has claimed: `soft` (the default) says they may.",
    "policies.inherit_dependencies": "Whether what a node waits for holds back all below it. Default: no.",
    "policies.auto_resolve_parents": "Whether resolving the last open child resolves its parent. Default: no.",
    "policies.claim_ttl_minutes": "How long a claim holds. Default, and null: what the server is configured with.",
    "nodes": "The nodes to make: all of them, or none.",
    "nodes[].ref": "Your name for the node in this call; it comes back beside the id.",
    "nodes[].summary": "What is to be done.",
    "nodes[].parent_ref": "What it is a part of: a ref of this call, in any order, or an id. Without it the root.",
    "nodes[].depends_on": "What must be resolved before it: refs of this call, or ids.",
    "nodes[].context_links": "Files, commits, pages to know about.",
    "nodes[].properties": "Whatever you like, up to 32,768 bytes; `priority` is a number, higher goes first.",
    "work.plan/project": "The project, by id or by name. Not needed if every node has a parent that leads to one.",
    "scope": "Only below this node.",
    "filter": "Which nodes: all that is given must hold.",
    "work.next/filter": "Only nodes with these properties.",
    "work.claim/filter": "Only nodes with these properties.",
    "count": "How many at most.",
    "claim": "Take them too: see [work.claim](#workclaim).",
    "work.claim/claim": "Is so anyway.",
    "depth": "How many levels below the node.",
    "updates": "What to change, in order: all of it, or nothing.",
    "updates[].node_id": "The node: its id, or a beginning that only one has.",
    "updates[].resolved": "Whether it is done. `false` reopens it, and what lies above it.",
    "updates[].state": "Whatever you like; the engine keeps it and never looks at it.",
    "updates[].summary": "What is to be done, in other words.",
    "updates[].properties": "Merged with those there are; null takes one away.",
    "updates[].add_context_links": "Links to add; it has 50 at most.",
    "updates[].remove_context_links": "Links to take away.",
    "updates[].add_evidence": "What shows that it was done, or helps who comes next.",
    "updates[].add_evidence[].type": "`git`, `test`, `note`, `hint`, `file`, or a word of your own.",
    "updates[].add_evidence[].ref": "The thing itself: a commit, a path, a sentence.",
    "updates[].expected_rev": "The `rev` you read. Refused if the node has changed since.",
    "updates[].claim": "The number of your claim. Refused if somebody else has taken the node since.",
    "updates[].renew": "Begin the time of your claim anew.",
    "updates[].release": "Give your claim back.",
    "updates[].hold": "Keep your claim without end; people only.",
    "edges": "What to connect, in order. What cannot be is in `rejected`, the others are made.",
    "edges[].from": "The node that waits, or from which the edge leads.",
    "edges[].to": "The node that it waits for, or to which the edge leads.",
    "edges[].type": "`depends_on`, `relates_to`, or a word of your own.",
    "edges[].remove": "Take the edge away.",
    "filter.resolved": "Done, or not.",
    "filter.properties": "These values; null is for those without it.",
    "filter.text": "This text somewhere in the summary, in capitals or not.",
    "filter.ancestor": "Somewhere below this node.",
    "filter.parent": "Directly below this node.",
    "filter.depends_on": "Waiting for this node.",
    "filter.depended_by": "This node waits for them.",
    "filter.has_evidence_type": "With evidence of this type.",
    "filter.is_leaf": "Without open children, or with some.",
    "filter.is_actionable": "Can be started now, or cannot.",
    "filter.is_blocked": "Waiting for something open, or not.",
    "filter.claimed_by": "Claimed by them; null is for those that nobody has.",
    "sort": "`readiness` is the order of work.next, then the others; `recent` has the newest change first.",
    "work.query/limit": "How many on a page.",
    "work.query/cursor": "`next_cursor` of the page before, with the same project, filter and sort.",
    "operations": "What to do, in order: all of it, or nothing.",
    "operations[].op": "What to do: hang a node elsewhere, let one absorb another, or give one up.",
    "operations[].node_id": "The node to move or to drop, with all below it.",
    "operations[].new_parent": "What it becomes a part of.",
    "operations[].source": "The node that is absorbed. Its id stays readable in the history.",
    "operations[].target": "The node that gets its children, evidence and edges.",
    "operations[].reason": "Why, as evidence of the type `dropped`.",
    "work.history/node_id": "The node, also one that was merged into another.",
    "work.history/limit": "How many on a page.",
    "work.history/cursor": "`next_cursor` of the page before, of the same node.",
    "work.onboard/project": "The project, by id or by name. Without it the only one there is, or a list.",
    # Knowledge
    "entityType": "An atom (an area, by its paths) or a molecule (a group of atoms).",
    "projectId": "The project, by id or by name.",
    "id": "The atom or molecule: its UUID, with or without dashes.",
    "version": "The version that you read. Refused if it has changed since; `currentVersion` says what it is now.",
    "knowledge.create/name": "What it is called; shown and sorted by.",
    "knowledge.update/name": "What it is called from now on.",
    "createdByTaskId": "The task that this is written down for: a work node of the project.",
    "lastTaskId": "The task that this is done for. Left as it was without it; needed to append.",
    "knowledge.delete/lastTaskId": "The task that this is done for; atoms that become orphans get it.",
    "paths": "Patterns of the files it is about, relative to the root of the repository; at least one. "
    "See [path patterns](../concepts/path-patterns.md).",
    "knowledge.context/paths": "Paths of files, with commas or line breaks between them, or an array of them; at most "
    "1,000, of 4,096 characters each and 65,536 together.",
    "knowledge.get/projectId": "The project, if you want to be sure that it is of that one.",
    "knowledge.update/projectId": "The project, if you want to be sure that it is of that one. It cannot change.",
    "knowledge.delete/projectId": "The project, if you want to be sure that it is of that one.",
    "knowledge": "What one must know. Blanks around it are taken away; 32,768 bytes at most.",
    "knowledgeMode": "Replace what is there, or put this below it under a line with the moment and the task.",
    "moleculeId": "The molecule that the atom is of.",
    "knowledge.update/moleculeId": "The molecule that the atom is of; null for none.",
    "knowledge.search/moleculeId": "Only atoms of this molecule.",
    "relatedAtoms": "Other atoms of the project, and what this one has to do with them.",
    "relatedAtoms[].atomId": "The other atom.",
    "relatedAtoms[].reason": "What this one has to do with it.",
    "relatedMolecules": "Other molecules of the project, and what this one has to do with them.",
    "relatedMolecules[].moleculeId": "The other molecule.",
    "relatedMolecules[].reason": "What this one has to do with it.",
    "confirm": "The commit at which somebody saw that the knowledge is right.",
    "cascade": "Delete the atoms of a molecule with it; else they become orphans.",
    "includeChangelog": "With the latest entries of the changelog.",
    "changelogLimit": "How many of them.",
    "query": "Words that must all be in the name or the knowledge, in any order; the beginning of one is enough.",
    "orphansOnly": "Only atoms that are of no molecule.",
    "offset": "How many to skip: `nextOffset` of the page before.",
    "knowledge.search/limit": "How many on a page.",
    "knowledge.search_changelog/limit": "How many on a page.",
    "knowledge.list/limit": "How many on a page.",
    "parentType": "Whose changelog: of an atom, or of a molecule.",
    "parentId": "The atom or molecule: its UUID, with or without dashes.",
    "taskId": "The task that changed it: a work node of the project.",
    "summary": "What changed, and why; 4,096 bytes at most.",
    "commit": "The commit that was looked at.",
    "atoms": "What was seen of each atom.",
    "atoms[].id": "The atom.",
    "atoms[].version": "The version that was looked at; what is at another one by now is skipped.",
    "atoms[].freshness": "What was seen: see [freshness](../concepts/freshness.md).",
    "atoms[].commit": "The commit at which the atom was confirmed.",
    "atoms[].files": "The files of its area that changed since.",
}

# What else there is to say about an operation.
NOTES = {
    **container_words.NOTES,
    **context_words.NOTES,
    **purpose_words.NOTES,
    "work.open": "What it becomes is decided by what it is given: no `project`, one that is not there, or `policies`.",
    "work.next": "First by `properties.priority`, then the deeper node, then the one that changed longest ago. A node "
    "that somebody else has claimed is passed over until the claim is over. Where there is none, `reason` says why.",
    "work.claim": "Over MCP this is `graph_next` with `claim: true`. `claim` in the answer is the number to send with "
    "`graph_update`.",
    "work.context": "`left_out` counts what is not shown, by name. `graph_query` lists the rest: `filter: {parent}` "
    "the children, `{depended_by}` what the node depends on, `{depends_on}` who depends on it.",
    "work.update": "`newly_actionable` is what can be started now and could not before the call.",
    "work.connect": "Reasons in `rejected`: `cycle_detected` (with the way round in `path`), `node_not_found` (with "
    "what was probably meant in `near`), `ambiguous_node`, `mixed_projects`, `already_connected`, `not_connected`, "
    "`self_edge`, and `use_graph_restructure` for the tree, which is no edge.",
    "work.onboard": "Never longer than 600 tokens. `left_out` counts the claims, the projects and the open nodes on "
    "top of the tree that are not listed.",
    "knowledge.create": "Paths, a molecule and related atoms are for atoms, related molecules for molecules. Over MCP "
    "every answer about knowledge stands in `{success, data}`, and a refusal in `{success, error}` with the code of "
    "its family: `VALIDATION_ERROR`, `NOT_FOUND`, `CONFLICT`, `INVARIANT_VIOLATION`.",
    "knowledge.update": "What is left out stays as it is. Every update raises the version by one.",
    "knowledge.context": "Molecules by name, atoms by name within them; the same paths give the same answer in "
    "whatever order they come. What would not fit into the answer is left out as a whole and counted in `left_out`.",
    "knowledge.delete": "The changelog is out of view from then on; the events keep everything.",
}

# How each page's examples begin, in an empty database.
FIRST: dict[str, list[tuple[str, dict[str, Any]]]] = {
    **container_words.FIRST,
    **context_words.FIRST,
    **purpose_words.FIRST,
    "members": [("project.create", {"name": "atlas"})],
    "knowledge": [
        ("work.open", {"project": "atlas"}),
        ("work.plan", {"project": "atlas", "nodes": [{"ref": "survey", "summary": "Survey the island"}]}),
    ],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    **container_words.EXAMPLES,
    **context_words.EXAMPLES,
    **purpose_words.EXAMPLES,
    "project.list": {"archived": True},
    "project.create": {"name": "atlas", "goal": "A map that every walker trusts"},
    "project.archive": {"project": "atlas"},
    "project.restore": {"project": "atlas"},
    "member.bootstrap": {"scopeId": "borealis", "name": "Light for the long night", "createDraftRun": True},
    "member.list": {"scopeId": "atlas"},
    "member.add": {"scopeId": "atlas", "userId": "ben", "role": "editor"},
    "member.remove": {"scopeId": "atlas", "userId": "ben"},
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
    "work.restructure": {
        "operations": [{"op": "drop", "node_id": "{hills}", "reason": "The land registry has all heights"}],
        "decision": "Take the heights from the land registry",
    },
    "work.history": {"node_id": "{hills}"},
    "work.onboard": {"project": "atlas"},
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
        "summary": "Drew the north anew after the storm",
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
    },
    "knowledge.delete": {"entityType": "atom", "id": "{atom}", "version": 2},
}

# More of what an operation does, each behind a sentence about it.
FURTHER: dict[str, list[tuple[str, dict[str, Any]]]] = {**context_words.FURTHER, **purpose_words.FURTHER}

# The command of an operation that does more than the operation, and is written by hand.
WRITTEN = {**context_words.WRITTEN, **purpose_words.WRITTEN}

# What the pages show in the place of ids, which are new wherever the examples are run.
NODES = {
    "survey": "5vdw8h",
    "coast": "k7m2qp",
    "hills": "x3nc9t",
    "print": "e6ryb1",
    "atom": "d3b2f6a81c4e4a53917c0e5b8f24d6a9",
    **container_words.NODES,
    **context_words.NODES,
}
RUNS = context_words.RUNS
MADE_AS = {"Coast sheets": "atom", **container_words.MADE_AS}

SETTINGS = {
    "db": "The store: a file, or the `postgresql://` URL of a database.",
    "agent": "Who acts. The command line takes your user name and the MCP server a name of its own if nobody says.",
    "access": "`open` trusts whoever can open the store; `members` lets the stored roles decide.",
    "tools": "The groups of tools that the MCP server offers.",
    "claim_ttl_minutes": "How long a claim on a work node holds, where its project has no policy about it.",
    "lean": "Leave null, empty and bookkeeping fields out of answers about work, where a request does not say.",
    "pipelines": "The steps of tasks and features in projects that are made from now on: `{task: […], feature: […]}`, "
    "or one list for both. A project keeps its own.",
    "config_file": "The configuration file itself.",
}

# An example of each command that is no operation.
COMMANDS = {
    "init": "groundplan init plan.db",
    "doctor": "groundplan doctor --db plan.db",
    "demo": "groundplan demo --db demo.db",
    "mcp": "groundplan mcp --help",
}
