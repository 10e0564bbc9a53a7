"""Guards see every row: a statement that changes the identity of its transaction on the way hides nothing from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from groundplan.context.tables import RUN_CHILD_TABLES
from groundplan.kernel.store.schema import SCHEMA_NAME
from groundplan.purpose.tables import VERSION_CHILD_TABLES
from tests.context import rows as context
from tests.engines import Engine, PostgresEngine, Run, fill_once
from tests.kernel.store.attacks import Family, Row, TargetRow, sql_insert
from tests.kernel.store.blinding import (
    SWITCHES,
    Breach,
    Deletion,
    IdentitySwitch,
    Insertion,
    Update,
    find_passing_shapes,
)
from tests.kernel.store.schema_rules import insert_project, update_row
from tests.purpose import rows as purpose

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

STAMP = context.STAMP
OPEN, FINAL = context.make_family("atlas", "a-draft"), context.make_family("atlas", "final", "committed")
THEORY = purpose.make_family("arctic", "a-theory", keys_from=40)
PUBLISHED = purpose.make_family("atlas", "published", publishing=purpose.publish_columns(context_run_id="stood"))
UNPUBLISHED = purpose.make_family("atlas", "unpublished", 2, keys_from=20)


def deleted_run(run: str, deleter: str = "user") -> Row:
    return {
        **{"tenant_id": "local", "project_id": "atlas", "run_id": run},
        **{"deleted_at": STAMP, "deleted_by": "ada", "deleter_kind": deleter},
    }


def log_entry(id_: str, parent: str) -> Row:
    return {
        **{"tenant_id": "local", "project_id": "atlas", "id": id_, "parent_type": "atom", "parent_id": parent},
        **{"rev": 1, "task_id": "t", "created_at": STAMP, "created_by": "ada", "summary": "Seen"},
    }


def event(table: str, rev: int, n: int) -> Row:
    project = {"project_id": "atlas"} if table == "events" else {}
    return {
        **{"tenant_id": "local", **project, "rev": rev, "n": n, "v": 1, "at": STAMP, "actor_id": "ada"},
        **{"op": "test.happened", "subject": "atlas", "changes": "[]", "decision": None},
    }


def agent_token(id_: str, actor: str) -> Row:
    return {
        **{"tenant_id": "local", "id": id_, "digest": id_ * 64, "kind": "agent", "actor_id": actor},
        **{"access": "members", "role_max": "viewer", "sponsor_id": "ada", "created_at": STAMP, "created_by": "ada"},
    }


def committing(run: str, *, status: str = "committed", kind: str = "user") -> Update:
    """Return an update that commits a harmless run and another one."""
    change = {**context.commit_columns(status), "committer_kind": kind}
    del change["base_run_id"]  # each run has its own
    return Update("pciv_runs", {"id": "a-whole"}, {"id": run}, change, tuple(context.run_row("", "")))


def frozen_below(table: str, open_child: TargetRow, final_child: TargetRow, family: Family) -> list[Breach]:
    """Return an insertion, an update and a deletion below something final."""
    moved = {**open_child.row, **open_child.fresh}
    below = {**final_child.row, **final_child.fresh}
    assert final_child.table == open_child.table == table
    assert family.children
    keyed = [{name: child.row[name] for name in child.key} for child in (open_child, final_child)]
    breaches: list[Breach] = [Insertion(table, moved, below), Deletion(table, keyed[1])]
    change = MUTABLE.get(table, final_child.change)
    if change:
        breaches.append(
            Update(table, keyed[0], keyed[1], change, tuple(final_child.row), CONFLICT[family.parent.table])
        )
    return breaches


# Where the app role may not change the column that the family changes; of a link it may change none.
MUTABLE: dict[str, Row] = {"pciv_suggestions": {"source_ids": '["x"]'}, "pciv_input_sources": {}}
CONFLICT = {"pciv_runs": "tenant_id, run_id, id", "toc_versions": "tenant_id, toc_version_id, id"}


def child_of(family: Family, table: str) -> TargetRow:
    return next(child for child in family.children if child.table == table)


BREACHES: dict[str, list[Breach]] = {
    "gp_keep_an_owner": [
        Deletion("project_members", {"project_id": "atlas", "user_id": "ada"}),
        Update(
            "project_members",
            {"project_id": "arctic", "user_id": "ben"},
            {"project_id": "atlas", "user_id": "ada"},
            {"role": "viewer"},
        ),
    ],
    "gp_events_are_of_this_write": [Insertion("events", event("events", 1, 7), event("events", 9, 8))],
    "gp_organization_events_are_of_this_write": [
        Insertion("organization_events", event("organization_events", 0, 7), event("organization_events", 9, 8))
    ],
    "gp_are_of_this_write": [
        Insertion("toc_measurements", purpose.measurement_row("atlas", 1, 7), purpose.measurement_row("atlas", 9, 8))
    ],
    "gp_toc_requests_are_of_this_write": [
        Insertion("toc_requests", purpose.request_row("atlas", 1, 7), purpose.request_row("atlas", 9, 8))
    ],
    "gp_toc_decisions_supersede_a_decision": [
        Insertion(
            "toc_decisions",
            purpose.decision_row("atlas", 1, 7, supersedes_rev=None, supersedes_n=None),
            purpose.decision_row("atlas", 1, 8, supersedes_rev=0, supersedes_n=3),
        )
    ],
    "gp_toc_decisions_answer_a_request": [
        Insertion(
            "toc_decisions",
            purpose.decision_row("atlas", 1, 7, answers_rev=None, answers_n=None),
            purpose.decision_row("atlas", 1, 8, answers_rev=0, answers_n=3),
        )
    ],
    "gp_access_tokens_kind_is_that_of_the_actor": [
        Insertion("access_tokens", agent_token("a", "scout"), agent_token("b", "ben"))
    ],
    "gp_graph_changelog_has_a_parent": [
        Insertion("graph_changelog", log_entry("l1", "atom"), log_entry("l2", "missing")),
    ],
    "gp_pciv_runs_commit_is_whole": [committing("hollow")],
    "gp_pciv_runs_commit_is_backed": [committing("unbacked"), committing("unfounded", status="partial_committed")],
    "gp_pciv_runs_commit_displaces_nobody": [committing("otherwise", kind="model")],
    "gp_pciv_runs_commit_on_the_run_in_force": [committing("late")],
    "gp_pciv_deleted_runs_are_deleted_by_persons": [
        Insertion("pciv_deleted_runs", deleted_run("gone", "model"), deleted_run("final", "model"))
    ],
    "gp_pciv_deleted_runs_are_stood_on_by_nothing": [
        Insertion("pciv_deleted_runs", deleted_run("gone"), deleted_run("stood"))
    ],
    "gp_toc_versions_stand_on_final_facts": [
        Update(
            "toc_versions",
            {"id": "a-theory"},
            {"id": "unpublished"},
            purpose.publish_columns(context_run_id=run),
            tuple(purpose.version_row("", "")),
        )
        for run in ("hollow", "deleted")
    ],
    "gp_toc_versions_number_has_no_gap": [
        Insertion("toc_versions", purpose.version_row("caspia", "c1", 1), purpose.version_row("dorado", "d7", 7))
    ],
    "gp_toc_assumptions_key_is_of_no_edge_assumption": [
        Insertion(
            "toc_assumptions",
            purpose.assumption_row(UNPUBLISHED.parent.row, "u-new", "AS31", "unpublished-n1"),
            purpose.assumption_row(UNPUBLISHED.parent.row, "u-taken", "AS20", "unpublished-n1"),
        ),
    ],
    "gp_toc_edge_assumptions_key_is_of_no_node_assumption": [
        Insertion(
            "toc_edge_assumptions",
            purpose.edge_assumption_row(UNPUBLISHED.parent.row, "u-new", "AS31", "unpublished-e1"),
            purpose.edge_assumption_row(UNPUBLISHED.parent.row, "u-taken", "AS22", "unpublished-e1"),
        ),
    ],
    **{
        f"guard_{table}_frozen": frozen_below(table, child_of(OPEN, table), child_of(FINAL, table), FINAL)
        for table in RUN_CHILD_TABLES
    },
    **{
        f"guard_{table}_frozen": frozen_below(table, child_of(THEORY, table), child_of(PUBLISHED, table), PUBLISHED)
        for table in VERSION_CHILD_TABLES
    },
}


# Guards that refuse what they find. One that refuses what it does not find is useless when blind, but not open.
REFUSES_WHAT_IT_FINDS = (
    "gp_pciv_runs_commit_is_whole",
    "gp_pciv_runs_commit_is_backed",
    "gp_pciv_runs_commit_displaces_nobody",
    "gp_pciv_runs_commit_on_the_run_in_force",
    "gp_pciv_deleted_runs_are_deleted_by_persons",
    "gp_pciv_deleted_runs_are_stood_on_by_nothing",
    "gp_toc_assumptions_key_is_of_no_edge_assumption",
    "gp_toc_edge_assumptions_key_is_of_no_node_assumption",
)
NO_SWITCH = replace(SWITCHES[0], blind=SWITCHES[0].honest.id)
GUARD_FUNCTIONS = f"""
SELECT proname FROM pg_proc WHERE pronamespace = '{SCHEMA_NAME}'::regnamespace AND prosrc LIKE '%GP001%'
"""


def fill(engine: Engine) -> None:
    """Create runs and versions of which each can be harmed in one way."""
    projects = ("arctic", "atlas", "caspia", "dorado")
    drafts = {
        name: context.run_row("atlas", name, base_run_id=None if name == "late" else "force")
        for name in ("hollow", "unbacked", "unfounded", "otherwise", "late")
    }
    stood, deleted, force = (context.run_row("atlas", name) for name in ("stood", "deleted", "force"))
    unset: Row = {"value_string": None, "provenance": "unknown"}
    backed: Row = {"provenance": "source-backed"}
    inferred: Row = {"pointer": "/entered", "value_string": "13 km", "provenance": "model-inferred"}
    engine.as_owner(
        *(insert_principal(name, "person") for name in ("ada", "ben")),
        insert_principal("scout", "agent"),
        *(insert_project(name, STAMP) for name in projects),
        insert_member("arctic", "ben", "editor"),
        *(insert_member(name, "ada", "owner") for name in projects),
        "INSERT INTO user_memberships (tenant_id, user_id, created_at, created_by) "
        f"VALUES ('local', 'ada', '{STAMP}', 'ada')",
        "INSERT INTO graph_projects (tenant_id, project_id, number, rev, last_n, patterns, patterns_rev) "
        "VALUES ('local', 'atlas', 1, 1, 1, 0, 0)",
        sql_insert("graph_atoms", atom("atom")),
    )
    # In the order of the ids, so that a scan comes to the harmless row first.
    engine.as_owner(sql_insert("pciv_runs", context.run_row("arctic", "a-whole")))
    context.insert_families(engine, OPEN, FINAL)
    engine.as_owner(
        *(sql_insert("pciv_runs", run) for run in (*drafts.values(), stood, deleted, force)),
        sql_insert("pciv_inputs", context.input_row(drafts["hollow"], "hollow-i", **unset)),
        sql_insert("pciv_inputs", context.input_row(drafts["unbacked"], "unbacked-i", **backed)),
        sql_insert("pciv_constraints", context.constraint_row(drafts["unfounded"], "unfounded-c", **backed)),
        sql_insert("pciv_inputs", context.input_row(drafts["otherwise"], "otherwise-i", **inferred)),
        sql_insert("pciv_inputs", context.input_row(force, "force-i", pointer="/entered")),
        # Of runs that were committed at one time, the first by its id is in force.
        *(update_row("pciv_runs", str(run["id"]), **context.commit_columns(base="final")) for run in (stood, deleted)),
        update_row(
            "pciv_runs",
            "force",
            **{**context.commit_columns(base="deleted"), "committed_at": "2026-03-03T09:00:00.000Z"},
        ),
        sql_insert("pciv_deleted_runs", deleted_run("deleted")),
    )
    purpose.insert_families(engine, THEORY, PUBLISHED, UNPUBLISHED)


def insert_principal(name: str, kind: str) -> str:
    row = {"tenant_id": "local", "id": name, "name": name, "kind": kind, "created_at": STAMP}
    return sql_insert("principals", row)


def insert_member(project: str, name: str, role: str) -> str:
    row = {"tenant_id": "local", "project_id": project, "user_id": name, "role": role}
    return sql_insert("project_members", {**row, "created_at": STAMP, "created_by": "ada"})


def atom(id_: str) -> Row:
    return {
        **{"tenant_id": "local", "project_id": "atlas", "n": 1, "id": id_, "name": id_, "version": 1},
        **{"created_by_task_id": "t", "last_task_id": "t", "created_at": STAMP, "created_by": "ada"},
        **{"updated_at": STAMP, "updated_by": "ada", "patterns": 1, "patterns_rev": 1, "paths": '["a"]', "words": "a"},
    }


@pytest.fixture(autouse=True)
def atlas(engine: PostgresEngine) -> None:
    fill_once(engine, fill)


def find_passing(run: Run, guard: str, switch: IdentitySwitch) -> Iterator[str]:
    for breach in BREACHES[guard]:
        for shape in find_passing_shapes(run, breach, switch):
            yield f"{guard}: {type(breach).__name__} of {breach.table}, {shape}"


def test_every_guard_that_looks_at_rows_is_attacked(engine: PostgresEngine) -> None:
    looking = engine.as_owner(f"{GUARD_FUNCTIONS} AND prosrc ~ '(SELECT|PERFORM).*FROM (?!json|gp_each)'")

    assert {name for (name,) in looking} == BREACHES.keys()


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.setting)
def test_a_statement_that_changes_the_identity_on_the_way_gets_past_no_guard(
    engine: PostgresEngine, switch: IdentitySwitch
) -> None:
    with engine.transaction(switch.honest, keep=False) as run:
        assert [passed for guard in BREACHES for passed in find_passing(run, guard, switch)] == []


@pytest.mark.teeth
@pytest.mark.parametrize("guard", REFUSES_WHAT_IT_FINDS)
def test_a_guard_with_the_rights_of_the_caller_is_blinded(engine: PostgresEngine, guard: str) -> None:
    with as_app_role(engine, f"ALTER FUNCTION {guard}() SECURITY INVOKER") as run:
        assert next(find_passing(run, guard, SWITCHES[0]), None) is not None


@pytest.mark.teeth
def test_without_its_guard_every_breach_gets_through(engine: PostgresEngine) -> None:
    held = []
    for guard, breaches in BREACHES.items():
        with as_app_role(engine, *sql_drop_triggers(engine, guard)) as run:
            held += [
                f"{guard}: {type(breach).__name__} of {breach.table}"
                for breach in breaches
                if next(find_passing_shapes(run, breach, NO_SWITCH), None) is None
            ]

    assert held == []


def test_rows_of_another_project_decide_nothing(engine: PostgresEngine) -> None:
    noted = {**deleted_run("force"), "project_id": "arctic"}
    standing = purpose.publish_columns(context_run_id="force")

    with engine.transaction(SWITCHES[0].honest, keep=False) as run:
        run(sql_insert("pciv_deleted_runs", noted))
        run(update_row("toc_versions", "unpublished", **standing))
        run(sql_insert("pciv_deleted_runs", {**deleted_run("stood"), "project_id": "arctic"}))


def sql_drop_triggers(engine: PostgresEngine, guard: str) -> list[str]:
    """Return SQL that drops the triggers that call a function."""
    found = engine.as_owner(
        f"SELECT tgname, tgrelid::regclass FROM pg_trigger WHERE tgfoid = '{SCHEMA_NAME}.{guard}'::regproc"
    )
    return [f"DROP TRIGGER {name} ON {table}" for name, table in found]


@contextmanager
def as_app_role(engine: PostgresEngine, *sabotage: str) -> Iterator[Run]:
    """A transaction of the app role as Ada, after statements of the owner; everything is rolled back."""
    with engine.owner_transaction() as run:
        for statement in (*sabotage, f"SET LOCAL ROLE {engine.app_role}", SWITCHES[0].sql_begin()):
            run(statement)
        yield run
