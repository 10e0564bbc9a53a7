"""The program run in the test process: its exit status and its output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg import sql

from groundplan.__main__ import main
from tests.postgres import Server
from tests.surfaces.copied_schema import migrate_once


class RunResult(NamedTuple):
    """The result of one run of the program."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """The answer that `--json` printed, as the only line."""
        assert self.code == 0, self.err
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def error(self) -> tuple[int, str]:
        """Exit status and code of an error that `--json` printed on stderr, with nothing on stdout."""
        assert self.out == ""
        return self.code, json.loads(self.err)["error"]["code"]


Run = Callable[..., RunResult]


@pytest.fixture(autouse=True)
def _empty_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in [name for name in os.environ if name.startswith("GROUNDPLAN_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setenv("GROUNDPLAN_DB", "groundplan.db")  # named, so the first write may create it
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _copied_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    migrate_once(monkeypatch)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `groundplan` with these arguments, in an empty folder, as Ada."""

    def run(*arguments: str) -> RunResult:
        capsys.readouterr()
        code = main(arguments)
        return RunResult(code, *capsys.readouterr())

    return run


@pytest.fixture
def owner_url(postgres: Server, worker: str) -> Iterator[str]:
    """The owner's URL of an empty database. The roles that `init` creates are cluster-wide, so they are dropped."""
    name = f"cli_{worker}"
    with postgres.database(name) as url:
        yield url
    with psycopg.connect(postgres.uri(), autocommit=True) as connection:
        roles = connection.execute("SELECT rolname FROM pg_roles WHERE starts_with(rolname, %s)", (f"{name}_",))
        for (role,) in roles.fetchall():
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
