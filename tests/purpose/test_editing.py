"""A draft is changed by batches, each all or nothing, by keys that never change their meaning."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError, Invalid, NotFound, StaleRevision
from groundplan.purpose.editing.draft import PublishedImmutable
from groundplan.purpose.editing.edit import StructureInMetadata
from groundplan.purpose.editing.items import DependencyCycle, DuplicateEdge, SelfEdge, StaleItem
from groundplan.purpose.editing.rules import InvalidDirection
from groundplan.purpose.versions.versions import NoDraft
from tests.engines import Engine
from tests.purpose.client import Op, PurposeClient, add_edge, add_node, op

WELL = "dig -> well -> water -> health"


def error_of(client: PurposeClient, *operations: Op) -> GroundplanError:
    """Return the error of a batch, which changes nothing."""
    before = client.open()
    with pytest.raises(GroundplanError) as error:
        client.edit(*operations)
    assert client.open() == before
    return error.value


def test_a_batch_makes_nodes_edges_assumptions_and_indicators_with_keys_by_sort(client: PurposeClient) -> None:
    made = client.edit(
        add_node("GOAL", "Health", ref="g"),
        add_node("OUTCOME", "Water", ref="w", description="d", narrative="n", owner="ben", metadata={"a": [1, None]}),
        add_edge("w", "g", mechanism="by drinking", confidence="high"),
        op(
            "add_assumption", node="w", assumption_text="It rains", risk_level="HIGH", owner="b", review_by="2027-01-01"
        ),
        op("add_assumption", source="w", target="g", assumption_text="It is clean", ref="clean"),
        op("add_indicator", node="w", name="litres", unit="l", direction="increase", baseline=1, target=2.5),
    )

    assert [(one.kind, one.key, one.ref) for one in made.created] == [
        ("node", "G1", "g"),
        ("node", "OC1", "w"),
        ("edge", "OC1->G1", None),
        ("assumption", "AS1", None),
        ("assumption", "AS2", "clean"),
        ("indicator", "IN1", None),
    ]
    assert (made.applied, made.version, made.rev) == (6, 1, 2)
    water = client.nodes()["OC1"]
    assert (water.title, water.description, water.narrative, water.owner) == ("Water", "d", "n", "ben")
    assert water.metadata == {"a": [1, None]}
    assert [(one.key, one.assumption_text, one.status) for one in water.assumptions] == [
        ("AS1", "It rains", "untested")
    ]
    edge = client.edges()["OC1", "G1", "CONTRIBUTES_TO"]
    assert (edge.mechanism, edge.confidence, [one.key for one in edge.assumptions]) == ("by drinking", "high", ["AS2"])
    litres = client.indicators()["IN1"]
    assert (litres.node, litres.unit, litres.direction, litres.baseline, litres.target) == (
        "OC1",
        "l",
        "increase",
        1,
        2.5,
    )
    assert {one.id for one in made.created} == {
        *(node.id for node in client.nodes().values()),
        *(edge.id for edge in client.edges().values()),
        *(one.id for one in client.assumptions().values()),
        *(one.id for one in client.indicators().values()),
    }


def test_a_ref_may_be_used_before_its_node_is_added(client: PurposeClient) -> None:
    client.edit(
        add_edge("o", "c"),
        op("update_node", node="c", owner="ben"),
        add_node("OUTCOME", "Water", ref="c"),
        add_node("OUTPUT", "Well", ref="o"),
    )

    assert list(client.edges()) == [("OP1", "OC1", "CONTRIBUTES_TO")]
    assert client.nodes()["OC1"].owner == "ben"


def test_a_ref_of_the_batch_shadows_a_key_of_the_same_text(chain_client: PurposeClient) -> None:
    chain_client.edit(add_node("OUTCOME", "Another", ref="OC1"), op("update_node", node="OC1", owner="ben"))

    assert (chain_client.nodes()["OC1"].owner, chain_client.nodes()["OC2"].owner) == (None, "ben")


def test_nodes_are_meant_by_key_by_row_id_and_by_row_id_without_dashes(chain_client: PurposeClient) -> None:
    id_ = chain_client.nodes()["OC1"].id

    for number, ref in enumerate(("OC1", id_, id_.replace("-", ""), id_.upper())):
        chain_client.edit(op("update_node", node=ref, title=f"Water {number}"))
        assert chain_client.nodes()["OC1"].title == f"Water {number}"


def test_what_is_not_in_the_draft_is_not_found(chain_client: PurposeClient, subtests: pytest.Subtests) -> None:
    for ref in ("OC9", "oc1", "OC1 ", "AS1", "OC1->G1", "00000000-0000-4000-8000-000000000000", "%"):
        with subtests.test(ref):
            error = error_of(
                chain_client, op("update_node", node="OC1", title="x"), op("update_node", node=ref, title="y")
            )

            assert isinstance(error, NotFound)
            assert error.details["field"] == "operations[1].node"


def test_an_update_leaves_what_it_does_not_name_and_null_takes_a_text_away(chain_client: PurposeClient) -> None:
    chain_client.edit(op("update_node", node="OC1", description="d", owner="ben", metadata={"a": 1, "b": 2}))

    chain_client.edit(op("update_node", node="OC1", owner=None, metadata={"b": None, "c": 3}))

    water = chain_client.nodes()["OC1"]
    assert (water.title, water.description, water.owner, water.metadata) == ("water", "d", None, {"a": 1, "c": 3})


def test_assumptions_and_indicators_are_changed_and_removed_by_key_id_and_ref(chain_client: PurposeClient) -> None:
    chain_client.edit(
        op("add_assumption", node="OC1", assumption_text="It rains", ref="a"),
        op("add_assumption", source="OP1", target="OC1", assumption_text="It holds"),
        op("add_indicator", node="OC1", name="litres", ref="i"),
        op("update_assumption", assumption="a", risk_level="LOW", review_by="2027-01-01"),
        op("update_indicator", indicator="i", target=5, baseline_verified=False),
    )
    rain, holds = chain_client.assumptions()["AS1"], chain_client.assumptions()["AS2"]
    assert (rain.risk_level, rain.review_by) == ("LOW", "2027-01-01")
    assert (chain_client.indicators()["IN1"].target, chain_client.indicators()["IN1"].baseline_verified) == (5, False)

    chain_client.edit(
        op("update_assumption", assumption=holds.id, assumption_text="It holds well"),
        op("update_assumption", assumption="AS1", risk_level=None, review_by=None),
        op("update_indicator", indicator="IN1", target=None, name="litres a day"),
    )
    assert chain_client.assumptions()["AS2"].assumption_text == "It holds well"
    assert (chain_client.assumptions()["AS1"].risk_level, chain_client.assumptions()["AS1"].review_by) == (None, None)
    assert (chain_client.indicators()["IN1"].target, chain_client.indicators()["IN1"].name) == (None, "litres a day")

    chain_client.edit(op("remove_assumption", assumption="AS1"), op("remove_assumption", assumption=holds.id))
    chain_client.edit(op("remove_indicator", indicator="IN1"))
    assert (chain_client.assumptions(), chain_client.indicators()) == ({}, {})


def test_removing_a_node_takes_its_edges_assumptions_and_indicators_along(chain_client: PurposeClient) -> None:
    chain_client.edit(
        op("add_assumption", node="OC1", assumption_text="a"),
        op("add_assumption", source="OP1", target="OC1", assumption_text="b"),
        op("add_assumption", source="OC1", target="G1", assumption_text="c"),
        op("add_assumption", source="AC1", target="OP1", assumption_text="stays"),
        op("add_indicator", node="OC1", name="litres"),
        op("add_indicator", node="G1", name="stays"),
    )

    chain_client.edit(op("remove_node", node="OC1"))

    assert list(chain_client.nodes()) == ["G1", "OP1", "AC1"]
    assert list(chain_client.edges()) == [("AC1", "OP1", "CONTRIBUTES_TO")]
    assert (list(chain_client.assumptions()), list(chain_client.indicators())) == (["AS4"], ["IN2"])


def test_what_is_removed_in_a_batch_is_gone_for_the_rest_of_it(chain_client: PurposeClient) -> None:
    assert isinstance(error_of(chain_client, op("remove_node", node="OC1"), add_edge("OP1", "OC1")), NotFound)
    assert isinstance(
        error_of(
            chain_client, op("remove_edge", source="OP1", target="OC1"), op("update_edge", source="OP1", target="OC1")
        ),
        NotFound,
    )
    chain_client.edit(op("remove_edge", source="OP1", target="OC1"), add_edge("OP1", "OC1", confidence="low"))
    assert chain_client.edges()["OP1", "OC1", "CONTRIBUTES_TO"].confidence == "low"


def test_a_key_is_never_given_again(chain_client: PurposeClient) -> None:
    chain_client.edit(op("remove_node", node="OC1"))
    assert chain_client.edit(add_node("OUTCOME", "Other")).created[0].key == "OC2"

    chain_client.discard()
    chain_client.draft()

    assert [chain_client.edit(add_node(type_, "x")).created[0].key for type_ in ("OUTCOME", "GOAL")] == ["OC3", "G2"]


def test_a_refused_batch_gives_no_keys_out(client: PurposeClient) -> None:
    error_of(client, add_node("OUTCOME", "x"), op("remove_node", node="nothing"))

    assert client.edit(add_node("OUTCOME", "x")).created[0].key == "OC1"


def test_several_edges_between_two_nodes_are_told_apart_by_type(chain_client: PurposeClient) -> None:
    chain_client.edit(add_edge("OP1", "OC1", edge_type="CAUSES"))

    error = error_of(chain_client, op("update_edge", source="OP1", target="OC1", confidence="high"))
    assert (error.code, error.details["allowed"]) == ("invalid_argument", ["CAUSES", "CONTRIBUTES_TO"])

    chain_client.edit(op("update_edge", source="OP1", target="OC1", edge_type="CAUSES", confidence="high"))
    chain_client.edit(op("remove_edge", source="OP1", target="OC1", edge_type="CONTRIBUTES_TO"))
    chain_client.edit(op("update_edge", source="OP1", target="OC1", new_edge_type="DEPENDS_ON", mechanism="m"))
    edge = chain_client.edges()["OP1", "OC1", "DEPENDS_ON"]
    assert (edge.confidence, edge.mechanism) == ("high", "m")


def test_an_edge_of_another_type_than_there_is_is_not_found_with_the_types_there_are(
    chain_client: PurposeClient,
) -> None:
    retyped = error_of(chain_client, op("update_edge", source="OP1", target="OC1", edge_type="CAUSES"))
    unknown = error_of(chain_client, op("update_edge", source="OP1", target="G1", edge_type="CAUSES"))

    assert (retyped.code, retyped.details["allowed"]) == ("not_found", ["CONTRIBUTES_TO"])
    assert (unknown.code, "allowed" in unknown.details) == ("not_found", False)


def test_a_self_edge_and_a_duplicate_are_refused_and_named(chain_client: PurposeClient) -> None:
    itself = error_of(chain_client, add_edge("OC1", "OC1"))
    assert (type(itself), itself.details["nodes"]) == (SelfEdge, ["OC1"])
    again = error_of(chain_client, add_edge("OP1", "OC1"))
    assert (type(again), again.details["edge"]) == (DuplicateEdge, "OP1->OC1")
    chain_client.edit(add_edge("OP1", "OC1", edge_type="CAUSES"))
    retyped = error_of(
        chain_client, op("update_edge", source="OP1", target="OC1", edge_type="CAUSES", new_edge_type="CONTRIBUTES_TO")
    )
    assert type(retyped) is DuplicateEdge


@pytest.mark.parametrize("profile", ["standard", "strict", "light"])
def test_an_edge_points_up_or_stays_level_but_for_feedback_and_profile_light(
    client: PurposeClient, profile: str
) -> None:
    client.discard()
    client.allow("light")
    client.draft(profile=profile)
    _, _, outcome, goal = client.draw(WELL)
    client.edit(add_edge(goal, outcome, edge_type="FEEDBACK"))
    client.edit(add_node("OUTCOME", "beside", ref="b"), add_edge(outcome, "b"))
    if profile == "light":
        client.edit(add_edge(goal, outcome))
        return

    error = error_of(client, add_edge(goal, outcome, edge_type="CAUSES"))

    assert (type(error), error.details["nodes"]) == (InvalidDirection, [goal, outcome])


def test_a_node_is_not_retyped_below_what_leads_to_it(chain_client: PurposeClient) -> None:
    error = error_of(chain_client, op("update_node", node="OC1", node_type="ACTIVITY"))
    assert (type(error), error.details["edge"]) == (InvalidDirection, "OP1->OC1")
    chain_client.edit(op("update_node", node="OC1", node_type="OUTPUT"))
    assert chain_client.nodes()["OC1"].node_type == "OUTPUT"


def test_feedback_is_not_made_a_cause_where_that_would_point_down(chain_client: PurposeClient) -> None:
    chain_client.edit(add_edge("G1", "OC1", edge_type="FEEDBACK"))

    error = error_of(chain_client, op("update_edge", source="G1", target="OC1", new_edge_type="CAUSES"))

    assert type(error) is InvalidDirection


def test_a_cycle_is_refused_and_the_error_names_the_path(client: PurposeClient) -> None:
    client.edit(*(add_node("OUTCOME", title, ref=title) for title in "abcd"), add_edge("a", "b"), add_edge("b", "c"))

    error = error_of(client, add_edge("OC3", "OC1"))
    assert isinstance(error, DependencyCycle)
    path = error.details["path"]
    assert (path[0] == path[-1], set(path)) == (True, {"OC1", "OC2", "OC3"})
    # And where the batch itself closes it, in any order.
    assert type(error_of(client, add_edge("OC4", "OC1"), add_edge("OC3", "OC4"))) is DependencyCycle
    client.edit(add_edge("OC3", "OC1", edge_type="FEEDBACK"))
    assert (
        type(error_of(client, op("update_edge", source="OC3", target="OC1", new_edge_type="CAUSES"))) is DependencyCycle
    )


def test_a_batch_that_ends_without_a_cycle_is_applied(client: PurposeClient) -> None:
    client.edit(*(add_node("OUTCOME", title, ref=title) for title in "ab"), add_edge("a", "b"))

    client.edit(add_edge("OC2", "OC1"), op("remove_edge", source="OC1", target="OC2"))

    assert [edge[:2] for edge in client.edges()] == [("OC2", "OC1")]


def test_an_assumption_is_on_a_node_or_on_an_edge(chain_client: PurposeClient) -> None:
    for given in (
        {},
        {"node": "OC1", "source": "OP1", "target": "OC1"},
        {"source": "OP1"},
        {"target": "OC1"},
        {"node": "OC1", "target": "OC1"},
    ):
        assert isinstance(error_of(chain_client, op("add_assumption", assumption_text="x", **given)), Invalid)
    nowhere = error_of(chain_client, op("add_assumption", assumption_text="x", source="AC1", target="G1"))
    assert isinstance(nowhere, NotFound)


def test_a_day_of_review_is_a_date(chain_client: PurposeClient, subtests: pytest.Subtests) -> None:
    chain_client.edit(op("add_assumption", node="OC1", assumption_text="x"))
    for day in ("2027-13-01", "2027-02-29", "soon", "2027-1-1", "20270101xx", "2027-W01-1", ""):
        with subtests.test(day):
            error = error_of(chain_client, op("add_assumption", node="OC1", assumption_text="x", review_by=day))

            assert error.code == "invalid_date"
            assert (
                error_of(chain_client, op("update_assumption", assumption="AS1", review_by=day)).code == "invalid_date"
            )


MALFORMED: list[tuple[Op, str]] = [
    (op("add_node", node_type="IMPACT", title="x"), "invalid_argument"),
    (op("add_node", node_type="GOAL", title="  "), "invalid_argument"),
    (op("add_node", node_type="GOAL"), "missing_argument"),
    (op("add_node", node_type="GOAL", title="x" * 501), "too_long"),
    (op("add_node", node_type="GOAL", title="x", description="é" * 8193), "too_long"),
    (op("add_node", node_type="GOAL", title="x", metadata={"a": "b" * 16_384}), "too_long"),
    (op("add_node", node_type="GOAL", title="x", parent="G1"), "unknown_argument"),
    (op("add_nodes"), "invalid_argument"),
    (op("add_edge", source="OC1"), "missing_argument"),
    (op("add_edge", source="OC1", target="G1", confidence="sure"), "invalid_argument"),
    (op("add_indicator", node="G1", name="x", target="many"), "invalid_argument"),
    (op("add_assumption", node="G1", assumption_text=""), "invalid_argument"),
]


def test_malformed_operations_are_refused_with_their_place(
    chain_client: PurposeClient, subtests: pytest.Subtests
) -> None:
    for operation, code in MALFORMED:
        with subtests.test(f"{operation}"[:100]):
            error = error_of(chain_client, op("update_node", node="G1", title="y"), operation)

            assert isinstance(error, Invalid)
            assert (error.code, str(error.details["field"]).startswith("operations[1]")) == (code, True)


def test_a_ref_is_given_once(client: PurposeClient) -> None:
    error = error_of(client, add_node("GOAL", "x", ref="a"), add_node("GOAL", "y", ref="a"))

    assert error.details["field"] == "operations[1].ref"


@pytest.mark.parametrize("count", [0, 1001])
def test_a_batch_has_one_to_a_thousand_operations(client: PurposeClient, count: int) -> None:
    assert isinstance(error_of(client, *([add_node("GOAL", "x")] * count)), Invalid)


def test_who_expects_another_revision_is_refused(client: PurposeClient) -> None:
    rev = client.edit(add_node("GOAL", "x")).rev
    client.edit(add_node("GOAL", "y"), expected_rev=rev)

    with pytest.raises(StaleRevision) as error:
        client.edit(add_node("GOAL", "z"), expected_rev=rev)

    assert (error.value.details["current"], error.value.details["expected"]) == (rev + 1, rev)


def test_a_batch_that_changes_nothing_leaves_the_revision(client: PurposeClient) -> None:
    rev = client.edit(add_node("GOAL", "x", metadata={"a": 1})).rev

    again = client.edit(op("update_node", node="G1", title="x", metadata={"a": 1}))

    assert (again.rev, again.applied) == (rev, 1)


def test_without_a_draft_nothing_is_edited(chain_client: PurposeClient) -> None:
    chain_client.publish()

    with pytest.raises(NoDraft) as error:
        chain_client.edit(add_node("GOAL", "x"))

    assert error.value.details["published"] == 1


def test_a_row_of_a_published_version_is_refused_by_name(chain_client: PurposeClient) -> None:
    chain_client.edit(op("add_assumption", node="OC1", assumption_text="x"), op("add_indicator", node="OC1", name="n"))
    chain_client.publish()
    chain_client.draft()
    published = {"version": 1}
    for operation in (
        op("update_node", node=chain_client.nodes(**published)["OC1"].id, title="x"),
        op("update_assumption", assumption=chain_client.assumptions(**published)["AS1"].id, assumption_text="y"),
        op("update_indicator", indicator=chain_client.indicators(**published)["IN1"].id, name="y"),
    ):
        error = error_of(chain_client, operation)
        assert type(error) is PublishedImmutable
        assert error.details["version"] == 1


def test_the_same_request_sent_twice_has_one_effect(client: PurposeClient) -> None:
    first = client.edit(add_node("GOAL", "x"), op_id="once")
    again = client.edit(add_node("GOAL", "x"), op_id="once")

    assert (again, list(client.nodes())) == (first, ["G1"])


def test_every_change_is_told_with_its_reason_to_be_known(chain_client: PurposeClient, engine: Any) -> None:
    chain_client.edit(op("update_node", node="OC1", title="clean water"), op("remove_edge", source="AC1", target="OP1"))

    told = engine.as_owner("SELECT op, subject FROM events WHERE op LIKE 'purpose.%' ORDER BY rev DESC, n")

    assert told[:2] == [("purpose.node_changed", "OC1"), ("purpose.edge_removed", "AC1->OP1")]


UPDATES = {
    "node": op("update_node", node="G1", title="Healthy", was={"title": "health"}),
    "edge": op("update_edge", source="OC1", target="G1", mechanism="by drinking", was={"mechanism": None}),
    "assumption": op(
        "update_assumption", assumption="AS1", assumption_text="It pours", was={"assumption_text": "It rains"}
    ),
    "indicator": op("update_indicator", indicator="IN1", target=4, was={"target": 3}),
    "metadata": op("update_node", node="OC1", metadata={"a": 2}, was={"metadata": {"a": 1, "b": 1}}),
}
OTHERS: dict[str, Op] = {  # of the same item
    "node": {"description": "d"},
    "edge": {"confidence": "low"},
    "assumption": {"owner": "ben"},
    "indicator": {"unit": "l"},
    "metadata": {"metadata": {"b": 3}},
}


@pytest.fixture
def read(client: PurposeClient) -> PurposeClient:
    """A client of a draft whose items two people have read."""
    client.draw(WELL)
    client.edit(
        op("update_node", node="OC1", metadata={"a": 1, "b": 1}),
        op("add_assumption", node="G1", assumption_text="It rains"),
        op("add_indicator", node="G1", name="litres", target=3),
    )
    return client


def give(update: Op, **fields: Any) -> Op:
    """Return an update of the same item with other fields, without what its caller read."""
    names = ("op", "node", "source", "target", "assumption", "indicator")
    kept = {name: update[name] for name in names if name in update and not isinstance(update[name], int)}
    return {**kept, **fields}


@pytest.mark.parametrize("kind", UPDATES)
def test_an_edit_of_another_field_since_is_no_conflict(read: PurposeClient, kind: str) -> None:
    read.edit(give(UPDATES[kind], **OTHERS[kind]))
    read.edit(UPDATES[kind])

    opened = read.open(detail="full")
    assert read.edit(UPDATES[kind]).rev == opened.rev  # a field that has the new value already is no conflict


@pytest.mark.parametrize(
    ("kind", "fields", "item", "field", "current"),
    [
        ("node", {"title": "Well"}, "G1", "title", "Well"),
        ("edge", {"mechanism": "by washing"}, "OC1->G1", "mechanism", "by washing"),
        ("assumption", {"assumption_text": "It snows"}, "AS1", "assumption_text", "It snows"),
        ("indicator", {"target": 5}, "IN1", "target", 5),
        ("metadata", {"metadata": {"a": 7}}, "OC1", "metadata", {"a": 7}),
    ],
)
def test_a_field_that_was_changed_since_it_was_read_is_not_overwritten_and_the_error_names_it(
    read: PurposeClient, kind: str, fields: Op, item: str, field: str, current: Any
) -> None:
    read.edit(give(UPDATES[kind], **fields))

    refused = error_of(read, UPDATES[kind])

    assert isinstance(refused, StaleItem)
    assert (refused.details["item"], refused.details["field"], refused.details["current"]) == (item, field, current)
    read.edit({**UPDATES[kind], "was": {field: current}})


def test_edits_of_different_items_are_no_conflict(read: PurposeClient) -> None:
    read.edit(op("update_node", node="AC1", title="bore"))
    read.edit(*UPDATES.values())


def test_what_was_read_of_a_field_that_no_item_has_is_refused(read: PurposeClient) -> None:
    assert isinstance(error_of(read, op("update_node", node="G1", title="x", was={"colour": "red"})), Invalid)


def test_structure_in_metadata_is_refused_and_the_error_names_it_and_the_operation_that_is_meant(
    read: PurposeClient,
) -> None:
    for operation, name in (
        (add_node("OUTPUT", "x", metadata={"note": "free", "parent_id": "G1"}), "parent_id"),
        (op("update_node", node="G1", metadata={"layout": {"path": "G1/OC1"}}), "layout.path"),
    ):
        refused = error_of(read, op("update_node", node="AC1", title="bore"), operation)

        assert isinstance(refused, StructureInMetadata)
        assert refused.details["names"] == [name]
        assert [step.operation for step in refused.next_steps] == ["purpose.edit"]
    read.edit(op("update_node", node="G1", metadata={"parent": "teachers and parents", "children": 3}))


@pytest.mark.parametrize("name", ["parent_id", "parent", "children"])
def test_an_operation_with_a_parent_is_refused_with_the_operation_that_is_meant(
    chain_client: PurposeClient, name: str
) -> None:
    error = error_of(chain_client, add_node("OUTPUT", "x", **{name: "G1"}))

    assert (error.code, error.details["field"]) == ("unknown_argument", f"operations[0].{name}")
    assert [step.operation for step in error.next_steps] == ["purpose.edit"]


def test_structure_that_was_stored_before_is_no_obstacle_for_other_edits_and_can_be_removed(
    engine: Engine, read: PurposeClient
) -> None:
    stored = json.dumps({"parent_id": "G1"})
    engine.as_owner(f"UPDATE toc_nodes SET metadata = '{stored}' WHERE key = 'OC1'")
    read.edit(op("update_node", node="OC1", title="Rain", metadata={"colour": "blue"}))
    read.edit(op("update_node", node="OC1", metadata={"parent_id": None}))
    assert read.nodes()["OC1"].metadata == {"colour": "blue"}
    read.call("briefing.undo")
    assert read.nodes()["OC1"].metadata == {"parent_id": "G1", "colour": "blue"}
