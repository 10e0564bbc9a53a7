"""The operations and tables of the kernel and every slice."""

from __future__ import annotations

from groundplan import configure_organization, connections
from groundplan.briefing import brief, titles
from groundplan.briefing.coverage import coverage, serving_work
from groundplan.briefing.inbox import inbox
from groundplan.briefing.search import search as search_slices
from groundplan.briefing.throughline import throughline
from groundplan.briefing.undo import undo
from groundplan.context import tables as context_tables
from groundplan.context import view as view_context
from groundplan.context.editing import edit
from groundplan.context.exchange import export as export_context
from groundplan.context.exchange import import_document
from groundplan.context.reading import trace
from groundplan.context.runs import bootstrap, commit, create_draft, diff, fetch, update_draft
from groundplan.context.runs import delete as delete_run
from groundplan.context.runs import list as list_runs
from groundplan.kernel import tables
from groundplan.kernel.events import list as list_events
from groundplan.kernel.identities import list_invitations, revoke_invitation
from groundplan.kernel.members import add, remove
from groundplan.kernel.members import list as list_members
from groundplan.kernel.operations.registry import Registry
from groundplan.kernel.organizations import (
    add_person,
    list_people,
    remove_person,
    unlink_account,
)
from groundplan.kernel.organizations import list_events as list_organization_events
from groundplan.kernel.organizations import view as view_organization
from groundplan.kernel.projects import archive, create
from groundplan.kernel.projects import list as list_projects
from groundplan.kernel.store.tables import Schema
from groundplan.kernel.tokens import create as create_token
from groundplan.kernel.tokens import list as list_tokens
from groundplan.kernel.tokens import revoke as revoke_token
from groundplan.knowledge import tables as knowledge_tables
from groundplan.knowledge.reading import context as knowledge_context
from groundplan.knowledge.reading import coverage as knowledge_coverage
from groundplan.knowledge.reading import get, match, search, search_changelog
from groundplan.knowledge.reading import list as list_atoms
from groundplan.knowledge.writing import append_changelog, delete, record_check
from groundplan.knowledge.writing import create as create_knowledge
from groundplan.knowledge.writing import update as update_knowledge
from groundplan.purpose import check as check_purpose
from groundplan.purpose import open as open_purpose
from groundplan.purpose import tables as purpose_tables
from groundplan.purpose.editing import edit as edit_purpose
from groundplan.purpose.exchange import export as export_purpose
from groundplan.purpose.exchange import import_document as import_purpose
from groundplan.purpose.exchange import render as render_purpose
from groundplan.purpose.observing import record as record_purpose
from groundplan.purpose.versions import diff as diff_versions
from groundplan.purpose.versions import discard as discard_version
from groundplan.purpose.versions import draft as draft_version
from groundplan.purpose.versions import list as list_versions
from groundplan.purpose.versions import publish as publish_version
from groundplan.work import tables as work_tables
from groundplan.work.analytics import analyse as analyse_work
from groundplan.work.containers import create as create_container
from groundplan.work.containers import delete as delete_container
from groundplan.work.containers import get as get_container
from groundplan.work.containers import overview, workflow_state
from groundplan.work.containers import search as search_containers
from groundplan.work.containers import update as update_container
from groundplan.work.containers.dependencies import list as list_dependencies
from groundplan.work.containers.dependencies import manage as manage_dependency
from groundplan.work.containers.sections import add as add_sections
from groundplan.work.containers.sections import delete as delete_sections
from groundplan.work.containers.sections import list as list_sections
from groundplan.work.containers.sections import reorder as reorder_sections
from groundplan.work.containers.sections import update as update_sections
from groundplan.work.containers.tags import list as list_tags
from groundplan.work.containers.tags import rename as rename_tag
from groundplan.work.containers.tags import usage as tag_usage
from groundplan.work.containers.templates import add_section, apply, switch
from groundplan.work.containers.templates import create as create_template
from groundplan.work.containers.templates import delete as delete_template
from groundplan.work.containers.templates import get as get_template
from groundplan.work.containers.templates import list as list_templates
from groundplan.work.containers.templates import update as update_template
from groundplan.work.containers.workflow import (
    advance,
    block,
    blocked,
    next_feature,
    next_task,
    revert,
    terminate,
    unblock,
)
from groundplan.work.graph import add as add_nodes
from groundplan.work.graph import connect, next, open, plan, restructure, update  # noqa: A004 - names of operations
from groundplan.work.graph.reading import context, history, onboard
from groundplan.work.graph.search import dependency_graph, lookup, outline, query
from groundplan.work.importing import export_items, import_items

OPERATIONS = Registry(
    (
        view_organization.OPERATION,
        configure_organization.OPERATION,
        list_people.OPERATION,
        add_person.OPERATION,
        remove_person.OPERATION,
        remove_person.LEAVE,
        unlink_account.OPERATION,
        list_organization_events.OPERATION,
        list_invitations.OPERATION,
        revoke_invitation.OPERATION,
        list_projects.OPERATION,
        create.OPERATION,
        *archive.OPERATIONS,
        bootstrap.OPERATION,
        list_members.OPERATION,
        add.OPERATION,
        remove.OPERATION,
        create_token.OPERATION,
        list_tokens.OPERATION,
        revoke_token.OPERATION,
        list_events.OPERATION,
        open.OPERATION,
        plan.OPERATION,
        add_nodes.OPERATION,
        next.OPERATION,
        next.CLAIM,
        context.OPERATION,
        update.OPERATION,
        connect.OPERATION,
        query.OPERATION,
        outline.OPERATION,
        lookup.OPERATION,
        dependency_graph.OPERATION,
        restructure.OPERATION,
        history.OPERATION,
        onboard.OPERATION,
        analyse_work.OPERATION,
        import_items.OPERATION,
        export_items.OPERATION,
        brief.OPERATION,
        create_knowledge.OPERATION,
        update_knowledge.OPERATION,
        append_changelog.OPERATION,
        knowledge_context.OPERATION,
        knowledge_coverage.OPERATION,
        match.OPERATION,
        get.OPERATION,
        search.OPERATION,
        search_changelog.OPERATION,
        list_atoms.OPERATION,
        record_check.OPERATION,
        delete.OPERATION,
        open_purpose.OPERATION,
        open_purpose.OBSERVATIONS,
        edit_purpose.OPERATION,
        draft_version.OPERATION,
        publish_version.OPERATION,
        discard_version.OPERATION,
        list_versions.OPERATION,
        diff_versions.OPERATION,
        check_purpose.OPERATION,
        check_purpose.HEALTH,
        check_purpose.ANALYSIS,
        check_purpose.COMPLIANCE,
        record_purpose.OPERATION,
        export_purpose.OPERATION,
        render_purpose.OPERATION,
        import_purpose.OPERATION,
        view_context.OPERATION,
        create_draft.OPERATION,
        commit.OPERATION,
        delete_run.DISCARD,
        delete_run.DELETE,
        list_runs.OPERATION,
        diff.OPERATION,
        trace.OPERATION,
        edit.OPERATION,
        fetch.OPERATION,
        update_draft.OPERATION,
        export_context.OPERATION,
        import_document.OPERATION,
        get_container.OPERATION,
        search_containers.OPERATION,
        overview.OPERATION,
        create_container.OPERATION,
        update_container.OPERATION,
        delete_container.OPERATION,
        next_task.OPERATION,
        next_feature.OPERATION,
        blocked.TASKS,
        blocked.FEATURES,
        workflow_state.OPERATION,
        list_dependencies.OPERATION,
        manage_dependency.CREATE,
        manage_dependency.DELETE,
        advance.OPERATION,
        revert.OPERATION,
        terminate.OPERATION,
        block.OPERATION,
        unblock.OPERATION,
        list_sections.OPERATION,
        add_sections.OPERATION,
        update_sections.OPERATION,
        update_sections.UPDATE_TEXT,
        reorder_sections.OPERATION,
        add_sections.BULK_CREATE,
        delete_sections.OPERATION,
        delete_sections.BULK_DELETE,
        get_template.OPERATION,
        list_templates.OPERATION,
        create_template.OPERATION,
        update_template.OPERATION,
        *switch.OPERATIONS,
        add_section.OPERATION,
        delete_template.OPERATION,
        apply.OPERATION,
        list_tags.OPERATION,
        tag_usage.OPERATION,
        rename_tag.OPERATION,
        inbox.OPERATION,
        throughline.OPERATION,
        coverage.OPERATION,
        serving_work.OPERATION,
        search_slices.OPERATION,
        undo.OPERATION,
        titles.OPERATION,
    )
)

connections.connect()


def build_schema() -> Schema:
    """Return what the database enforces, for every table."""
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
