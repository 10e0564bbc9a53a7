"""Theories as an Obsidian canvas, written and read back."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.exchange.readers.canvas import read_canvas
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.canvas import write_canvas
from groundplan.purpose.exchange.writers.canvas_texts import format_edge_label, format_node, parse_card, parse_label
from groundplan.purpose.model import EdgeType, PurposeEdge
from tests.purpose.exchange.foreign_files import count_skipped, expected_fields, fields_of, read_or_none
from tests.purpose.exchange.theory_strategies import (
    NEVER_STORED,
    any_theory,
    hostile_line,
    hostile_sentence,
    hostile_text,
    make_published,
    tries,
)
from tests.purpose.theories import node, theory, whole_theory

WHOLE = write_canvas(make_published(whole_theory())).encode()
KEPT = {
    "nodes": {"key", "node_type", "title", "description"},
    "edges": {"source", "target", "edge_type", "mechanism"},
    "assumptions": {"key", "assumption_text", "node", "source", "target", "edge_type", "risk_level"},
}
TYPES = {"text", "file", "link", "group"}
GROUPS = ("group", "only the type that its name gives to the cards inside is imported")


def export_canvas(one: Theory) -> Any:
    return json.loads(write_canvas(one))


@given(any_theory())
@tries(16)
def test_keys_types_texts_edges_and_assumptions_of_any_theory_come_back(one: Theory) -> None:
    reading = read_or_none(read_canvas, write_canvas(one).encode())

    assert (reading is None) == (not one.content.nodes)
    if reading is not None:
        expected = expected_fields(one)
        assert fields_of(reading) == {
            **{sort: [_only(row, fields) for row in expected[sort]] for sort, fields in KEPT.items()},
            "indicators": [],
        }
        assert count_skipped(reading).keys() == {GROUPS}


def _only(row: dict[str, Any], fields: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name in fields}


@given(any_theory())
@tries(10)
def test_any_theory_is_a_canvas_as_the_specification_describes_it(one: Theory) -> None:
    text = write_canvas(one)
    found = json.loads(text)

    assert text.endswith("}\n")
    assert found.keys() == {"nodes", "edges"}
    ids = [card["id"] for card in found["nodes"]]
    for card in found["nodes"]:
        assert card["type"] in TYPES
        assert all(type(card[name]) is int for name in ("x", "y", "width", "height"))
        assert re.fullmatch("[1-6]|#[0-9a-f]{6}", card.get("color", "1"))
    for edge in found["edges"]:
        assert {edge["fromNode"], edge["toNode"]} <= {*ids}
        assert {edge["fromSide"], edge["toSide"]} <= {"top", "right", "bottom", "left"}
        assert edge.get("toEnd", "arrow") in {"none", "arrow"}
    ids += [edge["id"] for edge in found["edges"]]
    assert len(ids) == len(set(ids))


@given(any_theory())
@tries(10)
def test_cards_lie_in_the_band_of_their_type_and_on_no_other_card(one: Theory) -> None:
    cards = export_canvas(one)["nodes"]
    bands = {card["label"]: card for card in cards if card["type"] == "group"}
    names = {"GOAL": "Goals", "OUTCOME": "Outcomes", "OUTPUT": "Outputs", "ACTIVITY": "Activities"}
    for card in cards:
        if card["id"] in one.content.nodes:
            assert _holds(bands[names[one.content.nodes[card["id"]].node_type]], card)
    for some in (bands.values(), [card for card in cards if card["type"] != "group"]):
        assert not any(_overlap(first, second) for first, second in combinations(some, 2))


def test_assumptions_stand_below_their_node_and_push_others_away() -> None:
    many = {f"AS{n}": "AC1" if n % 2 else "AC1->OP1" for n in range(1, 7)}
    cards = export_canvas(make_published(theory("AC1 -> OP1", "AC2 -> OP1", "AC3 -> OP1", assumptions=many)))["nodes"]

    assert not any(_overlap(*pair) for pair in combinations([card for card in cards if card["type"] == "text"], 2))
    tops = {card["id"]: card["y"] for card in cards}
    assert sorted(["AC1", *many], key=tops.__getitem__) == ["AC1", *many]


def _holds(outer: dict[str, int], inner: dict[str, int]) -> bool:
    return all(
        outer[at] <= inner[at] and inner[at] + inner[size] <= outer[at] + outer[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


def _overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


def test_colours_of_risk_are_those_of_assumptions_and_of_nothing_else() -> None:
    content = theory(
        "AC1 -> OP1 -> OC1 -> G1",
        assumptions={
            "AS1": {"on": "OC1", "risk_level": "HIGH"},
            "AS2": {"on": "OC1", "risk_level": "MEDIUM"},
            "AS3": {"on": "AC1->OP1", "risk_level": "LOW"},
            "AS4": "OP1",
        },
    )
    colours = {card["id"]: card.get("color") for card in export_canvas(make_published(content))["nodes"]}

    assert [colours[key] for key in ("AS1", "AS2", "AS3", "AS4")] == ["1", "2", "4", None]
    assert not {"1", "2", "3", "4"} & {colour for id_, colour in colours.items() if not id_.startswith("AS")}


def test_a_card_shows_key_and_title_first_and_then_the_description() -> None:
    assert format_node(node("OC1", title="Clean water", description="For all.\n\nAt home.")) == (
        "**OC1** Clean water\n\nFor all.\n\nAt home."
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![[Secrets]] [a](b)", "!\\[\\[Secrets\\]\\] \\[a\\](b)"),
        ("<b> 80% = #tag a_b _c_ $x$", "\\<b> 80% = \\#tag a_b \\_c\\_ \\$x\\$"),
        ("==a== %%b%% ~~c~~ ~5", "\\=\\=a\\=\\= \\%\\%b\\%\\% \\~\\~c\\~\\~ ~5"),
        ("```dataviewjs", "\\`\\`\\`dataviewjs"),
        ("a\n- b\n1. c\n2) d\n> e\n# f\n=\n---\r+ g", "a\n\\- b\n1\\. c\n2\\) d\n\\> e\n\\# f\n\\=\n\\---\r\\+ g"),
        ("C:\\dir\\*", "C:\\\\dir\\\\\\*"),
        ("&lt; & co", "\\&lt; & co"),
    ],
)
def test_no_mark_of_markdown_in_a_text_is_one_on_its_card(text: str, shown: str) -> None:
    assert format_node(node("OC1", title="t", description=text)) == f"**OC1** t\n\n{shown}"


@given(title=hostile_line(), description=hostile_text())
@tries(20)
def test_a_card_of_ours_says_exactly_what_was_written_on_it(title: str, description: str) -> None:
    assert parse_card(format_node(node("OC1", title=title, description=description))) == (title, description)


@given(
    st.sampled_from([*EdgeType]), st.none() | hostile_sentence() | st.sampled_from(["Causes", "FEEDBACK: so", "x: y"])
)
@tries(20)
def test_an_arrow_says_type_and_mechanism_so_that_both_come_back(edge_type: EdgeType, mechanism: str | None) -> None:
    label = format_edge_label(PurposeEdge("", "a", "b", edge_type, mechanism))
    found = parse_label(label or "")

    assert (found.edge_type or EdgeType.CONTRIBUTES_TO, found.mechanism) == (edge_type, mechanism)


def test_a_contribution_needs_no_word_unless_its_mechanism_looks_like_one() -> None:
    def label(edge_type: str, mechanism: str | None) -> str | None:
        return format_edge_label(PurposeEdge("", "a", "b", EdgeType(edge_type), mechanism))

    assert label("CONTRIBUTES_TO", None) is None
    assert label("CONTRIBUTES_TO", "by hand") == "by hand"
    assert label("CONTRIBUTES_TO", "causes") == "CONTRIBUTES_TO: causes"
    assert label("CAUSES", "by hand") == "CAUSES: by hand"
    assert label("FEEDBACK", None) == "FEEDBACK"


def test_characters_that_no_store_keeps_break_nothing() -> None:
    cards = export_canvas(make_published(theory("AC1", nodes={"AC1": {"title": f"a{NEVER_STORED}b"}})))["nodes"]

    assert cards[1]["text"] == f"**AC1** a{NEVER_STORED}b"


def test_what_leads_back_goes_over_the_top() -> None:
    edges = export_canvas(make_published(theory("AC1 -> OP1", "OP1->AC1/FEEDBACK")))["edges"]

    assert {edge["id"]: (edge["fromSide"], edge["toSide"]) for edge in edges} == {
        "AC1->OP1": ("right", "left"),
        "OP1->AC1/FEEDBACK": ("top", "top"),
    }
