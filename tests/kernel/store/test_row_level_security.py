"""Row level security: a query without its predicate, run as the app role, finds no rows of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import pytest
from msgspec.structs import replace

from groundplan.catalog import build_schema
from groundplan.context import tables as context_tables
from groundplan.kernel.actors import Access, Actor
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.postgres.store import PostgresStore, PostgresTransaction
from groundplan.kernel.store.transaction import Transaction
from tests.engines import PostgresEngine, person, run_and_undo

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

ADA, BEN, CLEO, DORA = (person(name) for name in ("ada", "ben", "cleo", "dora"))
MALLORY = person("mallory", organization="rival")
STRANGERS = [
    None,
    MALLORY,
    replace(MALLORY, access=Access.OPEN),
    person("ada", organization="rival"),
    person("nobody"),
    person("mallory"),
    person(""),
    person("", organization=""),
    person("ada", organization=""),
    replace(person("ada", organization=""), access=Access.OPEN),
    person("ada'--"),
]
NUMBERS = ("bigint", "double precision")
STAMP = "'2026-01-01T00:00:00.000Z'"
TABLES = [table.name for table in build_schema().tables if table.name != "schema_migrations"]
# Not the view that compares two runs: it has no rows of its own, and rows that only fit the columns do not fill it.
SEEN = [*TABLES, *(view for view in build_schema().views if view != "pciv_displaced")]
COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
  FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'groundplan'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
 ORDER BY a.attnum
"""
# What every member of an organization may do, whatever the role in a project: create one, with its rows,
# and write templates.
MEMBERS_MAY = {
    ("update", "organizations", "rev"),
    ("update", "organizations", "updated_at"),
    ("insert", "principals"),
    ("insert", "user_memberships"),
    ("insert", "projects"),
    ("insert", "organization_events"),
    ("insert", "answers"),
    *((verb, table) for verb in ("insert", "delete") for table in ("work_templates", "work_template_sections")),
    *(
        ("update", "work_templates", column)
        for column in ("name", "description", "target", "tags", "is_protected", "is_enabled", "modified_at")
    ),
}


class FilledDatabase:
    """A database with rows of Ada's project in every table: some by the product, and one that fits the columns."""

    def __init__(self, engine: PostgresEngine) -> None:
        self.engine = engine
        ada = engine.session("ada")
        self.project: str = ada.call("project.create", name="atlas", op_id="once").project.id
        ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
        engine.as_owner(
            f"INSERT INTO principals VALUES ('local', 'dora', 'dora', 'person', {STAMP})",
            f"INSERT INTO user_memberships VALUES ('local', 'dora', {STAMP}, 'ada')",
        )
        engine.create_organization("rival", "mallory")
        self.columns: dict[str, dict[str, str]] = {table: {} for table in TABLES}
        for table, column, kind in engine.as_owner(COLUMNS.strip()):
            if table in self.columns:
                self.columns[table][column] = kind
        checks = engine.as_owner(
            "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'c' AND conrelid > 0"
        )
        statements = (
            *(f"ALTER TABLE {table} DROP CONSTRAINT {name}" for table, name in checks),
            # A project has one row of these: the key would stop an intruder before the policies do.
            "ALTER TABLE work_projects DROP CONSTRAINT work_projects_pkey CASCADE",
            "ALTER TABLE graph_projects DROP CONSTRAINT graph_projects_pkey CASCADE",
            "SET session_replication_role = replica",
            *(self.insert(table, "filled", 7, actor="ada") for table in TABLES),
        )
        engine.as_owner("; ".join(statements))  # as one call, which takes a tenth of the time

    def insert(self, table: str, key: str, number: int, *, actor: str) -> str:
        """Return SQL that inserts a row of Ada's organization and project, attributed to the actor."""
        values = {
            name: {
                "tenant_id": "'local'",
                "project_id": f"'{self.project}'",
                "subject": f"'{self.project}'",
                "actor_id": f"'{actor}'",
                "created_by": f"'{actor}'",
                "role": "'member'" if table == "user_memberships" else "'owner'",
            }.get(
                name, {**dict.fromkeys(NUMBERS, str(number)), "boolean": "true", "instant": STAMP}.get(kind, f"'{key}'")
            )
            for name, kind in self.columns[table].items()
        }
        return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(values.values())})"

    def count_visible(self, actor: Actor | None) -> dict[str, int]:
        """Return the number of rows of Ada's organization that an actor gets from queries without a predicate."""
        with self.engine.transaction(actor, keep=False) as run:
            return dict(run(" UNION ALL ".join(map(self._sql_count, SEEN))))

    @staticmethod
    def _sql_count(table: str) -> str:
        tenant = "id" if table == "organizations" else "tenant_id"
        return f"SELECT '{table}', count(*) FILTER (WHERE {tenant} = 'local') FROM {table}"

    def updates(self) -> Iterator[tuple[tuple[str, ...], str]]:
        for table, columns in self.columns.items():
            for name, kind in columns.items():
                numbers = dict.fromkeys(NUMBERS, f"{name} + 1000")
                other = {**numbers, "boolean": f"NOT {name}", "instant": STAMP.replace("2026", "2027")}
                value = other.get(kind, f"{name} || 'x'")
                yield ("update", table, name), f"UPDATE {table} SET {name} = {value}"


@pytest.fixture
def filled_database(engine: PostgresEngine) -> FilledDatabase:
    return FilledDatabase(engine)


def test_every_table_is_filled_and_its_owner_sees_it(filled_database: FilledDatabase) -> None:
    trusted = replace(ADA, access=Access.OPEN)

    assert [table for table, rows in filled_database.count_visible(trusted).items() if not rows] == []


def test_a_stranger_sees_nothing_without_any_predicate(filled_database: FilledDatabase) -> None:
    seen = {str(actor): filled_database.count_visible(actor) for actor in STRANGERS}

    assert seen == dict.fromkeys(seen, dict.fromkeys(SEEN, 0))


def test_a_colleague_who_is_not_in_the_project_sees_only_the_organization(filled_database: FilledDatabase) -> None:
    seen = {table for table, rows in filled_database.count_visible(DORA).items() if rows}

    assert seen == {
        "organizations",
        "organization_settings",
        "principals",
        "user_memberships",
        "work_templates",
        "work_template_sections",
    }


def test_without_row_level_security_the_same_queries_show_everything(filled_database: FilledDatabase) -> None:
    filled_database.engine.as_owner(*(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY" for table in TABLES))

    assert all(filled_database.count_visible(MALLORY).values())


def changes_by(
    filled_database: FilledDatabase, actor: Actor, tables: Sequence[str] = TABLES
) -> dict[tuple[str, ...], set[str]]:
    """Return the single changes to these tables that have an effect for this actor, with the changed rows.

    Everything is rolled back. The owner reads the rows and takes the app's role for the change itself.
    """
    attempts = [
        *filled_database.updates(),
        *((("delete", table), f"DELETE FROM {table}") for table in TABLES),
        *((("insert", table), filled_database.insert(table, "fresh", 8, actor=actor.id)) for table in TABLES),
    ]
    done = {}
    with filled_database.engine.owner_transaction() as run:
        # The triggers are tested elsewhere; here only policies and grants count.
        for table in tables:
            run(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        said = {"tenant": actor.organization, "actor": actor.id, "access": actor.access.value}
        for setting, value in said.items():
            run(f"SELECT set_config('groundplan.{setting}', '{value}', true)")
        as_app = f"SET LOCAL ROLE {filled_database.engine.app_role}"
        before = {table: set(run(sql_select(table))) for table in tables}
        for name, statement in attempts:
            table = name[1]
            if table in before:
                with suppress(*filled_database.engine.refusals):
                    after = set(run_and_undo(run, as_app, statement, "RESET ROLE", sql_select(table)))
                    if after != before[table]:
                        done[name] = {row for (row,) in after ^ before[table]}
    return done


def sql_select(table: str) -> str:
    return f"SELECT t::text FROM {table} AS t"


def test_a_viewer_changes_nothing_but_what_every_member_of_the_organization_may(
    filled_database: FilledDatabase,
) -> None:
    assert changes_by(filled_database, CLEO).keys() == MEMBERS_MAY


def test_a_stranger_changes_nothing_at_all(filled_database: FilledDatabase) -> None:
    done = changes_by(filled_database, MALLORY)

    # The revision of her own organization changes, and its time; nothing else.
    assert done.keys() == {("update", "organizations", "rev"), ("update", "organizations", "updated_at")}
    assert {row.partition(",")[0] for rows in done.values() for row in rows} == {"(rival"}


def test_an_editor_writes_facts_but_takes_no_run_away(filled_database: FilledDatabase) -> None:
    filled_database.engine.session("ada").call("member.add", scopeId="atlas", userId="ben", role="editor")
    declared = {table.name: table for table in context_tables.TABLES}

    done = changes_by(filled_database, BEN, tuple(declared))

    assert done.keys() == {
        *(("update", name, column) for name, table in declared.items() for column in table.update_columns),
        *((verb, name) for verb in ("insert", "delete") for name in declared),
    } - {("delete", "pciv_runs"), ("delete", "pciv_deleted_runs")}  # the inserted one names a run that is not there


def test_the_viewer_could_change_everything_if_the_policies_did_not_stop_her(filled_database: FilledDatabase) -> None:
    engine = filled_database.engine
    engine.as_owner(
        *(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY" for table in TABLES),
        f"GRANT ALL ON ALL TABLES IN SCHEMA groundplan TO {engine.app_role}",
    )

    done = changes_by(filled_database, CLEO).keys()

    assert {("delete", table) for table in TABLES} <= done
    assert {name for name, _ in filled_database.updates()} - done == set()


IDENTITY = "SELECT pg_backend_pid(), " + ", ".join(
    f"coalesce(current_setting('groundplan.{setting}', true), '')" for setting in ("tenant", "actor", "access")
)


def return_normally(tx: Transaction) -> None:
    tx.record("test.happened", "x")


def fail(tx: Transaction) -> None:
    raise RuntimeError("a defect")


def exit_early(tx: Transaction) -> None:
    raise KeyboardInterrupt


def send_bad_sql(tx: Transaction) -> None:
    assert isinstance(tx, PostgresTransaction)
    tx.connection.execute("SELECT 1 / 0")


def cancel_statement(tx: Transaction) -> None:
    assert isinstance(tx, PostgresTransaction)
    tx.connection.execute("SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(5)")


@pytest.mark.parametrize("run", [return_normally, fail, exit_early, send_bad_sql, cancel_statement])
def test_a_pooled_connection_forgets_who_used_it(engine: PostgresEngine, run: Callable[[Transaction], None]) -> None:
    engine.session("ada").call("project.create", name="atlas")
    store = PostgresStore(engine.app_url, connections_max=1)
    with store._pool.connection() as connection:
        fresh = connection.execute(IDENTITY).fetchone()

    for writes in (False, True):
        with suppress(RuntimeError, KeyboardInterrupt, Unavailable, *engine.refusals):
            store.write(ADA, "atlas", run) if writes else store.read(ADA, run)
        with store._pool.connection() as connection:
            assert connection.execute(IDENTITY).fetchone() == fresh
    store.close()

    assert fresh is not None
    assert fresh[1:] == ("", "", "")


def test_an_identity_that_is_not_for_one_transaction_only_would_be_found(engine: PostgresEngine) -> None:
    def stay(tx: Transaction) -> None:
        assert isinstance(tx, PostgresTransaction)
        tx.connection.execute("SELECT set_config('groundplan.actor', 'ada', false)")
        tx.record("test.happened", "x")

    engine.session("ada").call("project.create", name="atlas")
    store = PostgresStore(engine.app_url, connections_max=1)
    store.write(ADA, "atlas", stay)

    with store._pool.connection() as connection:
        found = connection.execute(IDENTITY).fetchone()
    store.close()

    assert found is not None
    assert "ada" in found
