"""Canvases drawn by people: what is read from them, and what refuses a file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.purpose.exchange.readers.builder import ReadDocument
from groundplan.purpose.exchange.readers.canvas import read_canvas
from groundplan.purpose.exchange.writers.canvas import write_canvas
from groundplan.purpose.model import EdgeType, NodeType
from tests.purpose.exchange.foreign_files import (
    assert_within_limits,
    count_skipped,
    damaged_files,
    error_of,
    fields_of,
    read_or_none,
)
from tests.purpose.exchange.test_canvas import GROUPS, WHOLE
from tests.purpose.exchange.theory_strategies import (
    hostile_text,
    make_published,
    tries,
)
from tests.purpose.theories import theory

UNSAID = ("type", "not given; inferred from the position of the node")


def read(*nodes: dict[str, Any], edges: list[dict[str, Any]] | None = None) -> ReadDocument:
    """Read a canvas. A card has text and any position unless given."""
    place = {"type": "text", "x": 0, "y": 0, "width": 100, "height": 50}
    given = {"nodes": [{**place, **one} for one in nodes], "edges": edges or []}
    reading = read_canvas(json.dumps(given).encode())
    assert_within_limits(reading)
    return reading


def line(source: str, target: str, **others: Any) -> dict[str, Any]:
    return {"id": f"{source}{target}", "fromNode": source, "toNode": target, **others}


def edges_of(reading: ReadDocument) -> list[tuple[str, str, str, str | None]]:
    return [(one.source, one.target, one.edge_type, one.mechanism) for one in reading.document.edges]


def types_of(reading: ReadDocument) -> dict[str, NodeType]:
    return {one.key: one.node_type for one in reading.document.nodes}


@pytest.mark.parametrize(
    ("text", "title", "description"),
    [
        ("Clean water", "Clean water", None),
        ("# Clean **water**\n\nFor *all*.\n", "Clean water", "For *all*."),
        ("- [ ] _Dig_ a ==well==", "Dig a well", None),
        ("***Bold _and_ both***", "Bold and both", None),
        ("**all *of* it**", "all of it", None),
        ("[](https://example.org)", "[](https://example.org)", None),
        ("> `code` ~~gone~~ [site](https://example.org)", "code gone site", None),
        ("[[Wells/Deep|Deep wells]] and [[Pumps]]", "Deep wells and Pumps", None),
        ("snake_case_name _x_y 2 * 3 * 4", "snake_case_name _x_y 2 * 3 * 4", None),
        ("a \\*literal\\* star", "a *literal* star", None),
        ("\n\n  1. First  \nrest", "1. First", "rest"),
        ("***", "***", None),
        ("", "", None),
        ("**OC1** Water\n\nFor \\*all\\*", "Water", "For *all*"),
        ("**OC1**: Water", "OC1: Water", None),
        ("**Water** for all", "Water for all", None),
        ("**IN1** Water", "IN1 Water", None),
    ],
)
def test_the_first_line_of_a_card_is_its_title_without_marks(text: str, title: str, description: str | None) -> None:
    (one,) = read({"id": "x", "text": text}).document.nodes
    assert (one.title, one.description) == (title, description)


def test_a_card_that_was_copied_stays_what_it_was_under_a_name_of_its_own() -> None:
    found = json.loads(WHOLE)
    ids = {card["id"]: f"{number:016x}" for number, card in enumerate(found["nodes"]) if card["type"] == "text"}
    copies = [{**card, "id": ids[card["id"]]} for card in found["nodes"] if card["id"] in ids]
    lines = [
        {**one, "id": f"copy of {one['id']}", "fromNode": ids[one["fromNode"]], "toNode": ids[one["toNode"]]}
        for one in found["edges"]
    ]
    both = {"nodes": [*found["nodes"], *copies], "edges": [*found["edges"], *lines]}

    alone, doubled = fields_of(read_canvas(WHOLE)), fields_of(read_canvas(json.dumps(both).encode()))

    renamed = {
        sort: [{field: ids.get(value, value) for field, value in row.items()} for row in rows]
        for sort, rows in alone.items()
    }
    assert doubled == {sort: rows + renamed[sort] for sort, rows in alone.items()}


def test_a_line_that_is_no_title_by_its_length_keeps_its_marks() -> None:
    (one,) = read({"id": "x", "text": "*so* " * 201 + "\nrest"}).document.nodes

    assert one.title.startswith("*so* *so* ")
    assert (one.description or "").endswith("*so*\n\nrest")


def test_files_are_called_by_their_names_and_links_by_their_addresses() -> None:
    reading = read(
        {"id": "a", "type": "file", "file": "Notes/Wells.md", "subpath": "#Deep"},
        {"id": "b", "type": "file", "file": "photo.png"},
        {"id": "c", "type": "link", "url": "https://example.org/wells"},
    )
    assert [(one.title, one.description) for one in reading.document.nodes] == [
        ("Wells", "Notes/Wells.md#Deep"),
        ("photo.png", None),
        ("https://example.org/wells", None),
    ]


def test_groups_tell_the_type_of_what_has_its_middle_inside_and_the_smallest_counts() -> None:
    outer = {"type": "group", "x": 0, "y": 0, "width": 1000, "height": 1000, "label": "Long-term OUTCOMES"}
    inner = {"type": "group", "x": 0, "y": 0, "width": 200, "height": 200, "label": "deliverable"}
    other = {"type": "group", "x": 0, "y": 0, "width": 190, "height": 190, "label": "Health"}
    reading = read(
        {"id": "o", **outer},
        {"id": "i", **inner},
        {"id": "h", **other},
        {"id": "in", "text": "in", "x": 140, "y": 140},
        {"id": "out", "text": "out", "x": 151.5, "y": 140},
        {"id": "far", "text": "far", "x": 2000},
        {"id": "low", "text": "low", "y": 2000},
        {"id": "nowhere", "text": "nowhere", "x": None},
    )

    assert types_of(reading) == {
        "in": NodeType.OUTPUT,
        "out": NodeType.OUTCOME,
        "far": NodeType.ACTIVITY,
        "low": NodeType.ACTIVITY,
        "nowhere": NodeType.ACTIVITY,
    }
    assert count_skipped(reading) == {GROUPS: 3, UNSAID: 3}


def test_of_two_edges_with_the_same_ends_the_one_that_is_meant_keeps_its_assumption() -> None:
    content = theory("AC1 -> OP1", "AC1->OP1/CAUSES", assumptions={"AS1": "AC1->OP1/CAUSES", "AS2": "AC1->OP1"})
    reading = read_canvas(write_canvas(make_published(content)).encode())

    assert [one.edge_type for one in reading.document.assumptions] == [EdgeType.CAUSES, EdgeType.CONTRIBUTES_TO]


def test_what_a_card_says_of_its_risk_counts_more_than_its_colour() -> None:
    card = {"id": "AS1", "text": "**AS1** *Assumption, low risk*\n\nit holds", "color": "1"}
    reading = read({"id": "a"}, card, edges=[line("AS1", "a")])

    assert [one.risk_level for one in reading.document.assumptions] == ["LOW"]


def test_a_card_that_was_moved_to_another_band_has_another_type() -> None:
    found = json.loads(WHOLE)
    cards = {card["id"]: card for card in found["nodes"]}
    cards["OC1"]["x"] = cards["band OUTPUT"]["x"] + 5

    assert types_of(read_canvas(json.dumps(found).encode()))["OC1"] is NodeType.OUTPUT


def test_where_no_group_says_it_the_arrows_tell_types_but_not_those_of_feedback() -> None:
    arrows = [line("a", "b"), line("b", "c"), line("c", "d"), line("d", "a", label="feedback")]
    reading = read(*({"id": id_, "text": id_} for id_ in "abcd"), edges=arrows)

    assert [*types_of(reading).values()] == [NodeType.ACTIVITY, NodeType.OUTPUT, NodeType.OUTCOME, NodeType.GOAL]
    assert count_skipped(reading) == {UNSAID: 4}


@pytest.mark.parametrize(
    ("ends", "edges"),
    [
        ({}, [("a", "b", "CONTRIBUTES_TO", "so")]),
        ({"fromEnd": "none", "toEnd": "arrow"}, [("a", "b", "CONTRIBUTES_TO", "so")]),
        ({"fromEnd": "arrow", "toEnd": "none"}, [("b", "a", "CONTRIBUTES_TO", "so")]),
        ({"fromEnd": "arrow"}, [("a", "b", "CONTRIBUTES_TO", "so"), ("b", "a", "FEEDBACK", None)]),
        ({"toEnd": "none"}, [("a", "b", "CONTRIBUTES_TO", "so")]),
    ],
)
def test_arrows_tell_which_way_an_edge_leads(ends: dict[str, str], edges: list[tuple[str, str, str, str]]) -> None:
    reading = read({"id": "a"}, {"id": "b"}, edges=[line("a", "b", label="so", **ends)])

    assert edges_of(reading) == edges
    is_bare = ends == {"toEnd": "none"}
    assert count_skipped(reading).get(("arrow", "the edge has none; the drawing direction is used"), 0) == is_bare


def test_a_label_may_name_the_type_of_an_edge() -> None:
    edges = [line("a", "b", label="Depends on"), line("b", "c", label="causes: less germs"), line("c", "a", label="so")]
    reading = read({"id": "a"}, {"id": "b"}, {"id": "c"}, edges=edges)

    assert edges_of(reading) == [
        ("a", "b", "DEPENDS_ON", None),
        ("b", "c", "CAUSES", "less germs"),
        ("c", "a", "CONTRIBUTES_TO", "so"),
    ]


def test_edges_to_groups_to_nothing_and_to_themselves_are_counted_and_left_out() -> None:
    edges = [line("a", "g"), line("a", "gone"), line("a", "a"), line("a", "b"), line("a", "b"), {"id": "e"}]
    reading = read({"id": "a"}, {"id": "b"}, {"id": "g", "type": "group"}, edges=edges)

    assert edges_of(reading) == [("a", "b", "CONTRIBUTES_TO", None)]
    assert count_skipped(reading) == {
        GROUPS: 1,
        UNSAID: 2,
        ("edge", "its source or target is a group"): 1,
        ("edge", "its source or target is not among the nodes"): 2,
        ("edge", "it leads from a node to itself"): 1,
        ("edge", "it exists already"): 1,
    }


def test_an_assumption_by_hand_is_on_what_it_is_joined_to_and_its_colour_is_its_risk() -> None:
    reading = read(
        {"id": "a"},
        {"id": "b"},
        {"id": "1", "text": "**Assumption:** it rains\nenough", "color": "1"},
        {"id": "2", "text": "assumption : it runs", "color": "3"},
        {"id": "3", "text": "Assumption: alone", "color": "4"},
        edges=[line("a", "b", label="CAUSES"), line("1", "a"), line("a", "2"), line("2", "b")],
    )

    assert [
        (one.key, one.assumption_text, one.risk_level, one.node, one.source, one.edge_type)
        for one in reading.document.assumptions
    ] == [
        ("1", "it rains\nenough", "HIGH", "a", None, None),
        ("2", "it runs", "MEDIUM", None, "a", "CAUSES"),
    ]
    assert count_skipped(reading)["assumption", "it is connected to nothing, or to too many items"] == 1


def test_a_card_of_a_type_that_the_specification_does_not_have_is_counted_and_left_out() -> None:
    reading = read({"id": "a"}, {"id": "b", "type": "portal"}, {"id": "c", "type": None})

    assert count_skipped(reading) == {("card", "of a type that JSON Canvas 1.0 does not have"): 2, UNSAID: 1}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "is not JSON"),
        (b"[]", "it is not a JSON Canvas"),
        (b'{"nodes": {}, "edges": 3}', "edges must be a list"),
        (b'{"nodes": [1]}', "nodes must be a list"),
        (b'{"nodes": [{"key": "G1", "node_type": "GOAL"}]}', "has no id"),
        (b'{"nodes": [{"id": ""}]}', "has no id"),
        (b'{"nodes": [{"id": 3}]}', "has no id"),
        (b'{"nodes": [{"id": "a"}, {"id": "a", "type": "group"}]}', "two items are called 'a'"),
        (b'{"nodes": [], "nodes": []}', "appears twice"),
        (b'{"nodes": [{"id": "a", "x": 1e999}]}', "not a number that can be stored"),
        (b'{"nodes": [{"id": "a", "x": 99999999999999999999}]}', "not a number that can be stored"),
        (b'{"nodes": ' + b"[" * 40 + b"]" * 40 + b"}", "nested more than 32 levels"),
        (b'{"nodes": [{"id": "a", "text": "\\u0000"}]}', "control character"),
        (b'{"nodes": [{"id": "B\xfccher"}]}', "not UTF-8 at byte 20"),
        (b"{}", "contains nothing"),
        (json.dumps({"nodes": [{"id": "a" * 129, "type": "text"}]}).encode(), "cannot be the name of a node"),
    ],
)
def test_what_is_no_canvas_is_refused_with_the_reason(raw: bytes, why: str) -> None:
    assert why in error_of(read_canvas, raw)


def test_a_canvas_may_begin_with_a_byte_order_mark() -> None:
    assert fields_of(read_canvas(b"\xef\xbb\xbf" + WHOLE)) == fields_of(read_canvas(WHOLE))
    assert fields_of(read_canvas(WHOLE.decode().encode("utf-16"))) == fields_of(read_canvas(WHOLE))


def test_of_far_too_many_groups_the_rest_is_counted_and_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.canvas.COMPARISONS_MAX", 5)
    far = {"type": "group", "x": 500, "label": "Goals"}
    reading = read({"id": "a"}, {"id": "b"}, *({"id": f"g{n}", **far} for n in range(6)))

    assert count_skipped(reading)["group", "too many to check which cards are inside"] == 4


@pytest.mark.parametrize(("limit", "why"), [("LISTED_MAX", "more than 2 nodes"), ("ITEMS_MAX", "more than 2 cards")])
def test_far_too_many_cards_are_refused_as_soon_as_they_are(
    monkeypatch: pytest.MonkeyPatch, limit: str, why: str
) -> None:
    monkeypatch.setattr(f"groundplan.purpose.exchange.readers.canvas.{limit}", 2)
    cards = [{"id": id_, "type": "text"} for id_ in ("a", "b", "c", "c")]

    assert why in error_of(read_canvas, json.dumps({"nodes": cards}).encode())
    assert len(read(*cards[:2]).document.nodes) == 2


def test_far_too_many_assumptions_and_lines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.canvas.ITEMS_MAX", 1)
    assumed = [{"id": id_, "type": "text", "text": "Assumption: so"} for id_ in ("a", "b")]
    assert "more than 1 cards" in error_of(read_canvas, json.dumps({"nodes": assumed}).encode())

    monkeypatch.setattr("groundplan.purpose.exchange.readers.canvas.LISTED_MAX", 1)
    lines = {"nodes": [{"id": "a", "type": "text"}], "edges": [{}, {}]}
    assert "more than 1 edges" in error_of(read_canvas, json.dumps(lines).encode())


def test_of_a_card_that_is_far_too_long_the_beginning_is_read() -> None:
    reading = read({"id": "a", "text": "Title\n" + "x" * 70_000})

    assert reading.document.nodes[0].title == "Title"
    assert count_skipped(reading) == {
        ("card", "longer than 65536 characters; shortened"): 1,
        ("description", "longer than 16384 bytes; shortened"): 1,
        UNSAID: 1,
    }


def test_no_refusal_of_a_file_speaks_of_a_request() -> None:
    for raw in (b"", b"{", b"\xff", b'{"nodes": NaN}', b'{"a":1,"a":2}'):
        assert "request" not in error_of(read_canvas, raw)


_names = st.sampled_from(
    ("id", "type", "text", "label", "x", "y", "width", "height", "fromNode", "toNode", "toEnd", "fromEnd", "color")
) | st.sampled_from(("file", "subpath", "url"))
_words = st.sampled_from(
    ["a", "b", "text", "group", "file", "link", "arrow", "none", "1", "Goals", "Assumption: x", "**a** b"]
)
_numbers = st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)
_values = st.recursive(
    st.none() | st.booleans() | _numbers | _words | hostile_text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_names, inner, max_size=2),
    max_leaves=3,
)
_cards = st.builds(
    lambda id_, type_, others: {**others, "id": id_, "type": type_},
    st.sampled_from(["a", "b", "c", "d", "e", "AS1"]) | _values,
    st.sampled_from(["text", "text", "group", "file", "link"]) | _values,
    st.dictionaries(_names, _values, max_size=6),
)
_lines = st.builds(
    lambda source, target, others: {**others, "fromNode": source, "toNode": target},
    st.sampled_from("abc") | _values,
    st.sampled_from("abc") | _values,
    st.dictionaries(_names, _values, max_size=3),
)


@given(st.lists(_cards, max_size=5, unique_by=lambda one: str(one["id"])), st.lists(_lines, max_size=4))
@tries(15)
def test_any_values_on_a_canvas_come_in_within_limits_or_are_refused(
    nodes: list[dict[str, Any]], edges: list[dict[str, Any]]
) -> None:
    read_or_none(read_canvas, json.dumps({"nodes": nodes, "edges": edges}).encode())


@given(st.binary(max_size=40) | damaged_files(WHOLE, (b'"', b"{", b"[", b",", b"\\", b"null", b'"id": "G1"', b"1e999")))
@tries(20)
def test_whatever_a_file_holds_it_comes_in_within_limits_or_is_refused(raw: bytes) -> None:
    read_or_none(read_canvas, raw)


def test_thousands_of_cards_come_in() -> None:
    count = 2_000
    cards = [{"id": f"n{n}", "type": "text", "text": f"# Card {n}"} for n in range(count)]
    edges = [line(f"n{n}", f"n{n + 1}") for n in range(count - 1)]
    raw = json.dumps({"nodes": cards, "edges": edges}, indent=24).encode()
    document = read_canvas(raw).document

    assert len(raw) > BODY_BYTES_MAX, "more than a request may have"
    assert (len(document.nodes), len(document.edges)) == (count, count - 1)
