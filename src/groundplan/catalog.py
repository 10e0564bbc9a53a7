"""The operations and tables of the kernel and every slice.

Operations stand here by the names of their modules, which are imported when an operation is first asked for: a command
or a tool loads what it runs and nothing else. A test loads every name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from groundplan.kernel.operations.registry import Registry

if TYPE_CHECKING:
    from groundplan.kernel.store.schema import Schema

# The name of each operation, and where it is below `groundplan`. The order is that of tools, commands and pages.
SOURCES: Mapping[str, str] = {
    "organization.view": "kernel.organizations.organization:VIEW",
    "organization.configure": "configure_organization:OPERATION",
    "organization.members": "kernel.organizations.people:LIST",
    "organization.add_member": "kernel.organizations.people:ADD",
    "organization.remove_member": "kernel.organizations.people:REMOVE",
    "organization.leave": "kernel.organizations.people:LEAVE",
    "organization.unlink_account": "kernel.organizations.people:UNLINK",
    "organization.events": "kernel.organizations.history:OPERATION",
    "invitation.list": "kernel.identities.invitation:LIST",
    "invitation.revoke": "kernel.identities.invitation:REVOKE",
    "project.list": "kernel.projects:LIST",
    "project.create": "kernel.projects:CREATE",
    "project.archive": "kernel.projects:ARCHIVE",
    "project.restore": "kernel.projects:RESTORE",
    "member.bootstrap": "context.runs:BOOTSTRAP",
    "member.list": "kernel.members:LIST",
    "member.add": "kernel.members:ADD",
    "member.remove": "kernel.members:REMOVE",
    "token.create": "kernel.tokens.operations:CREATE",
    "token.list": "kernel.tokens.operations:LIST",
    "token.revoke": "kernel.tokens.operations:REVOKE",
    "event.list": "kernel.events:LIST",
    "work.open": "work.graph.open:OPERATION",
    "work.plan": "work.graph.plan:OPERATION",
    "work.add": "work.graph.plan:ADD",
    "work.next": "work.graph.next:OPERATION",
    "work.claim": "work.graph.next:CLAIM",
    "work.context": "work.graph.context:OPERATION",
    "work.update": "work.graph.update:OPERATION",
    "work.connect": "work.graph.connect:OPERATION",
    "work.query": "work.graph.query:OPERATION",
    "work.outline": "work.graph.outline:OPERATION",
    "work.lookup": "work.graph.lookup:OPERATION",
    "work.dependencies": "work.graph.dependency_graph:OPERATION",
    "work.restructure": "work.restructuring:OPERATION",
    "work.history": "work.graph.history:OPERATION",
    "work.onboard": "work.graph.onboard:OPERATION",
    "work.analyse": "work.analysis:OPERATION",
    "work.import": "work.importing.import_work:OPERATION",
    "work.export": "work.importing.export:OPERATION",
    "briefing.brief": "briefing.brief:OPERATION",
    "knowledge.create": "knowledge.write:CREATE",
    "knowledge.update": "knowledge.write:UPDATE",
    "knowledge.append_changelog": "knowledge.write:APPEND_CHANGELOG",
    "knowledge.context": "knowledge.context:CONTEXT",
    "knowledge.coverage": "knowledge.checked:COVERAGE",
    "knowledge.match": "knowledge.checked:MATCH",
    "knowledge.get": "knowledge.read:GET",
    "knowledge.search": "knowledge.read:SEARCH",
    "knowledge.search_changelog": "knowledge.read:SEARCH_CHANGELOG",
    "knowledge.list": "knowledge.read:LIST",
    "knowledge.record_check": "knowledge.checked:RECORD_CHECK",
    "knowledge.delete": "knowledge.write:DELETE",
    "purpose.open": "purpose.open:OPERATION",
    "purpose.observations": "purpose.open:OBSERVATIONS",
    "purpose.items": "purpose.open:ITEMS",
    "purpose.edit": "purpose.editing.edit:OPERATION",
    "purpose.draft": "purpose.versions.drafts:BEGIN",
    "purpose.publish": "purpose.versions.publish:OPERATION",
    "purpose.discard": "purpose.versions.drafts:DISCARD",
    "purpose.versions": "purpose.versions.versions:LIST",
    "purpose.diff": "purpose.versions.diff:OPERATION",
    "purpose.check": "purpose.check:OPERATION",
    "purpose.health": "purpose.check:HEALTH",
    "purpose.analysis": "purpose.check:ANALYSIS",
    "purpose.compliance": "purpose.check:COMPLIANCE",
    "purpose.record": "purpose.observing.record:OPERATION",
    "purpose.export": "purpose.exchange.export:OPERATION",
    "purpose.render": "purpose.exchange.render:OPERATION",
    "purpose.import": "purpose.exchange.import_document:OPERATION",
    "context.view": "context.view:OPERATION",
    "context.create_draft": "context.runs:CREATE_DRAFT",
    "context.commit": "context.commit:OPERATION",
    "context.discard": "context.runs:DISCARD",
    "context.delete": "context.runs:DELETE",
    "context.list": "context.runs:LIST",
    "context.diff": "context.diff:OPERATION",
    "context.trace": "context.history:OPERATION",
    "context.edit": "context.edit:OPERATION",
    "context.fetch_run": "context.runs:FETCH",
    "context.update_draft": "context.runs:UPDATE_DRAFT",
    "context.export": "context.document:EXPORT",
    "context.import": "context.document:IMPORT",
    "container.get": "work.containers.query:GET",
    "container.search": "work.containers.query:SEARCH",
    "container.overview": "work.containers.query:OVERVIEW",
    "container.create": "work.containers.manage:CREATE",
    "container.update": "work.containers.manage:UPDATE",
    "container.delete": "work.containers.manage:DELETE",
    "container.next_task": "work.containers.next_and_blocked:NEXT_TASK",
    "container.next_feature": "work.containers.next_and_blocked:NEXT_FEATURE",
    "container.blocked_tasks": "work.containers.next_and_blocked:BLOCKED_TASKS",
    "container.blocked_features": "work.containers.next_and_blocked:BLOCKED_FEATURES",
    "container.workflow_state": "work.containers.workflow:STATE",
    "container.dependencies": "work.containers.dependencies:LIST",
    "dependency.create": "work.containers.dependencies:CREATE",
    "dependency.delete": "work.containers.dependencies:DELETE",
    "container.advance": "work.containers.workflow:ADVANCE",
    "container.revert": "work.containers.workflow:REVERT",
    "container.terminate": "work.containers.workflow:TERMINATE",
    "container.block": "work.containers.workflow:BLOCK",
    "container.unblock": "work.containers.workflow:UNBLOCK",
    "section.list": "work.containers.sections.change:LIST",
    "section.add": "work.containers.sections.change:ADD",
    "section.update": "work.containers.sections.change:UPDATE",
    "section.update_text": "work.containers.sections.change:UPDATE_TEXT",
    "section.reorder": "work.containers.sections.change:REORDER",
    "section.bulk_create": "work.containers.sections.change:BULK_CREATE",
    "section.delete": "work.containers.sections.change:DELETE",
    "section.bulk_delete": "work.containers.sections.change:BULK_DELETE",
    "template.get": "work.containers.templates:GET",
    "template.list": "work.containers.templates:LIST",
    "template.create": "work.containers.templates:CREATE",
    "template.update": "work.containers.templates:UPDATE",
    "template.enable": "work.containers.templates:ENABLE",
    "template.disable": "work.containers.templates:DISABLE",
    "template.add_section": "work.containers.templates:ADD_SECTION",
    "template.delete": "work.containers.templates:DELETE",
    "template.apply": "work.containers.templates:APPLY",
    "tag.list": "work.containers.tags:LIST",
    "tag.usage": "work.containers.tags:USAGE",
    "tag.rename": "work.containers.tags:RENAME",
    "briefing.inbox": "briefing.inbox:OPERATION",
    "briefing.throughline": "briefing.throughline:OPERATION",
    "briefing.coverage": "briefing.coverage:COVERAGE",
    "briefing.serving": "briefing.coverage:SERVING_WORK",
    "briefing.search": "briefing.search:OPERATION",
    "briefing.undo": "briefing.undo.undo:OPERATION",
    "briefing.titles": "briefing.titles:OPERATION",
}

OPERATIONS = Registry(sources={name: f"{__package__}.{source}" for name, source in SOURCES.items()})


def build_schema() -> Schema:
    """Return the schema declarations of all tables."""
    # Here, because only a database that is created, updated or checked needs it.
    from groundplan.context import tables as context_tables
    from groundplan.kernel import tables
    from groundplan.kernel.store.schema import Schema
    from groundplan.knowledge import tables as knowledge_tables
    from groundplan.purpose import tables as purpose_tables
    from groundplan.work import tables as work_tables

    return Schema(
        (
            *tables.TABLES,
            *work_tables.TABLES,
            *knowledge_tables.TABLES,
            *context_tables.TABLES,
            *purpose_tables.TABLES,
        ),
        (*context_tables.FROZEN, *purpose_tables.FROZEN),
        context_tables.VIEWS,
    )
