"""The rules for the items of a draft, on plain values."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.purpose.editing.rules import (
    TypedEdge,
    count_metadata_bytes,
    fits,
    forbids_cycles_and_downward_edges,
    is_new_cause,
    is_on_one_item,
    match_edge_types,
    merge_metadata,
    names_edge,
    retype_node,
)
from groundplan.purpose.model import (
    SENTENCE_BYTES_MAX,
    TITLE_CHARS_MAX,
    EdgeName,
    EdgeType,
    NodeType,
    Profile,
    Sentence,
    Title,
)

CAUSES, DEPENDS_ON, FEEDBACK = EdgeType.CAUSES, EdgeType.DEPENDS_ON, EdgeType.FEEDBACK
ACTIVITY, OUTPUT, OUTCOME, GOAL = NodeType.ACTIVITY, NodeType.OUTPUT, NodeType.OUTCOME, NodeType.GOAL


def typed(source_type: NodeType, target_type: NodeType, edge_type: EdgeType = CAUSES) -> TypedEdge:
    return TypedEdge(EdgeName("a", "b", edge_type), source_type, target_type)


def test_a_cause_points_down_from_a_higher_level_and_feedback_never_does() -> None:
    assert typed(NodeType.GOAL, NodeType.OUTCOME).points_down
    assert not typed(NodeType.GOAL, NodeType.OUTCOME, FEEDBACK).points_down
    assert not typed(NodeType.OUTCOME, NodeType.OUTCOME).points_down


@pytest.mark.parametrize(
    ("source_type", "target_type", "ends"),
    [
        (OUTCOME, OUTPUT, ("b", "a")),  # the outcome depends on the output
        (OUTPUT, OUTCOME, ("a", "b")),  # the other spelling of the same
        (ACTIVITY, ACTIVITY, ("b", "a")),  # at one level, the source depends on the target
    ],
)
def test_the_cause_of_what_depends_is_the_lower_end_and_at_one_level_the_target(
    source_type: NodeType, target_type: NodeType, ends: tuple[str, str]
) -> None:
    edge = typed(source_type, target_type, DEPENDS_ON)
    assert (edge.ends, edge.points_down) == (ends, False)
    assert typed(source_type, target_type).ends == ("a", "b")


def test_only_the_light_profile_leaves_edges_without_order() -> None:
    assert [profile for profile in Profile if not forbids_cycles_and_downward_edges(profile)] == [Profile.LIGHT]


@pytest.mark.parametrize(
    ("before", "after", "judged"),
    [
        (None, typed(OUTPUT, OUTCOME), True),
        (typed(OUTPUT, OUTCOME, FEEDBACK), typed(OUTPUT, OUTCOME), True),
        (typed(OUTPUT, OUTCOME), typed(OUTPUT, OUTCOME, DEPENDS_ON), False),
        (typed(OUTPUT, OUTPUT), typed(OUTPUT, OUTPUT, DEPENDS_ON), True),  # turned round
        (typed(OUTPUT, OUTCOME, DEPENDS_ON), typed(OUTCOME, OUTCOME, DEPENDS_ON), True),  # by another type of its node
        (typed(OUTPUT, OUTCOME), typed(OUTPUT, OUTCOME, FEEDBACK), False),
    ],
)
def test_an_edge_is_judged_when_it_becomes_causal_or_is_turned_round(
    before: TypedEdge | None, after: TypedEdge, judged: bool
) -> None:
    assert is_new_cause(before, after) is judged


def test_another_type_of_a_node_counts_at_both_ends_of_its_edges() -> None:
    edge = typed(OUTPUT, OUTCOME)
    below, above = (next(retype_node([edge], key, GOAL)) for key in ("a", "b"))
    assert (below.points_down, above.points_down) == (True, False)
    assert (below.source_type, above.target_type) == (GOAL, GOAL)
    assert [*retype_node([edge], "c", GOAL)] == [edge]


def test_an_edge_without_a_type_may_mean_each_of_several() -> None:
    assert match_edge_types([CAUSES, FEEDBACK], None) == [CAUSES, FEEDBACK]
    assert match_edge_types([CAUSES, FEEDBACK], "FEEDBACK") == [FEEDBACK]
    assert match_edge_types([CAUSES], "DEPENDS_ON") == []


@pytest.mark.parametrize(
    ("node", "source", "target", "is_one"),
    [
        ("G1", None, None, True),
        (None, "OC1", "G1", True),
        (None, None, None, False),
        (None, "OC1", None, False),
        (None, None, "G1", False),
        ("G1", "OC1", "G1", False),
        ("G1", None, "G1", False),
    ],
)
def test_an_assumption_is_on_one_node_or_one_edge(
    node: str | None, source: str | None, target: str | None, is_one: bool
) -> None:
    assert is_on_one_item(node, source, target) is is_one
    assert names_edge(source, target) is bool(source or target)


def test_null_removes_a_name_of_the_metadata() -> None:
    merged = merge_metadata({"a": 1, "b": 2}, {"b": None, "c": 0})
    assert (merged, count_metadata_bytes(merged)) == ({"a": 1, "c": 0}, len('{"a":1,"c":0}'))


@pytest.mark.parametrize(
    ("text", "kind", "is_within"),
    [
        ("Wells", Title, True),
        ("x" * TITLE_CHARS_MAX, Title, True),
        ("x" * (TITLE_CHARS_MAX + 1), Title, False),
        ("a\nb", Title, False),
        (" ", Title, False),
        (None, Title, False),
        ("a\nb", Sentence, True),
        ("x" * (SENTENCE_BYTES_MAX + 1), Sentence, False),
        (" ", Sentence, False),
    ],
)
def test_a_text_fits_if_it_is_given_within_the_limits_of_its_kind(text: str | None, kind: Any, is_within: bool) -> None:
    assert fits(text, kind) is is_within
