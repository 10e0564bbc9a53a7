"""Inferring the types of nodes from their position when a file does not give them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.exchange.readers.builder import DocumentBuilder, infer_node_types, parse_node_type
from groundplan.purpose.model import NodeType
from tests.purpose.exchange.theory_strategies import tries

G, OC, OP, AC = NodeType.GOAL, NodeType.OUTCOME, NodeType.OUTPUT, NodeType.ACTIVITY
WHY = "not given; inferred from the position of the node"


def infer_types(*lines: str, **known: NodeType) -> dict[str, NodeType]:
    """Infer the types of nodes that are drawn as chains, `a b c`; known types are given."""
    chains = [line.split() for line in lines]
    said = {ref: known.get(ref) for chain in chains for ref in chain}
    causal = [pair for chain in chains for pair in pairwise(chain)]
    return infer_node_types(DocumentBuilder(), said, causal)


def test_a_chain_ends_in_its_goal_and_begins_with_activities() -> None:
    assert infer_types("a b c d e") == {"a": AC, "b": AC, "c": OP, "d": OC, "e": G}


def test_the_longest_way_to_an_end_counts() -> None:
    assert infer_types("a b c d", "a d", "x d") == {"a": AC, "b": OP, "c": OC, "d": G, "x": OC}


def test_every_end_of_arrows_is_a_goal() -> None:
    assert infer_types("a b", "a c") == {"a": OC, "b": G, "c": G}


def test_a_cycle_stands_where_a_single_node_would() -> None:
    assert infer_types("a b c a", "c d") == {"a": OC, "b": OC, "c": OC, "d": G}
    assert infer_types("a b a") == {"a": G, "b": G}


def test_a_lone_node_is_an_activity_even_if_it_leads_to_itself() -> None:
    assert infer_types("a", "b b", "c d") == {"a": AC, "b": AC, "c": OC, "d": G}


def test_known_types_stay_and_tell_nothing_about_others() -> None:
    assert infer_types("a b c", c=AC) == {"a": OP, "b": OC, "c": AC}


def test_edges_to_what_is_no_node_tell_nothing() -> None:
    assert infer_node_types(DocumentBuilder(), {"a": None}, [("a", "gone"), ("gone", "a")]) == {"a": AC}


def test_types_that_were_told_are_counted_with_examples() -> None:
    gathering = DocumentBuilder()
    types = infer_node_types(gathering, {"a": None, "b": G, "c": None}, [("a", "b")])
    for ref, node_type in types.items():
        gathering.add_node(ref, node_type, ref)

    (skipped,) = gathering.build().skipped

    assert (skipped.what, skipped.why, skipped.count, skipped.examples) == ("type", WHY, 2, ["a", "c"])


@pytest.mark.parametrize(
    ("said", "node_type"),
    [
        ("GOAL", G),
        ("impacts", G),
        ("Outcome", OC),
        ("Intermediate Results", OC),
        ("OUTPUTS", OP),
        ("deliverable", OP),
        ("2. Activities (2027)", AC),
        ("input_1", AC),
        ("Goals and impact", G),
        ("Outputs and outcomes", None),
        ("Goalkeepers", None),
        ("", None),
    ],
)
def test_a_type_is_known_by_its_names_in_any_case_and_number(said: str, node_type: NodeType | None) -> None:
    assert parse_node_type(said) is node_type


refs = st.sampled_from("abcdefgh")


@given(edges=st.lists(st.tuples(refs, refs), max_size=14))
@tries(20)
def test_types_are_those_of_the_longest_way_over_cycles_that_count_once(edges: list[tuple[str, str]]) -> None:
    nodes = {end for edge in edges for end in edge} | {"a"}
    assert infer_node_types(DocumentBuilder(), dict.fromkeys(nodes), edges) == infer_slowly(nodes, edges)


def infer_slowly(nodes: set[str], edges: list[tuple[str, str]]) -> dict[str, NodeType]:
    reach = {one: {one} for one in nodes}
    for _ in nodes:
        for source, target in edges:
            reach[source] |= reach[target]
    alike = {one: {other for other in reach[one] if one in reach[other]} for one in nodes}

    def steps(one: str) -> int:
        onward = [target for source, target in edges if source in alike[one] and target not in alike[one]]
        return max((1 + steps(target) for target in onward), default=0)

    is_touched = {end for source, target in edges if source != target for end in (source, target)}
    return {one: (G, OC, OP, AC)[min(steps(one), 3)] if one in is_touched else AC for one in nodes}


def test_a_chain_of_many_thousand_nodes_is_told_without_recursion() -> None:
    names = [str(number) for number in range(5_000)]
    types = infer_node_types(DocumentBuilder(), dict.fromkeys(names), pairwise(names))
    assert [types[name] for name in names[-4:]] == [AC, OP, OC, G]
    assert types["0"] is AC
