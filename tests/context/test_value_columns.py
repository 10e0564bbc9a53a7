"""A value is in the column of its kind or nowhere: every combination of columns by raw SQL on every table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations

import pytest

from tests.context.rows import COLUMNS, UNSET, constraint_row, input_row, run_row, suggestion_row
from tests.engines import Engine, Run, SqliteEngine, person, run_and_undo
from tests.kernel.store.attacks import Row, Value, sql_insert

ADA = person("ada")
Cell = tuple[str, frozenset[str]]
VALUES: Row = {
    "value_string": "far",
    "value_number": 2.5,
    "value_boolean": True,
    "value_enum": "north",
    "value_json": '{"km":12}',
}
SUBSETS = [frozenset(one) for size in range(len(VALUES) + 1) for one in combinations(VALUES, size)]
CELLS: list[Cell] = [(kind, columns) for kind in COLUMNS for columns in SUBSETS]
ALLOWED = {(kind, columns) for kind, column in COLUMNS.items() for columns in (frozenset[str](), frozenset({column}))}
# Empty, zero and false are values too, and the largest number.
LEAST: list[tuple[str, Value]] = [
    ("string", ""),
    ("number", 0.0),
    ("number", 1.7976931348623157e308),
    ("boolean", False),
    ("enum", ""),
    ("json", '""'),
    ("json", "0"),
    ("json", "false"),
]


class ValueTables:
    """An empty draft, and a row with a value for each table that can have one."""

    def __init__(self, engine: Engine) -> None:
        project: str = engine.session(ADA.id).call("project.create", name="atlas").project.id
        run = run_row(project, "draft")
        engine.as_owner(sql_insert("pciv_runs", run), sql_insert("pciv_inputs", input_row(run, "about")))
        self.engine = engine
        self.rows: dict[str, Row] = {
            "pciv_inputs": input_row(run, "x"),
            "pciv_constraints": constraint_row(run, "x"),
            "pciv_suggestions": suggestion_row(run, "x", input_id="about"),
        }

    def find_accepted(self, run: Run, table: str) -> set[Cell]:
        """Return the cells that a table accepts."""
        return {
            (kind, columns)
            for kind, columns in CELLS
            if self._accepts(run, table, {"value_kind": kind, **{column: VALUES[column] for column in columns}})
        }

    def find_refused(self, run: Run, table: str) -> Iterator[tuple[str, Value]]:
        """Yield the minimal values that a table does not accept."""
        for kind, value in LEAST:
            if not self._accepts(run, table, {"value_kind": kind, COLUMNS[kind]: value}):
                yield kind, value

    def _accepts(self, run: Run, table: str, values: Row) -> bool:
        with suppress(*self.engine.refusals):
            run_and_undo(run, sql_insert(table, {**self.rows[table], **UNSET, **values}))
            return True
        return False


@pytest.fixture
def draft(engine: Engine) -> ValueTables:
    return ValueTables(engine)


def test_of_all_combinations_only_no_value_and_one_in_the_column_of_its_kind_are_taken(
    engine: Engine, draft: ValueTables
) -> None:
    assert (len(CELLS), len(ALLOWED)) == (160, 10)
    with engine.owner_transaction() as run:
        assert {table for table in draft.rows if draft.find_accepted(run, table) != ALLOWED} == set()
        assert [(table, *one) for table in draft.rows for one in draft.find_refused(run, table)] == []


def test_without_the_rule_every_combination_is_taken(engine: Engine, draft: ValueTables) -> None:
    with engine.owner_transaction() as run:
        if isinstance(engine, SqliteEngine):
            run("PRAGMA ignore_check_constraints = ON")
        for table in draft.rows:
            if not isinstance(engine, SqliteEngine):
                run(f"ALTER TABLE {table} DROP CONSTRAINT {table}_value_matches_kind")
            assert draft.find_accepted(run, table) == set(CELLS)
