"""Read roles and the Groundplan schema from the catalog of PostgreSQL, for set-up, opening and checks."""

from __future__ import annotations

from typing import LiteralString, NamedTuple

from psycopg import Connection

from groundplan.kernel.store.schema import SCHEMA_NAME


class RolePrivileges(NamedTuple):
    """The privileges that bypass row level security, of a role or of roles that it is a member of."""

    is_superuser: bool
    bypasses_policies: bool
    owns_tables: bool


def read_role_privileges(connection: Connection, role: str | None = None) -> RolePrivileges | None:
    """Return the privileges of a role, by default the current one; None if it does not exist."""
    row = connection.execute(_ROLE_PRIVILEGES, {"schema": SCHEMA_NAME, "role": role}).fetchone()
    return RolePrivileges(*row) if row else None


_ROLE_PRIVILEGES: LiteralString = """
SELECT EXISTS (SELECT 1 FROM pg_roles AS o WHERE o.rolsuper AND pg_has_role(r.oid, o.oid, 'MEMBER')),
       EXISTS (SELECT 1 FROM pg_roles AS o WHERE o.rolbypassrls AND pg_has_role(r.oid, o.oid, 'MEMBER')),
       EXISTS (SELECT 1
                 FROM pg_class AS c
                 JOIN pg_namespace AS n ON n.oid = c.relnamespace
                WHERE n.nspname = %(schema)s
                  AND pg_has_role(r.oid, c.relowner, 'MEMBER'))
  FROM pg_roles AS r
 WHERE r.rolname = coalesce(%(role)s::name, current_user)
"""


def find_schema_owner(connection: Connection) -> str | None:
    """Return the role that owns the schema; None if the database is not set up."""
    row = connection.execute(
        "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s", (SCHEMA_NAME,)
    ).fetchone()
    return str(row[0]) if row else None


def find_app_role(connection: Connection) -> str | None:
    """Return the role of the policies; None if there are no policies."""
    row = connection.execute(_APP_ROLE, {"schema": SCHEMA_NAME}).fetchone()
    return row[0] if row else None


_APP_ROLE: LiteralString = """
SELECT roles[1]
  FROM pg_policies
 WHERE schemaname = %(schema)s
   AND tablename = 'projects'
   AND policyname = 'projects_select'
"""


def compute_fingerprint(connection: Connection) -> str:
    """Return a digest of all objects that protect rows: policies, grants, triggers, functions and constraints.

    It is stored at set-up and compared later, to detect changes that no other check looks for.
    """
    row = connection.execute(_FINGERPRINT, {"schema": SCHEMA_NAME}).fetchone()
    return str(row[0]) if row else ""


_FINGERPRINT: LiteralString = """
WITH ours AS (
    SELECT c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relacl
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = %(schema)s
       AND c.relkind IN ('r', 'p', 'v')
), facts (fact) AS (
    SELECT concat_ws('|', 'table', relname, relrowsecurity, relforcerowsecurity,
                     (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(relacl) AS a))
      FROM ours
     UNION ALL
    SELECT concat_ws('|', 'column', o.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attacl)
      FROM pg_attribute AS a
      JOIN ours AS o ON o.oid = a.attrelid
     WHERE a.attnum > 0
       AND NOT a.attisdropped
     UNION ALL
    SELECT concat_ws('|', 'view', c.relname, c.reloptions, pg_get_viewdef(c.oid))
      FROM pg_class AS c
      JOIN ours AS o ON o.oid = c.oid
     WHERE c.relkind = 'v'
     UNION ALL
    SELECT concat_ws('|', 'policy', tablename, policyname, permissive, roles, cmd, qual, with_check)
      FROM pg_policies
     WHERE schemaname = %(schema)s
     UNION ALL
    SELECT concat_ws('|', 'trigger', t.tgenabled, pg_get_triggerdef(t.oid))
      FROM pg_trigger AS t
      JOIN ours AS o ON o.oid = t.tgrelid
     WHERE NOT t.tgisinternal
     UNION ALL
    SELECT concat_ws('|', 'constraint', o.relname, c.conname, pg_get_constraintdef(c.oid))
      FROM pg_constraint AS c
      JOIN ours AS o ON o.oid = c.conrelid
     UNION ALL
    SELECT concat_ws('|', 'function', pg_get_functiondef(p.oid),
                     (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(p.proacl) AS a))
      FROM pg_proc AS p
      JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = %(schema)s
)
SELECT encode(sha256(convert_to(string_agg(fact, E'\n' ORDER BY fact COLLATE "C"), 'UTF8')), 'hex')
  FROM facts
"""


def read_stored_fingerprint(connection: Connection) -> str | None:
    """Return the digest from set-up. It is in a comment on the schema, which only the owner can change."""
    row = connection.execute(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s", (SCHEMA_NAME,)
    ).fetchone()
    return row[0] if row else None
