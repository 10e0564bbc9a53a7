"""Set up a PostgreSQL database as its owner: the schema, the app role, and the generated objects.

The owner is used only for this. Servers connect as the app role.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import LiteralString
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import Connection, sql

from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.clock import format_timestamp, system_clock
from groundplan.kernel.errors import Conflict, Forbidden, Invalid, Unavailable
from groundplan.kernel.operations.progress import count_progress
from groundplan.kernel.store.migrations import AppliedMigration, Dialect, Migration, find_pending, load_migrations
from groundplan.kernel.store.postgres.catalog import (
    compute_fingerprint,
    find_app_role,
    find_schema_owner,
    read_role_privileges,
)
from groundplan.kernel.store.postgres.session import interrupt, set_statement_timeout
from groundplan.kernel.store.postgres.store import CONNECT_S_MAX, translate_errors
from groundplan.kernel.store.schema import SCHEMA_NAME, Schema, generate_postgres_guards, generate_postgres_policies

SERVER_VERSION_MIN = 150000


class UnsafeAppRole(Invalid):
    """The app role could bypass row level security."""

    code = "unsafe_app_role"

    def __init__(self, role: str) -> None:
        super().__init__(
            f"role {role!r} owns the database, is a superuser or bypasses row level security; "
            "name another one with --app-role, and it will be created",
            role=role,
        )


class OtherOwner(Conflict):
    """The database was set up by another role. Policies and functions need the same owner."""

    code = "store_other_owner"

    def __init__(self, owner: str | None) -> None:
        super().__init__(
            f"this database was set up by role {owner!r}; run groundplan init with the URL of that role", owner=owner
        )


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The result of the set-up, as the owner sees it."""

    app_role: str
    app_url: str  # without a password if the role keeps its password, which is unknown here
    steps_taken: int
    role_is_new: bool
    replaced_role: str | None  # the previous app role, which has lost its rights


def set_up(
    owner_url: str,
    schema: Schema,
    *,
    app_role: str | None = None,
    new_password: bool = False,
    steps: Sequence[Migration] | None = None,
    cancellation: Cancellation | None = None,
) -> SetupResult:
    """Migrate the database and give the app role its rights, and no others. It may be repeated at any time.

    It takes as long as it needs, unless `cancellation` has a limit or another thread cancels it.
    """
    limit = Cancellation() if cancellation is None else cancellation
    limit.prepare(NO_LIMIT_S, is_write=False)  # the steps before the interrupted one stay
    limit.start()
    with (
        translate_errors(limit),
        psycopg.connect(owner_url, connect_timeout=CONNECT_S_MAX) as connection,
        limit.interruptible(partial(interrupt, connection)),
    ):
        if connection.info.server_version < SERVER_VERSION_MIN:
            raise Unavailable("Groundplan needs PostgreSQL 15 or newer", code="store_engine_too_old")
        may_create = connection.execute("SELECT has_database_privilege(current_database(), 'CREATE')").fetchone()
        if may_create != (True,):
            raise Forbidden("this role may not set up the database; connect as its owner")
        owner = find_schema_owner(connection)
        if owner not in (None, connection.info.user):
            raise OtherOwner(owner)
        steps = load_migrations(Dialect.POSTGRES) if steps is None else steps
        with connection.transaction():
            _lock_setup(connection, limit)
            find_pending(
                steps, read_applied_migrations(connection)
            )  # raises before a role is created in a database that is not ours
        before = find_app_role(connection)
        role = app_role or before or f"{connection.info.dbname}_app"
        is_new = _ensure_role(connection, role, limit)
        password = _set_new_password(connection, role) if is_new or new_password else None
        replaced = before if before != role else None
        if replaced:
            _revoke_all(connection, replaced)
        steps_taken = migrate(connection, schema, role, steps, limit)
        return SetupResult(role, _build_app_url(owner_url, role, password), steps_taken, is_new, replaced)


def migrate(
    connection: Connection, schema: Schema, app_role: str, steps: Sequence[Migration], cancellation: Cancellation
) -> int:
    """Apply every pending step and generate guards and policies again, in one transaction."""
    with connection.transaction():
        _lock_setup(connection, cancellation)  # IF NOT EXISTS fails if two sessions run it at the same time
        connection.execute(_format_sql("CREATE SCHEMA IF NOT EXISTS {}", SCHEMA_NAME))
        pending = find_pending(steps, read_applied_migrations(connection))
        _unforce_row_security(connection)
        for step in count_progress(pending, len(pending)):
            set_statement_timeout(connection, cancellation.ends_at - monotonic())
            connection.execute(step.text)
            connection.execute(
                "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (%s, %s, %s, %s)",
                (step.number, step.name, step.checksum, format_timestamp(system_clock())),
            )
        _regenerate_guards_and_policies(connection, schema, app_role)
    return len(pending)


def read_applied_migrations(connection: Connection) -> list[AppliedMigration]:
    """Return the migrations that were applied to this database."""
    exists = connection.execute("SELECT to_regclass('schema_migrations')").fetchone()
    if exists is None or exists[0] is None:
        return []
    rows = connection.execute("SELECT number, name, checksum FROM schema_migrations ORDER BY number")
    return [AppliedMigration(*row) for row in rows.fetchall()]


def _lock_setup(connection: Connection, cancellation: Cancellation) -> None:
    cancellation.check()
    set_statement_timeout(connection, cancellation.ends_at - monotonic())
    # Only one set-up runs at a time. An advisory lock, because there is no table to lock before the first step;
    # requests do not use it.
    connection.execute(_format_sql("SET LOCAL search_path = {}, pg_temp", SCHEMA_NAME))
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('groundplan set-up'))")


def _unforce_row_security(connection: Connection) -> None:
    # FORCE would silently hide rows from a step that migrates them. _regenerate_guards_and_policies sets it again in
    # the same transaction.
    for (table,) in connection.execute(_TABLES, {"schema": SCHEMA_NAME}).fetchall():
        connection.execute(_format_sql("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY", table))


def _regenerate_guards_and_policies(connection: Connection, schema: Schema, app_role: str) -> None:
    """Drop policies, grants and guards, and generate them again from the declarations."""
    for kind, name, table in connection.execute(_GENERATED_OBJECTS, {"schema": SCHEMA_NAME}).fetchall():
        target = f"DROP {kind} {{}}" + (" ON {}" if table else "()")
        connection.execute(_format_sql(target, *filter(None, (name, table))))
    role = sql.Identifier(app_role).as_string(connection)
    for statement in (*generate_postgres_guards(schema), *generate_postgres_policies(schema, role)):
        connection.execute(statement)
    connection.execute(
        sql.SQL("COMMENT ON SCHEMA {} IS {}").format(
            sql.Identifier(SCHEMA_NAME), sql.Literal(compute_fingerprint(connection))
        )
    )


# Triggers come before the functions that they call.
_GENERATED_OBJECTS: LiteralString = """
SELECT 'POLICY', policyname, tablename
  FROM pg_policies
 WHERE schemaname = %(schema)s
UNION ALL
SELECT 'TRIGGER', t.tgname, c.relname
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = %(schema)s
   AND t.tgname LIKE 'guard\\_%%'
UNION ALL
SELECT 'FUNCTION', p.proname, NULL
  FROM pg_proc AS p
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname = %(schema)s
   AND p.proname LIKE 'guard\\_%%'
"""
_TABLES: LiteralString = "SELECT tablename FROM pg_tables WHERE schemaname = %(schema)s"


def _ensure_role(connection: Connection, role: str, cancellation: Cancellation) -> bool:
    """Create the role; return False if it exists."""
    with connection.transaction():
        _lock_setup(connection, cancellation)
        held = read_role_privileges(connection, role)
        if held is not None:
            if any(held) or role == connection.info.user:
                raise UnsafeAppRole(role)
            return False
        connection.execute(_format_sql("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE", role))
        return True


def _revoke_all(connection: Connection, role: str) -> None:
    """Revoke all rights of a previous app role."""
    with connection.transaction():
        for objects in ("ALL TABLES IN SCHEMA {}", "ALL FUNCTIONS IN SCHEMA {}", "SCHEMA {}"):
            connection.execute(_format_sql(f"REVOKE ALL ON {objects} FROM {{}}", SCHEMA_NAME, role))


def _set_new_password(connection: Connection, role: str) -> str:
    password = secrets.token_urlsafe(24)
    with connection.transaction():
        connection.execute(
            sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(password)),
        )
    return password


def _build_app_url(owner_url: str, role: str, password: str | None) -> str:
    parts = urlsplit(owner_url)
    host = parts.netloc.rpartition("@")[2]
    user = quote(role, safe="") + (f":{quote(password, safe='')}" if password else "")
    # The query of the URL may contain the name and password of the owner, which would take precedence.
    query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key not in ("user", "password")])
    return urlunsplit(parts._replace(netloc=f"{user}@{host}", query=query))


def _format_sql(template: str, *names: str) -> sql.Composed:
    return sql.SQL(template).format(*map(sql.Identifier, names))
