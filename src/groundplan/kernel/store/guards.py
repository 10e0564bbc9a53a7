"""Triggers that keep rows from changing, generated for both engines from the declarations in `tables.py`.

All names start with `guard_`, so that all guards can be dropped and created again after a migration. A guard raises the
message `word: table`; `REFUSALS` maps the word to the error for the caller. A slice declares the words of its own
triggers beside its tables, and `connections.py` names them here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from groundplan.kernel import ports
from groundplan.kernel.access import WIDENING_POLICIES, Permission
from groundplan.kernel.errors import Conflict, GroundplanError, RuleViolated
from groundplan.kernel.store.tables import TRIGGER_FUNCTION, FreezeRule, Schema, Table, format_roles


class Frozen(Conflict):
    """The row is final, or part of something final, and cannot change."""

    code = "frozen"

    def __init__(
        self, problem: str = "this is final and can no longer change; create a new version instead", **details: Any
    ) -> None:
        super().__init__(problem, **details)


class RevisionSkipped(Conflict):
    """A revision must increase by exactly one."""

    code = "revision_skipped"

    def __init__(self, table: str) -> None:
        super().__init__("a revision must increase by exactly one", table=table)


class TimeRunsBack(Conflict):
    """The time of a write must not be a little before the last one."""

    code = "time_runs_back"

    def __init__(self, table: str) -> None:
        super().__init__("the time of a write must not be before the last one", table=table)


class VersionSkipped(Conflict):
    """Every change of a row must increase its version by one, so that no change is overwritten unread."""

    code = "version_skipped"

    def __init__(self, table: str) -> None:
        super().__init__("a change must increase the version by exactly one", table=table)


class ParentMissing(RuleViolated):
    """The parent of the row does not exist."""

    code = "parent_missing"

    def __init__(self, table: str) -> None:
        super().__init__("the parent of this row does not exist", table=table)


class NotADraft(RuleViolated):
    """A row that can become final must be created as a draft."""

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
    """Return a factory for this error with this problem, for the refusals of a slice."""
    return lambda table: error(problem, table=table)


def collect_refusals() -> Mapping[str, ErrorFactory]:
    """Return the error for each word of a trigger."""
    for name in ports.REFUSALS:  # of the slices
        REFUSALS.update(ports.load_by_name(name))
    return REFUSALS


def find_refusal(message: str) -> GroundplanError | None:
    """Return the error for the message of a guard; None if the message is not from a guard."""
    word, _, table = message.partition(": ")
    found = collect_refusals().get(word)
    return found(table) if found else None


# --- SQLite ---------------------------------------------------------------------------------------------------------


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
            yield _build_sqlite_trigger(child, "INSERT", "frozen", new)
            yield _build_sqlite_trigger(child, "UPDATE", "frozen", f"{old} OR {new}")
            yield _build_sqlite_trigger(child, "DELETE", "frozen", old)


def _build_sqlite_closed_condition(frozen: FreezeRule, columns: tuple[str, ...], values: str, row: str) -> str:
    # Closed if there is no parent row: a row must not be added without its parent.
    match = " AND ".join(f"{key} = {row}.{column}" for key, column in zip(frozen.key, columns, strict=True))
    return f"NOT EXISTS (SELECT 1 FROM {frozen.parent} WHERE {match} AND {frozen.column} NOT IN ({values}))"


def _build_sqlite_trigger(table: str, event: str, word: str, condition: str) -> str:
    return (
        f"CREATE TRIGGER guard_{table}_{word}_{event.lower()} BEFORE {event} ON {table} WHEN {condition} "
        f"BEGIN SELECT RAISE(ABORT, '{word}: {table}'); END"
    )


# --- PostgreSQL -----------------------------------------------------------------------------------------------------


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

    return (
        f"CREATE FUNCTION guard_{child}_frozen() {TRIGGER_FUNCTION} AS $$ DECLARE is_open boolean; BEGIN "
        f"IF TG_OP <> 'INSERT' THEN {check('OLD')} END IF; "
        f"IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; "
        f"{check('NEW')} RETURN NEW; END $$"
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
    """Return the condition for the roles that a policy of the project gives the permission to."""
    policy = WIDENING_POLICIES.get(permission)
    if policy is None:
        return ""
    policy_role = f"SELECT policies::json ->> '{policy}' FROM projects WHERE tenant_id = OLD.tenant_id"
    return (
        f" AND NOT OLD.{table.key_column} = ANY (gp_projects_as(ARRAY[("
        f"{policy_role} AND id = OLD.{table.key_column})]::text[]))"
    )
