"""Guards of every room that can be switched off, one at a time.

They are named by what stays when modules move: an operation, an event, a statement, a function, a table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import force_setattr

import groundplan
from groundplan.kernel.access import GRANTS, Permission, Role
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from tests.access.examples import ROWS

PACKAGE = Path(groundplan.__file__).parent
OF_TENANT = "tenant_id = :tenant_id"
OF_PROJECT = "project_id = :project_id"
OF_VERSION = "toc_version_id = :version_id"
OF_ACTOR = "user_id = :actor_id"

ALL_PROJECTS = "(SELECT id AS value FROM projects WHERE tenant_id = :tenant_id)"
THESE_PROJECTS, SOME_PROJECTS = "json_each(:projects)", "json_each(:project_ids)"

SwitchOff = Callable[[], AbstractContextManager[None]]


# --- How a guard is switched off ------------------------------------------------------------------------------------


def lower(row: str, permission: Permission) -> SwitchOff:
    """Let an operation need another permission."""

    @contextmanager
    def switch_off() -> Iterator[None]:
        operation = ROWS[row].handled
        declared = operation.permission
        force_setattr(operation, "permission", permission)
        try:
            yield
        finally:
            force_setattr(operation, "permission", declared)

    return switch_off


def grant(role: Role, permission: Permission) -> SwitchOff:
    """Give a role one more permission."""

    @contextmanager
    def switch_off() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setitem(GRANTS, permission, GRANTS[permission] | {role})
            yield

    return switch_off


def replace(name: str, value: Any) -> SwitchOff:
    """Put another function or constant in the place of one of the kernel, in every module that has imported it."""

    @contextmanager
    def switch_off() -> Iterator[None]:
        modules = [module for path, module in sys.modules.items() if path.startswith("groundplan.")]
        having = [module for module in modules if name in vars(module)]
        assert len({id(vars(module)[name]) for module in having}) == 1, name
        with pytest.MonkeyPatch.context() as patched:
            for module in having:
                patched.setattr(module, name, value)
            yield

    return switch_off


def forget(op: str) -> SwitchOff:
    """Record no events of one kind."""

    @contextmanager
    def switch_off() -> Iterator[None]:
        record, record_each = Transaction.record, Transaction.record_each

        def record_others(tx: Transaction, recorded: str, *rest: Any, **options: Any) -> None:
            if recorded != op:
                record(tx, recorded, *rest, **options)

        def record_each_other(tx: Transaction, recorded: str, *rest: Any, **options: Any) -> None:
            if recorded != op:
                record_each(tx, recorded, *rest, **options)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Transaction, "record", record_others)
            patched.setattr(Transaction, "record_each", record_each_other)
            yield

    return switch_off


def drop_condition(statement: str, condition: str, instead: str = "") -> SwitchOff:
    """Drop a condition of a statement of SQLite, or write another one in its place."""

    @contextmanager
    def switch_off() -> Iterator[None]:
        pattern = re.compile(rf"(\w+\.)?{re.escape(condition)}")
        changed = {query: query.sqlite for query in _find_statements(statement) if pattern.search(query.sqlite)}
        assert changed, (statement, condition)
        for query, text in changed.items():
            # The parameters of the condition stay, so that the statement still takes them.
            query.sqlite = pattern.sub(instead or (lambda match: f"(true OR {match[0]})"), text)
        try:
            yield
        finally:
            for query, text in changed.items():
                query.sqlite = text

    return switch_off


def _find_statements(name: str) -> Iterator[Query]:
    for path in PACKAGE.rglob("*.sql"):
        if not path.name.endswith(".postgres.sql") and path.parent.name != "migrations":
            yield from (query for query in load_queries(str(path)) if query.name == name)


# --- The guards, with the operation that misses each ----------------------------------------------------------------

# A request that the table refuses is served.
PERMISSIONS: dict[str, tuple[SwitchOff, str]] = {
    "a viewer renames tags": (lower("tag.rename", Permission.WORK_READ), "tag.rename"),
    "a viewer drops nodes": (lower("work.restructure", Permission.WORK_READ), "work.restructure"),
    "a viewer changes a status": (lower("container.advance", Permission.WORK_READ), "container.advance"),
    "a viewer deletes sections": (lower("section.delete", Permission.WORK_READ), "section.delete"),
    "a viewer sets policies": (
        lower("work.open as work.configure", Permission.WORK_READ),
        "work.open as work.configure",
    ),
    "a viewer deletes knowledge": (lower("knowledge.delete", Permission.KNOWLEDGE_READ), "knowledge.delete"),
    "a viewer undoes": (lower("briefing.undo", Permission.PROJECT_READ), "briefing.undo"),
    "a viewer adds members": (lower("member.add", Permission.MEMBER_READ), "member.add"),
    "an editor publishes": (lower("purpose.publish", Permission.PURPOSE_WRITE), "purpose.publish"),
    "an editor waives": (
        lower("purpose.record as purpose.waive", Permission.PURPOSE_RECORD),
        "purpose.record as purpose.waive",
    ),
    "a viewer commits facts": (lower("context.commit", Permission.CONTEXT_READ), "context.commit"),
    "an editor archives a project": (lower("project.archive", Permission.PROJECT_WRITE), "project.archive"),
    "an editor deletes a project": (
        lower("container.delete as container.delete_project", Permission.WORK_RESTRUCTURE),
        "container.delete as container.delete_project",
    ),
    "a member configures the organization": (
        lower("organization.configure", Permission.ORGANIZATION_READ),
        "organization.configure",
    ),
    "an agent creates tokens": (lower("token.create", Permission.TOKEN_LIST), "token.create"),
    "the role of an editor discards": (grant(Role.EDITOR, Permission.PURPOSE_DISCARD), "purpose.discard"),
    "nothing is for persons only": (replace("PERSON_PERMISSIONS", frozenset()), "token.revoke"),
    "nothing is for administrators only": (
        replace("ADMINISTRATOR_PERMISSIONS", frozenset()),
        "organization.add_member",
    ),
    "an agent has the role of its membership": (replace("limit_agent_role", lambda role, _: role), "member.remove"),
    "the role of the owner is that of everybody": (
        drop_condition("projects_for_actor", OF_ACTOR, "m.user_id = 'ada' AND :actor_id = :actor_id"),
        "work.query",
    ),
    "whoever has no membership is in the organization": (
        drop_condition("organization_membership", OF_ACTOR),
        "project.list",
    ),
}

# An answer shows what is hidden.
FILTERS: dict[str, tuple[SwitchOff, str]] = {
    "tags of hidden projects": (
        drop_condition("container_tags", SOME_PROJECTS, ALL_PROJECTS),
        "tag.list without project",
    ),
    "tags of hidden sections": (
        drop_condition("section_tags", SOME_PROJECTS, ALL_PROJECTS),
        "tag.list without project",
    ),
    "tags of another project": (drop_condition("container_tags", SOME_PROJECTS, ALL_PROJECTS), "tag.list"),
    "containers of hidden projects": (
        drop_condition("search_tasks", SOME_PROJECTS, ALL_PROJECTS),
        "container.search without project",
    ),
    "features of hidden projects": (
        drop_condition("search_features", SOME_PROJECTS, ALL_PROJECTS),
        "container.overview without project",
    ),
    "nodes with the words of a search": (
        drop_condition("nodes_with_words", THESE_PROJECTS, ALL_PROJECTS),
        "briefing.search without project",
    ),
    "facts with the words of a search": (
        drop_condition("facts_with_words", THESE_PROJECTS, ALL_PROJECTS),
        "briefing.search without project",
    ),
    "knowledge with the words of a search": (
        drop_condition("entities_with_words", THESE_PROJECTS, ALL_PROJECTS),
        "briefing.search without project",
    ),
    "the purpose of hidden projects in a search": (
        drop_condition("items_with_words", THESE_PROJECTS, ALL_PROJECTS),
        "briefing.search without project",
    ),
    "names of hidden projects": (drop_condition("projects_of_member", OF_ACTOR), "project.list"),
    "similar names of hidden projects": (drop_condition("project_names_of_member", OF_ACTOR), "member.list"),
    "events of hidden projects": (drop_condition("matching_events_before", OF_PROJECT), "event.list"),
    "the creation of hidden projects": (
        drop_condition("events_before", THESE_PROJECTS, ALL_PROJECTS),
        "organization.events",
    ),
    "invitations of others": (
        drop_condition("events_before", "actor_id = :actor_id"),
        "organization.events",
    ),
    "knowledge of another project": (drop_condition("atom_summaries", OF_PROJECT), "knowledge.list"),
    "a goal of another project": (
        drop_condition("nodes_of_version", "toc_version_id = :version_id"),
        "purpose.open",
    ),
    # Nodes of several projects have the same number, and the last row of a number is shown, so only others' are left.
    "nodes of another project": (drop_condition("page_rows", OF_PROJECT, r"NOT \g<0>"), "work.query"),
    "an outline of another project": (drop_condition("outline_rows", OF_PROJECT, r"NOT \g<0>"), "work.outline"),
    "an export of another project": (drop_condition("exported_nodes", OF_PROJECT), "work.export"),
    "tasks of another project": (drop_condition("search_tasks", SOME_PROJECTS, ALL_PROJECTS), "container.search"),
    "templates of another organization": (drop_condition("templates", OF_TENANT), "template.list"),
    "who is in another organization": (drop_condition("people", OF_TENANT), "organization.members"),
}

# A write leaves no trace, or not all of it.
EVENTS: dict[str, tuple[SwitchOff, str]] = {
    "a tag is renamed": (forget("work.tagged"), "tag.rename"),
    "an edge goes with its node": (forget("work.disconnected"), "container.delete"),
    "a membership ends with the person": (
        drop_condition("record_leaving", "'member.removed'", "'member.changed'"),
        "organization.remove_member",
    ),
    "a token ends with its person": (forget("token.revoked"), "organization.leave"),
    "the creator of a project is its first member": (forget("member.added"), "project.create"),
    "a value has a source": (forget("context.linked"), "context.edit"),
    "a suggestion is accepted": (forget("context.accepted"), "context.edit"),
    "a theory comes with waivers": (forget("purpose.waived"), "purpose.import as purpose.import_waivers"),
    "a review": (forget("purpose.reviewed"), "purpose.record"),
    "a check of files": (forget("knowledge.checked"), "knowledge.record_check"),
    "an undo": (forget("work.updated"), "briefing.undo"),
    "settings of the organization": (forget("organization.configured"), "organization.configure"),
}

# A stranger learns that a hidden thing exists, or reaches it.
NAMES: dict[str, tuple[SwitchOff, str]] = {
    "every project is visible": (replace("find_visible_project_ids", lambda _: None), "work.context"),
    "a fact of a hidden project": (replace("find_visible_project_ids", lambda _: None), "context.fetch_run"),
}

# Row policies of PostgreSQL, by table and command; one is opened for everybody.
POLICIES = [
    ("work_templates", "select"),
    ("work_templates", "delete"),
    ("work_nodes", "select"),
    ("work_nodes", "update"),
    ("work_sections", "delete"),
    ("graph_atoms", "select"),
    ("graph_atoms", "update"),
    ("pciv_runs", "select"),
    ("pciv_inputs", "delete"),
    ("toc_nodes", "select"),
    ("toc_nodes", "delete"),
    ("toc_versions", "update"),
    ("projects", "update"),
    ("project_members", "update"),
    ("events", "select"),
    ("organization_events", "select"),
    ("access_tokens", "select"),
]
