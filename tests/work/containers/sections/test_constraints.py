"""Constraints on sections in the schema: raw SQL cannot break them, and each is needed.

Each attempt runs twice: on the app's connection, where its constraint must refuse it, and as the owner without that
constraint, where it must succeed.
"""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import VersionSkipped
from tests.engines import Engine, Rows, Run, SqliteEngine, fill_once, person, run_and_undo
from tests.work.containers.sections.client import NOWHERE, SectionsClient

ADA = person("ada")
VERSION = "work_sections_version_moves_by_one"
ORDER = "work_sections_stand_in_an_order"
OF_A_NODE = "work_sections_are_of_a_node"
OF_A_SECTION = "work_section_tags_are_of_a_section"


def update_two(assignment: str, version: str = "version + 1") -> str:
    return f"UPDATE work_sections SET {assignment}, version = {version} WHERE title = 'Two'"


def insert_copy(**columns: str) -> str:
    """Return SQL that inserts a copy of section Two with other values in some columns."""
    values = {
        **dict.fromkeys(("tenant_id", "project_id", "node_n", "title", "usage_description"), ""),
        **dict.fromkeys(("content_format", "content", "created_at", "created_by", "modified_at", "modified_by"), ""),
        "id": f"'{NOWHERE}'",
        "ordinal": "9",
        "version": "1",
        **columns,
    }
    chosen = ", ".join(value or name for name, value in values.items())
    return f"INSERT INTO work_sections ({', '.join(values)}) SELECT {chosen} FROM work_sections WHERE title = 'Two'"


def insert_tag(section: str, tag: str = "'x'") -> str:
    return (
        "INSERT INTO work_section_tags (tenant_id, project_id, section_id, tag) "
        f"SELECT tenant_id, project_id, {section}, {tag} FROM work_sections WHERE title = 'Two'"
    )


ATTEMPTS = {
    "a place that is taken": (update_two("ordinal = 0"), ORDER),
    "a new section at a place that is taken": (insert_copy(ordinal="0"), ORDER),
    "a place before the first": (update_two("ordinal = -1"), "work_sections_ordinal_counts"),
    "a section at version 0": (insert_copy(version="0"), "work_sections_ordinal_counts"),
    "a change that keeps the version": (update_two("content = 'x'", "version"), VERSION),
    "a change that does not mention it": ("UPDATE work_sections SET content = 'x' WHERE title = 'Two'", VERSION),
    "a version that skips": (update_two("content = 'x'", "version + 2"), VERSION),
    "a version that goes back": (update_two("content = 'x'", "version - 1"), VERSION),
    "a section without a title": (update_two("title = ''"), "work_sections_title_fits"),
    "a title that is too long": (update_two(f"title = '{'ü' * 256}'"), "work_sections_title_fits"),
    "a use that is too long": (update_two(f"usage_description = '{'ü' * 2_049}'"), "work_sections_usage_fits"),
    "content that is too long": (update_two(f"content = '{'ü' * 16_385}'"), "work_sections_content_fits"),
    "a format that nobody knows": (update_two("content_format = 'HTML'"), "work_sections_format_is_known"),
    "a section of nothing": (insert_copy(node_n="999"), OF_A_NODE),
    "a tag of no section": (insert_tag(f"'{NOWHERE}'"), OF_A_SECTION),
    "a section that goes while it has tags": ("DELETE FROM work_sections WHERE title = 'One'", OF_A_SECTION),
    "an empty tag": (insert_tag("id", "''"), "work_section_tags_fit"),
    "a tag that is too long": (insert_tag("id", f"'{'x' * 101}'"), "work_section_tags_fit"),
}


def add_sections(engine: Engine) -> None:
    """Add the section One with a tag, and Two at version 2."""
    desk = SectionsClient(engine, engine.session("ada")).open()
    desk.add("One", tags="a")
    desk.add("Two")
    desk.update("Two", content="y")


@pytest.fixture(autouse=True)
def sections(engine: Engine) -> None:
    """The section One with a tag, and Two at version 2."""
    fill_once(engine, add_sections)


def error_text(engine: Engine, run: Run, statement: str) -> str:
    """Return the message of the database's refusal, or "done"."""
    try:
        run_and_undo(run, statement)
    except engine.refusals as refusal:
        return str(refusal)
    return "done"


def expected_text(engine: Engine, rule: str) -> str:
    """Return the text by which a refusal names the constraint."""
    if engine.dialect is Dialect.SQLITE and rule in (OF_A_NODE, OF_A_SECTION):
        return "FOREIGN KEY constraint failed"  # SQLite does not name the foreign key
    if engine.dialect is Dialect.SQLITE and rule == ORDER:
        return "UNIQUE constraint failed: work_sections.tenant_id, work_sections.project_id, work_sections.node_n"
    return "version_step" if rule == VERSION else rule


def select_all(table: str) -> str:
    return f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4"


def rows_without_rule(engine: Engine, run: Run, statement: str, rule: str) -> tuple[Rows, Rows]:
    """Return the rows after an attempt made without its constraint; everything is rolled back."""
    tables = ("work_sections", "work_section_tags")
    if isinstance(engine, SqliteEngine):
        with contextlib.closing(sqlite3.connect(engine.path, isolation_level=None)) as connection:
            # SQLite can only disable all constraints of a kind.
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("BEGIN")
            if rule == VERSION:
                connection.execute(f"DROP TRIGGER {rule}")
            connection.execute(statement)
            one, other = (connection.execute(select_all(table)).fetchall() for table in tables)
            return one, other
    if rule == VERSION:
        down = f"DROP TRIGGER {rule} ON work_sections"
    elif statement.startswith("DELETE"):
        down = "ALTER TABLE work_sections DISABLE TRIGGER ALL"
    else:
        down = f"ALTER TABLE {'work_section_tags' if 'tags' in rule else 'work_sections'} DROP CONSTRAINT {rule}"
    one, other = (run_and_undo(run, down, statement, select_all(table)) for table in tables)
    return one, other


def test_the_database_itself_refuses_by_the_rule_that_is_for_it(engine: Engine, subtests: pytest.Subtests) -> None:
    with engine.transaction(ADA, keep=False) as run:
        for what, (statement, rule) in ATTEMPTS.items():
            with subtests.test(what):
                assert expected_text(engine, rule) in error_text(engine, run, statement)


def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(engine: Engine) -> None:
    before = engine.as_owner(select_all("work_sections")), engine.as_owner(select_all("work_section_tags"))
    # SQLite cannot drop a unique key.
    tried = [
        (statement, rule)
        for statement, rule in ATTEMPTS.values()
        if rule != ORDER or engine.dialect is Dialect.POSTGRES
    ]

    with engine.owner_transaction() as run:
        assert [
            statement for statement, rule in tried if rows_without_rule(engine, run, statement, rule) == before
        ] == []
    assert (engine.as_owner(select_all("work_sections")), engine.as_owner(select_all("work_section_tags"))) == before


def test_a_caller_of_the_store_is_told_that_a_version_was_skipped(engine: Engine) -> None:
    with pytest.raises(VersionSkipped):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(Query("raw", update_two("content = 'x'", "version + 2"))))


def test_a_version_moves_by_one(engine: Engine) -> None:
    engine.as_app(ADA, update_two("content = 'x'"))

    assert engine.as_owner("SELECT version FROM work_sections WHERE title = 'Two'") == [(3,)]
