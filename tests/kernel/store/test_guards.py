"""Guards in the schema: the last owner stays, a revision moves by one, a fence only grows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from groundplan.catalog import build_schema
from groundplan.context.refusals import LastOwner
from groundplan.kernel.store.migrations import Dialect, load_migrations
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import (
    RevisionSkipped,
    collect_refusals,
    generate_postgres_guards,
    generate_sqlite_guards,
)
from groundplan.work.tables import ClaimNumberReused
from tests.engines import Engine, Rows, fill_once, person
from tests.kernel.store.attacks import drop_guards

ADA, BEN = person("ada"), person("ben")
MEMBERS = "SELECT user_id, role FROM project_members ORDER BY user_id"
REVISIONS = " UNION ALL ".join(f"SELECT rev FROM {table}" for table in ("projects", "organizations", "work_nodes"))
FENCES = "SELECT claim_number FROM work_nodes"
OWNERS_GONE = "DELETE FROM project_members WHERE role = 'owner'"


@pytest.fixture(autouse=True)
def atlas(engine: Engine) -> None:
    """A project with Ada as the only owner and Ben as an editor, with a claimed node."""
    fill_once(engine, fill)


def fill(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Draw the map"}])
    ada.call("work.claim", project="atlas")


@dataclass(frozen=True)
class Attempt:
    """A statement that a guard forbids, and the table that shows its effect."""

    statement: str
    effect: str
    only: Dialect | None = None

    def answer(self, engine: Engine) -> str:
        """Return the first line of the database's answer."""
        try:
            self.changes(engine)
        except engine.refusals as refusal:
            return str(refusal).partition("\n")[0]
        return "done"

    def changes(self, engine: Engine) -> bool:
        before: Rows = engine.as_owner(self.effect)
        return engine.as_app(ADA, self.statement, self.effect, keep=False) != before


def sql_replace(table: str, changes: dict[str, str], columns: str) -> str:
    values = ", ".join(changes.get(column, column) for column in columns.split())
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns.split())}) SELECT {values} FROM {table}"


WITHOUT_OWNER = {
    "removing the last owner": Attempt("DELETE FROM project_members WHERE user_id = 'ada'", MEMBERS),
    "removing everybody at once": Attempt("DELETE FROM project_members", MEMBERS),
    "giving the last owner a smaller role": Attempt(
        "UPDATE project_members SET role = 'viewer' WHERE user_id = 'ada'", MEMBERS
    ),
    "giving everybody a smaller role at once": Attempt("UPDATE project_members SET role = 'editor'", MEMBERS),
    "replacing the last owner by a viewer": Attempt(
        sql_replace("project_members", {"role": "'viewer'"}, "tenant_id project_id user_id role created_at created_by"),
        MEMBERS,
        only=Dialect.SQLITE,
    ),
    "removing the last owner in a WITH": Attempt(
        f"WITH gone AS ({OWNERS_GONE} RETURNING 1) SELECT count(*) FROM gone", MEMBERS, only=Dialect.POSTGRES
    ),
}
REVISION_STEPS = (
    {
        f"{table} {step}": Attempt(f"UPDATE {table} SET rev = {step}", REVISIONS)
        for table in ("projects", "organizations")
        for step in ("rev + 2", "rev - 1", "1000000")
    }
    | {f"a node's {step}": Attempt(f"UPDATE work_nodes SET rev = {step}", REVISIONS) for step in ("rev + 2", "1000000")}
    | {
        "a node's rev - 1": Attempt("UPDATE work_nodes SET rev = rev - 1 WHERE rev > 1", REVISIONS),
        "beginning a project again": Attempt(
            sql_replace(
                "projects",
                {"rev": "1"},
                "tenant_id id name goal rev created_at created_by updated_at archived_at",
            ),
            REVISIONS,
            only=Dialect.SQLITE,
        ),
        "beginning the organization again": Attempt(
            sql_replace("organizations", {"rev": "0"}, "id name rev created_at"), REVISIONS, only=Dialect.SQLITE
        ),
    }
)


def attempts_on(attempts: dict[str, Attempt], engine: Engine) -> Iterator[tuple[str, Attempt]]:
    return ((name, one) for name, one in attempts.items() if one.only in (None, engine.dialect))


def test_no_statement_leaves_a_project_without_an_owner(engine: Engine) -> None:
    said = {name: attempt.answer(engine) for name, attempt in attempts_on(WITHOUT_OWNER, engine)}

    assert said == dict.fromkeys(said, "last_owner: project_members")


def test_without_its_triggers_a_project_loses_its_last_owner(engine: Engine) -> None:
    drop_guards(engine, ["project_members"])

    assert [name for name, attempt in attempts_on(WITHOUT_OWNER, engine) if not attempt.changes(engine)] == []


def test_of_two_owners_one_can_go_but_not_both(engine: Engine) -> None:
    engine.session("ada").call("member.add", scopeId="atlas", userId="ben", role="owner")

    with pytest.raises(engine.refusals, match="last_owner"):
        engine.as_app(ADA, OWNERS_GONE)
    with pytest.raises(engine.refusals, match="last_owner"):
        engine.as_app(ADA, "UPDATE project_members SET role = 'viewer'")
    engine.as_app(ADA, "DELETE FROM project_members WHERE user_id = 'ada'")

    assert engine.as_owner(MEMBERS) == [("ben", "owner")]


def test_the_owner_of_another_project_does_not_count(engine: Engine) -> None:
    engine.session("ben").call("project.create", name="other")

    with pytest.raises(engine.refusals, match="last_owner"):
        engine.as_app(ADA, "DELETE FROM project_members WHERE user_id = 'ada'")


@pytest.mark.parametrize("attempt", ["removing the last owner", "giving the last owner a smaller role"])
def test_a_caller_of_the_store_is_told_about_the_last_owner(engine: Engine, attempt: str) -> None:
    query = Query("attempt", WITHOUT_OWNER[attempt].statement)

    with pytest.raises(LastOwner):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(query))


def test_no_statement_moves_a_revision_but_by_one(engine: Engine) -> None:
    said = {name: attempt.answer(engine) for name, attempt in attempts_on(REVISION_STEPS, engine)}

    assert {name: answer.partition(":")[0] for name, answer in said.items()} == dict.fromkeys(said, "rev_step")


def test_without_its_triggers_a_revision_goes_anywhere(engine: Engine) -> None:
    drop_guards(engine, ["projects", "organizations", "work_nodes"])

    assert [name for name, attempt in attempts_on(REVISION_STEPS, engine) if not attempt.changes(engine)] == []


def test_a_revision_moves_by_one(engine: Engine) -> None:
    (before,) = engine.as_owner("SELECT rev FROM projects")[0]

    engine.as_app(ADA, "UPDATE projects SET rev = rev + 1")

    assert engine.as_owner("SELECT rev FROM projects") == [(before + 1,)]


def test_a_caller_of_the_store_is_told_about_the_skipped_revision(engine: Engine) -> None:
    skip = Query("skip", "UPDATE projects SET rev = rev + 2")

    with pytest.raises(RevisionSkipped):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(skip))


FENCE_BACK = Attempt("UPDATE work_nodes SET claim_number = claim_number - 1 WHERE claim_number > 0", FENCES)


def test_the_number_of_a_claim_never_goes_back(engine: Engine) -> None:
    assert FENCE_BACK.answer(engine).startswith("claim_step: work_nodes")

    engine.as_app(ADA, "UPDATE work_nodes SET claim_number = claim_number + 5", keep=False)
    drop_guards(engine, ["work_nodes"])
    assert FENCE_BACK.changes(engine)


def test_a_caller_of_the_store_is_told_about_the_number_that_was_used(engine: Engine) -> None:
    with pytest.raises(ClaimNumberReused):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(Query("back", FENCE_BACK.statement)))


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("column", "value", "permission"),
    [("archived_at", "2026-01-01T00:00:00.000Z", "archive"), ("policies", '{"claims":"enforced"}', "configure")],
)
def test_an_editor_may_write_in_a_project_but_neither_archive_nor_configure_it(
    engine: Engine, column: str, value: str, permission: str
) -> None:
    change = f"UPDATE projects SET {column} = '{value}'"

    engine.as_app(BEN, "UPDATE projects SET rev = rev + 1")
    with pytest.raises(engine.refusals, match=f"only project:{permission} may change this"):
        engine.as_app(BEN, change)
    engine.as_app(ADA, change, keep=False)

    drop_guards(engine, ["projects"])
    engine.as_app(BEN, change)
    assert engine.as_owner(f"SELECT {column} FROM projects") == [(value,)]


def test_for_every_word_that_a_trigger_says_there_is_an_error(engine: Engine) -> None:
    generated = (
        generate_sqlite_guards(build_schema())
        if engine.dialect is Dialect.SQLITE
        else generate_postgres_guards(build_schema())
    )
    text = "\n".join((*(step.text for step in load_migrations(engine.dialect)), *generated))

    text = re.sub(r"CREATE FUNCTION pciv_bootstrap_scope.*?\$\$;", "", text, flags=re.DOTALL)  # it is called by people
    said = set(re.findall(r"(?:ABORT, |EXCEPTION |guard_refuse\()'(\w+)(?:: |')", text))

    assert said - collect_refusals().keys() == set()
    assert {"rev_step", "frozen", "append_only", "not_an_option"} <= said
