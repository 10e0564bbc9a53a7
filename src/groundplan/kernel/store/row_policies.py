"""Row level security and grants of PostgreSQL, generated from the declarations in `tables.py`."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.store.tables import NOBODY, SCHEMA_NAME, Schema, Table

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
    """Yield the statements that give the app role exactly the rights that each table declares.

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
