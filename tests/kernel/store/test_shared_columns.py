"""A list of columns is written once in a file of queries and used by all its queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.kernel.store.queries import load_queries

TEXT = """
-- columns: node
summary, resolved

-- part: mine
tenant_id = :tenant_id

-- name: read
SELECT {node} FROM nodes WHERE {mine};

-- name: joined
SELECT {c.node} FROM nodes AS c;

-- name: add
INSERT INTO nodes ({node}) VALUES ({node:values});

-- name: change
UPDATE nodes SET {node:set} WHERE n = :n;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "queries.sql").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("read", "SELECT summary, resolved FROM nodes WHERE tenant_id = :tenant_id"),
        ("joined", "SELECT c.summary, c.resolved FROM nodes AS c"),
        ("add", "INSERT INTO nodes (summary, resolved) VALUES (:summary, :resolved)"),
        ("change", "UPDATE nodes SET summary = :summary, resolved = :resolved WHERE n = :n"),
    ],
)
def test_a_list_of_columns_is_written_as_the_statement_needs_it(folder: Path, name: str, expected: str) -> None:
    assert getattr(load_queries(str(folder / "module.py")), name).sqlite == expected


def test_the_values_of_a_statement_are_its_parameters(folder: Path) -> None:
    queries = load_queries(str(folder / "module.py"))

    assert queries.change.parameters == {"n", "resolved", "summary"}
    assert queries.read.parameters == {"tenant_id"}


def test_an_override_may_list_other_columns(folder: Path) -> None:
    (folder / "queries.postgres.sql").write_text("-- columns: node\nsummary\n", encoding="utf-8")

    queries = load_queries(str(folder / "module.py"))

    assert queries.joined.postgres == "SELECT c.summary FROM nodes AS c"
    assert queries.joined.sqlite == "SELECT c.summary, c.resolved FROM nodes AS c"
