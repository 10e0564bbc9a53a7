"""A request for every operation that succeeds if its sender has the permission.

An operation with variants has a row for each of them, `requested as handled`; one that works without a project also has
a row for that, `requested without project`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from groundplan.catalog import OPERATIONS
from groundplan.kernel.operations.registry import Operation
from reference.placeholders import fill_placeholders

AnyOperation = Operation[Any, Any]


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """An operation as it is requested, and the variant that handles the request."""

    requested: AnyOperation
    handled: AnyOperation
    in_project: bool  # whether the request is about one project

    @property
    def name(self) -> str:
        if self.requested is not self.handled:
            return f"{self.requested.name} as {self.handled.name}"
        searches_all = self.handled.project is not None and not self.in_project
        return f"{self.requested.name} without project" if searches_all else self.requested.name


def _rows(operation: AnyOperation) -> Iterator[ExampleRow]:
    for handled in (operation, *operation.variants):
        yield ExampleRow(operation, handled, in_project=handled.project is not None)
        if handled.without_project is not None:
            yield ExampleRow(operation, handled, in_project=False)


ROWS = {row.name: row for operation in OPERATIONS for row in _rows(operation)}

# Placeholders: {project} is the project in question, {node} and {other} two tasks in it; {other} waits for
# {node}. {feature} is an active feature, {section} the only section of {node}, {atom} an atom, and
# {template} a template of the caller's organization; something in every project has the tag coast. {run} is the
# committed run of facts and {draft} a draft, with {source} in it and a {suggestion} that waits for a
# person. {goal} is the row of the goal G1 in the draft of the purpose, {kept} the one in the published version;
# {undrafted} is a project with the same people and without a purpose. Dora is a member that an owner can
# remove, with an account in the organization; {invitation} is an open invitation there.
EXAMPLES: dict[str, dict[str, Any]] = {
    "organization.view": {},
    "organization.configure": {"project_creators": "owners", "allowed_domains": ["example.org"]},
    "organization.members": {},
    "organization.add_member": {"name": "emil"},
    "organization.remove_member": {"name": "dora"},
    "organization.leave": {},
    "organization.unlink_account": {"name": "dora"},
    "organization.events": {},
    "invitation.list": {},
    "invitation.revoke": {"id": "{invitation}"},
    "project.list": {},
    "project.create": {"name": "a new one"},
    "project.archive": {"project": "{project}"},
    "project.restore": {"project": "{project}"},
    "member.bootstrap": {"scopeId": "a new one"},
    "member.list": {"scopeId": "{project}"},
    "member.add": {"scopeId": "{project}", "userId": "emil", "role": "viewer"},
    "member.remove": {"scopeId": "{project}", "userId": "dora"},
    "token.create": {"kind": "agent", "name": "scout"},
    "token.list": {},
    "token.revoke": {"id": "{token}"},
    "event.list": {"project": "{project}"},
    "briefing.inbox": {"project": "{project}"},
    "briefing.inbox without project": {},
    "briefing.titles": {"project": "{project}", "refs": ["{node}"]},
    "work.open": {"project": "{project}"},
    "work.open without project": {},
    "work.open as work.begin": {"project": "a new one"},
    "work.open as work.configure": {"project": "{project}", "policies": {"claims": "enforced"}},
    "work.plan": {"project": "{project}", "nodes": [{"ref": "a", "summary": "Draw the coast"}]},
    "work.add": {"project": "{project}", "nodes": [{"ref": "a", "summary": "Draw the coast", "tags": ["map"]}]},
    "work.next": {"project": "{project}"},
    "work.next as work.claim": {"project": "{project}", "claim": True},
    "work.claim": {"project": "{project}"},
    "work.context": {"node_id": "{node}"},
    "work.update": {"updates": [{"node_id": "{node}", "state": "begun"}]},
    "work.connect": {"project": "{project}", "edges": [{"from": "{node}", "to": "{other}", "type": "relates_to"}]},
    "work.query": {"project": "{project}"},
    "work.outline": {"project": "{project}"},
    "work.lookup": {"project": "{project}", "refs": ["{node}"]},
    "work.dependencies": {"project": "{project}"},
    "work.restructure": {"operations": [{"op": "drop", "node_id": "{node}", "reason": "Nobody walks there"}]},
    "work.history": {"node_id": "{node}"},
    "briefing.brief": {"node_id": "{node}"},
    "work.onboard": {"project": "{project}"},
    "work.onboard without project": {},
    "work.analyse": {"project": "{project}"},
    "work.export": {"project": "{project}"},
    "work.import": {
        "project": "{project}",
        "tool": "beads",
        "file": "issues.jsonl",
        "items": [{"source_id": "isle-1", "title": "Draw the harbour"}],
    },
    "work.import as work.preview_import": {
        "project": "{project}",
        "tool": "beads",
        "file": "issues.jsonl",
        "items": [{"source_id": "isle-1", "title": "Draw the harbour"}],
        "dry_run": True,
    },
    "work.import as work.import_into_new": {
        "project": "a new one",
        "tool": "beads",
        "file": "issues.jsonl",
        "items": [{"source_id": "isle-1", "title": "Draw the harbour"}],
    },
    "knowledge.create": {
        "entityType": "atom",
        "projectId": "{project}",
        "name": "Hills",
        "createdByTaskId": "{node}",
        "paths": ["hills/**"],
    },
    "knowledge.update": {"entityType": "atom", "id": "{atom}", "version": 1, "knowledge": "Tides matter"},
    "knowledge.append_changelog": {
        "parentType": "atom",
        "parentId": "{atom}",
        "taskId": "{node}",
        "summary": "Walked it once more",
    },
    "knowledge.context": {"projectId": "{project}", "paths": "coast/north.md"},
    "knowledge.get": {"entityType": "atom", "id": "{atom}"},
    "knowledge.search": {"entityType": "atom", "projectId": "{project}"},
    "knowledge.search_changelog": {"parentType": "atom", "parentId": "{atom}"},
    "knowledge.list": {"projectId": "{project}"},
    "knowledge.record_check": {
        "projectId": "{project}",
        "commit": "0123abc",
        "atoms": [{"id": "{atom}", "version": 1, "freshness": "unanchored"}],
    },
    "knowledge.coverage": {"projectId": "{project}"},
    "knowledge.match": {"projectId": "{project}", "paths": ["coast/**"]},
    "knowledge.delete": {"entityType": "atom", "id": "{atom}", "version": 1},
    "briefing.search": {"text": "coast", "project": "{project}"},
    "briefing.search without project": {"text": "coast"},
    "briefing.undo": {"project": "{project}"},
    "purpose.open": {"project": "{project}"},
    "purpose.open as purpose.observations": {"project": "{project}", "detail": "observations"},
    "purpose.observations": {"project": "{project}", "detail": "observations"},
    "purpose.open as purpose.items": {"project": "{project}", "keys": "{goal}"},
    "purpose.items": {"project": "{project}", "keys": "{goal}"},
    "purpose.edit": {
        "project": "{project}",
        "operations": [{"op": "update_node", "node": "{goal}", "title": "A map that everybody trusts"}],
    },
    "purpose.draft": {"project": "{undrafted}"},
    "purpose.publish": {"project": "{project}"},
    "purpose.discard": {"project": "{project}"},
    "purpose.versions": {"project": "{project}"},
    "purpose.diff": {"project": "{project}", "from": 1, "to": "draft"},
    "purpose.check": {"project": "{project}", "gate": "A"},
    "purpose.check as purpose.health": {"project": "{project}", "gate": "health"},
    "purpose.check as purpose.analysis": {"project": "{project}", "gate": "analysis", "node": "OP1"},
    "purpose.check as purpose.compliance": {
        "project": "{project}",
        "gate": "compliance",
        "operation": {"kind": "update_node", "node": "{goal}"},
    },
    "purpose.health": {"project": "{project}", "gate": "health"},
    "purpose.analysis": {"project": "{project}", "gate": "analysis", "assumption": "AS1"},
    "purpose.compliance": {"project": "{project}", "gate": "compliance", "operation": {"kind": "publish"}},
    "purpose.record": {
        "project": "{project}",
        "measurements": [{"indicator": "IN1", "value": 31, "as_of": "2026-05-01"}],
        "reviews": [{"assumption": "AS1", "status": "refuted", "reason": "Nobody takes one along"}],
        "decisions": [{"text": "Go on", "rationale": "It rains less", "about": ["AS1"]}],
        "requests": [{"question": "Dig deeper?", "about": ["AS1"], "to": "ada"}],
    },
    "purpose.record as purpose.waive": {
        "project": "{project}",
        "waivers": [{"code": "GA_ORPHANS", "refs": [], "reason": "Later", "owner": "ada", "due": "2099-12-31"}],
    },
    "purpose.export": {"project": "{project}", "format": "json"},
    "purpose.render": {"project": "{project}", "pathway": "OP1"},
    "purpose.import": {
        "project": "{undrafted}",
        "document": {"nodes": [{"key": "map", "node_type": "OUTPUT", "title": "A map"}]},
    },
    "purpose.import as purpose.import_waivers": {
        "project": "{undrafted}",
        "document": {
            "nodes": [{"key": "map", "node_type": "OUTPUT", "title": "A map"}],
            "waivers": [
                {"code": "GA_ORPHANS", "refs": ["map"], "reason": "Later", "owner": "ada", "due": "2099-12-31"}
            ],
        },
    },
    "context.view": {"scopeId": "{project}", "runId": "{draft}"},
    "context.create_draft": {"scopeId": "{project}"},
    "context.create_draft as context.begin": {"scopeId": "a new one"},
    "context.commit": {"runId": "{draft}", "allowPartial": True},
    "context.discard": {"runId": "{draft}"},
    "context.delete": {"runId": "{run}"},
    "context.list": {"scopeId": "{project}"},
    "context.trace": {"scopeId": "{project}", "pointer": "/coast/length"},
    "context.diff": {"from": "{run}", "to": "{draft}"},
    "context.edit": {
        "runId": "{draft}",
        "inputs": [{"pointer": "/coast/tide", "label": "Tide", "value": 3.2, "sourceIds": ["{source}"]}],
        "accept": ["{suggestion}"],
    },
    "context.fetch_run": {"runId": "{run}"},
    "context.update_draft": {"runId": "{draft}", "ownership": "shared"},
    "context.export": {"scopeId": "{project}"},
    "context.import": {
        "scopeId": "{project}",
        "document": {"sourcesById": {}, "inputsByPointer": {}, "constraints": [], "artifactsByType": {}},
    },
    "container.get": {"containerType": "task", "id": "{node}", "includeSections": True},
    "container.search": {"containerType": "task", "projectId": "{project}"},
    "container.search without project": {"containerType": "task"},
    "container.overview": {"containerType": "feature", "id": "{feature}"},
    "container.overview without project": {"containerType": "feature"},
    "container.create": {"containerType": "task", "title": "Draw the coast", "featureId": "{feature}"},
    "container.create as container.create_project": {"containerType": "project", "name": "a new one"},
    "container.update": {"containerType": "task", "id": "{node}", "version": 1, "tags": "hills"},
    "container.update as container.update_project": {
        "containerType": "project",
        "id": "{project}",
        "version": 1,
        "pipeline": ["NEW", "ACTIVE", "CLOSED"],
    },
    "container.delete": {"containerType": "task", "id": "{node}", "version": 1},
    "container.delete as container.delete_project": {
        "containerType": "project",
        "id": "{project}",
        "version": 1,
        "cascade": True,
    },
    "container.next_task": {"projectId": "{project}"},
    "container.next_task without project": {},
    "container.next_feature": {"projectId": "{project}"},
    "container.next_feature without project": {},
    "container.blocked_tasks": {"featureId": "{feature}"},
    "container.blocked_tasks without project": {},
    "container.blocked_features": {"projectId": "{project}"},
    "container.blocked_features without project": {},
    "container.workflow_state": {"containerType": "task", "id": "{node}"},
    "container.dependencies": {"containerType": "task", "id": "{node}"},
    "dependency.create": {"fromId": "{feature}", "toId": "{node}"},
    "dependency.delete": {"fromId": "{node}", "toId": "{other}"},
    "container.advance": {"containerType": "task", "id": "{node}", "version": 1},
    "container.revert": {"containerType": "feature", "id": "{feature}", "version": 2},
    "container.terminate": {"containerType": "task", "id": "{node}", "version": 1},
    "container.block": {"containerType": "task", "id": "{node}", "version": 1, "blockedBy": "{feature}"},
    "container.unblock": {"containerType": "task", "id": "{other}", "version": 1, "blockedBy": "{node}"},
    "section.list": {"entityType": "TASK", "entityId": "{node}"},
    "section.add": {"entityType": "TASK", "entityId": "{node}", "title": "Notes"},
    "section.update": {"sectionId": "{section}", "version": 1, "title": "Tides"},
    "section.update_text": {"sectionId": "{section}", "version": 1, "content": "Low at nine"},
    "section.reorder": {"entityType": "TASK", "entityId": "{node}", "orderedIds": "{section}"},
    "section.bulk_create": {"entityType": "TASK", "entityId": "{node}", "sections": [{"title": "Notes"}]},
    "section.delete": {"sectionId": "{section}", "version": 1},
    "section.bulk_delete": {"sectionIds": "{section}"},
    "template.get": {"id": "{template}"},
    "template.list": {},
    "template.create": {"name": "A new one", "targetEntityType": "TASK"},
    "template.update": {"id": "{template}", "description": "New"},
    "template.enable": {"id": "{template}"},
    "template.disable": {"id": "{template}"},
    "template.add_section": {"id": "{template}", "title": "More"},
    "template.delete": {"id": "{template}"},
    "template.apply": {
        "templateId": "5f0c1b8e-6c1d-4a35-9e0b-2f6f8f3a7d10",
        "entityType": "TASK",
        "entityId": "{node}",
    },
    "tag.list": {"projectId": "{project}"},
    "tag.list without project": {},
    "tag.usage": {"tag": "coast", "projectId": "{project}"},
    "tag.usage without project": {"tag": "coast"},
    "tag.rename": {"oldTag": "coast", "newTag": "shore", "projectId": "{project}"},
    "tag.rename as tag.rename_preview": {
        "oldTag": "coast",
        "newTag": "shore",
        "projectId": "{project}",
        "dryRun": True,
    },
    "briefing.throughline": {"project": "{project}", "from": "{node}"},
    "briefing.coverage": {"project": "{project}"},
    "briefing.serving": {"project": "{project}"},
}


def example(row: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the request with these names in place of the placeholders."""
    request: dict[str, Any] = fill_placeholders(EXAMPLES[row], names)
    return request
