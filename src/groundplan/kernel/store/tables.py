"""What the database must enforce about each table beyond its columns, declared once for both engines.

A `Table` says who may touch its rows and whether they may change at all; a `FreezeRule` says when a row and everything
below it stops changing. `policies.py` and `guards.py` turn the declarations into the policies, grants and triggers
that are put in place anew after every migration.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from groundplan.kernel.access import GRANTS, Permission

SCHEMA_NAME = "groundplan"  # the schema that holds everything on PostgreSQL

NOBODY = "false"
EVERYBODY = "true"
IN_ORGANIZATION = "tenant_id = (SELECT gp_tenant()) AND (SELECT gp_in_organization())"
OWN_ROWS = "tenant_id = (SELECT gp_tenant()) AND actor_id = (SELECT gp_actor())"


def in_project(permission: Permission, *, column: str = "project_id") -> str:
    """The rows of projects in which the actor's role carries the permission.

    The list of projects is a scalar subquery, so PostgreSQL asks for it once per statement; as a function call in the
    condition it would be asked for once per row. The cast is what lets the planner use it against an index.
    """
    mine = f"gp_projects_as({roles_sql(permission)})"
    return f"tenant_id = (SELECT gp_tenant()) AND {column} = ANY ((SELECT {mine})::text[])"


def roles_sql(permission: Permission) -> str:
    """The roles that carry a permission, as an SQL array."""
    return "ARRAY[" + ", ".join(f"'{role}'" for role in sorted(GRANTS[permission])) + "]"


@dataclass(frozen=True, slots=True)
class Table:
    """Who may do what to the rows of one table, as conditions over the row and the actor."""

    name: str
    select: str
    insert: str = NOBODY
    update: str = NOBODY
    delete: str = NOBODY
    update_columns: tuple[str, ...] = ()  # the only ones that ever change; all of them when empty
    append_only: bool = False
    read_by_functions: bool = False  # a SECURITY DEFINER function works on it, on behalf of the schema's owner
    # Columns of which a change needs more than the right to update the row.
    reserved_columns: Mapping[Permission, tuple[str, ...]] | None = None
    key_column: str = "project_id"  # which column holds the project, for reserved_columns

    def restrict_to_columns(self, there: Collection[str]) -> Table:
        """The declaration as far as it is about columns that are there."""
        reserved = {
            permission: tuple(column for column in columns if column in there)
            for permission, columns in (self.reserved_columns or {}).items()
        }
        changing = tuple(column for column in self.update_columns if column in there)
        return replace(
            self,
            # None left is not the same as none declared, which means that all of them may change.
            update=NOBODY if self.update_columns and not changing else self.update,
            update_columns=changing,
            reserved_columns={permission: columns for permission, columns in reserved.items() if columns},
        )


@dataclass(frozen=True, slots=True)
class FreezeRule:
    """A row of `parent` whose `column` has one of `values` never changes again, and neither do the rows below it.

    `children` names, for each table below, the columns that point to the parent's `key`, in the same order.
    """

    parent: str
    key: tuple[str, ...]
    column: str
    values: tuple[str, ...]
    children: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Schema:
    """Every declaration, of the kernel and of all slices."""

    tables: tuple[Table, ...]
    frozen: tuple[FreezeRule, ...] = ()
    views: tuple[str, ...] = ()  # read with the rights of whoever looks, so nothing else needs to be said

    def restrict_to_tables(self, there: Collection[str]) -> Schema:
        """The declarations as far as they are about tables that are there."""
        return Schema(
            tuple(table for table in self.tables if table.name in there),
            tuple(frozen for frozen in self.frozen if {frozen.parent, *frozen.children} <= set(there)),
            tuple(view for view in self.views if view in there),
        )
