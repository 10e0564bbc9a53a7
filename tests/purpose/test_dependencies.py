"""The source of a DEPENDS_ON edge depends on its target, so the cause is the target, or the lower end."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.purpose.analysis import analyse
from groundplan.purpose.editing.items import DependencyCycle
from groundplan.purpose.editing.rules import InvalidDirection
from groundplan.purpose.gates.gates import ExternalFacts
from groundplan.purpose.model import Profile, compute_content_hash
from groundplan.purpose.picture.subjects import build_plan_picture
from groundplan.purpose.picture.svg import draw
from groundplan.purpose.versions.compare import compare
from tests.purpose.client import Op, PurposeClient, add_edge, add_node, failing, op
from tests.purpose.exchange.theory_strategies import make_published
from tests.purpose.gates.cases import run
from tests.purpose.test_editing import error_of
from tests.purpose.theories import NOTHING_OBSERVED, theory

# The same said in two ways: an outcome depends on an output, and that on an activity.
NEW, OLD = (
    theory("OC1 -> G1", *edges)
    for edges in (
        ("OC1->OP1/DEPENDS_ON", "OP1->AC1/DEPENDS_ON"),
        ("OP1->OC1/DEPENDS_ON", "AC1->OP1/DEPENDS_ON"),
    )
)
SAME_LEVEL = theory("AC1 -> OP1 -> OC1 -> G1", "AC2->AC1/DEPENDS_ON", assumptions={"AS1": "AC2->AC1/DEPENDS_ON"})


def depend(source: str, target: str) -> Op:
    return add_edge(source, target, edge_type="DEPENDS_ON")


def analyse_whole(content: Any, **given: Any) -> Any:
    return analyse(content, NOTHING_OBSERVED, **{"node": None, "assumption": None, "limit": 50, **given})


@pytest.mark.parametrize("content", [NEW, OLD])
def test_between_levels_the_lower_end_is_the_cause_in_both_spellings(content: Any) -> None:
    found = analyse_whole(content, node="AC1")

    assert (found.orphans, found.dead_ends) == ([], [])
    assert found.pathways == [["AC1", "OP1", "OC1", "G1"]]
    assert [goal.strongest_path for goal in found.goals] == [["AC1", "OP1", "OC1", "G1"]]
    codes = {"GA_DEAD_END", "GA_ORPHANS", "GA_TYPE_CHAIN", "GA_CYCLE"}
    assert codes.isdisjoint(failing(run("A", content, NOTHING_OBSERVED, profile=Profile.STRICT)))


def test_at_one_level_what_depends_is_the_effect() -> None:
    found = analyse_whole(SAME_LEVEL, node="AC1", assumption="AS1")

    assert (found.orphans, found.dead_ends) == (["AC2"], ["AC2"])
    assert found.pathways == [["AC1", "OP1", "OC1", "G1"]]
    assert (found.touched.nodes, found.touched.activities) == (["AC2"], ["AC1"])
    assert failing(run("A", SAME_LEVEL, NOTHING_OBSERVED))["GA_DEAD_END"] == ["AC2"]


def test_a_version_that_was_judged_before_keeps_its_result() -> None:
    before = run("A", OLD, NOTHING_OBSERVED, outside=ExternalFacts(edition=1))
    assert "GA_TYPE_CHAIN" not in failing(before)
    turned = run("A", NEW, NOTHING_OBSERVED, outside=ExternalFacts(edition=1))
    assert failing(turned)["GA_TYPE_CHAIN"] == ["OC1->OP1/DEPENDS_ON", "OP1->AC1/DEPENDS_ON"]
    assert failing(run("A", SAME_LEVEL, NOTHING_OBSERVED, outside=ExternalFacts(edition=1))).get("GA_DEAD_END") is None


def test_the_hash_is_of_what_is_stored() -> None:
    assert compute_content_hash(NEW) != compute_content_hash(OLD)
    assert compute_content_hash(NEW) == compute_content_hash(NEW._replace(turned=frozenset()))


def test_a_picture_leads_from_the_cause_to_the_effect_and_calls_the_edge_by_its_name() -> None:
    picture = build_plan_picture(make_published(SAME_LEVEL))
    (arrow,) = (arrow for arrow in picture.arrows if arrow.edge.edge_type == "DEPENDS_ON")

    assert (arrow.edge.source, arrow.edge.target) == ("AC1", "AC2")
    assert str(arrow.name) == "AC2->AC1/DEPENDS_ON"
    drawn = draw(picture).svg
    assert 'data-edge="AC2-&gt;AC1/DEPENDS_ON"><title>AC1 to AC2, is needed by' in drawn


def test_the_other_spelling_rewires_nothing() -> None:
    found = compare(OLD, NEW)

    assert (len(found.edges.added), len(found.edges.removed), found.rewired) == (2, 2, [])


def test_an_outcome_that_depends_on_an_output_is_taken_and_its_opposite_at_one_level_closes_a_cycle(
    chain_client: PurposeClient,
) -> None:
    chain_client.edit(depend("OC1", "OP1"), add_node("ACTIVITY", "permit"), depend("AC1", "AC2"))

    error = error_of(chain_client, add_edge("AC1", "AC2"))
    assert isinstance(error, DependencyCycle)
    assert error.details["path"] == ["AC1", "AC2", "AC1"]
    chain_client.edit(add_edge("AC2", "AC1"))


def test_an_edge_of_another_type_leads_the_other_way_and_is_judged_anew(chain_client: PurposeClient) -> None:
    chain_client.edit(
        add_node("ACTIVITY", "permit"), add_edge("AC2", "AC1"), add_edge("AC1", "AC2", edge_type="FEEDBACK")
    )
    chain_client.edit(add_node("OUTPUT", "beside"), depend("OC1", "OP2"))

    to_depend = op("update_edge", source="AC1", target="AC2", new_edge_type="DEPENDS_ON")
    chain_client.edit(to_depend)
    turned = op("update_edge", source="AC2", target="AC1", new_edge_type="DEPENDS_ON")
    assert type(error_of(chain_client, turned)) is DependencyCycle
    down = op("update_edge", source="OC1", target="OP2", new_edge_type="CAUSES")
    assert type(error_of(chain_client, down)) is InvalidDirection


def test_another_type_of_a_node_turns_what_depends_on_another_and_closes_no_cycle(chain_client: PurposeClient) -> None:
    chain_client.edit(depend("OP1", "OC1"))  # the other spelling: the output leads to the outcome

    error = error_of(chain_client, op("update_node", node="OP1", node_type="OUTCOME"))  # now the output depends on it
    assert isinstance(error, DependencyCycle)
    assert set(error.details["path"]) == {"OP1", "OC1"}
    chain_client.edit(
        op("remove_edge", source="OP1", target="OC1", edge_type="DEPENDS_ON"),
        op("update_node", node="OP1", node_type="OUTCOME"),
    )
