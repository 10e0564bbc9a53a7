"""A store of the schema before opens as it is: its rows say what they can of who set them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from msgspec import structs

from groundplan.catalog import build_schema
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.store.migrations import Migration, load_migrations
from groundplan.kernel.store.open_store import open_store
from groundplan.kernel.store.postgres.setup import set_up
from groundplan.kernel.store.schema import Schema
from groundplan.kernel.store.sqlite.connection import connect
from groundplan.kernel.store.sqlite.file import migrate
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from tests.context.rows import STAMP, commit_columns, constraint_row, run_row
from tests.engines import Engine, PostgresEngine
from tests.kernel.store.attacks import sql_insert
from tests.kernel.store.schema_rules import insert_project, update_row

BEFORE = 23  # constraints did not say who wrote them


def load_older_schema() -> Schema:
    """Return the declarations without the names of columns, some of which this schema has not."""
    tables = (structs.replace(table, update_columns=()) for table in build_schema().tables)
    return structs.replace(build_schema(), tables=tuple(tables))


def older_constraint(id_: str, provenance: str) -> str:
    row = constraint_row(run_row("atlas", "run"), id_, provenance=provenance)
    return sql_insert("pciv_constraints", {name: value for name, value in row.items() if name != "updated_by"})


def fill_older(engine: Engine, folder: Path, steps: Sequence[Migration], *statements: str) -> Store:
    """Make a store by some steps, run statements in it as its owner, and open it as this Groundplan does."""
    if isinstance(engine, PostgresEngine):
        engine.mark_altered()
        engine.as_owner("DROP SCHEMA groundplan CASCADE")
        set_up(engine.owner_url, load_older_schema(), steps=steps)
        engine.as_owner(*statements)
        set_up(engine.owner_url, build_schema())
        return engine.another_store()
    path = folder / "plan.db"
    path.touch(mode=0o600)
    with closing(connect(path)) as connection:
        migrate(connection, load_older_schema(), steps)
        for statement in statements:
            connection.execute(statement)
    return open_store(str(path), build_schema)


def test_constraints_of_an_older_store_are_a_persons_where_a_person_entered_them(
    engine: Engine, tmp_path: Path
) -> None:
    steps = [step for step in load_migrations(engine.dialect) if step.number <= BEFORE]
    store = fill_older(
        engine,
        tmp_path,
        steps,
        insert_project("atlas", STAMP),
        sql_insert("pciv_runs", run_row("atlas", "run")),
        older_constraint("entered", "user-entered"),
        older_constraint("guessed", "model-inferred"),
        update_row("pciv_runs", "run", **commit_columns()),
    )
    with closing(store):
        ada = Session(store, local_actor("ada", kind=ActorKind.PERSON))

        written = {row.key: row.updated_by for row in ada.call("context.view", scopeId="atlas").constraints}

        assert written == {"entered": "user", "guessed": "model"}
        draft = ada.call("context.create_draft", scopeId="atlas").run.id
        agent = Session(store, local_actor("claude", kind=ActorKind.AGENT))
        limits = [{"key": key, "value": 1} for key in written]
        assert [row.constraint for row in agent.call("context.edit", runId=draft, constraints=limits).suggested] == [
            "entered"
        ]
