"""Notes on operations and links for the reference pages."""

from __future__ import annotations

from collections.abc import Mapping

NOTES: Mapping[str, str] = {
    # Work and knowledge
    "work.open": "Without `project` it lists the projects. A `project` that does not exist is created. With `policies` "
    "it changes the policies of the project.",
    "work.next": "The order is: higher `properties.priority`, then the deeper node, then the node that changed longest "
    "ago. Nodes that somebody else has claimed are skipped until the claim expires. If no node is found, `reason` says "
    "why.",
    "work.claim": "Over MCP this is `graph_next` with `claim: true`. `claim` in the answer is the number to send with "
    "`graph_update`.",
    "work.context": "`left_out` counts what is not shown, by name. `graph_query` lists the rest: `filter: {parent}` "
    "the children, `{depended_by}` the dependencies of the node, `{depends_on}` its dependents.",
    "work.update": "`newly_actionable` lists the nodes that this call made ready to start.",
    "work.connect": "Reasons in `rejected`: `cycle_detected` (`path` has the cycle), `node_not_found` (`near` has "
    "similar ids), `ambiguous_node`, `mixed_projects`, `already_connected`, `not_connected`, `self_edge`, and "
    "`use_graph_restructure` for parents and children, which are not edges.",
    "work.onboard": "The answer has at most 600 tokens. `left_out` counts the claims, the projects and the open "
    "top-level nodes that are not listed.",
    "knowledge.create": "Only atoms have paths, a molecule and related atoms; only molecules have related molecules. "
    "Over MCP every answer about knowledge is `{success, data}`, and every error is `{success, error}` with the code "
    "of its family: `VALIDATION_ERROR`, `NOT_FOUND`, `CONFLICT`, `INVARIANT_VIOLATION`.",
    "knowledge.update": "Omitted fields do not change. Every update raises the version by one.",
    "knowledge.context": "Molecules are sorted by name, and so are the atoms within them. Matched and unmatched paths "
    "keep the order of the request. Items that do not fit are left out whole and counted in `left_out`.",
    "knowledge.delete": "The changelog is no longer shown; the events keep everything.",
    # Organizations
    "organization.configure": "Only administrators may. `default_policies` are copied into each new project.",
    "organization.add_member": "An e-mail address of a person is invited: the first verified login with it is bound to "
    "this member. `invitation` is there only if one was made. See [organizations](../concepts/organizations.md).",
    "organization.remove_member": "It is refused if a project would be left without an owner. What the person did "
    "stays in the history.",
    "organization.events": "Only what the caller may see: an event about a project is for those who see the project, "
    "one about an invitation or an account for administrators. The live stream is `GET /v1/organization/events`.",
    "invitation.list": "An administrator sees all, others those that they made.",
    "invitation.revoke": "The member that it was for stays; remove them if they should not be one.",
    # Tokens
    "token.create": "`secret` is the token: it is shown once and not stored. In a pipe the command prints only this. "
    "A request that is repeated with the same `op_id` creates nothing, and its `secret` is null. Over MCP there is no "
    "such tool: an agent creates no tokens. See [tokens](../guides/tokens.md).",
    "token.list": "An owner of the organization, who is a person with open access, sees all tokens.",
    "token.revoke": "The next request with the token is refused.",
    # Containers
    "container.get": "Projects, features and tasks are nodes of the work graph: a node from `graph_plan` is a task "
    "here, and a task is a node there. `version` is the `rev` of the node. Over MCP every answer is `{success, data}`, "
    "and every error is `{success, error}`.",
    "container.overview": "Without `id` the answer is a page of containers. With `id` it is the other answer: the "
    "container and its contents.",
    "container.create": "A new task reopens its feature; `featureTransition` reports this.",
    "container.update": "Omitted fields do not change. Use advance, revert and terminate to change a status.",
    "container.delete": "Ids are never used again, and the history stays readable. A project is archived; "
    "`project.restore` restores it.",
    "container.next_task": "These are the tasks that `graph_next` offers. The order is: higher priority, then lower "
    "complexity, then the oldest. Null if there is none.",
    "container.next_feature": "The order is: active before new, then higher priority, then the oldest. Null if there "
    "is none.",
    "container.advance": "`ACTIVE` claims the task for the actor, the next step releases the claim, `CLOSED` resolves "
    "the task. The first active task makes its feature active, and the last finished task closes it; "
    "`featureTransition` reports this. `unblockedEntities` lists the containers that no longer wait for this one.",
    "container.revert": "A step back from `CLOSED` reopens the task and everything above it.",
    "container.terminate": "Dependents no longer wait for it, although they may need its result; "
    "`affectedDependents` lists them.",
    "container.block": "A blocked feature blocks all its tasks.",
    "section.list": "Sections are sorted by ordinal. If the answer is too long, contents are left out first, from the "
    "last section on. `left_out` of a section counts what it lacks; `sectionIds` requests it.",
    "section.update": "The version of the section rises by one; the version of its container does not change.",
    "section.reorder": "The sections get the ordinals 0, 1, 2 …; only sections that move get a new version.",
    "section.bulk_delete": "All sections must belong to one project. Their versions are not checked.",
    "template.update": "The only change that a protected template accepts is `isProtected: false`, without other "
    "fields. Built-in templates never change.",
    "template.apply": "The sections are added after the existing ones. Applying the template twice adds them twice.",
    "tag.list": "Archived projects are counted only if they are named.",
    "tag.rename": "One call changes one project. If something has the new tag already, the tags are merged. A dry run "
    "needs only the role viewer.",
    # Facts
    "context.create_draft": "A run is one state of the facts. It starts as a draft and is final once committed. To "
    "change committed facts, create a draft with `copyFrom`.",
    "context.edit": "The call writes everything or nothing, in this order: sources, inputs, constraints, artifacts, "
    "links, unlinks, accept, reject, remove.\n\n"
    "An input without a value is UNSET: all five `value…` fields are null. The empty text is a value: see "
    "[value states](../concepts/value-states.md).\n\n"
    "A value does not replace a value of higher provenance. It is kept as a suggestion, named in `suggested`, for a "
    "person to accept or reject; an accepted value is `user-entered`. A new suggestion replaces an earlier one by the "
    "same actor. Anybody may write to an input that is UNSET.\n\n"
    "Rows can be sent back as they were read: `createdAt`, `updatedAt` and `updatedBy` are ignored, and `runId` must "
    "be the id of the run.",
    "context.commit": "A committed run never changes. Every `source-backed` value must name a source, and without "
    "`allowPartial` no required input may be UNSET. Open suggestions stay with the run; a draft with `copyFrom` copies "
    "them.",
    "context.view": "The same facts give the same bytes. `contextVersionId` identifies the facts that were used. "
    "`missing` lists required inputs that are UNSET: assume no value for them, and do not hide that they are "
    "missing.\n\n"
    "If the answer is too long, it has `next_cursor`, and `left_out` counts what is still to come; all pages together "
    "are the whole view.\n\n"
    "Over MCP, over HTTP and with `--json` an error of this group and of `members` also has a `name`: "
    "`PcivAuthRequiredError` if the caller is unknown, "
    "`PcivRlsDeniedError` if a scope or a run does not exist for the actor or something needs a larger role, "
    "`PcivSchemaMismatchError` if the request is malformed, `PcivRuntimeInvariantError` if a value is in the column of "
    "another kind, and otherwise the name of its family: `NotFound` for what is missing inside of a scope that the "
    "caller sees, `Conflict`, `RuleViolated` or `Unavailable`.",
    "context.list": "The newest run comes first.",
    "context.diff": "Inputs match by pointer, constraints by key, sources by kind and address. If several things "
    "changed, `change` is the most important one and `also` has the others. A `value` of null is UNSET.",
    "context.discard": "Its id is never used again, and the history stays readable.",
    "context.delete": "A draft is removed. A committed run keeps its rows, but nobody sees it any more, and it is no "
    "longer in force.",
    "context.import": "Rows get new ids. Only a person can import values that a person entered.",
    # Theory of change
    "purpose.edit": "Every item has a stable key that is never used again: `G1` goals, `OC1` outcomes, `OP1` outputs, "
    "`AC1` activities, `AS1` assumptions, `IN1` indicators. The name of an edge is made of its ends, `AC1->OP1`, with "
    "the type unless it is CONTRIBUTES_TO, `AC1->OP1/CAUSES`. New nodes are created first, so an operation may use a "
    "`ref` that a later one defines.\n\n"
    "Fields that an update omits do not change; null removes an optional field. Deleting a node deletes its edges, "
    "assumptions and indicators; deleting an edge deletes its assumptions.\n\n"
    "Edges lead from cause to effect; the source of `DEPENDS_ON` depends on its target. In the profiles `standard` "
    "and `strict` they must not lead backwards in the chain activity, output, outcome, goal and must not close a "
    "cycle; `FEEDBACK` edges may do both.",
    "purpose.open": "Over MCP, without `detail`, an answer above 2,500 tokens is shortened from the last row on: first "
    "ids of rows, then long texts, then more. `left_out` counts the rows, and `left_out.defaults` counts the omitted "
    "fields with default values: no `assumptions`, no `metadata`, the `edge_type` CONTRIBUTES_TO. If that is not "
    "enough, the answer keeps all fields and is split into pages: `next_cursor` requests the next page, `left_out` "
    "counts what is still to come, and all pages together are the whole.",
    "purpose.check": "The same content and the same observations give the same bytes. A published version is checked "
    "with the observations from when it was published, so its gates always give the same result; `as_of` selects "
    "another day. A check is `waived` if waivers cover all of it: see [purpose.record](#purposerecord).",
    "purpose.health": "Over MCP this is `toc_check` with the gate `health`.",
    "purpose.analysis": "Over MCP this is `toc_check` with the gate `analysis`.",
    "purpose.compliance": "Over MCP this is `toc_check` with the gate `compliance`. It changes nothing: the checklist "
    "says whether the operation would be accepted.",
    "purpose.record": "Recorded observations never change. They refer to stable keys, so they apply to every version "
    "that has these keys, published or not. If several waivers cover the same check, the latest decides, even if it "
    "has expired. The answer to a review `refuted` lists in `affected` what depends on the assumption.",
    "purpose.observations": "Over MCP this is `toc_open` with the detail `observations`.",
    "purpose.items": "Over MCP this is `toc_open` with `keys`.",
    "purpose.publish": "The gates run in the same transaction, on exactly this content. A published version never "
    "changes; its hash, the facts in force and the results of the gates are stored with it. The policy `publish_role` "
    "can allow editors to publish, and the policy `publish_gates` can require Gate B as well.",
    "purpose.draft": "A project has at most one draft.",
    "purpose.discard": "The next draft gets its number. The keys of its items are never used again.",
    "purpose.diff": "Items with the same key are compared. `markdown` is the comparison as text.",
    "purpose.export": "The same content and the same observations give the same bytes. [Formats](formats.md) lists "
    "what each format keeps and loses.",
    "purpose.render": "The same content, observations and arguments give the same bytes. The picture loads nothing "
    "from elsewhere, and texts cannot inject markup.",
    "purpose.import": "The document is imported whole or not at all. Groundplan keys (`G1`, `OC2`, `OP3`, `AC4`, "
    "`AS5`, `IN6`) are kept, and new keys are numbered after them. Other names get new keys; `keys` in the answer maps "
    "them. Measurements, reviews and waivers of kept keys still apply.\n\n"
    "Cycles and edges that lead backwards are imported, and Gate A reports them. An edge from a node to itself, a "
    "duplicate edge and a name that is not in the document are errors. Waivers that have expired or are already in "
    "force here are skipped and counted in `skipped`.",
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
