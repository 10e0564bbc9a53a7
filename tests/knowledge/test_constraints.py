"""Constraints of knowledge in the schema: raw SQL cannot break them, and each is needed.

Each attempt runs twice: on the app's connection, where its constraint must refuse it, and as the owner without that
constraint, where it must succeed. Constraints that the app never reaches, because another one refuses first, are tried
as the owner.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import ParentMissing, RevisionSkipped, VersionSkipped
from tests.engines import Engine, Rows, Run, fill_once, person, run_and_undo
from tests.knowledge.client import COMMIT, NOWHERE, KnowledgeClient

ADA = person("ada")
TABLES = ("graph_projects", "graph_molecules", "graph_atoms", "graph_changelog", "graph_deleted", "graph_freshness")
STAMP = "'2026-03-01T09:00:00.000Z'"
ATLAS = "(SELECT id FROM projects WHERE name = 'atlas')"
RELATIONS = json.dumps([{"atomId": NOWHERE, "reason": "x"}] * 51)
PATHS = json.dumps(["a"] * 21)


def sql_update(table: str, name: str, assignment: str, version: str = "version + 1") -> str:
    return f"UPDATE graph_{table} SET {assignment}, version = {version} WHERE name = '{name}'"


def update_atom(assignment: str, version: str = "version + 1") -> str:
    return sql_update("atoms", "Cart", assignment, version)


def update_molecule(assignment: str, version: str = "version + 1") -> str:
    return sql_update("molecules", "Shop", assignment, version)


def select_id(table: str, name: str) -> str:
    return f"(SELECT id FROM graph_{table} WHERE name = '{name}')"


def insert_atom(
    *, n: str = "1000", id_: str = f"'{NOWHERE}'", version: str = "1", project_id: str = "project_id"
) -> str:
    return (
        "INSERT INTO graph_atoms (tenant_id, project_id, n, id, name, version, created_by_task_id, last_task_id, "
        "created_at, created_by, updated_at, updated_by, patterns, patterns_rev, paths, knowledge, words) "
        f"SELECT tenant_id, {project_id}, {n}, {id_}, 'copied', {version}, 'x', 'x', {STAMP}, 'ada', {STAMP}, 'ada', "
        "1, 1, paths, '', '  ' FROM graph_atoms WHERE name = 'Cart'"
    )


def insert_molecule(*, n: str = "1000", id_: str = f"'{NOWHERE}'", version: str = "1", project_id: str = ATLAS) -> str:
    return (
        "INSERT INTO graph_molecules (tenant_id, project_id, n, id, name, version, created_by_task_id, last_task_id, "
        f"created_at, created_by, updated_at, updated_by, knowledge, words) VALUES ('local', {project_id}, {n}, {id_}, "
        f"'copied', {version}, 'x', 'x', {STAMP}, 'ada', {STAMP}, 'ada', '', '  ')"
    )


def insert_entry(parent_type: str, parent_id: str, summary: str = "x", project_id: str = ATLAS) -> str:
    return (
        "INSERT INTO graph_changelog (tenant_id, project_id, id, parent_type, parent_id, rev, task_id, created_at, "
        f"created_by, summary) VALUES ('local', {project_id}, '{NOWHERE}', '{parent_type}', {parent_id}, 1, 'x', "
        f"{STAMP}, 'ada', '{summary}')"
    )


def insert_deleted(entity_type: str, project_id: str = ATLAS) -> str:
    return f"INSERT INTO graph_deleted VALUES ('local', '{NOWHERE}', {project_id}, '{entity_type}', 1)"


def update_counts(assignment: str) -> str:
    return f"UPDATE graph_projects SET {assignment} WHERE project_id = {ATLAS}"


def update_freshness(assignment: str) -> str:
    return f"UPDATE graph_freshness SET {assignment} WHERE project_id = {ATLAS}"


@dataclass(frozen=True)
class Attempt:
    """A statement and the constraint that forbids it. Its effect shows in the table that it changes."""

    statement: str
    rule: str

    @property
    def table(self) -> str:
        return next(word for word in self.statement.split() if word in TABLES)

    @property
    def rule_table(self) -> str:
        return next(table for table in TABLES if self.rule.startswith(table))


ATTEMPTS = {
    "an atom without a name": Attempt(update_atom("name = ''"), "graph_atoms_name_fits"),
    "a name that is too long": Attempt(update_atom(f"name = '{'ü' * 256}'"), "graph_atoms_name_fits"),
    "an atom without a boundary": Attempt(update_atom("paths = '[]'"), "graph_atoms_have_a_boundary"),
    "an atom with too many paths": Attempt(update_atom(f"paths = '{PATHS}'"), "graph_atoms_have_a_boundary"),
    "knowledge that is too long in bytes": Attempt(
        update_atom(f"knowledge = '{'ü' * 16_385}'"), "graph_atoms_knowledge_fits"
    ),
    "too many relations": Attempt(update_atom(f"related_atoms = '{RELATIONS}'"), "graph_atoms_relations_fit"),
    "a change that keeps the version": Attempt(
        update_atom("knowledge = 'x'", "version"), "graph_atoms_version_moves_by_one"
    ),
    "a change that does not mention the version": Attempt(
        "UPDATE graph_atoms SET knowledge = 'x' WHERE name = 'Cart'", "graph_atoms_version_moves_by_one"
    ),
    "a version that skips": Attempt(update_atom("knowledge = 'x'", "version + 2"), "graph_atoms_version_moves_by_one"),
    "a version that goes back": Attempt(
        update_atom("knowledge = 'x'", "version - 1"), "graph_atoms_version_moves_by_one"
    ),
    "an atom at version 0": Attempt(insert_atom(version="0"), "graph_atoms_version_counts"),
    "a confirmation since never": Attempt(update_atom("confirmed_at = NULL"), "graph_atoms_confirmation_is_whole"),
    "a confirmation at no commit": Attempt(update_atom("confirmed_commit = NULL"), "graph_atoms_confirmation_is_whole"),
    "a molecule of another project": Attempt(
        update_atom(f"molecule_id = {select_id('molecules', 'Theirs')}"),
        "graph_atoms_share_the_project_of_their_molecule",
    ),
    "a molecule that never was": Attempt(
        update_atom(f"molecule_id = '{NOWHERE}'"), "graph_atoms_share_the_project_of_their_molecule"
    ),
    "an atom for a molecule": Attempt(
        update_atom(f"molecule_id = {select_id('atoms', 'Alone')}"), "graph_atoms_share_the_project_of_their_molecule"
    ),
    "a molecule that goes while it has atoms": Attempt(
        "DELETE FROM graph_molecules WHERE name = 'Shop'", "graph_atoms_share_the_project_of_their_molecule"
    ),
    "an atom that goes while something is known of its files": Attempt(
        "DELETE FROM graph_atoms WHERE name = 'Cart'", "graph_freshness_is_of_an_atom"
    ),
    "a molecule without a name": Attempt(update_molecule("name = ''"), "graph_molecules_name_fits"),
    "a molecule that says too much": Attempt(
        update_molecule(f"knowledge = '{'ü' * 16_385}'"), "graph_molecules_knowledge_fits"
    ),
    "a molecule with too many relations": Attempt(
        update_molecule(f"related_molecules = '{RELATIONS}'"), "graph_molecules_relations_fit"
    ),
    "a molecule whose version skips": Attempt(
        update_molecule("knowledge = 'x'", "version + 2"), "graph_molecules_version_moves_by_one"
    ),
    "a molecule whose version stays": Attempt(
        update_molecule("knowledge = 'x'", "version"), "graph_molecules_version_moves_by_one"
    ),
    "a molecule at version 0": Attempt(insert_molecule(version="0"), "graph_molecules_version_counts"),
    "an entry of nothing": Attempt(insert_entry("atom", f"'{NOWHERE}'"), "graph_changelog_has_a_parent"),
    "an entry of the other kind": Attempt(
        insert_entry("atom", select_id("molecules", "Shop")), "graph_changelog_has_a_parent"
    ),
    "an entry of another project's atom": Attempt(
        insert_entry("atom", select_id("atoms", "Their atom")), "graph_changelog_has_a_parent"
    ),
    "an entry that says nothing": Attempt(
        insert_entry("atom", select_id("atoms", "Cart"), ""), "graph_changelog_summary_fits"
    ),
    "an entry that says too much": Attempt(
        insert_entry("molecule", select_id("molecules", "Shop"), "ü" * 2049), "graph_changelog_summary_fits"
    ),
    "something unknown that was deleted": Attempt(insert_deleted("bond"), "graph_deleted_type_is_known"),
    "a state that is unknown": Attempt(update_freshness("state = 'stale'"), "graph_freshness_state_is_known"),
    "the freshness of another project's atom": Attempt(
        update_freshness(f"atom_id = {select_id('atoms', 'Their atom')}"), "graph_freshness_is_of_an_atom"
    ),
    "a revision that skips": Attempt(update_counts("rev = rev + 2"), "graph_projects_rev_moves_by_one"),
    "a revision that goes back": Attempt(update_counts("rev = rev - 1"), "graph_projects_rev_moves_by_one"),
    "a count below nothing": Attempt(update_counts("last_n = -1"), "graph_projects_count"),
    "more patterns than can be kept": Attempt(update_counts("patterns = 200001"), "graph_projects_count"),
    "patterns of a later revision": Attempt(update_counts("patterns_rev = rev + 1"), "graph_projects_count"),
}
# Where something else refuses the app first: a policy, or the trigger that wants a parent.
BY_OWNER = {
    "an atom of no project": (insert_atom(project_id="'nowhere'"), "graph_atoms_are_of_a_project"),
    "a molecule of no project": (insert_molecule(project_id="'nowhere'"), "graph_molecules_are_of_a_project"),
    "something deleted from no project": (insert_deleted("atom", "'nowhere'"), "graph_deleted_are_of_a_project"),
    "knowledge of no project": (
        "INSERT INTO graph_projects VALUES ('local', 'nowhere', 7, 1, 0, 0, 1)",
        "graph_projects_are_of_a_project",
    ),
    "an entry of no project": (
        insert_entry("atom", select_id("atoms", "Cart"), project_id="'nowhere'"),
        "graph_changelog_is_of_a_project",
    ),
    "an entry of an unknown kind": (insert_entry("bond", f"'{NOWHERE}'"), "graph_changelog_parent_is_known"),
}
TRIGGERS = {
    "graph_atoms_version_moves_by_one": "version_step",
    "graph_molecules_version_moves_by_one": "version_step",
    "graph_projects_rev_moves_by_one": "rev_step",
    "graph_changelog_has_a_parent": "no_parent",
}
REFERENCES = {
    "graph_atoms_share_the_project_of_their_molecule",
    "graph_freshness_is_of_an_atom",
    *(rule for _, rule in BY_OWNER.values() if rule.endswith("of_a_project")),
}


def fill(engine: Engine) -> None:
    """Create Cart in Shop, at version 3, confirmed and with an entry; Alone without a molecule; and another project."""
    desk = KnowledgeClient(engine.session("ada")).open()
    desk.molecule("Shop")
    desk.atom("Cart", moleculeId="Shop")
    desk.atom("Alone")
    desk.update("Cart", confirm=COMMIT)
    desk.update("Cart", knowledge="y")
    desk.check({"id": "Cart", "freshness": "fresh"})
    desk.log("Cart", "made")
    other = desk.create_project("borealis")
    other.molecule("Theirs")
    other.atom("Their atom", moleculeId="Theirs")


@pytest.fixture(autouse=True)
def atlas(engine: Engine) -> None:
    """The project for the attempts."""
    fill_once(engine, fill)


def select_all(table: str) -> str:
    return f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4"


def error_text(engine: Engine, run: Run, statement: str) -> str:
    """Return the message of the database's refusal, or "done"; everything is rolled back."""
    try:
        run_and_undo(run, statement)
    except engine.refusals as refusal:
        return str(refusal)
    return "done"


def rows_without_rule(engine: Engine, run: Run, attempt: Attempt) -> Rows:
    """Return the rows after an attempt made without its constraint; everything is rolled back."""
    if engine.dialect is Dialect.SQLITE:
        down = [f"DROP TRIGGER {attempt.rule}"] if attempt.rule in TRIGGERS else []
    elif "DELETE" in attempt.statement:
        down = [f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in TABLES]
    elif attempt.rule in TRIGGERS:
        down = [f"DROP TRIGGER {attempt.rule} ON {attempt.rule_table}"]
    else:
        down = [f"ALTER TABLE {attempt.rule_table} DROP CONSTRAINT {attempt.rule}"]
    return run_and_undo(run, *down, attempt.statement, select_all(attempt.table))


def expected_text(engine: Engine, rule: str) -> str:
    """Return the text by which a refusal names the constraint."""
    if rule in REFERENCES and engine.dialect is Dialect.SQLITE:
        return "FOREIGN KEY constraint failed"  # SQLite does not name the foreign key
    return TRIGGERS.get(rule, rule)


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(engine: Engine) -> None:
    with engine.transaction(ADA, keep=False) as run:
        answers = {what: error_text(engine, run, attempt.statement) for what, attempt in ATTEMPTS.items()}

    assert {
        what: answers[what] for what, one in ATTEMPTS.items() if expected_text(engine, one.rule) not in answers[what]
    } == {}


def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(engine: Engine) -> None:
    before = {table: engine.as_owner(select_all(table)) for table in TABLES}

    # SQLite can only disable all constraints of a kind.
    with engine.owner_transaction(references=engine.dialect is not Dialect.SQLITE) as run:
        if engine.dialect is Dialect.SQLITE:
            run("PRAGMA ignore_check_constraints = ON")
        assert [
            what for what, one in ATTEMPTS.items() if rows_without_rule(engine, run, one) == before[one.table]
        ] == []
    assert {table: engine.as_owner(select_all(table)) for table in TABLES} == before


def test_what_the_app_never_comes_to_is_refused_to_the_owner_as_well(engine: Engine) -> None:
    parentless = "DROP TRIGGER graph_changelog_has_a_parent"
    if engine.dialect is Dialect.POSTGRES:
        parentless += " ON graph_changelog"

    for what, (statement, rule) in BY_OWNER.items():
        with pytest.raises(engine.refusals) as refusal:
            engine.as_owner(parentless, statement, keep=False)
        assert expected_text(engine, rule) in str(refusal.value), what
        with engine.transaction(ADA, keep=False) as run:
            assert error_text(engine, run, statement) != "done", what


def test_neither_ids_nor_numbers_are_given_twice(engine: Engine) -> None:
    cart = "(SELECT {} FROM graph_atoms WHERE name = 'Cart')"
    twice = {
        "the id of an atom": insert_atom(id_=cart.format("id")),
        "the number of an atom": insert_atom(n=cart.format("n")),
        "the id of a molecule": insert_molecule(id_=select_id("molecules", "Shop")),
        "the number of a molecule": insert_molecule(n="(SELECT n FROM graph_molecules WHERE name = 'Shop')"),
        "the id of what was deleted": insert_deleted("atom"),
    }
    engine.as_app(ADA, insert_deleted("atom"))

    with engine.transaction(ADA, keep=False) as run:
        assert [what for what, statement in twice.items() if error_text(engine, run, statement) == "done"] == []
    # The number of a project cannot change on PostgreSQL, and on SQLite not to one in use.
    taken = "UPDATE graph_projects SET number = (SELECT max(number) FROM graph_projects)"
    with pytest.raises(engine.refusals):
        engine.as_owner(taken, keep=False)
    with engine.transaction(ADA, keep=False) as run:
        assert error_text(engine, run, taken) != "done"


def write(engine: Engine, statement: str) -> None:
    """Run a statement through the store."""
    engine.store.write(ADA, "atlas", lambda tx: tx.run(Query("raw", statement)))


def test_a_caller_of_the_store_is_told_what_was_wrong(engine: Engine, subtests: pytest.Subtests) -> None:
    wrong: dict[str, type[Exception]] = {
        "UPDATE graph_atoms SET knowledge = 'x'": VersionSkipped,
        "UPDATE graph_molecules SET knowledge = 'x', version = version + 2": VersionSkipped,
        "UPDATE graph_projects SET rev = rev + 2": RevisionSkipped,
        insert_entry("atom", f"'{NOWHERE}'"): ParentMissing,
    }
    for statement, error in wrong.items():
        with subtests.test(statement), pytest.raises(error):
            write(engine, statement)


def test_a_version_moves_by_one(engine: Engine) -> None:
    engine.as_app(ADA, update_atom("knowledge = 'x'"))

    assert engine.as_owner("SELECT version FROM graph_atoms WHERE name = 'Cart'") == [(4,)]
