"""What the reference says about operations beside their summaries, and where it links to."""

from __future__ import annotations

from collections.abc import Mapping

NOTES: Mapping[str, str] = {
    # Work and knowledge
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
    # Containers
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
    # Facts
    "context.create_draft": "A run is one state of the facts: a draft while it is made, then committed, once and for "
    "all. Whoever wants to change committed facts begins a draft with `copyFrom`.",
    "context.edit": "All of it is written, or nothing, in this order: sources, inputs, constraints, artifacts, links, "
    "unlinks, accept, reject, remove.\n\n"
    "A value that is not there is UNSET: all five `value…` fields are null. The empty text is a value: see "
    "[value states](../concepts/value-states.md).\n\n"
    "What is written with a lower provenance than that of the value which is there does not replace it. It waits "
    "beside it as a suggestion, named in `suggested`, for a person to accept or reject; what is accepted is "
    "`user-entered`. Whoever suggests again replaces their own suggestion. Onto what is UNSET everybody writes.\n\n"
    "Rows can be sent as they were read: `runId`, `createdAt`, `updatedAt` and `updatedBy` are taken and decide "
    "nothing, but the `runId` must be that of the run.",
    "context.commit": "From then on the run never changes. What is `source-backed` names a source by then, and unless "
    "`allowPartial` is said, nothing that is required is UNSET. Suggestions that wait stay with the run; a draft with "
    "`copyFrom` takes them along.",
    "context.view": "The same facts give the same bytes. `contextVersionId` is what to remember of the facts that were "
    "used, `missing` what is required and UNSET: assume no value for it, and do not hide that it is missing.\n\n"
    "Where the answer would be too long, it has `next_cursor`, and `left_out` counts what is still to come; all pages "
    "together are the whole view.\n\n"
    "Over MCP a refusal by a tool of this group also has a `name`: `PcivAuthRequiredError` where nobody says who they "
    "are, `PcivRlsDeniedError` where something is not there for them or not for their role, "
    "`PcivSchemaMismatchError` where the request is malformed, `PcivRuntimeInvariantError` where a value stands in the "
    "column of another kind, and `Error` for the rest.",
    "context.list": "The newest first.",
    "context.diff": "Inputs are the same by their pointer, constraints by their key, sources by kind and address. Of "
    "several changes the most important one is `change`, the others are in `also`. A `value` of null is UNSET.",
    "context.discard": "Its id stays taken, and the history stays readable.",
    "context.delete": "A draft is removed. A committed run keeps its rows and is out of everybody's view: as if it had "
    "never been there, also for what is in force.",
    "context.import": "Rows get new ids. What a person entered can only be taken in by a person.",
    # Theory of change
    "purpose.edit": "Everything has a stable key that is never given again: `G1` goals, `OC1` outcomes, `OP1` outputs, "
    "`AC1` activities, `AS1` assumptions, `IN1` indicators. An edge is called by its ends, `AC1->OP1`, and "
    "`AC1->OP1/CAUSES` where it is no contribution. New nodes are made before all else, so a `ref` can be used before "
    "the operation that gives it.\n\n"
    "What an update leaves out stays; null takes an optional field away. A node goes with its edges, assumptions and "
    "indicators, an edge with its assumptions.\n\n"
    "Edges are drawn from cause to effect. In the profiles `standard` and `strict` they neither point down the chain "
    "activity, output, outcome, goal nor close a cycle; `FEEDBACK` edges may do both.",
    "purpose.open": "Over MCP, where `detail` is not said, an answer above 2,500 tokens leaves out the ids of rows, "
    "then long texts, then more, of the last rows first; `left_out` says of how many rows. There `defaults` counts "
    "what most rows have alike: no `assumptions`, no `metadata`, the `edge_type` CONTRIBUTES_TO. Where that does not "
    "make it short enough, nothing is left out, and what does not fit follows on further pages: `next_cursor` leads "
    "there, `left_out` counts what is to come, and all pages together are the whole.",
    "purpose.check": "The same content and the same observations give the same bytes. A published version is looked at "
    "with what was known when it was published, so its gates say for ever what they said; with `as_of` with what was "
    "known then. A check is `waived` when somebody answers for all of it: see [purpose.record](#purposerecord).",
    "purpose.health": "Over MCP this is `toc_check` with the gate `health`.",
    "purpose.analysis": "Over MCP this is `toc_check` with the gate `analysis`.",
    "purpose.compliance": "Over MCP this is `toc_check` with the gate `compliance`. Nothing is done: the checklist "
    "says what would become of the operation.",
    "purpose.record": "What is recorded never changes. It is about stable keys, so it is about every version that has "
    "them, published or not. Of several waivers for the same the latest decides, also one that is past its day. A "
    "review that says `refuted` is answered with what rests on the assumption, in `affected`.",
    "purpose.observations": "Over MCP this is `toc_open` with the detail `observations`.",
    "purpose.publish": "The gates are run in the same transaction, on exactly this content. What is published never "
    "changes again; its hash, the facts in force and what the gates said are kept with it. Policy `publish_role` lets "
    "editors publish too, policy `publish_gates` asks for Gate B as well.",
    "purpose.draft": "A project has one draft at a time.",
    "purpose.discard": "Its number is the next draft's. Keys that it gave out are not given again.",
    "purpose.diff": "The same key is the same thing. `markdown` is the comparison as a text to read.",
    "purpose.export": "The same content and the same observations give the same bytes. What each format keeps and "
    "loses stands in [formats](formats.md).",
    "purpose.render": "The same content, observations and arguments give the same bytes. Nothing in the picture is "
    "loaded from elsewhere, and no text in it can become a part of its structure.",
    "purpose.import": "Everything in the document comes in, or nothing. Keys of ours (`G1`, `OC2`, `OP3`, `AC4`, "
    "`AS5`, `IN6`) are kept, and counting goes on behind them; other names get fresh keys, which `keys` in the answer "
    "tells. Where keys are kept, what was measured, reviewed and waived under them goes on.\n\n"
    "Cycles and edges that lead down come in, and Gate A names them. An edge from a node to itself, one that is there "
    "twice, and a name that the document does not have are refused. Waivers that are past their day or in force here "
    "already are left out and counted in `skipped`.",
}

# Where to read more about an argument: by operation and path, or by the first word of the operation and path.
SEE_ALSO: Mapping[str, str] = {
    "member.add/role": "[access](access.md)",
    "work.next/claim": "[work.claim](#workclaim)",
    "knowledge.create/paths": "[path patterns](../concepts/path-patterns.md)",
    "knowledge.update/paths": "[path patterns](../concepts/path-patterns.md)",
    "knowledge/atoms[].freshness": "[freshness](../concepts/freshness.md)",
    "context/document": "[context.export](#contextexport)",
    "purpose.open/detail": "[purpose.observations](#purposeobservations)",
    "purpose/document": "[purpose.export](#purposeexport)",
}
