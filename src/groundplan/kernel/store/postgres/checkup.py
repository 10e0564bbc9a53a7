"""Checks of a PostgreSQL database, with the rights of the app role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, LiteralString

import psycopg
from psycopg import Connection

from groundplan.kernel.actors import NOBODY
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.checkup import Finding, fail, ok, warn
from groundplan.kernel.store.live_catalog import RowSecurity, read_row_security
from groundplan.kernel.store.migrations import Dialect, find_pending, load_migrations
from groundplan.kernel.store.postgres.catalog import (
    RolePrivileges,
    compute_fingerprint,
    read_role_privileges,
    read_stored_fingerprint,
)
from groundplan.kernel.store.postgres.setup import SERVER_VERSION_MIN, read_applied_migrations
from groundplan.kernel.store.postgres.store import CONNECT_S_MAX, PostgresTransaction, translate_errors
from groundplan.kernel.store.schema import SCHEMA_NAME, Schema, generate_postgres_guards
from groundplan.migrations import get_latest_version

RUN_INIT_AGAIN = "run groundplan init with the owner's URL; it creates policies, grants and guards again"
USE_APP_URL = "connect with the app URL that groundplan init prints"

_TABLES: LiteralString = """
SELECT c.relname, has_table_privilege(c.oid, 'TRUNCATE, REFERENCES, TRIGGER')
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = %(schema)s
   AND c.relkind IN ('r', 'p')
 ORDER BY c.relname
"""
_TRIGGERS: LiteralString = """
SELECT t.tgname
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = %(schema)s
   AND t.tgenabled IN ('O', 'A')
"""
_UNFIXED_FUNCTIONS: LiteralString = """
SELECT p.proname
  FROM pg_proc AS p
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname = %(schema)s
   AND p.prosecdef
   AND NOT EXISTS (SELECT 1 FROM unnest(p.proconfig) AS setting WHERE setting LIKE 'search_path=%%')
 ORDER BY p.proname
"""
_UNANALYZED: LiteralString = """
SELECT relname
  FROM pg_class
 WHERE relnamespace = %(schema)s::regnamespace
   AND relkind = 'r'
   AND pg_relation_size(oid) / current_setting('block_size')::int > 4 * relpages + 100
 ORDER BY relname
"""


def run_checks(url: str, schema: Schema) -> Iterator[Finding]:
    """Yield the finding of every check, and stop if the following checks are impossible."""
    options = f"-c search_path={SCHEMA_NAME},pg_temp -c default_transaction_read_only=on"
    with (
        translate_errors(),
        psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_S_MAX, options=options) as connection,
    ):
        yield _check_server(connection)
        name = connection.info.user
        held = read_role_privileges(connection) or RolePrivileges(True, True, True)
        is_safe = not any(held)
        yield _check_role(name, held)
        if not _fetch_all(connection, "SELECT 1 FROM pg_namespace WHERE nspname = %(schema)s"):
            yield fail("schema", "there is no Groundplan in this database", "run groundplan init with the owner's URL")
            return
        if not _fetch_all(connection, "SELECT 1 WHERE has_schema_privilege(%(schema)s, 'USAGE')"):
            yield fail("schema", f"role {name} may not use the schema {SCHEMA_NAME}", USE_APP_URL)
            return
        yield from _check_schema_version(connection)
        tables = _fetch_all(connection, _TABLES)
        tx = PostgresTransaction(connection, NOBODY, "", {}, clock=None)
        row_security = read_row_security(tx, [table for table, _ in tables])
        yield _check_row_security(row_security)
        if is_safe:
            yield _check_policies(row_security)
            yield _check_grants(name, tables)
        yield _check_guards(connection, schema)
        yield _check_functions(connection)
        yield _check_fingerprint(connection)
        yield _check_statistics(connection)


def _check_server(connection: Connection) -> Finding:
    version = connection.info.server_version
    engine = f"PostgreSQL {version // 10000}.{version % 10000}"
    if version < SERVER_VERSION_MIN:
        return fail("engine", f"{engine} is too old", "use PostgreSQL 15 or newer")
    return ok("engine", engine)


def _check_role(name: str, privileges: RolePrivileges) -> Finding:
    reasons = ("is a superuser", "bypasses row level security", "owns the tables")
    problems = [reason for reason, holds in zip(reasons, privileges, strict=True) if holds]
    if problems:
        return fail("role", f"{name} {' and '.join(problems)}, itself or by a role that it is a member of", USE_APP_URL)
    return ok("role", f"{name} cannot bypass the policies")


def _check_schema_version(connection: Connection) -> Iterator[Finding]:
    steps, known = read_applied_migrations(connection), get_latest_version()
    version = steps[-1].number if steps else 0
    if version < known:
        yield fail("schema", f"schema {version}, and this Groundplan needs {known}", RUN_INIT_AGAIN)
    elif version > known:
        yield fail("schema", f"schema {version}, and this Groundplan knows up to {known}", "upgrade Groundplan")
    else:
        yield ok("schema", f"schema {version}")
    try:
        find_pending(load_migrations(Dialect.POSTGRES), [step for step in steps if step.number <= known])
        yield ok("migrations", f"{len(steps)} applied, all as released")
    except Unavailable as error:
        yield fail("migrations", error.message, "use the Groundplan that created it, or restore a backup")


def _check_row_security(tables: Mapping[str, RowSecurity]) -> Finding:
    open_tables = [name for name, security in tables.items() if not (security.enabled and security.forced)]
    if open_tables or not tables:
        return fail(
            "row security", f"not enabled and forced on {', '.join(open_tables) or 'any table'}", RUN_INIT_AGAIN
        )
    return ok("row security", f"enabled and forced on all {len(tables)} tables")


def _check_policies(tables: Mapping[str, RowSecurity]) -> Finding:
    lacking = [
        f"{name} ({', '.join(security.unprotected_commands)})"
        for name, security in tables.items()
        if security.unprotected_commands
    ]
    if lacking:
        return fail("policies", f"missing on {'; '.join(lacking)}", RUN_INIT_AGAIN)
    return ok("policies", "select, insert, update and delete on every table")


def _check_grants(role: str, tables: list[Any]) -> Finding:
    wide = [name for name, may_more in tables if may_more]
    if wide:
        return fail("grants", f"{role} may truncate, reference or create triggers on {', '.join(wide)}", RUN_INIT_AGAIN)
    return ok("grants", "no more rights than it needs")


def _check_guards(connection: Connection, schema: Schema) -> Finding:
    expected = re.findall(r"CREATE TRIGGER (\S+)", "\n".join(generate_postgres_guards(schema)))
    actual = {name for (name,) in _fetch_all(connection, _TRIGGERS)}
    missing = sorted(set(expected) - actual)
    if missing:
        return fail("guards", f"missing or disabled: {', '.join(missing)}", RUN_INIT_AGAIN)
    return ok("guards", f"all {len(expected)} in place")


def _check_functions(connection: Connection) -> Finding:
    unfixed = [name for (name,) in _fetch_all(connection, _UNFIXED_FUNCTIONS)]
    if unfixed:
        fix = "drop them if they are not yours, else ALTER FUNCTION … SET search_path"
        return fail("functions", f"run as their owner with the caller's search_path: {', '.join(unfixed)}", fix)
    return ok("functions", "every one that runs as its owner has a fixed search_path")


def _check_fingerprint(connection: Connection) -> Finding:
    if compute_fingerprint(connection) == read_stored_fingerprint(connection):
        return ok("as set up", "policies, grants, triggers, functions and constraints are as groundplan init left them")
    return fail(
        "as set up",
        "a policy, grant, trigger, function or constraint was changed after groundplan init",
        RUN_INIT_AGAIN,
    )


def _check_statistics(connection: Connection) -> Finding:
    tables = [name for (name,) in _fetch_all(connection, _UNANALYZED)]
    if tables:
        fix = "run ANALYZE as the owner, and leave autovacuum on"
        return warn("statistics", f"missing or far behind for {', '.join(tables)}, so plans may be slow", fix)
    return ok("statistics", "present for every large table")


def _fetch_all(connection: Connection, query: LiteralString, **values: Any) -> list[Any]:
    return connection.execute(query, {"schema": SCHEMA_NAME, **values}).fetchall()
