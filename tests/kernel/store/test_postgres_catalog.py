"""Rules that PostgreSQL's own catalog must follow.

Each query returns offenders. There are none, and for each query an offender is made to show that it is found.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.store.postgres.store import PostgresStore, UnsafeRole
from groundplan.kernel.store.schema import NOBODY, SCHEMA_NAME
from tests.engines import PostgresEngine, Rows, run_and_undo

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

SECURITY = Path(__file__).parents[3] / "SECURITY.md"
DECLARED = ", ".join(f"('{table.name}')" for table in build_schema().tables)
FROZEN_CHILDREN = ", ".join(
    f"('{rule.parent}', '{child}')" for rule in build_schema().frozen for child in rule.children
)
DECLARED_VIEWS = ", ".join(f"'{view}'" for view in build_schema().views)
TABLES = f"SELECT * FROM pg_class WHERE relnamespace = '{SCHEMA_NAME}'::regnamespace AND relkind IN ('r', 'p')"
FUNCTIONS = f"SELECT * FROM pg_proc WHERE pronamespace = '{SCHEMA_NAME}'::regnamespace"
POLICIES = f"SELECT * FROM pg_policies WHERE schemaname = '{SCHEMA_NAME}'"
# The tenant of an organization is itself, and the applied migrations have no tenant.
TENANT_TABLES = f"SELECT * FROM ({TABLES}) AS t WHERE relname NOT IN ('organizations', 'schema_migrations')"


@dataclass(frozen=True)
class OffenderQuery:
    """A query for offenders, and statements that make one."""

    offenders: str
    spoil: tuple[str, ...]


QUESTIONS = {
    "every table has row level security, enabled and forced": OffenderQuery(
        f"SELECT relname FROM ({TABLES}) AS t WHERE NOT relrowsecurity OR NOT relforcerowsecurity",
        ("ALTER TABLE events DISABLE ROW LEVEL SECURITY", "ALTER TABLE events NO FORCE ROW LEVEL SECURITY"),
    ),
    "every table has one policy for each command, for the app role alone": OffenderQuery(
        f"""SELECT relname
              FROM ({TABLES}) AS t
             WHERE (SELECT array_agg(cmd ORDER BY cmd) FROM ({POLICIES}) AS p
                     WHERE tablename = relname AND roles = ARRAY['{{app}}'::name] AND permissive = 'PERMISSIVE')
                   IS DISTINCT FROM ARRAY['DELETE', 'INSERT', 'SELECT', 'UPDATE']""",
        ("DROP POLICY events_delete ON events", "CREATE POLICY stray ON events FOR SELECT TO {app} USING (true)"),
    ),
    "no policy is for anybody but the app role and the owner": OffenderQuery(
        f"SELECT policyname FROM ({POLICIES}) AS p "
        "WHERE roles NOT IN (ARRAY['{app}'::name], ARRAY['{owner}'::name])",
        ("CREATE POLICY stray ON events FOR SELECT TO PUBLIC USING (true)",),
    ),
    "a policy for UPDATE or INSERT says which rows may come of it": OffenderQuery(
        f"SELECT policyname FROM ({POLICIES}) AS p WHERE cmd IN ('UPDATE', 'INSERT', 'ALL') AND with_check IS NULL",
        ("CREATE POLICY stray ON events FOR UPDATE TO {app} USING (true)",),
    ),
    "policies ask who the actor is once per statement, not once per row": OffenderQuery(
        # A policy may ask about the row itself only where there is a single row: on INSERT.
        f"""SELECT policyname
              FROM ({POLICIES}) AS p
             WHERE concat(qual, ' ', regexp_replace(with_check, 'gp_(has_no_members|is_making)\\(project_id\\)',
                                                    CASE cmd WHEN 'INSERT' THEN '' ELSE 'gp_x(' END, 'g'))
                   ~ '(?<!SELECT )gp_\\w+\\('""",
        (
            "CREATE POLICY stray ON events FOR SELECT TO {app} USING (project_id = ANY (gp_projects_as('{{owner}}')))",
            "CREATE POLICY stray ON events FOR SELECT TO {app} USING (tenant_id = gp_tenant())",
            "CREATE POLICY stray ON events FOR UPDATE TO {app} USING (true) WITH CHECK (gp_has_no_members(project_id))",
        ),
    ),
    "the app role has no powers": OffenderQuery(
        "SELECT rolname FROM pg_roles WHERE rolname = '{app}' "
        "AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)",
        ("ALTER ROLE {app} BYPASSRLS", "ALTER ROLE {app} SUPERUSER", "ALTER ROLE {app} CREATEROLE"),
    ),
    "the app role belongs to no other role": OffenderQuery(
        "SELECT roleid::regrole FROM pg_auth_members WHERE member = '{app}'::regrole",
        ("GRANT pg_read_all_data TO {app}",),
    ),
    "the app role owns nothing": OffenderQuery(
        "SELECT classid, objid FROM pg_shdepend WHERE refobjid = '{app}'::regrole AND deptype = 'o'",
        (
            "ALTER TABLE events OWNER TO {app}",
            "ALTER FUNCTION gp_tenant() OWNER TO {app}",
            f"ALTER SCHEMA {SCHEMA_NAME} OWNER TO {{app}}",
        ),
    ),
    "the app role can create nothing beside the tables": OffenderQuery(
        f"SELECT 1 WHERE has_schema_privilege('{{app}}', '{SCHEMA_NAME}', 'CREATE')",
        (f"GRANT CREATE ON SCHEMA {SCHEMA_NAME} TO {{app}}",),
    ),
    "the app role has only the rights of the four commands": OffenderQuery(
        f"SELECT relname, privilege_type FROM ({TABLES}) AS t, aclexplode(relacl) "
        "WHERE grantee = '{app}'::regrole AND privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')",
        ("GRANT TRUNCATE ON events TO {app}", "GRANT TRIGGER ON events TO {app}"),
    ),
    "nobody else has a right to a table": OffenderQuery(
        f"SELECT relname, grantee FROM ({TABLES}) AS t, aclexplode(relacl) "
        "WHERE grantee NOT IN ('{app}'::regrole, relowner)",
        ("GRANT SELECT ON events TO PUBLIC",),
    ),
    "what runs with the owner's rights has a fixed search_path": OffenderQuery(
        f"SELECT proname FROM ({FUNCTIONS}) AS f WHERE prosecdef "
        f"AND NOT coalesce('search_path={SCHEMA_NAME}, pg_temp' = ANY (proconfig), false)",
        ("ALTER FUNCTION gp_in_organization() RESET search_path", "ALTER FUNCTION gp_tenant() SECURITY DEFINER"),
    ),
    # Row level security would hide rows from one with the caller's rights: see test_blinded_guards.
    "what refuses runs with the owner's rights, and only triggers call it": OffenderQuery(
        f"""SELECT proname
              FROM ({FUNCTIONS}) AS f
             WHERE prorettype = 'trigger'::regtype
               AND (NOT prosecdef
                    OR proowner <> (SELECT relowner FROM pg_class WHERE oid = 'events'::regclass)
                    OR has_function_privilege('{{app}}', f.oid, 'EXECUTE'))""",
        (
            "ALTER FUNCTION gp_pciv_runs_commit_is_whole() SECURITY INVOKER",
            "ALTER FUNCTION guard_toc_nodes_frozen() SECURITY INVOKER",
            "GRANT EXECUTE ON FUNCTION gp_keep_an_owner() TO {app}",
            "ALTER FUNCTION gp_keep_an_owner() OWNER TO postgres",
        ),
    ),
    "what runs with the owner's rights sees every row": OffenderQuery(
        f"""SELECT relname
              FROM ({TABLES}) AS t
             WHERE NOT EXISTS (SELECT 1
                                 FROM ({POLICIES}) AS p
                                WHERE tablename = relname
                                  AND roles = ARRAY['{{owner}}'::name]
                                  AND (permissive, cmd, qual, with_check) = ('PERMISSIVE', 'ALL', 'true', 'true'))""",
        (" ".join(("DROP POLICY", "toc_versions_owner", "ON toc_versions")),),  # so that the check of code skips it
    ),
    "what freezes with its parent is in the project of its parent": OffenderQuery(
        f"""SELECT child
              FROM (VALUES {FROZEN_CHILDREN}) AS f (parent, child)
             WHERE NOT EXISTS (SELECT 1
                                 FROM pg_constraint
                                WHERE contype = 'f'
                                  AND conrelid = child::regclass
                                  AND confrelid = parent::regclass
                                  AND pg_get_constraintdef(oid) LIKE 'FOREIGN KEY (tenant_id, project_id,%')""",
        ("ALTER TABLE toc_nodes DROP CONSTRAINT toc_nodes_are_of_a_version",),
    ),
    "no table that the app role cannot delete from can be locked by it against readers or writers": OffenderQuery(
        f"""SELECT relname
              FROM ({TABLES}) AS t
             WHERE has_table_privilege('{{app}}', t.oid, 'UPDATE, TRUNCATE')
               AND NOT has_table_privilege('{{app}}', t.oid, 'DELETE')""",
        ("GRANT UPDATE ON answers TO {app}",),
    ),
    "no function is open to everybody": OffenderQuery(
        f"SELECT proname FROM ({FUNCTIONS}) AS f WHERE proacl IS NULL "
        "OR EXISTS (SELECT 1 FROM aclexplode(proacl) WHERE grantee = 0)",
        ("GRANT EXECUTE ON FUNCTION gp_in_organization() TO PUBLIC", "CREATE FUNCTION stray() RETURNS int RETURN 1"),
    ),
    "every row of a tenant names its tenant": OffenderQuery(
        f"SELECT relname FROM ({TENANT_TABLES}) AS t WHERE NOT EXISTS "
        "(SELECT 1 FROM pg_attribute WHERE attrelid = t.oid AND attname = 'tenant_id' AND attnotnull)",
        ("CREATE TABLE stray (id text)",),
    ),
    "the tenant stands first in every key, unique rule and reference": OffenderQuery(
        f"""SELECT relname, conname
              FROM ({TENANT_TABLES}) AS t
              JOIN pg_constraint AS c ON c.conrelid = t.oid AND contype IN ('p', 'u', 'f', 'x')
              JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = conkey[1]
             WHERE attname <> 'tenant_id'
             UNION ALL
            SELECT relname, indexrelid::regclass::text
              FROM ({TENANT_TABLES}) AS t
              JOIN pg_index AS i ON i.indrelid = t.oid AND indisunique
              JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = indkey[0]
             WHERE attname <> 'tenant_id'""",
        (
            "ALTER TABLE projects ADD CONSTRAINT stray UNIQUE (name)",
            "CREATE UNIQUE INDEX stray ON projects (name)",
            "ALTER TABLE projects ADD CONSTRAINT stray FOREIGN KEY (name) REFERENCES organizations (id)",
        ),
    ),
    "a reference to a tenant's row ends at the same tenant": OffenderQuery(
        f"""SELECT conname
              FROM ({TENANT_TABLES}) AS t
              JOIN pg_constraint AS c ON c.conrelid = t.oid AND contype = 'f'
              JOIN pg_attribute AS a ON a.attrelid = confrelid AND a.attnum = confkey[1]
             WHERE attname <> CASE WHEN confrelid = 'organizations'::regclass THEN 'id' ELSE 'tenant_id' END""",
        (
            "ALTER TABLE projects ADD CONSTRAINT x UNIQUE (id, tenant_id), "
            "ADD CONSTRAINT stray FOREIGN KEY (tenant_id, id) REFERENCES projects (id, tenant_id)",
        ),
    ),
    "there are no sequences": OffenderQuery(
        f"SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = '{SCHEMA_NAME}'::regnamespace",
        ("CREATE SEQUENCE stray",),
    ),
    'text compares by code point (COLLATE "C")': OffenderQuery(
        f"SELECT relname, attname FROM ({TABLES}) AS t JOIN pg_attribute AS a ON a.attrelid = t.oid AND attnum > 0 "
        "WHERE attcollation NOT IN (0, '\"C\"'::regcollation)",
        ("ALTER TABLE events ADD COLUMN stray text", "ALTER TABLE events ADD COLUMN stray varchar(3)"),
    ),
    "views ask as whoever looks at them": OffenderQuery(
        f"SELECT relname FROM pg_class WHERE relkind IN ('v', 'm') AND relnamespace = '{SCHEMA_NAME}'::regnamespace "
        "AND NOT coalesce('security_invoker=true' = ANY (reloptions), false)",
        ("CREATE VIEW stray AS SELECT 1", "CREATE MATERIALIZED VIEW stray AS SELECT 1"),
    ),
    "a view can be looked at by the app role, and that is all": OffenderQuery(
        f"""SELECT relname
              FROM pg_class AS v
             WHERE relkind = 'v' AND relnamespace = '{SCHEMA_NAME}'::regnamespace
               AND (relname NOT IN ({DECLARED_VIEWS})
                    OR (SELECT array_agg(privilege_type || ' ' || grantee::regrole) FROM aclexplode(relacl)
                         WHERE grantee <> relowner) IS DISTINCT FROM ARRAY['SELECT {{app}}'])""",
        (
            "CREATE VIEW stray WITH (security_invoker = true) AS SELECT 1",
            "GRANT UPDATE ON pciv_scope_members TO {app}",
            "GRANT SELECT ON pciv_scope_members TO PUBLIC",
            "REVOKE SELECT ON pciv_scope_members FROM {app}",
        ),
    ),
    "every table is declared, and every declared table is there": OffenderQuery(
        f"SELECT * FROM (VALUES {DECLARED}) AS d (name) FULL JOIN ({TABLES}) AS t ON relname = name "
        "WHERE relname IS NULL OR name IS NULL",
        ("CREATE TABLE stray (tenant_id text)", "DROP TABLE answers"),
    ),
}


def find_offenders(engine: PostgresEngine, question: OffenderQuery, *, after: str | None = None) -> Rows:
    """Return the offenders after some statements; everything is rolled back."""
    owner = engine.as_owner("SELECT relowner::regrole FROM pg_class WHERE relname = 'events'")[0][0]
    statements = (after, question.offenders) if after else (question.offenders,)
    return engine.as_owner(*(one.format(app=engine.app_role, owner=owner) for one in statements), keep=False)


def test_the_catalog_answers_every_question_well(engine: PostgresEngine) -> None:
    offenders = {name: find_offenders(engine, question) for name, question in QUESTIONS.items()}

    assert {name: found for name, found in offenders.items() if found} == {}


def test_every_question_finds_its_offenders(engine: PostgresEngine) -> None:
    blind = [
        (name, offence)
        for name, question in QUESTIONS.items()
        for offence in question.spoil
        if not find_offenders(engine, question, after=offence)
    ]

    assert blind == []


def test_the_policies_are_asked_once_per_statement(engine: PostgresEngine) -> None:
    for table in ("projects", "project_members", "events"):
        plan = "\n".join(line for (line,) in engine.as_app(None, f"EXPLAIN (COSTS OFF) SELECT * FROM {table}"))

        assert "InitPlan" in plan
        assert "gp_projects_as" not in plan.split("InitPlan")[0]


def test_the_app_role_can_lock_no_table_that_it_cannot_delete_from(engine: PostgresEngine) -> None:
    locked = set()
    with engine.transaction(None, keep=False) as run:
        for table in build_schema().tables:
            with suppress(psycopg.errors.InsufficientPrivilege):
                run_and_undo(run, f"LOCK TABLE {table.name} IN ACCESS EXCLUSIVE MODE")
                locked.add(table.name)

    assert locked == {table.name for table in build_schema().tables if table.delete != NOBODY}
    assert locked.isdisjoint({"projects", "organizations", "events", "answers", "principals", "user_memberships"})


CREATE_LARGE_OBJECTS = ("SELECT lo_create(0)", "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, 'x')")


def test_what_the_guide_tells_a_superuser_keeps_the_app_role_from_large_objects(engine: PostgresEngine) -> None:
    (advice,) = re.findall(r"REVOKE EXECUTE ON FUNCTION lo_[^;]+", SECURITY.read_text(encoding="utf-8"))
    made: dict[bool, list[str]] = {}
    for is_forbidden in (False, True):
        with engine.owner_transaction() as run:
            run(advice if is_forbidden else "SELECT 1")
            run(f"SET LOCAL ROLE {engine.app_role}")
            made[is_forbidden] = []
            for statement in CREATE_LARGE_OBJECTS:
                with suppress(psycopg.errors.InsufficientPrivilege):
                    run_and_undo(run, statement)
                    made[is_forbidden].append(statement)

    assert made == {False: [*CREATE_LARGE_OBJECTS], True: []}


@pytest.mark.parametrize("power", ["", "BYPASSRLS", "SUPERUSER"], ids=["none", "bypass", "superuser"])
@pytest.mark.parametrize("how", ["itself", "as a member"])
def test_the_store_refuses_a_role_that_could_step_around_the_policies(
    engine: PostgresEngine, worker: str, power: str, how: str
) -> None:
    role, power_role = f"test_{worker}", f"test_{worker}_power"
    url = engine.owner_url.replace(f"//owner_{worker}@", f"//{role}@")
    made = [
        f"CREATE ROLE {power_role} {power}",
        f"CREATE ROLE {role} LOGIN {power if how == 'itself' else ''} IN ROLE {engine.app_role}",
        *([f"GRANT {power_role} TO {role}"] if how != "itself" else []),
    ]
    with psycopg.connect(engine.superuser_url, autocommit=True) as connection:
        try:
            for statement in made:
                connection.execute(statement)
            if power:
                with pytest.raises(UnsafeRole) as refused:
                    PostgresStore(url)
                assert refused.value.code == "store_unsafe_role"
            else:
                PostgresStore(url).close()
        finally:
            connection.execute(f"DROP ROLE IF EXISTS {role}")
            connection.execute(f"DROP ROLE IF EXISTS {power_role}")


@pytest.mark.parametrize("who", ["superuser_url", "owner_url"])
def test_the_store_refuses_the_superuser_and_the_owner(engine: PostgresEngine, who: str) -> None:
    with pytest.raises(UnsafeRole):
        PostgresStore(getattr(engine, who))
