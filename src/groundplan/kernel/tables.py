"""The tables of the kernel, with the conditions for reading and changing their rows."""

from __future__ import annotations

from groundplan.kernel.access import Permission
from groundplan.kernel.identities.invitation import IDENTITIES, INVITATIONS
from groundplan.kernel.store.schema import (
    ADMINISTERS,
    EVERYBODY,
    IN_ORGANIZATION,
    OWN_ROWS,
    WRITES_IN_ORGANIZATION,
    Table,
    in_project,
)
from groundplan.kernel.tokens.token import TOKEN_EVENTS, TOKENS

OF_ORGANIZATION = "id = (SELECT gp_tenant()) AND (SELECT gp_in_organization())"
ADMINISTRATED = f"{IN_ORGANIZATION} AND {ADMINISTERS}"
ADDED_BY_ACTOR = f"{IN_ORGANIZATION} AND (SELECT gp_may_write()) AND created_by = (SELECT gp_actor())"
CREATED_BY_ACTOR = f"{WRITES_IN_ORGANIZATION} AND created_by = (SELECT gp_actor())"
# Owners add members. The creator of a project without members adds themselves as its first owner. An agent may name
# another owner instead, and then add itself as editor of the project that it is creating.
_IS_ACTOR = "user_id = (SELECT gp_actor())"
_BY_AGENT = "(SELECT gp_actor_is_agent())"
INVITED_OR_FOUNDING = (
    f"created_by = (SELECT gp_actor()) AND (({in_project(Permission.MEMBER_MANAGE)})"
    f" OR ({WRITES_IN_ORGANIZATION} AND ({_IS_ACTOR} OR {_BY_AGENT}) AND role = 'owner'"
    " AND gp_has_no_members(project_id))"
    f" OR ({WRITES_IN_ORGANIZATION} AND {_IS_ACTOR} AND {_BY_AGENT} AND role = 'editor' AND gp_is_making(project_id)))"
)

# Every member sees who belongs to the organization; an address or an account, only whoever did it and administrators.
PEOPLE_EVENTS = (
    f"{IN_ORGANIZATION} AND (starts_with(op, 'organization.') OR starts_with(op, 'template.')"
    " OR ((starts_with(op, 'invitation.') OR starts_with(op, 'identity.'))"
    f" AND (actor_id = (SELECT gp_actor()) OR {ADMINISTERS})))"
)

TABLES = (
    Table(
        "organizations",
        select=OF_ORGANIZATION,
        update=OF_ORGANIZATION,
        update_columns=("rev", "updated_at"),
    ),
    Table(
        "organization_settings",
        select=IN_ORGANIZATION,
        insert=f"{ADMINISTRATED} AND updated_by = (SELECT gp_actor())",
        update=f"{ADMINISTRATED} AND updated_by = (SELECT gp_actor())",
        update_columns=("project_creators", "allowed_domains", "default_policies", "updated_at", "updated_by"),
    ),
    Table("principals", select=IN_ORGANIZATION, insert=f"{IN_ORGANIZATION} AND (SELECT gp_may_write())"),
    Table(
        "user_memberships",
        select=IN_ORGANIZATION,
        insert=f"{ADDED_BY_ACTOR} AND (role = 'member' OR {ADMINISTERS})",
        update=ADMINISTRATED,
        update_columns=("role",),
    ),
    Table(
        "projects",
        select=in_project(Permission.PROJECT_READ, column="id"),
        insert=f"{CREATED_BY_ACTOR} AND (SELECT gp_may_create_projects())",
        update=in_project(Permission.PROJECT_WRITE, column="id"),
        update_columns=("rev", "updated_at", "machine_start", "archived_at", "name", "policies"),
        reserved_columns={
            Permission.PROJECT_ARCHIVE: ("archived_at", "name"),
            Permission.PROJECT_CONFIGURE: ("policies",),
        },
        key_column="id",
    ),
    Table(
        "project_members",
        select=in_project(Permission.MEMBER_READ),
        insert=INVITED_OR_FOUNDING,
        update=in_project(Permission.MEMBER_MANAGE),
        update_columns=("role",),
        delete=in_project(Permission.MEMBER_MANAGE),
    ),
    Table(
        "events",
        select=in_project(Permission.PROJECT_READ),
        insert=in_project(Permission.PROJECT_WRITE) + " AND actor_id = (SELECT gp_actor())",
        append_only=True,
    ),
    Table(
        "write_undos",
        select=in_project(Permission.PROJECT_READ),
        insert=in_project(Permission.PROJECT_WRITE),
        append_only=True,
    ),
    Table(
        "organization_events",
        # An actor who cannot see a project must not see its events; the others are about people, addresses and tokens.
        select=f"({in_project(Permission.PROJECT_READ, column='subject')}) OR ({TOKEN_EVENTS}) OR ({PEOPLE_EVENTS})",
        insert=IN_ORGANIZATION + " AND actor_id = (SELECT gp_actor())",
        append_only=True,
    ),
    Table(
        "links",
        select=in_project(Permission.PROJECT_READ),
        insert=in_project(Permission.PROJECT_WRITE),
        delete=in_project(Permission.PROJECT_WRITE),
    ),
    TOKENS,
    INVITATIONS,
    IDENTITIES,
    Table(
        "answers",
        select=OWN_ROWS,
        insert=OWN_ROWS,
        update=OWN_ROWS,
        # By column: PostgreSQL lets a role lock a table that it may update as a whole.
        update_columns=("body_digest", "answer", "at", "n"),
    ),
    Table("schema_migrations", select=EVERYBODY),
)
