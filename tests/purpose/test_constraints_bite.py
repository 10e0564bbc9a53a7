"""The rules of purpose that stand in the schema itself: nobody's SQL breaks them, and each is there for that.

No rule of the migration is without an attempt to break it; how each is made is told in `tests.kernel.store.rules`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.context.refusals import RunBound
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.guards import Frozen, NotADraft, RevisionSkipped
from groundplan.kernel.store.migrations import Dialect
from groundplan.purpose.refusals import KeyReused, RunNotFinal, VersionGap
from groundplan.purpose.tables import VERSION_CHILD_TABLES
from tests.context.rows import a_run, committed
from tests.engines import Engine, filled_once
from tests.kernel.store.attacks import Row, Value, assigned, inserted
from tests.kernel.store.rules import Attempt, Rulebook, a_project, old, said, written
from tests.purpose.rows import (
    HASH,
    LATER,
    STAMP,
    a_decision,
    a_family,
    a_measurement,
    a_node,
    a_review,
    a_version,
    a_waiver,
    an_assumption,
    an_edge,
    an_edge_assumption,
    an_indicator,
    as_ada,
    passed,
    place,
    published,
)

OBSERVATIONS = ("toc_measurements", "toc_assumption_reviews", "toc_waivers", "toc_decisions")
OF_A_PROJECT = ("toc_versions", "toc_keys", *OBSERVATIONS)
TABLES = (*OF_A_PROJECT, *VERSION_CHILD_TABLES, "pciv_deleted_runs")
# Another rule says the same and more; these are there for references, for rows of a version to be in one place, and
# for two who write at the same moment.
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

DRAFT = a_version("atlas", "draft", 2)
NO_NODE_KEYS = ("", "G", "1", "G0", "G01", "g1", "X1", "OC", "OC1x", "AS1", "IN1", "G-1", " G1", "G1 ", "GOC1", "OC1\n")


def new_version(project: str, number: int = 1, /, **changes: Value) -> str:
    return inserted("toc_versions", a_version(project, "new", number, **changes))


def version(id_: str = "draft", /, **changes: Value) -> str:
    return old("toc_versions", id_, **{"rev": 2, **changes})


def publish(**changes: Value) -> str:
    return version(**published(**{"label": "v2", **changes}))


def count(prefix: str, last_number: int, *, project: str = "atlas") -> str:
    row: Row = {"tenant_id": "local", "project_id": project, "prefix": prefix, "last_number": last_number}
    return inserted("toc_keys", row)


def recount(**changes: Value) -> str:
    return f"UPDATE toc_keys SET {assigned(changes)} WHERE prefix = 'AS'"


def node(**changes: Value) -> str:
    return old("toc_nodes", "draft-n4", **changes)


def edge(**changes: Value) -> str:
    return old("toc_edges", "draft-e2", **changes)


def indicator(**changes: Value) -> str:
    return old("toc_indicators", "draft-i", **changes)


def observed(row: Row, **changes: Value) -> str:
    """An observation, in the table that has its columns."""
    column = {"value": 0, "assumption_key": 1, "code": 2, "text": 3}
    return inserted(next(OBSERVATIONS[n] for name, n in column.items() if name in row), {**row, **changes})


def measurement(**changes: Value) -> str:
    return observed(a_measurement("atlas", 1, 1), **changes)


def review(**changes: Value) -> str:
    return observed(a_review("atlas", 1, 1), **changes)


def waiver(**changes: Value) -> str:
    return observed(a_waiver("atlas", 1, 1), **changes)


def decision(**changes: Value) -> str:
    return observed(a_decision("atlas", 1, 1), **changes)


def removed(run_id: str) -> str:
    row = {"tenant_id": "local", "run_id": run_id, "project_id": "atlas", "deleted_at": STAMP, "deleted_by": "ada"}
    return inserted("pciv_deleted_runs", {**row, "deleter_kind": "user"})


ATTEMPTS = {
    # versions
    "a version with the id of another project's": Attempt(
        inserted("toc_versions", a_version("caspia", "draft")), "toc_versions_pkey"
    ),
    "a version of no project": Attempt(new_version("nowhere"), "toc_versions_are_of_a_project"),
    "a version from none": Attempt(new_version("dorado", 2, source_number=0), "toc_versions_come_from_a_version"),
    "a version from itself": Attempt(new_version("dorado", 2, source_number=2), "toc_versions_source_is_earlier"),
    "a second draft": Attempt(new_version("atlas", 3), "toc_versions_one_draft_a_project"),
    "a status that is unknown": Attempt(publish(status="ARCHIVED"), "toc_versions_status_is_known"),
    "a profile that is unknown": Attempt(version(profile="lax"), "toc_versions_profile_is_known"),
    "a version at revision 0": Attempt(new_version("caspia", rev=0), "toc_versions_rev_starts_at_one"),
    "a revision that stays": Attempt(version(rev=1, updated_at=LATER), "toc_versions_rev_moves_by_one"),
    "a change that does not mention the revision": Attempt(
        old("toc_versions", "draft", updated_at=LATER), "toc_versions_rev_moves_by_one"
    ),
    "a revision that skips": Attempt(version(rev=3), "toc_versions_rev_moves_by_one"),
    "a version that is born published": Attempt(
        new_version("caspia", **published(rev=1)), "toc_versions_begin_as_drafts"
    ),
    "a project that begins with its second version": Attempt(
        new_version("caspia", 2), "toc_versions_number_has_no_gap"
    ),
    "a version that leaves one out": Attempt(new_version("dorado", 3), "toc_versions_number_has_no_gap"),
    "a draft in the place of another one": Attempt(
        new_version("elba", 2).replace("INSERT", "INSERT OR REPLACE", 1),
        "toc_versions_number_has_no_gap",
        only=Dialect.SQLITE,
    ),
    "a version that takes another number": Attempt(version(version_number=3), "toc_versions_number_stays"),
    "a version that moves to another project": Attempt(
        version("elba-draft", project_id="caspia"), "toc_versions_number_stays"
    ),
    # what it is to be published
    "a draft that is called by a number": Attempt(version(label="v2"), "toc_versions_label_tells_drafts"),
    "a version that is still called a draft": Attempt(publish(label="draft"), "toc_versions_label_tells_drafts"),
    "a version that is called nothing": Attempt(publish(label=""), "toc_versions_label_tells_drafts"),
    "a version of too long a name": Attempt(publish(label="v" * 256), "toc_versions_label_tells_drafts"),
    **{
        f"a published version without {column}": Attempt(publish(**{column: None}), "toc_versions_are_published_whole")
        for column in ("outside", "published_at", "published_by", "published_rev")
    },
    **{
        f"a draft with {column}": Attempt(version(**{column: value}), "toc_versions_are_published_whole")
        for column, value in {**published(), "context_run_id": "free"}.items()
        if column not in ("status", "label", "updated_at", "rev")
    },
    **{
        f"published although {what}": Attempt(publish(gates=gates), "toc_versions_passed_their_gate")
        for what, gates in {
            "the gate was not passed": passed(is_passed=False),
            "it is not said whether it was passed": passed(is_passed=None),
            "passed is a number": passed(is_passed=1),
            "passed is a word": passed(is_passed="True"),
            "another gate was passed": passed(gate="B"),
            "other content passed": passed(content_hash=HASH[::-1]),
            "no gate was asked": "[]",
            "a gate said nothing": "[null]",
            "there is no list of gates": passed()[1:-1],
        }.items()
    },
    "published under half a hash": Attempt(
        publish(gates=passed(content_hash=HASH[1:]), content_hash=HASH[1:]), "toc_versions_passed_their_gate"
    ),
    # the facts it stands on
    "published on a draft of facts": Attempt(publish(context_run_id="open"), "toc_versions_stand_on_final_facts"),
    "published on facts out of view": Attempt(publish(context_run_id="gone"), "toc_versions_stand_on_final_facts"),
    "published on another project's facts": Attempt(publish(context_run_id="theirs"), "toc_versions_stand_on_a_run"),
    "facts that go while a version stands on them": Attempt(
        removed("stood"), "pciv_deleted_runs_are_stood_on_by_nothing"
    ),
    # keys
    "a second count of the same keys": Attempt(count("AS", 9), "toc_keys_pkey"),
    "a count of no project": Attempt(count("AS", 1, project="nowhere"), "toc_keys_are_of_a_project"),
    "keys of an unknown sort": Attempt(count("XY", 1), "toc_keys_prefix_is_known"),
    "a count that has not begun": Attempt(count("OP", 0), "toc_keys_count_up"),
    "a count that goes back": Attempt(recount(last_number=6), "toc_keys_only_grow"),
    "a count that is of other keys now": Attempt(recount(last_number=8, prefix="OP"), "toc_keys_only_grow"),
    "a count that is of another project now": Attempt(
        recount(last_number=8, project_id="caspia"), "toc_keys_only_grow"
    ),
    "a count that begins again": Attempt(
        "DELETE FROM toc_keys WHERE prefix = 'AS'", "toc_keys_are_never_deleted", only=Dialect.SQLITE
    ),
    # nodes
    "a node of an unknown type": Attempt(node(node_type="IMPACT"), "toc_nodes_type_is_known"),
    **{f"a node with the key {key!r}": Attempt(node(key=key), "toc_nodes_key_is_well_formed") for key in NO_NODE_KEYS},
    "a title that is too long": Attempt(node(title="x" * 501), "toc_nodes_fit"),
    "a description that is too long in bytes": Attempt(node(description="ü" * 8_193), "toc_nodes_fit"),
    "a narrative that is too long in bytes": Attempt(node(narrative="ü" * 8_193), "toc_nodes_fit"),
    "a node of too long an owner": Attempt(node(owner="x" * 256), "toc_nodes_fit"),
    "more about a node than in it": Attempt(node(metadata=f'{{"x":"{"ü" * 8_192}"}}'), "toc_nodes_fit"),
    "a list about a node": Attempt(node(metadata="[]"), "toc_nodes_metadata_is_an_object"),
    # edges
    "an edge from another version": Attempt(
        edge(source_node_id="first-n1"), "toc_edges_share_the_version_of_their_source"
    ),
    "an edge into another version": Attempt(
        edge(target_node_id="first-n1"), "toc_edges_share_the_version_of_their_target"
    ),
    "an edge from another project": Attempt(
        edge(source_node_id="other-n1"), "toc_edges_share_the_version_of_their_source"
    ),
    "an edge to nowhere": Attempt(edge(target_node_id="nowhere"), "toc_edges_share_the_version_of_their_target"),
    "a node that goes while an edge leads to it": Attempt(
        "DELETE FROM toc_nodes WHERE id = 'draft-n3'", "toc_edges_share_the_version_of_their_target"
    ),
    "a node that goes while an edge leads from it": Attempt(
        "DELETE FROM toc_nodes WHERE id = 'draft-n5'", "toc_edges_share_the_version_of_their_source"
    ),
    "an edge to itself": Attempt(edge(target_node_id="draft-n2"), "toc_edges_not_to_self"),
    "the same edge twice": Attempt(
        inserted("toc_edges", an_edge(DRAFT, "new", "draft-n1", "draft-n2")), "toc_edges_are_unique"
    ),
    "an edge that becomes another one": Attempt(
        edge(source_node_id="draft-n1", target_node_id="draft-n2"), "toc_edges_are_unique"
    ),
    "an edge of an unknown type": Attempt(edge(edge_type="BLOCKS"), "toc_edges_type_is_known"),
    "an edge of some confidence": Attempt(edge(confidence="some"), "toc_edges_confidence_is_known"),
    "a mechanism that is too long in bytes": Attempt(edge(mechanism="ü" * 2_049), "toc_edges_fit"),
    # assumptions: those that are of nodes alone, and of edges alone
    "an assumption on another version's node": Attempt(
        old("toc_assumptions", "draft-a", node_id="first-n1"), "toc_assumptions_share_the_version_of_their_node"
    ),
    "an assumption on another version's edge": Attempt(
        old("toc_edge_assumptions", "draft-x", edge_id="first-e1"),
        "toc_edge_assumptions_share_the_version_of_their_edge",
    ),
    "an edge that goes while something is assumed of it": Attempt(
        "DELETE FROM toc_edges WHERE id = 'draft-e1'", "toc_edge_assumptions_share_the_version_of_their_edge"
    ),
    "an assumption with the key of an edge's": Attempt(
        inserted("toc_assumptions", an_assumption(DRAFT, "new", "AS1", "draft-n1")),
        "toc_assumptions_key_is_of_no_edge_assumption_at_insert",
    ),
    "an assumption that takes the key of an edge's": Attempt(
        old("toc_assumptions", "draft-a", key="AS1"), "toc_assumptions_key_is_of_no_edge_assumption_at_update"
    ),
    "an assumption that comes to an edge's with its key": Attempt(
        old("toc_assumptions", "draft-b", project_id="borealis", toc_version_id="other", node_id="other-n1"),
        "toc_assumptions_key_is_of_no_edge_assumption_at_update",
    ),
    "an edge's assumption with the key of a node's": Attempt(
        inserted("toc_edge_assumptions", an_edge_assumption(DRAFT, "new", "AS3", "draft-e1")),
        "toc_edge_assumptions_key_is_of_no_node_assumption_at_insert",
    ),
    "an edge's assumption that takes the key of a node's": Attempt(
        old("toc_edge_assumptions", "draft-x", key="AS3"),
        "toc_edge_assumptions_key_is_of_no_node_assumption_at_update",
    ),
    "an edge's assumption that comes to a node's with its key": Attempt(
        old("toc_edge_assumptions", "draft-y", project_id="borealis", toc_version_id="other", edge_id="other-e1"),
        "toc_edge_assumptions_key_is_of_no_node_assumption_at_update",
    ),
    # indicators
    "an indicator of another version's node": Attempt(
        indicator(node_id="first-n1"), "toc_indicators_share_the_version_of_their_node"
    ),
    **{
        f"an indicator with the key {key!r}": Attempt(indicator(key=key), "toc_indicators_key_is_well_formed")
        for key in ("", "IN", "IN0", "IN01", "in1", "I1", "G1", "1", "IN1 ")
    },
    "an indicator that goes sideways": Attempt(indicator(direction="sideways"), "toc_indicators_direction_is_known"),
    "a baseline that is half verified": Attempt(
        indicator(baseline_verified=2), "toc_indicators_verified_is_yes_or_no", only=Dialect.SQLITE
    ),
    **{
        f"{column} is {value}": Attempt(indicator(**{column: value}), "toc_indicators_numbers_are_finite", only)
        for column in ("baseline", "target")
        for value, only in {"Infinity": None, "-Infinity": None, "NaN": Dialect.POSTGRES}.items()
    },
    "an indicator without a name": Attempt(indicator(name=""), "toc_indicators_fit"),
    "an indicator whose name is too long": Attempt(indicator(name="x" * 501), "toc_indicators_fit"),
    "an indicator in too long a unit": Attempt(indicator(unit="x" * 256), "toc_indicators_fit"),
    "a method that is too long in bytes": Attempt(indicator(method="ü" * 2_049), "toc_indicators_fit"),
    "an indicator too seldom": Attempt(indicator(frequency="x" * 256), "toc_indicators_fit"),
    "an indicator of too long an owner": Attempt(indicator(owner="x" * 256), "toc_indicators_fit"),
    # observations
    **{
        f"a measurement of {value}": Attempt(measurement(value=value), "toc_measurements_value_is_finite", only)
        for value, only in {"Infinity": None, "-Infinity": None, "NaN": Dialect.POSTGRES}.items()
    },
    "a measurement at some time": Attempt(measurement(as_of="lately"), "toc_measurements_are_of_a_moment"),
    "a measurement from too long a source": Attempt(measurement(source="ü" * 2_049), "toc_measurements_fit"),
    "a measurement with too long a note": Attempt(measurement(note="ü" * 2_049), "toc_measurements_fit"),
    "a review that says something else": Attempt(review(status="doubtful"), "toc_assumption_reviews_status_is_known"),
    "a review for no reason": Attempt(review(reason=""), "toc_assumption_reviews_fit"),
    "a review for too many reasons": Attempt(review(reason="ü" * 2_049), "toc_assumption_reviews_fit"),
    "a review with too much evidence": Attempt(review(evidence="ü" * 2_049), "toc_assumption_reviews_fit"),
    "a waiver by name": Attempt(waiver(refs="{}"), "toc_waivers_refs_are_a_list"),
    "a waiver of too much": Attempt(waiver(refs=f'["{"ü" * 8_191}"]'), "toc_waivers_refs_are_a_list"),
    "a waiver until some time": Attempt(waiver(due="2026-06-30T00:00:00.000Z"), "toc_waivers_due_is_a_date"),
    "a waiver of nothing": Attempt(waiver(code=""), "toc_waivers_fit"),
    "a waiver of too long a code": Attempt(waiver(code="x" * 65), "toc_waivers_fit"),
    "a waiver for no reason": Attempt(waiver(reason=""), "toc_waivers_fit"),
    "a waiver for too many reasons": Attempt(waiver(reason="ü" * 2_049), "toc_waivers_fit"),
    "a waiver that nobody owns": Attempt(waiver(owner=""), "toc_waivers_fit"),
    "a waiver of too long an owner": Attempt(waiver(owner="x" * 256), "toc_waivers_fit"),
    "a decision about a name": Attempt(decision(about="{}"), "toc_decisions_about_is_a_list"),
    "a decision about too much": Attempt(decision(about=f'["{"ü" * 8_191}"]'), "toc_decisions_about_is_a_list"),
    "a decision that says nothing": Attempt(decision(text=""), "toc_decisions_fit"),
    "a decision that says too much": Attempt(decision(text="ü" * 2_049), "toc_decisions_fit"),
    "a decision for no reason": Attempt(decision(rationale=""), "toc_decisions_fit"),
    "a decision for too many reasons": Attempt(decision(rationale="ü" * 2_049), "toc_decisions_fit"),
    "a decision with too long an outcome": Attempt(decision(outcome="ü" * 2_049), "toc_decisions_fit"),
}


def new_rows() -> dict[str, Row]:
    """For every table below a version, a row that it takes."""
    return {
        "toc_indicators": an_indicator(DRAFT, "new", "IN2", "draft-n2"),
        "toc_edge_assumptions": an_edge_assumption(DRAFT, "new", "AS9", "draft-e2"),
        "toc_assumptions": an_assumption(DRAFT, "new", "AS9", "draft-n2"),
        "toc_edges": an_edge(DRAFT, "new", "draft-n1", "draft-n3"),
        "toc_nodes": a_node(DRAFT, "new", "OC9"),
    }


def on_every_table() -> Iterator[tuple[str, Attempt]]:
    """What no table below a version takes, and no observation is."""
    taken = {
        "toc_indicators": ("other-i", "IN1"),
        "toc_edge_assumptions": ("other-x", "AS1"),
        "toc_assumptions": ("other-a", "AS3"),
        "toc_edges": ("other-e1", None),
        "toc_nodes": ("other-n1", "OC1"),
    }
    for table, row in new_rows().items():
        id_, key = taken[table]
        misplaced = inserted(table, {**row, "project_id": "borealis"})
        yield f"{table}: of a project that is not the version's", Attempt(misplaced, f"{table}_are_of_a_version")
        yield f"{table}: a taken id", Attempt(inserted(table, {**row, "id": id_}), f"{table}_id_is_unique")
        if key is not None:
            yield f"{table}: a taken key", Attempt(inserted(table, {**row, "key": key}), f"{table}_key_is_unique")
    for table, id_ in {"toc_assumptions": "draft-a", "toc_edge_assumptions": "draft-x"}.items():
        for key in ("", "AS", "AS0", "AS01", "as1", "A1", "G1", "1", "AS1 "):
            yield f"{table}: the key {key!r}", Attempt(old(table, id_, key=key), f"{table}_key_is_well_formed")
        for what, rule, changes in (
            ("a risk that is unknown", "risk_is_known", {"risk_level": "EXTREME"}),
            ("reviewed at some time", "review_is_a_date", {"review_by": "soon"}),
            ("reviewed at a moment", "review_is_a_date", {"review_by": STAMP}),
            ("nothing is assumed", "fit", {"assumption_text": ""}),
            ("too much is assumed", "fit", {"assumption_text": "ü" * 2_049}),
            ("of too long an owner", "fit", {"owner": "x" * 256}),
        ):
            yield f"{table}: {what}", Attempt(old(table, id_, **changes), f"{table}_{rule}")
    for table, a_row in zip(OBSERVATIONS, (a_measurement, a_review, a_waiver, a_decision), strict=True):
        row = a_row("atlas", 1)
        yield f"{table}: twice at one place", Attempt(observed(row), f"{table}_pkey")
        for rev in (0, 2):
            past = Attempt(observed(row, rev=rev), f"{table}_are_of_this_write")
            yield f"{table}: of write {rev} and not of this one", past


RULES = Rulebook(
    migration="purpose",
    tables=TABLES,
    attempts=ATTEMPTS | dict(on_every_table()),
    words=WORDS,
    excused=IMPLIED | {f"{table}_are_of_a_project" for table in OF_A_PROJECT},  # tried below, on projects
    on_sqlite_alone=ON_SQLITE_ALONE,
    first=as_ada,
)


def fill(engine: Engine) -> None:
    """Make the projects that the attempts are made on."""
    engine.as_owner(*(a_project(name, STAMP) for name in ("atlas", "borealis", "caspia", "dorado", "elba")))
    runs = {"stood": "atlas", "free": "atlas", "gone": "atlas", "open": "atlas", "theirs": "borealis"}
    engine.as_owner(
        *(inserted("pciv_runs", a_run(project, id_)) for id_, project in runs.items()),
        *(old("pciv_runs", id_, **committed()) for id_ in runs if id_ != "open"),
        removed("gone"),
    )
    place(
        engine,
        a_family("atlas", "first", publishing=published(context_run_id="stood")),
        a_family("atlas", "draft", 2),
        a_family("borealis", "other", keys_from=20),
        a_family("dorado", "fourth", publishing=published()),
    )
    engine.as_owner(
        inserted("toc_versions", a_version("elba", "elba-draft")),
        count("AS", 7),
        inserted("toc_nodes", a_node(DRAFT, "draft-n5", "OC7")),
        inserted("toc_edges", an_edge(DRAFT, "draft-e3", "draft-n5", "draft-n1")),
        # The keys that borealis has on an edge and on a node.
        inserted("toc_assumptions", an_assumption(DRAFT, "draft-b", "AS20", "draft-n1")),
        inserted("toc_edge_assumptions", an_edge_assumption(DRAFT, "draft-y", "AS22", "draft-e1")),
        *(observed(row("atlas", 1)) for row in (a_measurement, a_review, a_waiver, a_decision)),
    )


@pytest.fixture
def atlas(engine: Engine) -> Engine:
    """Projects with a published version and a draft, a draft, nothing, a published version, and an empty draft."""
    filled_once(engine, fill)
    return engine


def test_every_rule_of_the_migration_is_tried() -> None:
    assert RULES.loose_ends() == []


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(atlas: Engine) -> None:
    assert RULES.unrefused(atlas) == {}


@pytest.mark.slow
def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(atlas: Engine) -> None:
    assert RULES.blocked(atlas) == {}


def test_what_is_allowed_is_not_refused(atlas: Engine) -> None:
    allowed = [
        *(inserted(table, row) for table, row in new_rows().items()),
        new_version("caspia"),
        new_version("dorado", 2, source_number=1),
        new_version("dorado", 2, profile="strict"),
        version(),
        publish(),
        publish(label="The year of the storm"),
        publish(context_run_id="free"),
        publish(context_run_id="stood"),
        publish(gates=passed()[:-1] + ", " + passed(gate="B", is_passed=False)[1:]),
        "DELETE FROM toc_versions WHERE id = 'elba-draft'",
        removed("free"),
        count("OP", 1),
        recount(last_number=8),
        recount(last_number=99),
        *(node(key=key) for key in ("G1", "OC10", "OP999", "AC7")),
        node(node_type="GOAL", title="", description="ü" * 8_192, narrative="ü" * 8_192, owner="ü" * 255),
        edge(edge_type="FEEDBACK", source_node_id="draft-n1", target_node_id="draft-n2"),
        edge(confidence="low", mechanism="ü" * 2_048),
        old("toc_assumptions", "draft-a", risk_level="LOW", owner="ben", review_by="2026-12-31"),
        old("toc_edge_assumptions", "draft-x", risk_level="MEDIUM", owner="ben", review_by="2026-12-31"),
        indicator(direction="decrease", baseline=-1.5e308, baseline_verified=True, target=0.0, unit="boats"),
        measurement(as_of=STAMP, note="ü" * 2_048),
        review(status="refuted", evidence="A storm"),
        waiver(refs='["OC1"]'),
        decision(about="[]", outcome="Done"),
    ]

    assert RULES.refused(atlas, allowed) == {}


def test_a_status_that_is_changed_alone_publishes_nothing(atlas: Engine) -> None:
    plain = [
        "UPDATE toc_versions SET status = 'PUBLISHED' WHERE id = 'draft'",
        version(status="PUBLISHED"),
        version(status="PUBLISHED", label="v2"),
        version(status="PUBLISHED", label="v2", published_at=LATER),
        *(
            version(**{name: value for name, value in published(label="v2").items() if name != left_out})
            for left_out in published()
            if left_out not in ("updated_at", "context_run_id", "rev", "status")
        ),
    ]

    assert RULES.done(atlas, [*plain, publish()]) == [publish()]


@pytest.mark.parametrize("table", OF_A_PROJECT)
def test_a_project_that_has_a_purpose_cannot_be_deleted(engine: Engine, table: str) -> None:
    rows: dict[str, Row] = {
        "toc_versions": a_version("atlas", "draft"),
        "toc_keys": {"tenant_id": "local", "project_id": "atlas", "prefix": "G", "last_number": 1},
        "toc_measurements": a_measurement("atlas", 1),
        "toc_assumption_reviews": a_review("atlas", 1),
        "toc_waivers": a_waiver("atlas", 1),
        "toc_decisions": a_decision("atlas", 1),
    }
    engine.as_owner(a_project("atlas", STAMP), inserted(table, rows[table]))
    if engine.dialect is Dialect.SQLITE:
        engine.as_owner("DROP TRIGGER projects_are_never_deleted")
    rule = Attempt("DELETE FROM projects", f"{table}_are_of_a_project")

    with engine.owned() as run:
        assert RULES.expected(engine, rule) in said(engine, run, rule)
    with engine.owned(references=False) as run:
        assert said(engine, run, rule) == "done"


def test_what_is_no_json_is_refused(atlas: Engine) -> None:
    torn = [publish(gates="["), publish(gates=""), node(metadata="{"), waiver(refs="["), decision(about="")]

    assert RULES.done(atlas, torn) == []


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
            written(atlas, ATTEMPTS[what].statement)
    with pytest.raises(NotADraft):
        written(atlas, new_version("caspia", **published(rev=1)))
    with pytest.raises(KeyReused):
        written(atlas, recount(last_number=7))  # the number that was given last would be given again
    with pytest.raises(Frozen):
        written(atlas, old("toc_nodes", "first-n1", title="x"))
