"""Constraints of the work graph in the schema: raw SQL cannot break them, and each is needed.

Each attempt runs twice: on the app's connection, where its constraint must refuse it, and as the owner without that
constraint, where it must succeed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass

import pytest

from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import RevisionSkipped
from groundplan.work.tables import ClaimNumberReused
from tests.engines import Engine, Rows, Run, SqliteEngine, fill_once, person, run_and_undo
from tests.work.client import WorkClient

ADA = person("ada")
NODES = "SELECT * FROM work_nodes ORDER BY project_id, n"
EDGES = "SELECT * FROM work_edges ORDER BY project_id, from_n, type, to_n"
EVIDENCE = "SELECT * FROM work_evidence ORDER BY project_id, node_n, k"
COUNTS = "SELECT * FROM work_projects ORDER BY project_id"
MERGED = "SELECT * FROM work_merged_texts ORDER BY project_id, id"
TABLES = {
    NODES: "work_nodes",
    EDGES: "work_edges",
    EVIDENCE: "work_evidence",
    COUNTS: "work_projects",
    MERGED: "work_merged_texts",
}

ATLAS = "(SELECT id FROM projects WHERE name = 'atlas')"
COPY = (
    "INSERT INTO work_nodes (tenant_id, project_id, n, id, parent_n, kind, rev, summary, resolved, properties, "
    "context_links, created_at, created_by, updated_at, changed_rev, priority, depth, open_children, open_deps, "
    "blocked_above, claim_number) SELECT tenant_id, project_id, {n}, 'copied', {parent_n}, {kind}, rev, {summary}, "
    "resolved, properties, context_links, created_at, created_by, updated_at, changed_rev, priority, depth, "
    f"open_children, open_deps, blocked_above, claim_number FROM work_nodes WHERE project_id = {ATLAS} AND n = 4"
)


def insert_copy(*, n: str = "9", parent_n: str = "1", kind: str = "NULL", summary: str = "summary") -> str:
    return COPY.format(n=n, parent_n=parent_n, kind=kind, summary=summary)


def update_node(assignment: str, n: int) -> str:
    return f"UPDATE work_nodes SET {assignment} WHERE project_id = {ATLAS} AND n = {n}"


def insert_edge(from_n: int, to_n: int, type_: str = "relates_to") -> str:
    return (
        f"INSERT INTO work_edges SELECT tenant_id, id, {from_n}, '{type_}', {to_n} FROM projects WHERE name = 'atlas'"
    )


def insert_merged(node_n: int = 3, summary: str = "'merged'", description: str = "NULL") -> str:
    return (
        f"INSERT INTO work_merged_texts SELECT tenant_id, id, 'merged', {node_n}, 1, {summary}, {description} "
        "FROM projects WHERE name = 'atlas'"
    )


def update_counts(assignment: str) -> str:
    return f"UPDATE work_projects SET {assignment} WHERE project_id = {ATLAS}"


def plan_atlas(engine: Engine) -> None:
    """Plan root 1, phase 2, a 3 (claimed, with evidence), b 4 (waits for a); and a larger project beside it."""
    work = WorkClient(engine.session("ada"))
    work.open()
    work.plan("phase\n  a\n  b: a")
    work.claim()
    work.update("a", add_evidence=[{"type": "note", "ref": "x"}])
    other = WorkClient(engine.session("ada"), "borealis")
    other.open()
    other.plan("\n".join(f"n{place}" for place in range(9)))


@pytest.fixture(autouse=True)
def atlas(engine: Engine) -> None:
    """Root 1, phase 2, a 3 (claimed, with evidence), b 4 (waits for a); and a larger project beside it."""
    fill_once(engine, plan_atlas)


@dataclass(frozen=True)
class Attempt:
    """A statement, the constraint that forbids it, and the query that shows its effect."""

    statement: str
    rule: str
    effect: str = NODES

    @property
    def table(self) -> str:
        return TABLES[self.effect]


ATTEMPTS = {
    "resolving what has open children": Attempt(
        update_node("resolved = true", 2), "work_nodes_resolved_leaves_nothing_open"
    ),
    "an open child of what is resolved": Attempt(
        update_node(
            "resolved = true, open_children = 1, claimed_by = NULL, claimed_at = NULL, claimed_until = NULL", 3
        ),
        "work_nodes_resolved_leaves_nothing_open",
    ),
    "an outcome of what is open": Attempt(
        update_node("outcome = 'dropped'", 4), "work_nodes_outcome_is_of_the_resolved"
    ),
    "an outcome that is unknown": Attempt(
        update_node("outcome = 'lost', resolved = true", 4), "work_nodes_outcome_is_of_the_resolved"
    ),
    "a claim on what is resolved": Attempt(update_node("resolved = true", 3), "work_nodes_claim_is_whole"),
    "a claim since never": Attempt(update_node("claimed_at = NULL", 3), "work_nodes_claim_is_whole"),
    "a claim of nobody": Attempt(update_node("claimed_by = NULL", 3), "work_nodes_claim_is_whole"),
    "a lease without a claim": Attempt(
        update_node("claimed_until = '2026-01-01T00:00:00.000Z'", 4), "work_nodes_claim_is_whole"
    ),
    "fewer open children than none": Attempt(update_node("open_children = -1", 4), "work_nodes_counters_count"),
    "fewer open dependencies than none": Attempt(update_node("open_deps = -1", 4), "work_nodes_counters_count"),
    "fewer ancestors that wait than none": Attempt(update_node("blocked_above = -1", 4), "work_nodes_counters_count"),
    "a depth above the root": Attempt(update_node("depth = -1", 4), "work_nodes_counters_count"),
    "a second root": Attempt(insert_copy(parent_n="NULL", kind="'project'"), "work_nodes_root_is_the_first"),
    "a root below another node": Attempt(update_node("parent_n = 2", 1), "work_nodes_root_is_the_first"),
    "a project inside a project": Attempt(update_node("kind = 'project'", 4), "work_nodes_root_is_the_first"),
    "a kind that is unknown": Attempt(update_node("kind = 'epic'", 4), "work_nodes_kind_is_known"),
    "a node that is its own parent": Attempt(update_node("parent_n = n", 4), "work_nodes_are_not_their_own_parent"),
    "a parent in another project": Attempt(update_node("parent_n = 9", 4), "work_nodes_have_a_parent_in_the_project"),
    "a new node with a parent in another project": Attempt(
        insert_copy(parent_n="8"), "work_nodes_have_a_parent_in_the_project"
    ),
    "a parent that goes": Attempt(
        f"DELETE FROM work_nodes WHERE project_id = {ATLAS} AND n = 2", "work_nodes_have_a_parent_in_the_project"
    ),
    "an empty summary": Attempt(update_node("summary = ''", 4), "work_nodes_summary_fits"),
    "a summary that is too long in bytes": Attempt(
        update_node(f"summary = '{'ü' * 2049}'", 4), "work_nodes_summary_fits"
    ),
    "properties that are too long": Attempt(
        update_node(f"properties = '{'x' * 32_769}'", 4), "work_nodes_properties_fit"
    ),
    "a claim number that goes back": Attempt(update_node("claim_number = 0", 3), "work_nodes_claim_number_only_grows"),
    "a revision that skips": Attempt(update_node("rev = rev + 2", 4), "work_nodes_rev_moves_by_one"),
    "a revision that goes back": Attempt(update_node("rev = rev - 1", 3), "work_nodes_rev_moves_by_one"),
    "a revision from nowhere": Attempt(update_node("rev = 1000000", 4), "work_nodes_rev_moves_by_one"),
    "an edge to itself": Attempt(insert_edge(3, 3), "work_edges_do_not_end_where_they_begin", EDGES),
    "an edge into another project": Attempt(insert_edge(3, 9), "work_edges_end_in_the_project", EDGES),
    "an edge from another project": Attempt(insert_edge(9, 3), "work_edges_begin_in_the_project", EDGES),
    "an edge without a type": Attempt(insert_edge(3, 2, ""), "work_edges_type_fits", EDGES),
    "a node that goes while others wait for it": Attempt(
        f"DELETE FROM work_nodes WHERE project_id = {ATLAS} AND n = 4", "work_edges_begin_in_the_project"
    ),
    "evidence of another project's node": Attempt(
        "INSERT INTO work_evidence SELECT tenant_id, id, 9, 1, 'note', 'x', 'ada', created_at, NULL, NULL "
        "FROM projects WHERE name = 'atlas'",
        "work_evidence_is_of_a_node",
        EVIDENCE,
    ),
    "evidence that is too long in bytes": Attempt(
        f"INSERT INTO work_evidence SELECT tenant_id, id, 4, 1, 'note', '{'ü' * 2049}', 'ada', created_at, NULL, NULL "
        "FROM projects WHERE name = 'atlas'",
        "work_evidence_ref_fits",
        EVIDENCE,
    ),
    "evidence with an unknown mark": Attempt(
        "INSERT INTO work_evidence SELECT tenant_id, id, 4, 1, 'commit', 'x', 'ada', created_at, 'perhaps', NULL "
        "FROM projects WHERE name = 'atlas'",
        "work_evidence_checked_is_known",
        EVIDENCE,
    ),
    "counts of more than there is": Attempt(
        update_counts("resolved = 2, blocked = 2, actionable = 2"), "work_projects_counts_add_up", COUNTS
    ),
    "a count below nothing": Attempt(update_counts("blocked = -1"), "work_projects_counts_add_up", COUNTS),
    "more nodes than were ever made": Attempt(update_counts("last_n = 1"), "work_projects_counts_add_up", COUNTS),
    "tasks that are no nodes": Attempt(update_counts("tasks = tasks + 1"), "work_projects_tasks_add_up", COUNTS),
    "more tasks done than there are": Attempt(update_counts("tasks_closed = 4"), "work_projects_tasks_add_up", COUNTS),
    "fewer features than none": Attempt(
        update_counts("features = -1, tasks = tasks + 1"), "work_projects_tasks_add_up", COUNTS
    ),
    "a status of what is resolved": Attempt(
        update_node("status = 'TO_BE_TESTED', resolved = true", 4), "work_nodes_status_is_of_the_begun"
    ),
    "a status that goes without saying": Attempt(
        update_node("status = 'CLOSED'", 4), "work_nodes_status_is_of_the_begun"
    ),
    "a status of the root": Attempt(update_node("status = 'ACTIVE'", 1), "work_nodes_status_is_of_the_begun"),
    "a node that is its own feature": Attempt(update_node("feature_n = n", 4), "work_nodes_are_not_their_own_feature"),
    "a hold without a reason": Attempt(update_node("held_reason = ''", 4), "work_nodes_hold_has_a_reason"),
    "a hold on the root": Attempt(update_node("held_reason = 'wait'", 1), "work_nodes_hold_has_a_reason"),
    "a reason that is too long in bytes": Attempt(
        update_node(f"blocked_reason = '{'ü' * 2049}'", 4), "work_nodes_reason_fits"
    ),
    "words of what was merged into another project": Attempt(
        insert_merged(9), "work_merged_texts_are_of_a_node", MERGED
    ),
    "a merged node that said nothing": Attempt(insert_merged(summary="''"), "work_merged_texts_summary_fits", MERGED),
    "a merged node that said too much": Attempt(
        insert_merged(description=f"'{'x' * 32_769}'"), "work_merged_texts_description_fits", MERGED
    ),
    "a complexity beyond the scale": Attempt(update_node("complexity = 12", 4), "work_nodes_complexity_ranks"),
}
TRIGGERS = {"work_nodes_claim_number_only_grows": "claim_step", "work_nodes_rev_moves_by_one": "rev_step"}
REFERENCES = {
    "work_nodes_have_a_parent_in_the_project",
    "work_edges_begin_in_the_project",
    "work_edges_end_in_the_project",
    "work_evidence_is_of_a_node",
    "work_merged_texts_are_of_a_node",
}


def error_text(engine: Engine, run: Run, attempt: Attempt) -> str:
    """Return the message of the database's refusal, or "done"."""
    try:
        run_and_undo(run, attempt.statement)
    except engine.refusals as refusal:
        return str(refusal)
    return "done"


def rows_without_rule(engine: Engine, run: Run, attempt: Attempt) -> Rows:
    """Return the rows after an attempt made without its constraint; everything is rolled back."""
    if isinstance(engine, SqliteEngine):
        with contextlib.closing(sqlite3.connect(engine.path, isolation_level=None)) as connection:
            # SQLite can only disable all constraints of a kind.
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("BEGIN")
            if attempt.rule in TRIGGERS:
                connection.execute(f"DROP TRIGGER {attempt.rule}")
            connection.execute(attempt.statement)
            return connection.execute(attempt.effect).fetchall()
    foreign = ("work_nodes", "work_edges", "work_evidence") if "DELETE" in attempt.statement else ()
    down = [f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in foreign] or [
        f"DROP TRIGGER {attempt.rule} ON {attempt.table}"
        if attempt.rule in TRIGGERS
        else f"ALTER TABLE {attempt.table} DROP CONSTRAINT {attempt.rule}"
    ]
    return run_and_undo(run, *down, attempt.statement, attempt.effect)


def expected_text(engine: Engine, attempt: Attempt) -> str:
    """Return the text by which a refusal names the constraint."""
    if attempt.rule in REFERENCES and engine.dialect is Dialect.SQLITE:
        return "FOREIGN KEY constraint failed"  # SQLite does not name the foreign key
    return TRIGGERS.get(attempt.rule, attempt.rule)


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(engine: Engine) -> None:
    with engine.transaction(ADA, keep=False) as run:
        answers = {what: error_text(engine, run, attempt) for what, attempt in ATTEMPTS.items()}

    assert {
        what: answers[what] for what, one in ATTEMPTS.items() if expected_text(engine, one) not in answers[what]
    } == {}


def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(engine: Engine) -> None:
    before = {effect: engine.as_owner(effect) for effect in TABLES}

    with engine.owner_transaction() as run:
        assert [
            what for what, one in ATTEMPTS.items() if rows_without_rule(engine, run, one) == before[one.effect]
        ] == []
    assert {effect: engine.as_owner(effect) for effect in TABLES} == before


def test_two_nodes_never_share_an_id_within_an_organization(engine: Engine) -> None:
    taken = "(SELECT id FROM work_nodes WHERE n = 9)"

    with pytest.raises(engine.refusals):
        engine.as_app(ADA, update_node(f"id = {taken}", 4), keep=False)


def test_an_edge_is_there_once(engine: Engine) -> None:
    with pytest.raises(engine.refusals):
        engine.as_app(ADA, insert_edge(4, 3, "depends_on"), keep=False)


def test_whether_a_node_is_ready_cannot_be_written(engine: Engine) -> None:
    for column in ("is_ready", "is_blocked"):
        with pytest.raises(engine.refusals):
            engine.as_app(ADA, update_node(f"{column} = true", 2), keep=False)


def test_a_caller_of_the_store_is_told_about_a_number_that_was_used(engine: Engine) -> None:
    back = Query("back", "UPDATE work_nodes SET claim_number = claim_number - 1 WHERE claim_number > 0")

    with pytest.raises(ClaimNumberReused):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(back))


def test_a_caller_of_the_store_is_told_about_a_skipped_revision(engine: Engine) -> None:
    skip = Query("skip", "UPDATE work_nodes SET rev = rev + 2")

    with pytest.raises(RevisionSkipped):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(skip))


def test_a_claim_number_grows_and_a_revision_moves_by_one(engine: Engine) -> None:
    engine.as_app(ADA, update_node("claim_number = claim_number + 5, rev = rev + 1", 3))

    assert engine.as_owner(f"SELECT claim_number, rev FROM work_nodes WHERE project_id = {ATLAS} AND n = 3") == [(6, 4)]
