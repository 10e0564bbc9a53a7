"""An import that ends early leaves nothing behind, and the database itself keeps aliases and imports sound."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg
import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.cancellation import Cancellation, Cancelled
from groundplan.work.importing import write
from tests.engines import Engine
from tests.work.client import WorkClient
from tests.work.importing.file_import import FileImport, item

TABLES = ("work_nodes", "work_edges", "work_aliases", "work_imports", "work_sections", "events", "projects")
ITEMS = [
    item("a", sections=[{"title": "t", "text": "x"}], tags=["x"], evidence=[{"type": "note", "text": "n"}]),
    item("b", depends_on=["a"]),
]
REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError)


@pytest.fixture
def file(work: WorkClient) -> FileImport:
    return FileImport(work)


def count_rows(engine: Engine) -> list[Any]:
    return [engine.as_owner(f"SELECT count(*) FROM {table}") for table in TABLES]


@pytest.mark.parametrize("project", ["atlas", "new"])
@pytest.mark.parametrize("step", ["_insert_new", "_write_positions", "_write_parts", "_write_counts", "_list_imports"])
def test_an_import_that_is_cancelled_at_any_step_writes_nothing(
    engine: Engine, file: FileImport, monkeypatch: pytest.MonkeyPatch, step: str, project: str
) -> None:
    before = count_rows(engine)
    cancellation = Cancellation()
    original = getattr(write, step)

    def cancel_then_go_on(*given: Any, **named: Any) -> Any:
        cancellation.cancel("the command was cancelled")
        return original(*given, **named)

    monkeypatch.setattr(write, step, cancel_then_go_on)
    request = {"project": project, "tool": "beads", "file": "issues.jsonl", "items": ITEMS}
    with pytest.raises(Cancelled):
        file.work.session.execute(OPERATIONS["work.import"], request, cancellation)

    assert count_rows(engine) == before
    monkeypatch.undo()
    assert file.run(*ITEMS, project=project).counts.created == 2


def test_the_same_request_twice_has_one_effect(engine: Engine, file: FileImport) -> None:
    first = file.run(*ITEMS, op_id="once")
    before = count_rows(engine)
    assert file.run(*ITEMS, op_id="once") == first
    assert count_rows(engine) == before


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO work_aliases SELECT tenant_id, project_id, alias, node_n + 1 FROM work_aliases WHERE alias = 'a'",
        "INSERT INTO work_aliases SELECT tenant_id, project_id, 'lost', 99 FROM work_aliases WHERE alias = 'a'",
        "INSERT INTO work_aliases SELECT tenant_id, project_id, '', node_n FROM work_aliases WHERE alias = 'a'",
        "UPDATE work_imports SET node_n = 99 WHERE source_id = 'a'",
        "INSERT INTO work_imports SELECT tenant_id, project_id, tool, source_id, NULL, '', '{}' FROM work_imports",
    ],
)
def test_the_database_refuses_aliases_and_imports_that_lead_nowhere(
    engine: Engine, file: FileImport, statement: str
) -> None:
    file.run(*ITEMS)
    with pytest.raises(REFUSED):
        engine.as_owner(statement)
