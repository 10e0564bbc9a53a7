"""Declarations of what the database enforces for each table beyond its columns, for both engines.

A `Table` declares who may read and change its rows, and whether they may change; a `FreezeRule` declares when a row and
the rows below it become final. `row_policies.py` and `guards.py` generate the policies, grants and triggers, which are
created again after every migration.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from groundplan.kernel.access import GRANTS, Permission

SCHEMA_NAME = "groundplan"  # the PostgreSQL schema of all tables and functions
# With the rights of the owner, because row level security would hide rows from the guard: a statement can change the
# actor between two of its rows, and so choose what a guard with the rights of the caller sees.
TRIGGER_FUNCTION = f"RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = {SCHEMA_NAME}, pg_temp"

NOBODY = "false"
EVERYBODY = "true"
IN_ORGANIZATION = "tenant_id = (SELECT gp_tenant()) AND (SELECT gp_in_organization())"
# The token of the actor, if any, allows changes that reach beyond single projects.
WRITES_IN_ORGANIZATION = f"{IN_ORGANIZATION} AND (SELECT gp_may_write_organization())"
# A draft that nobody but the acting agent has written; `sole_writer` is null once somebody else writes.
OWN_DRAFT_OF_AGENT = "(SELECT gp_actor_is_agent()) AND sole_writer = (SELECT gp_actor())"
# The actor may manage the organization itself, and not only their own part of it.
ADMINISTERS = "(SELECT gp_administers())"
OWN_ROWS = "tenant_id = (SELECT gp_tenant()) AND actor_id = (SELECT gp_actor())"

_FUNCTION = r"\bgp_\w+(?=\()"


def in_project(permission: Permission, *, column: str = "project_id") -> str:
    """Return the condition for rows of projects in which the role of the actor has the permission.

    The list of projects is a scalar subquery, which PostgreSQL evaluates once per statement; a function call in the
    condition would be evaluated once per row. The cast lets the planner use an index.
    """
    mine = f"gp_projects_as({format_roles(permission)})"
    return f"tenant_id = (SELECT gp_tenant()) AND {column} = ANY ((SELECT {mine})::text[])"


def format_roles(permission: Permission) -> str:
    """Return the roles that have a permission, as an SQL array."""
    return "ARRAY[" + ", ".join(f"'{role}'" for role in sorted(GRANTS[permission])) + "]"


class Table(Struct, frozen=True):
    """The access rules of one table, as conditions on the row and the actor."""

    name: str
    select: str
    insert: str = NOBODY
    update: str = NOBODY
    delete: str = NOBODY
    select_columns: tuple[str, ...] = ()  # the only columns that may be read; all when empty
    update_columns: tuple[str, ...] = ()  # the only columns that may change; all when empty
    append_only: bool = False
    # Columns that need another permission to change than the row itself.
    reserved_columns: Mapping[Permission, tuple[str, ...]] | None = None
    key_column: str = "project_id"  # the column with the project id, for reserved_columns

    def restrict_to_columns(self, existing: Collection[str]) -> Table:
        """Return the declaration without columns that do not exist yet."""
        reserved = {
            permission: tuple(column for column in columns if column in existing)
            for permission, columns in (self.reserved_columns or {}).items()
        }
        changing = tuple(column for column in self.update_columns if column in existing)
        return replace(
            self,
            # If no declared column exists, none may change; an empty tuple would allow all of them.
            update=NOBODY if self.update_columns and not changing else self.update,
            update_columns=changing,
            reserved_columns={permission: columns for permission, columns in reserved.items() if columns},
        )

    def restrict_to_functions(self, existing: Collection[str]) -> Table:
        """Return the declaration with NOBODY for each condition that needs a function that does not exist yet."""

        def restrict(condition: str) -> str:
            return condition if set(re.findall(_FUNCTION, condition)) <= set(existing) else NOBODY

        return replace(
            self,
            select=restrict(self.select),
            insert=restrict(self.insert),
            update=restrict(self.update),
            delete=restrict(self.delete),
        )


class FreezeRule(Struct, frozen=True):
    """A row of `parent` whose `column` has one of `values` never changes again, and neither do the rows below it.

    `children` maps each child table to its columns that reference the `key` of the parent, in the same order. The guard
    sees parents in every project, so a foreign key must keep the project of a child equal to that of its parent.
    """

    parent: str
    key: tuple[str, ...]
    column: str
    values: tuple[str, ...]
    children: Mapping[str, tuple[str, ...]]


class Schema(Struct, frozen=True):
    """All declarations of the kernel and the slices."""

    tables: tuple[Table, ...]
    frozen: tuple[FreezeRule, ...] = ()
    views: tuple[str, ...] = ()  # read with the rights of the caller, so they need no policies

    def restrict_to_tables(self, existing: Collection[str]) -> Schema:
        """Return the declarations without tables that do not exist yet."""
        return Schema(
            tuple(table for table in self.tables if table.name in existing),
            tuple(frozen for frozen in self.frozen if {frozen.parent, *frozen.children} <= set(existing)),
            tuple(view for view in self.views if view in existing),
        )
