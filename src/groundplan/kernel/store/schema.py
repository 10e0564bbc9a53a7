"""Declarations of the rules that the database enforces for each table, for both engines.

A `Table` declares who may read and change its rows, and whether they may change; a `FreezeRule` declares when a row and
the rows below it become final. From these come the guards, which are triggers on both engines, and the policies and
grants of PostgreSQL. They are created again after every migration.

The name of a guard starts with `guard_`, so that all guards can be dropped. It raises the message `word: table`, and
`REFUSALS` maps the word to the error for the caller. A slice declares the words of its own triggers beside its tables,
and `providers.py` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from groundplan.kernel.access import GRANTS, WIDENING_POLICIES, Permission
from groundplan.kernel.errors import Conflict, GroundplanError, RuleViolated

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


def in_project(permission: Permission, *, column: str = "project_id") -> str:
    """Return the SQL condition for rows of projects in which the role of the actor has the permission.

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


class FreezeRule(Struct, frozen=True):
    """A rule: if `column` of a row in `parent` has one of `values`, the row and all rows below it are final.

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


class Frozen(Conflict):
    """The row is final, or belongs to something final, and cannot change."""

    code = "frozen"

    def __init__(
        self, problem: str = "this is final and can no longer change; create a new version instead", **details: Any
    ) -> None:
        super().__init__(problem, **details)


class RevisionSkipped(Conflict):
    """The write would not increase the revision by exactly one."""

    code = "revision_skipped"

    def __init__(self, table: str) -> None:
        super().__init__("a revision must increase by exactly one", table=table)


class TimeRunsBack(Conflict):
    """The time of the write is shortly before the time of the last write."""

    code = "time_runs_back"

    def __init__(self, table: str) -> None:
        super().__init__("the time of a write must not be before the last one", table=table)


class VersionSkipped(Conflict):
    """The change would not increase the version of the row by one, so that it could overwrite an unread change."""

    code = "version_skipped"

    def __init__(self, table: str) -> None:
        super().__init__("a change must increase the version by exactly one", table=table)


class ParentMissing(RuleViolated):
    """The parent of the row does not exist."""

    code = "parent_missing"

    def __init__(self, table: str) -> None:
        super().__init__("the parent of this row does not exist", table=table)


class NotADraft(RuleViolated):
    """A row that can become final is not created as a draft."""

    code = "not_a_draft"

    def __init__(self, table: str) -> None:
        super().__init__("this must be created as a draft before it can become final", table=table)


ErrorFactory = Callable[[str], GroundplanError]  # takes the name of the table

REFUSALS: dict[str, ErrorFactory] = {
    "frozen": lambda table: Frozen(table=table),
    "append_only": lambda table: Frozen(table=table),
    "rev_step": RevisionSkipped,
    "time_step": TimeRunsBack,
    "version_step": VersionSkipped,
    "no_parent": ParentMissing,
    "not_a_draft": NotADraft,
}


def make_error_factory(error: type[GroundplanError], problem: str) -> ErrorFactory:
    """Return a function that creates this error with this problem, for the refusals of a slice."""
    return lambda table: error(problem, table=table)


def collect_refusals() -> Mapping[str, ErrorFactory]:
    """Return the error for each code word that a trigger raises."""
    from groundplan import providers  # here, because its slices declare their tables with this module

    return {**REFUSALS, **providers.collect_refusals()}


def find_refusal(message: str) -> GroundplanError | None:
    """Return the error for the message of a trigger; None if the message is from another source."""
    word, _, table = message.partition(": ")
    refusal = collect_refusals().get(word)
    return refusal(table) if refusal else None


# --- Guards on SQLite ------------------------------------------------------------------------------------------------


def generate_sqlite_guards(schema: Schema) -> Iterator[str]:
    """Yield the statements that create the guards on SQLite. They need `PRAGMA recursive_triggers`: without it,
    `INSERT OR REPLACE` deletes a row without running its delete triggers."""
    for table in schema.tables:
        if table.append_only:
            for event in ("UPDATE", "DELETE"):
                yield _build_sqlite_trigger(table.name, event, "append_only", "true")
    for frozen in schema.frozen:
        values = ", ".join(f"'{value}'" for value in frozen.values)
        for event in ("UPDATE", "DELETE"):
            yield _build_sqlite_trigger(frozen.parent, event, "frozen", f"OLD.{frozen.column} IN ({values})")
        for child, columns in frozen.children.items():
            old, new = (_build_sqlite_closed_condition(frozen, columns, values, row) for row in ("OLD", "NEW"))
            yield _build_sqlite_trigger(child, "INSERT", "frozen", new, needed=columns)
            yield _build_sqlite_trigger(child, "UPDATE", "frozen", f"{old} OR {new}", needed=columns)
            yield _build_sqlite_trigger(child, "DELETE", "frozen", old)


def _build_sqlite_closed_condition(frozen: FreezeRule, columns: tuple[str, ...], values: str, row: str) -> str:
    # Closed if there is no parent row: a row must not be added without its parent.
    match = " AND ".join(f"{key} = {row}.{column}" for key, column in zip(frozen.key, columns, strict=True))
    return f"NOT EXISTS (SELECT 1 FROM {frozen.parent} WHERE {match} AND {frozen.column} NOT IN ({values}))"


def _build_sqlite_trigger(table: str, event: str, word: str, condition: str, *, needed: tuple[str, ...] = ()) -> str:
    """Build a guard. Without a `needed` column there is no parent, which is what it says instead of its word."""
    missing = "".join(
        f"SELECT RAISE(ABORT, '{_describe_missing(column)}') WHERE NEW.{column} IS NULL; " for column in needed
    )
    return (
        f"CREATE TRIGGER guard_{table}_{word}_{event.lower()} BEFORE {event} ON {table} WHEN {condition} "
        f"BEGIN {missing}SELECT RAISE(ABORT, '{word}: {table}'); END"
    )


def _describe_missing(column: str) -> str:
    return f"{column} is missing"


# --- Guards on PostgreSQL --------------------------------------------------------------------------------------------


def generate_postgres_guards(schema: Schema) -> Iterator[str]:
    """Yield the statements that create the guards on PostgreSQL."""
    yield (
        f"CREATE FUNCTION guard_refuse() {TRIGGER_FUNCTION} AS $$ BEGIN "
        "RAISE EXCEPTION '%: %', TG_ARGV[0], TG_TABLE_NAME USING ERRCODE = 'GP001'; END $$"
    )
    for table in schema.tables:
        if table.append_only:
            yield _build_postgres_trigger(table.name, "append_only", "UPDATE OR DELETE", "ROW")
            yield _build_postgres_trigger(table.name, "append_only", "TRUNCATE", "STATEMENT")
        if table.reserved_columns:
            yield from _build_postgres_reserved_columns(table)
    for frozen in schema.frozen:
        values = ", ".join(f"'{value}'" for value in frozen.values)
        yield _build_postgres_trigger(
            frozen.parent, "frozen", "UPDATE OR DELETE", "ROW", f"WHEN (OLD.{frozen.column} IN ({values}))"
        )
        yield _build_postgres_trigger(frozen.parent, "frozen", "TRUNCATE", "STATEMENT")
        for child, columns in frozen.children.items():
            yield _build_postgres_child_function(frozen, child, columns, values)
            yield (
                f"CREATE TRIGGER guard_{child}_frozen_row BEFORE INSERT OR UPDATE OR DELETE ON {child} "
                f"FOR EACH ROW EXECUTE FUNCTION guard_{child}_frozen()"
            )
            yield _build_postgres_trigger(child, "frozen", "TRUNCATE", "STATEMENT")


def _build_postgres_trigger(table: str, word: str, events: str, level: str, when: str = "") -> str:
    return (
        f"CREATE TRIGGER guard_{table}_{word}_{level.lower()}_{events.split()[0].lower()} BEFORE {events} ON {table} "
        f"FOR EACH {level} {when} EXECUTE FUNCTION guard_refuse('{word}')"
    )


def _build_postgres_child_function(frozen: FreezeRule, child: str, columns: tuple[str, ...], values: str) -> str:
    # FOR SHARE: a transaction that freezes the parent waits for this one, or this one waits and then sees it frozen.
    # With a plain read, both could commit.
    def check(row: str) -> str:
        match = " AND ".join(f"{key} = {row}.{column}" for key, column in zip(frozen.key, columns, strict=True))
        return (
            f"SELECT {frozen.column} NOT IN ({values}) INTO is_open FROM {frozen.parent} WHERE {match} FOR SHARE; "
            f"IF is_open IS NOT TRUE THEN RAISE EXCEPTION 'frozen: {child}' USING ERRCODE = 'GP001'; END IF; "
        )

    missing = "".join(
        f"IF NEW.{column} IS NULL THEN "
        f"RAISE EXCEPTION '{_describe_missing(column)}' USING ERRCODE = 'not_null_violation'; END IF; "
        for column in columns
    )
    return (
        f"CREATE FUNCTION guard_{child}_frozen() {TRIGGER_FUNCTION} AS $$ DECLARE is_open boolean; BEGIN "
        f"IF TG_OP <> 'INSERT' THEN {check('OLD')} END IF; "
        f"IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; "
        f"{missing}{check('NEW')} RETURN NEW; END $$"
    )


def _build_postgres_reserved_columns(table: Table) -> Iterator[str]:
    for permission, columns in (table.reserved_columns or {}).items():
        name = f"guard_{table.name}_{permission.value.replace(':', '_')}"
        yield (
            f"CREATE FUNCTION {name}() {TRIGGER_FUNCTION} AS $$ BEGIN "
            f"IF NOT OLD.{table.key_column} = ANY (gp_projects_as({format_roles(permission)}))"
            f"{_build_postgres_widening_condition(table, permission)} THEN "
            f"RAISE EXCEPTION 'only {permission} may change this' USING ERRCODE = '42501'; END IF; "
            f"RETURN NEW; END $$"
        )
        yield (
            f"CREATE TRIGGER {name} BEFORE UPDATE OF {', '.join(columns)} ON {table.name} "
            f"FOR EACH ROW EXECUTE FUNCTION {name}()"
        )


def _build_postgres_widening_condition(table: Table, permission: Permission) -> str:
    """Return the SQL condition for the roles to which a policy of the project gives the permission."""
    policy = WIDENING_POLICIES.get(permission)
    if policy is None:
        return ""
    policy_role = f"SELECT policies::json ->> '{policy}' FROM projects WHERE tenant_id = OLD.tenant_id"
    return (
        f" AND NOT OLD.{table.key_column} = ANY (gp_projects_as(ARRAY[("
        f"{policy_role} AND id = OLD.{table.key_column})]::text[]))"
    )


# --- Policies and grants of PostgreSQL -----------------------------------------------------------------------------

# A trigger calls its function without this right, and nobody else needs it.
_REVOKE_TRIGGER_FUNCTIONS = """
DO $revoke$
DECLARE name regprocedure;
BEGIN
    FOR name IN SELECT oid
                  FROM pg_proc
                 WHERE pronamespace = '{schema}'::regnamespace
                   AND prorettype = 'trigger'::regtype
    LOOP
        EXECUTE 'REVOKE ALL ON FUNCTION ' || name || ' FROM {role}';
    END LOOP;
END
$revoke$
"""


def generate_postgres_policies(schema: Schema, app_role: str) -> Iterator[str]:
    """Yield the statements that give the app role the rights that each table declares, and no others.

    `app_role` is a quoted SQL identifier. The role owns nothing, so it can neither drop nor bypass a policy; FORCE
    applies the policies to the owner as well.
    """
    yield f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA_NAME} FROM PUBLIC, {app_role}"
    yield f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {SCHEMA_NAME} FROM PUBLIC, {app_role}"
    yield f"REVOKE ALL ON SCHEMA {SCHEMA_NAME} FROM PUBLIC, {app_role}"
    yield f"GRANT USAGE ON SCHEMA {SCHEMA_NAME} TO {app_role}"
    yield f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {SCHEMA_NAME} TO {app_role}"
    yield _REVOKE_TRIGGER_FUNCTIONS.format(schema=SCHEMA_NAME, role=app_role.replace("'", "''"))
    for table in schema.tables:
        yield from _generate_policies(table, app_role)
    for view in schema.views:
        # Without it, a view shows every caller what its owner may see.
        yield f"ALTER VIEW {view} SET (security_invoker = true)"
        yield f"GRANT SELECT ON {view} TO {app_role}"


def _generate_policies(table: Table, app_role: str) -> Iterator[str]:
    name = table.name
    yield f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY {name}_select ON {name} FOR SELECT TO {app_role} USING ({table.select})"
    yield f"CREATE POLICY {name}_insert ON {name} FOR INSERT TO {app_role} WITH CHECK ({table.insert})"
    yield (
        f"CREATE POLICY {name}_update ON {name} FOR UPDATE TO {app_role} "
        f"USING ({table.update}) WITH CHECK ({table.update})"
    )
    yield f"CREATE POLICY {name}_delete ON {name} FOR DELETE TO {app_role} USING ({table.delete})"
    # FORCE applies the policies to the owner as well, and so to the functions that run with its rights: without this
    # one, those that the policies call would recurse, and guards would see no rows.
    yield f"CREATE POLICY {name}_owner ON {name} FOR ALL TO CURRENT_USER USING (true) WITH CHECK (true)"
    rights = [f"SELECT ({', '.join(table.select_columns)})" if table.select_columns else "SELECT"]
    if table.insert != NOBODY:
        rights.append("INSERT")
    if table.update != NOBODY:
        columns = f" ({', '.join(table.update_columns)})" if table.update_columns else ""
        rights.append(f"UPDATE{columns}")
    if table.delete != NOBODY:
        rights.append("DELETE")
    yield f"GRANT {', '.join(rights)} ON {name} TO {app_role}"
