"""Quick entry: lines and rows become edits, and an error names its line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.model import EdgeType, NodeType
from groundplan.purpose.open import PurposeEdgeView, PurposeNodeView
from groundplan.surfaces.web.areas.plan.quick_entry import DraftItems, InvalidLine, find_plan_line, read_plan_lines


def summarize(operations: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the added items and links by title."""
    titles = {one["ref"]: one["title"] for one in operations if one["op"] == "add_node"}
    nodes = [f"{one['node_type']} {one['title']}" for one in operations if one["op"] == "add_node"]
    ends = [(one["source"], one["target"]) for one in operations if one["op"] == "add_edge"]
    return nodes, [f"{titles.get(source, source)} > {titles.get(target, target)}" for source, target in ends]


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("Walk", ["ACTIVITY Walk"], []),
        (
            "A > B > C > D > E",
            ["ACTIVITY A", "OUTPUT B", "OUTCOME C", "GOAL D", "GOAL E"],
            ["A > B", "B > C", "C > D", "D > E"],
        ),
        ("output: A > OC2", ["OUTPUT A"], ["A > OC2"]),
        ("OP1 > B", ["OUTCOME B"], ["OP1 > B"]),
        ("Outcomes:\nA\nB > C\nGoals:\nD", ["OUTCOME A", "OUTCOME B", "GOAL C", "GOAL D"], ["B > C"]),
        ("A > B\na  > B", ["ACTIVITY A", "OUTPUT B"], ["A > B"]),
        ("- A > B\n* C > B", ["ACTIVITY A", "OUTPUT B", "ACTIVITY C"], ["A > B", "C > B"]),
        ("goal: Note: done", ["GOAL Note: done"], []),
        ("Note: done", ["ACTIVITY Note: done"], []),
        (
            "Type\tTitle\tLeads to\noutput\tA\tB; G1\nOutcome\tB\tC\t\ngoal\tC",
            ["OUTPUT A", "OUTCOME B", "GOAL C"],
            ["A > B", "A > G1", "B > C"],
        ),
        ("", [], []),
    ],
)
def test_lines_become_items_and_links(text: str, nodes: list[str], edges: list[str]) -> None:
    assert summarize(read_plan_lines(text)) == (nodes, edges)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A\nB > > C", 2),
        ("A >", 1),
        ("goal: A\n\noutput: A", 3),
        ("goal: > A", 1),
        ("x\tA", 1),
        ("goal\t", 1),
        ("goal\tA\toutput\n", 1),
        ("output\tA\ngoal\tA", 2),
    ],
)
def test_what_cannot_be_read_names_its_line(text: str, line: int) -> None:
    with pytest.raises(InvalidLine) as refused:
        read_plan_lines(text)

    assert refused.value.details["line"] == line
    assert find_plan_line(text, "") == line


def test_a_refused_operation_leads_to_its_line() -> None:
    assert find_plan_line("A > B\nC > D", "operations.4.target") == 2
    assert find_plan_line("A", "operations.9") is None


DRAFT = DraftItems(
    [
        PurposeNodeView(key="OP1", node_type=NodeType.OUTPUT, title="Fee Model  agreed"),
        PurposeNodeView(key="OC1", node_type=NodeType.OUTCOME, title="Caf\u00e9 pays"),
        PurposeNodeView(key="OC2", node_type=NodeType.OUTCOME, title="Twice"),
        PurposeNodeView(key="G2", node_type=NodeType.GOAL, title="twice"),
    ],
    [
        PurposeEdgeView(source="OP1", target="OC1", edge_type=EdgeType.CAUSES),
        PurposeEdgeView(source="OC1", target="G2", edge_type=EdgeType.FEEDBACK),
    ],
)


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("Meet > fee model agreed", ["ACTIVITY Meet"], ["Meet > OP1"]),
        ("FEE MODEL AGREED > cafe\u0301 pays > Joy", ["GOAL Joy"], ["OC1 > Joy"]),
        ("output: Fee  model agreed > New", ["OUTCOME New"], ["OP1 > New"]),
        ("outcome: Twice > goal: Twice", [], ["OC2 > G2"]),
        ("Caf\u00e9 pays > G2", [], ["OC1 > G2"]),
        ("output\tfee model agreed\tcaf\u00e9 pays; Joy\ngoal\tJoy", ["GOAL Joy"], ["OP1 > Joy"]),
    ],
)
def test_a_title_of_the_draft_is_its_item_and_a_link_of_the_draft_is_not_added_again(
    text: str, nodes: list[str], edges: list[str]
) -> None:
    assert summarize(read_plan_lines(text, DRAFT)) == (nodes, edges)


@pytest.mark.parametrize("text", ["Walk\nTwice", "Walk\ngoal: fee model agreed", "fee model agreed > Caf\u00e9 pays"])
def test_a_title_that_names_two_items_or_one_of_another_type_and_nothing_new_are_refused(text: str) -> None:
    with pytest.raises(InvalidLine) as refused:
        read_plan_lines(text, DRAFT)

    assert refused.value.details["line"] == 1 + text.count("\n")


@given(st.text(alphabet="aG1:>\t\n; OP", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        operations = read_plan_lines(text)
    except InvalidLine:
        return
    refs = [one["ref"] for one in operations if one["op"] == "add_node"]
    assert len(set(refs)) == len(refs)
    assert all(one["title"].strip() for one in operations if one["op"] == "add_node")
