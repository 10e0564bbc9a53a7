"""Constraints of links in the schema: raw SQL cannot break them, and each is needed."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import NamedTuple

import pytest

from groundplan.kernel.store.migrations import Dialect
from tests.engines import Engine, PostgresEngine, Rows, Run, SqliteEngine, fill_once, person, run_and_undo
from tests.work.client import WorkClient

ADA, BEN, CLEO = person("ada"), person("ben"), person("cleo")
MALLORY = person("mallory", organization="rival")
LINKS = "SELECT source, type, target, node_n FROM links ORDER BY source, type, target"


def insert(source: str, type_: str, target: str, node_n: str, *, project: str = "id") -> str:
    return (
        f"INSERT INTO links SELECT tenant_id, {project}, '{source}', '{type_}', '{target}', {node_n}, rev, created_at, "
        "created_by FROM projects WHERE name = 'atlas'"
    )


def open_atlas(engine: Engine) -> None:
    """Root 1 and a 2, which rests on a fact; Ben edits, Cleo views; and a larger project beside it."""
    work = WorkClient(engine.session("ada"))
    work.open()
    work.plan("a")
    for user, role in (("ben", "editor"), ("cleo", "viewer")):
        work.call("member.add", scopeId="atlas", userId=user, role=role)
    other = WorkClient(engine.session("ada"), "borealis")
    other.open()
    other.plan("\n".join(f"n{place}" for place in range(9)))
    engine.as_owner(insert(work["a"], "rests_on", "/size", "2"))


@pytest.fixture
def atlas(engine: Engine) -> Engine:
    """The engine with the project."""
    fill_once(engine, open_atlas)
    return engine


class Attempt(NamedTuple):
    """A statement, and the constraint that forbids it."""

    statement: str
    rule: str


ATTEMPTS = {
    "a link of a node of another project": Attempt(
        insert("x", "serves", "G1", "9"), "links_begin_at_a_node_of_the_project"
    ),
    "a link in a project that is none": Attempt(
        insert("x", "rests_on", "/size", "NULL", project="'nowhere'"), "links_are_of_a_project"
    ),
    "a node that goes before its links": Attempt(
        "DELETE FROM work_nodes WHERE n = 2 AND summary = 'a'", "links_begin_at_a_node_of_the_project"
    ),
    "a link of a type that is unknown": Attempt(insert("x", "hinders", "G1", "2"), "links_type_is_known"),
    "a purpose node that serves": Attempt(
        insert("OC1", "serves", "G1", "NULL"), "links_of_purpose_nodes_rest_on_facts"
    ),
    "a link to nothing": Attempt(insert("x", "serves", "", "2"), "links_ends_fit"),
    "a link to a text that is too long in bytes": Attempt(insert("x", "serves", "ü" * 2_049, "2"), "links_ends_fit"),
}
REFERENCES = {"links_begin_at_a_node_of_the_project", "links_are_of_a_project"}


def error_text(engine: Engine, run: Run, attempt: Attempt) -> str:
    """Return the message of the database's refusal, or "done"."""
    try:
        run_and_undo(run, attempt.statement)
    except engine.refusals as refusal:
        return str(refusal)
    return "done"


def rows_without_rule(engine: Engine, run: Run, attempt: Attempt) -> Rows:
    """Return the links and nodes after an attempt made without its constraint; everything is rolled back."""
    effect = f"SELECT count(*), (SELECT count(*) FROM work_nodes) FROM ({LINKS}) AS l"
    if isinstance(engine, SqliteEngine):
        with contextlib.closing(sqlite3.connect(engine.path, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("BEGIN")
            connection.execute(attempt.statement)
            return connection.execute(effect).fetchall()
    return run_and_undo(run, f"ALTER TABLE links DROP CONSTRAINT {attempt.rule}", attempt.statement, effect)


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(atlas: Engine) -> None:
    with atlas.transaction(ADA, keep=False) as run:
        answers = {what: error_text(atlas, run, attempt) for what, attempt in ATTEMPTS.items()}

    unnamed = "FOREIGN KEY constraint failed" if atlas.dialect is Dialect.SQLITE else None
    # PostgreSQL hides a project that is none behind its row policies, before any reference is looked up.
    expected = {
        what: ("row-level security" if "none" in what else one.rule)
        if not unnamed
        else unnamed
        if one.rule in REFERENCES
        else one.rule
        for what, one in ATTEMPTS.items()
    }
    assert {what: answers[what] for what in ATTEMPTS if expected[what] not in answers[what]} == {}


def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(atlas: Engine) -> None:
    before = atlas.as_owner(f"SELECT count(*), (SELECT count(*) FROM work_nodes) FROM ({LINKS}) AS l")

    with atlas.owner_transaction() as run:
        stopped = [what for what, one in ATTEMPTS.items() if rows_without_rule(atlas, run, one) == before]

    assert stopped == []


def test_a_link_is_there_once(atlas: Engine) -> None:
    again = "INSERT INTO links SELECT * FROM links"

    with pytest.raises(atlas.refusals):
        atlas.as_app(ADA, again, keep=False)


def test_a_link_is_never_changed_only_added_and_removed(team: PostgresEngine) -> None:
    fill_once(team, open_atlas)
    before = team.as_owner(LINKS)

    for assignment in ("target = '/other'", "type = 'serves'", "rev = rev + 1", "created_by = 'mallory'"):
        with pytest.raises(team.refusals):
            team.as_app(ADA, f"UPDATE links SET {assignment}")

    assert team.as_owner(LINKS) == before


def test_the_database_lets_editors_link_and_viewers_only_read(team: PostgresEngine) -> None:
    fill_once(team, open_atlas)
    statement = insert("x", "serves", "G1", "2")

    team.as_app(BEN, statement, keep=False)
    with pytest.raises(team.refusals):
        team.as_app(CLEO, statement, keep=False)
    assert len(team.as_app(CLEO, "SELECT target FROM links")) == 1
    team.as_app(CLEO, "DELETE FROM links")
    assert len(team.as_owner("SELECT target FROM links")) == 1


def test_another_organization_sees_no_link_and_makes_none(team: PostgresEngine) -> None:
    fill_once(team, open_atlas)
    ((project,),) = team.as_owner("SELECT id FROM projects WHERE name = 'atlas'")
    team.create_organization("rival", "mallory")
    forged = (
        f"INSERT INTO links VALUES ('local', '{project}', 'OC1', 'rests_on', '/size', NULL, 1, "
        "'2026-01-01T00:00:00.000Z', 'mallory')"
    )

    assert team.as_app(MALLORY, "SELECT * FROM links") == []
    with pytest.raises(team.refusals):
        team.as_app(MALLORY, forged, keep=False)
