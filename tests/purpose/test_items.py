"""Some items of a version can be read alone, whole, with what is on them."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import Invalid, NotFound
from tests.purpose.client import PurposeClient, op

REVIEW_BY = "2026-09-30"


@pytest.fixture
def atlas(chain_client: PurposeClient) -> PurposeClient:
    """A chain with an assumption on a node and on an edge, an indicator, and a waiver of one item."""
    chain_client.edit(
        op("update_node", node="OC1", description="All year", metadata={"sites": 3}),
        op("add_assumption", node="OC1", assumption_text="it rains"),
        op("add_assumption", source="OC1", target="G1", assumption_text="it is clean", review_by=REVIEW_BY),
        op("add_indicator", node="OC1", name="Litres", target=5),
    )
    waiver = {"code": "GA_OUTCOME_COVERAGE", "reason": "later", "owner": "ada", "due": "2026-12-31"}
    chain_client.record(waivers=[{**waiver, "refs": ["OC1"]}, {**waiver, "code": "GA_ORPHANS", "refs": ["AC1"]}])
    return chain_client


def read(client: PurposeClient, *keys: str, **given: Any) -> tuple[list[str], ...]:
    """Return the keys of the nodes, the edges with those of their assumptions, and the indicators."""
    found = client.call("purpose.items", keys=list(keys), **given)
    nodes = [" ".join([node.key, *(one.key for one in node.assumptions)]) for node in found.nodes]
    edges = [" ".join([f"{edge.source}-{edge.target}", *(one.key for one in edge.assumptions)]) for edge in found.edges]
    return nodes, edges, [one.key for one in found.indicators]


def test_a_node_comes_whole_with_its_edges_assumptions_indicators_and_waivers(atlas: PurposeClient) -> None:
    assert read(atlas, "OC1") == (["OC1 AS1"], ["OC1-G1 AS2", "OP1-OC1"], ["IN1"])

    found = atlas.call("purpose.open", keys="OC1")
    (node,) = found.nodes
    assert (node.description, node.metadata) == ("All year", {"sites": 3})
    assert found.edges[0].assumptions[0].review_by == REVIEW_BY
    assert [waiver.code for waiver in found.waivers] == ["GA_OUTCOME_COVERAGE"]
    assert (found.version.number, found.rev) == (1, atlas.open().rev)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("AS1", (["OC1 AS1"], [], [])),
        ("AS2", ([], ["OC1-G1 AS2"], [])),
        ("IN1", ([], [], ["IN1"])),
        ("OC1->G1", ([], ["OC1-G1 AS2"], [])),
    ],
)
def test_an_assumption_comes_with_what_it_is_on_and_an_edge_or_an_indicator_alone(
    atlas: PurposeClient, key: str, expected: tuple[list[str], ...]
) -> None:
    assert read(atlas, key) == expected


def test_several_items_are_named_by_keys_and_row_ids_in_any_version(atlas: PurposeClient) -> None:
    goal = atlas.nodes()["G1"].id
    atlas.publish()
    atlas.draft()
    atlas.edit(op("remove_node", node="OC1"))

    assert read(atlas, goal, "AC1", version=1) == (["G1", "AC1"], ["OC1-G1 AS2", "AC1-OP1"], [])
    assert read(atlas, "G1", "AC1") == (["G1", "AC1"], ["AC1-OP1"], [])


@pytest.mark.parametrize("text", ["G1,AC1", " G1 , AC1 ", '["G1", "AC1"]'])
def test_several_items_are_named_in_one_text(atlas: PurposeClient, text: str) -> None:
    assert encode(atlas.call("purpose.items", keys=text)) == encode(atlas.call("purpose.items", keys=["G1", "AC1"]))


@pytest.mark.parametrize("text", [",", "[]", " "])
def test_a_text_without_a_key_names_nothing(atlas: PurposeClient, text: str) -> None:
    with pytest.raises(NotFound):
        atlas.call("purpose.items", keys=text)


def test_what_is_not_in_the_version_is_not_found_and_named(atlas: PurposeClient) -> None:
    for keys in (["G1", "OC9"], ["G1", "OC1->OP1"]):
        with pytest.raises(NotFound) as error:
            atlas.call("purpose.items", keys=keys)
        assert (error.value.details["field"], error.value.details["ref"]) == ("keys[1]", keys[1])


def test_keys_leave_no_use_for_a_detail_or_a_page(atlas: PurposeClient) -> None:
    for given in ({"detail": "summary"}, {"cursor": "x"}):
        with pytest.raises(Invalid):
            atlas.call("purpose.open", keys=["G1"], **given)


def test_an_item_alone_costs_little(atlas: PurposeClient) -> None:
    assert count_tokens(encode(atlas.call("purpose.open", keys=["OC1"]))) <= 350
