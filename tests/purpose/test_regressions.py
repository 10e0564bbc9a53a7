"""Regressions: bugs that the purpose once had."""

from __future__ import annotations

import sqlite3

import msgspec
import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.purpose.content import ContentAltered
from groundplan.purpose.editing.items import DependencyCycle
from tests.context.client import ContextClient
from tests.engines import Engine, SqliteEngine
from tests.kernel.store.attacks import sql_drop_guards
from tests.purpose.client import PurposeClient, add_edge, add_node, failing, op
from tests.purpose.test_open import with_cap

WELL = "dig -> well -> water -> health"
WAIVER = {"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ada", "due": "2027-01-01"}


def test_what_an_assumption_touches_is_told_of_the_version_published_last(chain_client: PurposeClient) -> None:
    chain_client.edit(op("add_assumption", source="OC1", target="G1", assumption_text="a"))
    chain_client.publish()
    chain_client.draft()
    chain_client.edit(op("update_node", node="G1", node_type="OUTCOME"), add_node("GOAL", "wealth", ref="g"))
    chain_client.edit(add_edge("G1", "G2"))
    chain_client.publish()
    refuted = {"assumption": "AS1", "status": "refuted", "reason": "r"}

    (affected,) = chain_client.record(reviews=[refuted]).affected
    assert (affected.nodes, affected.edges) == (["G1", "G2"], ["G1->G2", "OC1->G1"])

    chain_client.draft()
    chain_client.edit(op("remove_edge", source="OC1", target="G1"), add_edge("OC1", "G2"))
    chain_client.edit(op("remove_node", node="G1"))
    chain_client.publish()
    assert chain_client.record(reviews=[refuted]).affected is UNSET


def test_a_list_of_refs_that_is_too_long_to_keep_is_refused(client: PurposeClient) -> None:
    refs = [f"/{'ä' * 120}{number}" for number in range(100)]

    with pytest.raises(Invalid) as error:
        client.record(waivers=[{**WAIVER, "code": "GB_FACTS", "refs": refs}])

    assert (error.value.code, error.value.details["field"]) == ("too_long", "waivers[0].refs")
    client.record(waivers=[{**WAIVER, "code": "GB_FACTS", "refs": ["/" + "a" * 1_023]}])


LATEST = {
    ("2026-01-01T10:00:00Z", "2026-01-01"): 1,
    ("2026-01-01", "2026-01-01T10:00:00Z"): 0,
    ("2026-01-01", "2026-01-01"): 1,
    ("2026-01-01T20:00:00Z", "2026-01-01T08:00:00Z"): 0,
    ("2026-01-01T20:00:00+05:00", "2026-01-01T16:00:00Z"): 1,
}


def test_of_measurements_of_a_day_the_latest_counts_and_a_day_is_its_end(chain_client: PurposeClient) -> None:
    chain_client.edit(*(op("add_indicator", node="OC1", name=f"litres {number}") for number in range(len(LATEST))))
    measured = {moments: f"IN{number}" for number, moments in enumerate(LATEST, 1)}
    for turn in (0, 1):
        chain_client.record(
            measurements=[
                {"indicator": indicator, "value": turn, "as_of": moments[turn]}
                for moments, indicator in measured.items()
            ]
        )

    indicators = chain_client.indicators()
    assert {moments: indicators[indicator].latest.value for moments, indicator in measured.items()} == LATEST


def test_the_history_says_yes_and_no_alike_on_both_engines(chain_client: PurposeClient, engine: Engine) -> None:
    chain_client.edit(op("add_indicator", node="OC1", name="litres", baseline_verified=True))
    chain_client.edit(op("update_indicator", indicator="IN1", baseline_verified=False))
    chain_client.edit(op("remove_node", node="OC1"))

    told = engine.as_owner("SELECT changes FROM events WHERE op LIKE 'purpose.indicator%' ORDER BY rev, n")

    moves = [
        change for (text,) in told for change in msgspec.json.decode(text) if change["field"] == "baseline_verified"
    ]
    assert [(one["before"], one["after"]) for one in moves] == [(None, True), (True, False), (False, None)]
    assert {type(one["before"]) for one in moves} == {type(None), bool}


def test_an_edge_that_is_nowhere_cannot_be_waived_or_decided_about(
    chain_client: PurposeClient, subtests: pytest.Subtests
) -> None:
    for ref in ("G1->OC1", "AC1->G1", "OC1->G1/CAUSES", "AC1->AC1", "OC1->"):
        with subtests.test(ref):
            with pytest.raises(NotFound):
                chain_client.record(waivers=[{**WAIVER, "refs": [ref]}])
            with pytest.raises(NotFound):
                chain_client.record(decisions=[{"text": "t", "rationale": "r", "about": [ref]}])


def test_an_edge_is_called_by_its_name_with_or_without_its_plain_type(chain_client: PurposeClient) -> None:
    chain_client.edit(add_edge("OC1", "G1", edge_type="CAUSES"))

    chain_client.record(
        decisions=[{"text": "t", "rationale": "r", "about": ["OC1->G1/CONTRIBUTES_TO", "OC1->G1/CAUSES"]}]
    )

    found = chain_client.call("purpose.observations").decisions
    assert found[0].about == ["OC1->G1", "OC1->G1/CAUSES"]


def test_what_is_observed_may_be_meant_by_its_row(chain_client: PurposeClient) -> None:
    chain_client.edit(
        op("add_indicator", node="OC1", name="litres"), op("add_assumption", node="OC1", assumption_text="a")
    )
    indicator, assumption = chain_client.indicators()["IN1"].id, chain_client.assumptions()["AS1"].id

    chain_client.record(
        measurements=[{"indicator": indicator.replace("-", ""), "value": 1, "as_of": "2026-01-01"}],
        reviews=[{"assumption": assumption, "status": "holding", "reason": "r"}],
        decisions=[{"text": "t", "rationale": "r", "about": [chain_client.nodes()["OC1"].id]}],
    )

    found = chain_client.call("purpose.observations")
    assert (found.measurements[0].indicator, found.reviews[0].assumption) == ("IN1", "AS1")
    assert found.decisions[0].about == ["OC1"]


def test_content_that_was_altered_is_refused_by_everything_that_reads_it(
    chain_client: PurposeClient, engine: Engine
) -> None:
    chain_client.publish()
    with engine.owner_transaction() as run:
        for statement in sql_drop_guards(engine, ["toc_nodes"]):
            run(statement)
        run("UPDATE toc_nodes SET title = 'wealth' WHERE key = 'G1'")
        run("COMMIT")

    for operation, given in (
        ("purpose.open", {}),
        ("purpose.health", {}),
        ("purpose.analysis", {}),
        ("purpose.diff", {"from": 1, "to": 1}),
        ("purpose.compliance", {"operation": {"kind": "read"}}),
    ):
        with pytest.raises(ContentAltered):
            chain_client.call(operation, **given)


def test_what_leads_out_of_its_version_is_named_by_the_gate_and_can_be_discarded(
    client: PurposeClient, engine: Engine
) -> None:
    if not isinstance(engine, SqliteEngine):
        return  # nobody can switch off a foreign key there
    client.draw(WELL)
    client.publish()
    client.draft()
    # Other programs open a file without foreign keys.
    with sqlite3.connect(engine.path) as connection:
        connection.execute(
            "UPDATE toc_edges SET target_node_id = (SELECT id FROM toc_nodes WHERE key = 'G1' AND id <> target_node_id)"
            " WHERE target_node_id IN (SELECT n.id FROM toc_nodes AS n JOIN toc_versions AS v ON v.id = toc_version_id"
            " WHERE n.key = 'G1' AND v.status = 'DRAFT')"
        )
    connection.close()

    assert "GA_CROSS_VERSION" in failing(client.check())
    assert len(client.edges()) == 3
    client.discard()


def test_what_a_batch_removes_again_is_not_listed_as_made(client: PurposeClient) -> None:
    made = client.edit(
        add_node("GOAL", "stays", ref="s"),
        add_node("GOAL", "goes", ref="g"),
        op("add_assumption", node="g", assumption_text="goes too"),
        op("remove_node", node="g"),
    )

    assert [one.key for one in made.created] == ["G1"]


def test_a_ref_means_one_thing_in_the_whole_batch(chain_client: PurposeClient) -> None:
    chain_client.edit(op("add_assumption", node="OC1", assumption_text="old"))

    with pytest.raises(NotFound):
        chain_client.edit(
            op("update_assumption", assumption="AS1", risk_level="LOW"),
            op("add_assumption", node="OC1", assumption_text="new", ref="AS1"),
        )
    chain_client.edit(
        op("add_assumption", node="OC1", assumption_text="new", ref="AS1"),
        op("update_assumption", assumption="AS1", risk_level="LOW"),
    )
    assert [one.risk_level for one in chain_client.assumptions().values()] == [None, "LOW"]


def test_an_edge_type_says_nothing_of_an_assumption_on_a_node(chain_client: PurposeClient) -> None:
    with pytest.raises(Invalid) as error:
        chain_client.edit(op("add_assumption", node="OC1", edge_type="CAUSES", assumption_text="a"))

    assert error.value.details["field"] == "operations[0].edge_type"


def test_a_blank_sentence_says_nothing(chain_client: PurposeClient) -> None:
    with pytest.raises(Invalid):
        chain_client.edit(op("add_assumption", node="OC1", assumption_text=" \n"))
    with pytest.raises(Invalid):
        chain_client.record(decisions=[{"text": " ", "rationale": "r"}])


def test_a_long_cycle_is_refused_in_a_short_sentence(client: PurposeClient) -> None:
    count = 150
    nodes = [add_node("OUTCOME", str(number), ref=f"n{number}") for number in range(count)]
    client.edit(*nodes, *(add_edge(f"n{number}", f"n{number + 1}") for number in range(count - 1)))

    with pytest.raises(DependencyCycle) as error:
        client.edit(add_edge(f"OC{count}", "OC1"))

    assert (error.value.details["length"], len(error.value.details["path"])) == (150, 151)
    assert len(error.value.message) < 300


def test_what_comes_back_carries_nothing_on(chain_client: PurposeClient) -> None:
    chain_client.edit(add_edge("G1", "AC1", edge_type="FEEDBACK"))
    chain_client.edit(op("add_assumption", source="G1", target="AC1", assumption_text="we learn"))

    (affected,) = chain_client.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}]).affected

    assert (affected.edges, affected.nodes) == (["G1->AC1/FEEDBACK"], [])


def test_a_cause_that_points_down_already_can_become_another_sort_of_cause(client: PurposeClient) -> None:
    client.discard()
    client.allow("light")
    client.draft(profile="light")
    client.draw(WELL)
    client.edit(add_edge("G1", "OC1"))
    client.publish()
    client.draft(profile="standard")

    client.edit(op("update_edge", source="G1", target="OC1", new_edge_type="CAUSES"))

    assert failing(client.check())["GA_TYPE_CHAIN"] == ["G1->OC1/CAUSES"]


def test_as_of_another_day_nobody_can_tell_what_other_slices_said(chain_client: PurposeClient) -> None:
    facts = ContextClient(chain_client.session, chain_client.project)
    facts.draft()
    facts.write("/size", required=True, valueKind="number")
    facts.commit(allowPartial=True)

    assert chain_client.check("health").metrics.required_facts_unset == 1
    assert chain_client.check("health", as_of="2026-02-01").metrics.required_facts_unset is None
    then = {check.code: check.result for check in chain_client.check(as_of="2026-02-01").checks}
    assert then["GA_CONTEXT"] == "not_applicable"


def test_a_page_that_is_read_on_without_a_cap_has_everything(chain_client: PurposeClient) -> None:
    chain_client.edit(*(add_node("OUTCOME", f"Outcome {number} " + "x" * 100) for number in range(30)))
    chain_client.edit(*(op("add_assumption", node="AC1", assumption_text=str(number)) for number in range(5)))
    first = with_cap(chain_client, 1_000).open(detail="full")

    rest = chain_client.open(detail="full", cursor=first.next_cursor)

    (activity,) = (node for node in rest.nodes or () if node.key == "AC1")
    assert len(activity.assumptions or ()) == 5
    assert rest.next_cursor is UNSET
