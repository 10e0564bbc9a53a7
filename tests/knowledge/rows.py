"""Stored rows of knowledge, and copies of an atom for tests that need many."""

from __future__ import annotations

from groundplan.knowledge.tables import TABLES
from groundplan.knowledge.words import build_word_index
from tests.engines import Engine, Rows, SqliteEngine

KEYS = 2**32  # number range of the word index, for each project


def all_rows(engine: Engine) -> dict[str, Rows]:
    """Return all rows that a change of knowledge could touch: its tables, events and project revisions."""
    queries = {table.name: f"SELECT * FROM {table.name}" for table in TABLES} | {
        "events": "SELECT project_id, rev, n, op, subject, changes FROM events",
        "projects": "SELECT id, rev, updated_at FROM projects",
    }
    return {name: sorted(engine.as_owner(query), key=repr) for name, query in queries.items()}


def words_by_key(engine: Engine) -> set[tuple[int, str]]:
    """Return every word of the stored texts, with its key in the word index."""
    rows = engine.as_owner(
        "SELECT g.number, e.n, e.name, e.knowledge, e.words FROM graph_projects AS g JOIN ("
        "SELECT tenant_id, project_id, n, name, knowledge, words FROM graph_atoms UNION ALL "
        "SELECT tenant_id, project_id, n, name, knowledge, words FROM graph_molecules) AS e "
        "ON e.tenant_id = g.tenant_id AND e.project_id = g.project_id"
    )
    for _, _, name, knowledge, words in rows:
        assert sorted(words.split()) == sorted(build_word_index(name, knowledge).split()), name
    return {(number * KEYS + n, word) for number, n, *_, words in rows for word in words.split()}


def list_entries(engine: SqliteEngine, index: str) -> set[tuple[int, str]]:
    """Return the entries of an index, each with its key."""
    rows = engine.as_owner(
        f"CREATE VIRTUAL TABLE temp.entries USING fts5vocab (main, {index}, instance)",
        "SELECT doc, term FROM temp.entries",
    )
    return {(key, entry) for key, entry in rows}


def trigrams_by_key(engine: SqliteEngine) -> set[tuple[int, str]]:
    """Return every trigram of the stored words, with its key in the index of trigrams."""
    rows = engine.as_owner(
        "SELECT g.number, e.n, e.words FROM graph_projects AS g JOIN ("
        "SELECT tenant_id, project_id, n, words FROM graph_atoms UNION ALL "
        "SELECT tenant_id, project_id, n, words FROM graph_molecules) AS e "
        "ON e.tenant_id = g.tenant_id AND e.project_id = g.project_id"
    )
    return {(number * KEYS + n, words[at : at + 3]) for number, n, words in rows for at in range(len(words) - 2)}


def assert_index_matches_rows(engine: Engine) -> None:
    """Assert that both indexes equal the stored texts and that no reference dangles."""
    expected = words_by_key(engine)
    if isinstance(engine, SqliteEngine):
        assert list_entries(engine, "graph_text") == expected
        assert list_entries(engine, "graph_trigrams") == trigrams_by_key(engine)
        assert engine.as_owner("PRAGMA foreign_key_check") == []


def copy_atom(engine: Engine, id_: str, count: int) -> None:
    """Insert copies of an atom by SQL: `name 100001`, `name 100002`, … with their own paths."""
    engine.as_owner(
        f"WITH RECURSIVE k (i) AS (SELECT 100001 UNION ALL SELECT i + 1 FROM k WHERE i < {100000 + count}) "
        "INSERT INTO graph_atoms (tenant_id, project_id, n, id, molecule_id, name, version, created_by_task_id, "
        "last_task_id, created_at, created_by, updated_at, updated_by, patterns, patterns_rev, paths, related_atoms, "
        "knowledge, words) "
        "SELECT tenant_id, project_id, i, substr(id, 1, 30) || i, molecule_id, name || ' ' || i, 1, "
        "created_by_task_id, last_task_id, created_at, created_by, updated_at, updated_by, 1, patterns_rev, "
        "'[\"copies/' || i || '/**\"]', related_atoms, knowledge, words || i || ' ' "
        f"FROM graph_atoms, k WHERE id = '{id_}'"
    )
