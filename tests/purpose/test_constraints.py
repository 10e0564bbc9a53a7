"""Constraints of purpose in the schema: no SQL breaks them, and each is needed.

Every rule of the migration is tried; `tests.kernel.store.schema_rules` says how.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.context.refusals import RunBound
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.schema import Frozen, NotADraft, RevisionSkipped
from groundplan.purpose.tables import VERSION_CHILD_TABLES, KeyReused, RunNotFinal, VersionGap
from tests.context.rows import commit_columns, run_row
from tests.engines import Engine, fill_once
from tests.kernel.store.attacks import Row, Value, sql_insert, sql_set
from tests.kernel.store.schema_rules import Attempt, SchemaRules, error_text, insert_project, update_row, write_rows
from tests.purpose.rows import (
    HASH,
    LATER,
    STAMP,
    assumption_row,
    decision_row,
    edge_assumption_row,
    edge_row,
    gate_result,
    indicator_row,
    insert_families,
    make_family,
    measurement_row,
    node_row,
    publish_columns,
    review_row,
    sql_act_as_ada,
    version_row,
    waiver_row,
)

OBSERVATIONS = ("toc_measurements", "toc_assumption_reviews", "toc_waivers", "toc_decisions")
OF_A_PROJECT = ("toc_versions", "toc_keys", *OBSERVATIONS)
TABLES = (*OF_A_PROJECT, *VERSION_CHILD_TABLES, "pciv_deleted_runs")
# Implied by another rule; these exist for references, to keep the rows of a version in one place, and
# for concurrent writers.
IMPLIED = {
    "toc_versions_can_be_named_by_project",
    "toc_versions_number_is_unique",
    "toc_versions_number_starts_at_one",
    *(f"{table}_pkey" for table in VERSION_CHILD_TABLES),
}
ON_SQLITE_ALONE = {"toc_keys_are_never_deleted"}
WORDS = {
    "toc_versions_rev_moves_by_one": "rev_step",
    "toc_versions_begin_as_drafts": "not_a_draft",
    "toc_versions_number_has_no_gap": "version_gap",
    "toc_versions_number_stays": "version_gap",
    "toc_versions_stand_on_final_facts": "run_not_final",
    "toc_keys_only_grow": "key_reused",
    "toc_keys_are_never_deleted": "key_reused",
    "toc_assumptions_key_is_of_no_edge_assumption_at_insert": "key_reused",
    "toc_assumptions_key_is_of_no_edge_assumption_at_update": "key_reused",
    "toc_edge_assumptions_key_is_of_no_node_assumption_at_insert": "key_reused",
    "toc_edge_assumptions_key_is_of_no_node_assumption_at_update": "key_reused",
    **{f"{table}_are_of_this_write": "rev_step" for table in OBSERVATIONS},
    "pciv_deleted_runs_are_stood_on_by_nothing": "run_bound",
}

DRAFT = version_row("atlas", "draft", 2)
NO_NODE_KEYS = ("", "G", "1", "G0", "G01", "g1", "X1", "OC", "OC1x", "AS1", "IN1", "G-1", " G1", "G1 ", "GOC1", "OC1\n")


def insert_version(project: str, number: int = 1, /, **changes: Value) -> str:
    return sql_insert("toc_versions", version_row(project, "new", number, **changes))


def update_version(id_: str = "draft", /, **changes: Value) -> str:
    return update_row("toc_versions", id_, **{"rev": 2, **changes})


def publish_draft(**changes: Value) -> str:
    return update_version(**publish_columns(**{"label": "v2", **changes}))


def update_count(prefix: str, last_number: int, *, project: str = "atlas") -> str:
    row: Row = {"tenant_id": "local", "project_id": project, "prefix": prefix, "last_number": last_number}
    return sql_insert("toc_keys", row)


def recount_sql(**changes: Value) -> str:
    return f"UPDATE toc_keys SET {sql_set(changes)} WHERE prefix = 'AS'"


def update_node(**changes: Value) -> str:
    return update_row("toc_nodes", "draft-n4", **changes)


def update_edge(**changes: Value) -> str:
    return update_row("toc_edges", "draft-e2", **changes)


def update_indicator(**changes: Value) -> str:
    return update_row("toc_indicators", "draft-i", **changes)


def insert_observation(row: Row, **changes: Value) -> str:
    """Return SQL that inserts an observation into the table with its columns."""
    column = {"value": 0, "assumption_key": 1, "code": 2, "text": 3}
    return sql_insert(next(OBSERVATIONS[n] for name, n in column.items() if name in row), {**row, **changes})


def insert_measurement(**changes: Value) -> str:
    return insert_observation(measurement_row("atlas", 1, 1), **changes)


def insert_review(**changes: Value) -> str:
    return insert_observation(review_row("atlas", 1, 1), **changes)


def insert_waiver(**changes: Value) -> str:
    return insert_observation(waiver_row("atlas", 1, 1), **changes)


def insert_decision(**changes: Value) -> str:
    return insert_observation(decision_row("atlas", 1, 1), **changes)


def delete_run(run_id: str) -> str:
    row = {"tenant_id": "local", "run_id": run_id, "project_id": "atlas", "deleted_at": STAMP, "deleted_by": "ada"}
    return sql_insert("pciv_deleted_runs", {**row, "deleter_kind": "user"})


ATTEMPTS = {
    # versions
    "a version with the id of another project's": Attempt(
        sql_insert("toc_versions", version_row("caspia", "draft")), "toc_versions_pkey"
    ),
    "a version of no project": Attempt(insert_version("nowhere"), "toc_versions_are_of_a_project"),
    "a version from none": Attempt(insert_version("dorado", 2, source_number=0), "toc_versions_come_from_a_version"),
    "a version from itself": Attempt(insert_version("dorado", 2, source_number=2), "toc_versions_source_is_earlier"),
    "a second draft": Attempt(insert_version("atlas", 3), "toc_versions_one_draft_a_project"),
    "a status that is unknown": Attempt(publish_draft(status="ARCHIVED"), "toc_versions_status_is_known"),
    "a profile that is unknown": Attempt(update_version(profile="lax"), "toc_versions_profile_is_known"),
    "a version at revision 0": Attempt(insert_version("caspia", rev=0), "toc_versions_rev_starts_at_one"),
    "a revision that stays": Attempt(update_version(rev=1, updated_at=LATER), "toc_versions_rev_moves_by_one"),
    "a change that does not mention the revision": Attempt(
        update_row("toc_versions", "draft", updated_at=LATER), "toc_versions_rev_moves_by_one"
    ),
    "a revision that skips": Attempt(update_version(rev=3), "toc_versions_rev_moves_by_one"),
    "a version that is born published": Attempt(
        insert_version("caspia", **publish_columns(rev=1)), "toc_versions_begin_as_drafts"
    ),
    "a project that begins with its second version": Attempt(
        insert_version("caspia", 2), "toc_versions_number_has_no_gap"
    ),
    "a version that leaves one out": Attempt(insert_version("dorado", 3), "toc_versions_number_has_no_gap"),
    "a draft in the place of another one": Attempt(
        insert_version("elba", 2).replace("INSERT", "INSERT OR REPLACE", 1),
        "toc_versions_number_has_no_gap",
        only=Dialect.SQLITE,
    ),
    "a version that takes another number": Attempt(update_version(version_number=3), "toc_versions_number_stays"),
    "a version that moves to another project": Attempt(
        update_version("elba-draft", project_id="caspia"), "toc_versions_number_stays"
    ),
    # what publishing means
    "a draft that is called by a number": Attempt(update_version(label="v2"), "toc_versions_label_tells_drafts"),
    "a version that is still called a draft": Attempt(publish_draft(label="draft"), "toc_versions_label_tells_drafts"),
    "a version that is called nothing": Attempt(publish_draft(label=""), "toc_versions_label_tells_drafts"),
    "a version of too long a name": Attempt(publish_draft(label="v" * 256), "toc_versions_label_tells_drafts"),
    **{
        f"a published version without {column}": Attempt(
            publish_draft(**{column: None}), "toc_versions_are_published_whole"
        )
        for column in ("outside", "published_at", "published_by", "published_rev")
    },
    **{
        f"a draft with {column}": Attempt(update_version(**{column: value}), "toc_versions_are_published_whole")
        for column, value in {**publish_columns(), "context_run_id": "free"}.items()
        if column not in ("status", "label", "updated_at", "rev")
    },
    **{
        f"published although {what}": Attempt(publish_draft(gates=gates), "toc_versions_passed_their_gate")
        for what, gates in {
            "the gate was not passed": gate_result(is_passed=False),
            "it is not said whether it was passed": gate_result(is_passed=None),
            "passed is a number": gate_result(is_passed=1),
            "passed is a word": gate_result(is_passed="True"),
            "another gate was passed": gate_result(gate="B"),
            "other content passed": gate_result(content_hash=HASH[::-1]),
            "no gate was asked": "[]",
            "a gate said nothing": "[null]",
            "there is no list of gates": gate_result()[1:-1],
        }.items()
    },
    "published under half a hash": Attempt(
        publish_draft(gates=gate_result(content_hash=HASH[1:]), content_hash=HASH[1:]), "toc_versions_passed_their_gate"
    ),
    # the facts it stands on
    "published on a draft of facts": Attempt(publish_draft(context_run_id="open"), "toc_versions_stand_on_final_facts"),
    "published on facts out of view": Attempt(
        publish_draft(context_run_id="gone"), "toc_versions_stand_on_final_facts"
    ),
    "published on another project's facts": Attempt(
        publish_draft(context_run_id="theirs"), "toc_versions_stand_on_a_run"
    ),
    "facts that go while a version stands on them": Attempt(
        delete_run("stood"), "pciv_deleted_runs_are_stood_on_by_nothing"
    ),
    # keys
    "a second count of the same keys": Attempt(update_count("AS", 9), "toc_keys_pkey"),
    "a count of no project": Attempt(update_count("AS", 1, project="nowhere"), "toc_keys_are_of_a_project"),
    "keys of an unknown sort": Attempt(update_count("XY", 1), "toc_keys_prefix_is_known"),
    "a count that has not begun": Attempt(update_count("OP", 0), "toc_keys_count_up"),
    "a count that goes back": Attempt(recount_sql(last_number=6), "toc_keys_only_grow"),
    "a count that is of other keys now": Attempt(recount_sql(last_number=8, prefix="OP"), "toc_keys_only_grow"),
    "a count that is of another project now": Attempt(
        recount_sql(last_number=8, project_id="caspia"), "toc_keys_only_grow"
    ),
    "a count that begins again": Attempt(
        "DELETE FROM toc_keys WHERE prefix = 'AS'", "toc_keys_are_never_deleted", only=Dialect.SQLITE
    ),
    # nodes
    "a node of an unknown type": Attempt(update_node(node_type="IMPACT"), "toc_nodes_type_is_known"),
    **{
        f"a node with the key {key!r}": Attempt(update_node(key=key), "toc_nodes_key_is_well_formed")
        for key in NO_NODE_KEYS
    },
    "a title that is too long": Attempt(update_node(title="x" * 501), "toc_nodes_fit"),
    "a description that is too long in bytes": Attempt(update_node(description="ü" * 8_193), "toc_nodes_fit"),
    "a narrative that is too long in bytes": Attempt(update_node(narrative="ü" * 8_193), "toc_nodes_fit"),
    "a node of too long an owner": Attempt(update_node(owner="x" * 256), "toc_nodes_fit"),
    "more about a node than in it": Attempt(update_node(metadata=f'{{"x":"{"ü" * 8_192}"}}'), "toc_nodes_fit"),
    "a list about a node": Attempt(update_node(metadata="[]"), "toc_nodes_metadata_is_an_object"),
    # edges
    "an edge from another version": Attempt(
        update_edge(source_node_id="first-n1"), "toc_edges_share_the_version_of_their_source"
    ),
    "an edge into another version": Attempt(
        update_edge(target_node_id="first-n1"), "toc_edges_share_the_version_of_their_target"
    ),
    "an edge from another project": Attempt(
        update_edge(source_node_id="other-n1"), "toc_edges_share_the_version_of_their_source"
    ),
    "an edge to nowhere": Attempt(update_edge(target_node_id="nowhere"), "toc_edges_share_the_version_of_their_target"),
    "a node that goes while an edge leads to it": Attempt(
        "DELETE FROM toc_nodes WHERE id = 'draft-n3'", "toc_edges_share_the_version_of_their_target"
    ),
    "a node that goes while an edge leads from it": Attempt(
        "DELETE FROM toc_nodes WHERE id = 'draft-n5'", "toc_edges_share_the_version_of_their_source"
    ),
    "an edge to itself": Attempt(update_edge(target_node_id="draft-n2"), "toc_edges_not_to_self"),
    "the same edge twice": Attempt(
        sql_insert("toc_edges", edge_row(DRAFT, "new", "draft-n1", "draft-n2")), "toc_edges_are_unique"
    ),
    "an edge that becomes another one": Attempt(
        update_edge(source_node_id="draft-n1", target_node_id="draft-n2"), "toc_edges_are_unique"
    ),
    "an edge of an unknown type": Attempt(update_edge(edge_type="BLOCKS"), "toc_edges_type_is_known"),
    "an edge of some confidence": Attempt(update_edge(confidence="some"), "toc_edges_confidence_is_known"),
    "a mechanism that is too long in bytes": Attempt(update_edge(mechanism="ü" * 2_049), "toc_edges_fit"),
    # assumptions: those that are of nodes alone, and of edges alone
    "an assumption on another version's node": Attempt(
        update_row("toc_assumptions", "draft-a", node_id="first-n1"), "toc_assumptions_share_the_version_of_their_node"
    ),
    "an assumption on another version's edge": Attempt(
        update_row("toc_edge_assumptions", "draft-x", edge_id="first-e1"),
        "toc_edge_assumptions_share_the_version_of_their_edge",
    ),
    "an edge that goes while something is assumed of it": Attempt(
        "DELETE FROM toc_edges WHERE id = 'draft-e1'", "toc_edge_assumptions_share_the_version_of_their_edge"
    ),
    "an assumption with the key of an edge's": Attempt(
        sql_insert("toc_assumptions", assumption_row(DRAFT, "new", "AS1", "draft-n1")),
        "toc_assumptions_key_is_of_no_edge_assumption_at_insert",
    ),
    "an assumption that takes the key of an edge's": Attempt(
        update_row("toc_assumptions", "draft-a", key="AS1"), "toc_assumptions_key_is_of_no_edge_assumption_at_update"
    ),
    "an assumption that comes to an edge's with its key": Attempt(
        update_row("toc_assumptions", "draft-b", project_id="borealis", toc_version_id="other", node_id="other-n1"),
        "toc_assumptions_key_is_of_no_edge_assumption_at_update",
    ),
    "an edge's assumption with the key of a node's": Attempt(
        sql_insert("toc_edge_assumptions", edge_assumption_row(DRAFT, "new", "AS3", "draft-e1")),
        "toc_edge_assumptions_key_is_of_no_node_assumption_at_insert",
    ),
    "an edge's assumption that takes the key of a node's": Attempt(
        update_row("toc_edge_assumptions", "draft-x", key="AS3"),
        "toc_edge_assumptions_key_is_of_no_node_assumption_at_update",
    ),
    "an edge's assumption that comes to a node's with its key": Attempt(
        update_row(
            "toc_edge_assumptions", "draft-y", project_id="borealis", toc_version_id="other", edge_id="other-e1"
        ),
        "toc_edge_assumptions_key_is_of_no_node_assumption_at_update",
    ),
    # indicators
    "an indicator of another version's node": Attempt(
        update_indicator(node_id="first-n1"), "toc_indicators_share_the_version_of_their_node"
    ),
    **{
        f"an indicator with the key {key!r}": Attempt(update_indicator(key=key), "toc_indicators_key_is_well_formed")
        for key in ("", "IN", "IN0", "IN01", "in1", "I1", "G1", "1", "IN1 ")
    },
    "an indicator that goes sideways": Attempt(
        update_indicator(direction="sideways"), "toc_indicators_direction_is_known"
    ),
    "a baseline that is half verified": Attempt(
        update_indicator(baseline_verified=2), "toc_indicators_verified_is_yes_or_no", only=Dialect.SQLITE
    ),
    **{
        f"{column} is {value}": Attempt(update_indicator(**{column: value}), "toc_indicators_numbers_are_finite", only)
        for column in ("baseline", "target")
        for value, only in {"Infinity": None, "-Infinity": None, "NaN": Dialect.POSTGRES}.items()
    },
    "an indicator without a name": Attempt(update_indicator(name=""), "toc_indicators_fit"),
    "an indicator whose name is too long": Attempt(update_indicator(name="x" * 501), "toc_indicators_fit"),
    "an indicator in too long a unit": Attempt(update_indicator(unit="x" * 256), "toc_indicators_fit"),
    "a method that is too long in bytes": Attempt(update_indicator(method="ü" * 2_049), "toc_indicators_fit"),
    "an indicator too seldom": Attempt(update_indicator(frequency="x" * 256), "toc_indicators_fit"),
    "an indicator of too long an owner": Attempt(update_indicator(owner="x" * 256), "toc_indicators_fit"),
    # observations
    **{
        f"a measurement of {value}": Attempt(insert_measurement(value=value), "toc_measurements_value_is_finite", only)
        for value, only in {"Infinity": None, "-Infinity": None, "NaN": Dialect.POSTGRES}.items()
    },
    "a measurement at some time": Attempt(insert_measurement(as_of="lately"), "toc_measurements_are_of_a_moment"),
    "a measurement from too long a source": Attempt(insert_measurement(source="ü" * 2_049), "toc_measurements_fit"),
    "a measurement with too long a note": Attempt(insert_measurement(note="ü" * 2_049), "toc_measurements_fit"),
    "a review that says something else": Attempt(
        insert_review(status="doubtful"), "toc_assumption_reviews_status_is_known"
    ),
    "a review for no reason": Attempt(insert_review(reason=""), "toc_assumption_reviews_fit"),
    "a review for too many reasons": Attempt(insert_review(reason="ü" * 2_049), "toc_assumption_reviews_fit"),
    "a review with too much evidence": Attempt(insert_review(evidence="ü" * 2_049), "toc_assumption_reviews_fit"),
    "a waiver by name": Attempt(insert_waiver(refs="{}"), "toc_waivers_refs_are_a_list"),
    "a waiver of too much": Attempt(insert_waiver(refs=f'["{"ü" * 8_191}"]'), "toc_waivers_refs_are_a_list"),
    "a waiver until some time": Attempt(insert_waiver(due="2026-06-30T00:00:00.000Z"), "toc_waivers_due_is_a_date"),
    "a waiver of nothing": Attempt(insert_waiver(code=""), "toc_waivers_fit"),
    "a waiver of too long a code": Attempt(insert_waiver(code="x" * 65), "toc_waivers_fit"),
    "a waiver for no reason": Attempt(insert_waiver(reason=""), "toc_waivers_fit"),
    "a waiver for too many reasons": Attempt(insert_waiver(reason="ü" * 2_049), "toc_waivers_fit"),
    "a waiver that nobody owns": Attempt(insert_waiver(owner=""), "toc_waivers_fit"),
    "a waiver of too long an owner": Attempt(insert_waiver(owner="x" * 256), "toc_waivers_fit"),
    "a decision about a name": Attempt(insert_decision(about="{}"), "toc_decisions_about_is_a_list"),
    "a decision about too much": Attempt(insert_decision(about=f'["{"ü" * 8_191}"]'), "toc_decisions_about_is_a_list"),
    "a decision that says nothing": Attempt(insert_decision(text=""), "toc_decisions_fit"),
    "a decision that says too much": Attempt(insert_decision(text="ü" * 2_049), "toc_decisions_fit"),
    "a decision for no reason": Attempt(insert_decision(rationale=""), "toc_decisions_fit"),
    "a decision for too many reasons": Attempt(insert_decision(rationale="ü" * 2_049), "toc_decisions_fit"),
    "a decision with too long an outcome": Attempt(insert_decision(outcome="ü" * 2_049), "toc_decisions_fit"),
}


def new_rows() -> dict[str, Row]:
    """Return for every table below a version a valid row."""
    return {
        "toc_indicators": indicator_row(DRAFT, "new", "IN2", "draft-n2"),
        "toc_edge_assumptions": edge_assumption_row(DRAFT, "new", "AS9", "draft-e2"),
        "toc_assumptions": assumption_row(DRAFT, "new", "AS9", "draft-n2"),
        "toc_edges": edge_row(DRAFT, "new", "draft-n1", "draft-n3"),
        "toc_nodes": node_row(DRAFT, "new", "OC9"),
    }


def on_every_table() -> Iterator[tuple[str, Attempt]]:
    """Return the attempts that every table below a version and every observation table refuses."""
    taken = {
        "toc_indicators": ("other-i", "IN1"),
        "toc_edge_assumptions": ("other-x", "AS1"),
        "toc_assumptions": ("other-a", "AS3"),
        "toc_edges": ("other-e1", None),
        "toc_nodes": ("other-n1", "OC1"),
    }
    for table, row in new_rows().items():
        id_, key = taken[table]
        misplaced = sql_insert(table, {**row, "project_id": "borealis"})
        yield f"{table}: of a project that is not the version's", Attempt(misplaced, f"{table}_are_of_a_version")
        yield f"{table}: a taken id", Attempt(sql_insert(table, {**row, "id": id_}), f"{table}_id_is_unique")
        if key is not None:
            yield f"{table}: a taken key", Attempt(sql_insert(table, {**row, "key": key}), f"{table}_key_is_unique")
    for table, id_ in {"toc_assumptions": "draft-a", "toc_edge_assumptions": "draft-x"}.items():
        for key in ("", "AS", "AS0", "AS01", "as1", "A1", "G1", "1", "AS1 "):
            yield f"{table}: the key {key!r}", Attempt(update_row(table, id_, key=key), f"{table}_key_is_well_formed")
        for what, rule, changes in (
            ("a risk that is unknown", "risk_is_known", {"risk_level": "EXTREME"}),
            ("reviewed at some time", "review_is_a_date", {"review_by": "soon"}),
            ("reviewed at a moment", "review_is_a_date", {"review_by": STAMP}),
            ("nothing is assumed", "fit", {"assumption_text": ""}),
            ("too much is assumed", "fit", {"assumption_text": "ü" * 2_049}),
            ("of too long an owner", "fit", {"owner": "x" * 256}),
        ):
            yield f"{table}: {what}", Attempt(update_row(table, id_, **changes), f"{table}_{rule}")
    for table, a_row in zip(OBSERVATIONS, (measurement_row, review_row, waiver_row, decision_row), strict=True):
        row = a_row("atlas", 1)
        yield f"{table}: twice at one place", Attempt(insert_observation(row), f"{table}_pkey")
        for rev in (0, 2):
            past = Attempt(insert_observation(row, rev=rev), f"{table}_are_of_this_write")
            yield f"{table}: of write {rev} and not of this one", past


RULES = SchemaRules(
    names="toc_(?!requests_|decisions_(supersede|answer))|pciv_deleted_runs_are_stood_on",
    tables=TABLES,
    attempts=ATTEMPTS | dict(on_every_table()),
    words=WORDS,
    exempt=IMPLIED | {f"{table}_are_of_a_project" for table in OF_A_PROJECT},  # tried below, on projects
    sqlite_only=ON_SQLITE_ALONE,
    first=sql_act_as_ada,
)


def fill(engine: Engine) -> None:
    """Create the projects for the attempts."""
    engine.as_owner(*(insert_project(name, STAMP) for name in ("atlas", "borealis", "caspia", "dorado", "elba")))
    runs = {"stood": "atlas", "free": "atlas", "gone": "atlas", "open": "atlas", "theirs": "borealis"}
    engine.as_owner(
        *(sql_insert("pciv_runs", run_row(project, id_)) for id_, project in runs.items()),
        # Of runs that were committed at one time, the first by its id is in force.
        *(
            update_row("pciv_runs", id_, **commit_columns(base=base))
            for id_, base in (("stood", None), ("free", "stood"), ("gone", "free"), ("theirs", None))
        ),
        delete_run("gone"),
    )
    insert_families(
        engine,
        make_family("atlas", "first", publishing=publish_columns(context_run_id="stood")),
        make_family("atlas", "draft", 2),
        make_family("borealis", "other", keys_from=20),
        make_family("dorado", "fourth", publishing=publish_columns()),
    )
    engine.as_owner(
        sql_insert("toc_versions", version_row("elba", "elba-draft")),
        update_count("AS", 7),
        sql_insert("toc_nodes", node_row(DRAFT, "draft-n5", "OC7")),
        sql_insert("toc_edges", edge_row(DRAFT, "draft-e3", "draft-n5", "draft-n1")),
        # The keys that borealis has on an edge and on a node.
        sql_insert("toc_assumptions", assumption_row(DRAFT, "draft-b", "AS20", "draft-n1")),
        sql_insert("toc_edge_assumptions", edge_assumption_row(DRAFT, "draft-y", "AS22", "draft-e1")),
        *(insert_observation(row("atlas", 1)) for row in (measurement_row, review_row, waiver_row, decision_row)),
    )


@pytest.fixture
def atlas(engine: Engine) -> Engine:
    """Projects with a published version and a draft, a draft, nothing, a published version, and an empty draft."""
    fill_once(engine, fill)
    return engine


def test_every_rule_of_the_migration_is_tried() -> None:
    assert RULES.find_uncovered() == []


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(atlas: Engine) -> None:
    assert RULES.find_accepted(atlas) == {}


@pytest.mark.slow
def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(atlas: Engine) -> None:
    assert RULES.find_blocked_elsewhere(atlas) == {}


def test_what_is_allowed_is_not_refused(atlas: Engine) -> None:
    allowed = [
        *(sql_insert(table, row) for table, row in new_rows().items()),
        insert_version("caspia"),
        insert_version("dorado", 2, source_number=1),
        insert_version("dorado", 2, profile="strict"),
        update_version(),
        publish_draft(),
        publish_draft(label="The year of the storm"),
        publish_draft(context_run_id="free"),
        publish_draft(context_run_id="stood"),
        publish_draft(gates=gate_result()[:-1] + ", " + gate_result(gate="B", is_passed=False)[1:]),
        "DELETE FROM toc_versions WHERE id = 'elba-draft'",
        delete_run("free"),
        update_count("OP", 1),
        recount_sql(last_number=8),
        recount_sql(last_number=99),
        *(update_node(key=key) for key in ("G1", "OC10", "OP999", "AC7")),
        update_node(node_type="GOAL", title="", description="ü" * 8_192, narrative="ü" * 8_192, owner="ü" * 255),
        update_edge(edge_type="FEEDBACK", source_node_id="draft-n1", target_node_id="draft-n2"),
        update_edge(confidence="low", mechanism="ü" * 2_048),
        update_row("toc_assumptions", "draft-a", risk_level="LOW", owner="ben", review_by="2026-12-31"),
        update_row("toc_edge_assumptions", "draft-x", risk_level="MEDIUM", owner="ben", review_by="2026-12-31"),
        update_indicator(direction="decrease", baseline=-1.5e308, baseline_verified=True, target=0.0, unit="boats"),
        insert_measurement(as_of=STAMP, note="ü" * 2_048),
        insert_review(status="refuted", evidence="A storm"),
        insert_waiver(refs='["OC1"]'),
        insert_decision(about="[]", outcome="Done"),
    ]

    assert RULES.find_refused(atlas, allowed) == {}


def test_a_status_that_is_changed_alone_publishes_nothing(atlas: Engine) -> None:
    plain = [
        f"UPDATE {'toc_versions'} SET status = 'PUBLISHED' WHERE id = 'draft'",
        update_version(status="PUBLISHED"),
        update_version(status="PUBLISHED", label="v2"),
        update_version(status="PUBLISHED", label="v2", published_at=LATER),
        *(
            update_version(**{name: value for name, value in publish_columns(label="v2").items() if name != left_out})
            for left_out in publish_columns()
            if left_out not in ("updated_at", "context_run_id", "rev", "status")
        ),
    ]

    assert RULES.find_done(atlas, [*plain, publish_draft()]) == [publish_draft()]


@pytest.mark.parametrize("table", OF_A_PROJECT)
def test_a_project_that_has_a_purpose_cannot_be_deleted(engine: Engine, table: str) -> None:
    rows: dict[str, Row] = {
        "toc_versions": version_row("atlas", "draft"),
        "toc_keys": {"tenant_id": "local", "project_id": "atlas", "prefix": "G", "last_number": 1},
        "toc_measurements": measurement_row("atlas", 1),
        "toc_assumption_reviews": review_row("atlas", 1),
        "toc_waivers": waiver_row("atlas", 1),
        "toc_decisions": decision_row("atlas", 1),
    }
    engine.as_owner(insert_project("atlas", STAMP), sql_insert(table, rows[table]))
    if engine.dialect is Dialect.SQLITE:
        engine.as_owner("DROP TRIGGER projects_are_never_deleted")
    rule = Attempt("DELETE FROM projects", f"{table}_are_of_a_project")

    with engine.owner_transaction() as run:
        assert RULES.expected_text(engine, rule) in error_text(engine, run, rule)
    with engine.owner_transaction(references=False) as run:
        assert error_text(engine, run, rule) == "done"


def test_what_is_no_json_is_refused(atlas: Engine) -> None:
    torn = [
        publish_draft(gates="["),
        publish_draft(gates=""),
        update_node(metadata="{"),
        insert_waiver(refs="["),
        insert_decision(about=""),
    ]

    assert RULES.find_done(atlas, torn) == []


def test_a_caller_of_the_store_is_told_what_was_wrong(atlas: Engine) -> None:
    wrong: dict[str, type[GroundplanError]] = {
        "a version that leaves one out": VersionGap,
        "a revision that skips": RevisionSkipped,
        "a count that goes back": KeyReused,
        "published on facts out of view": RunNotFinal,
        "facts that go while a version stands on them": RunBound,
    }
    for what, error in wrong.items():
        with pytest.raises(error):
            write_rows(atlas, ATTEMPTS[what].statement)
    with pytest.raises(NotADraft):
        write_rows(atlas, insert_version("caspia", **publish_columns(rev=1)))
    with pytest.raises(KeyReused):
        write_rows(atlas, recount_sql(last_number=7))  # the last number would be given again
    with pytest.raises(Frozen):
        write_rows(atlas, update_row("toc_nodes", "first-n1", title="x"))
