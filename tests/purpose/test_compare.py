"""The difference of two versions, as data and as Markdown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from groundplan.purpose.markup import LINE_CHARS_MAX, escape_inline, format_code_span
from groundplan.purpose.model import (
    Assumption,
    Confidence,
    Content,
    EdgeName,
    EdgeType,
    Indicator,
    NodeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    build_content,
    encode_canonical,
)
from groundplan.purpose.versions.compare import Comparison, compare
from groundplan.purpose.versions.comparison_markdown import render_comparison

KEYS = {"G1": NodeType.GOAL, "OC1": NodeType.OUTCOME, "OC2": NodeType.OUTCOME, "OP1": NodeType.OUTPUT}
NOTHING = build_content([], [], [], [])


def make_node(key: str, title: str = "a title", **others: Any) -> PurposeNode:
    return PurposeNode(
        **{"id": f"id-{key}", "key": key, "node_type": KEYS.get(key, NodeType.OUTPUT), "title": title, **others}
    )


def make_edge(source: str, target: str, edge_type: EdgeType = EdgeType.CONTRIBUTES_TO, **others: Any) -> PurposeEdge:
    return PurposeEdge(f"id-{source}-{target}", source, target, edge_type, **others)


def make_assumption(key: str, on: str | EdgeName, text: str = "it rains", **others: Any) -> Assumption:
    node_key, name = (None, on) if isinstance(on, EdgeName) else (on, None)
    return Assumption(f"id-{key}", key, node_key, name, text, **others)


def plain(comparison: Comparison) -> Any:
    return to_builtins(comparison)


def changes(fields: list[dict[str, Any]]) -> dict[str, tuple[Any, Any]]:
    return {one["field"]: (one["before"], one["after"]) for one in fields}


words = st.sampled_from(["", "water", "a `b` | c", "two\nlines", "# heading", "1. item", "<b>&amp;</b>"])
maybe = st.none() | words
metadata = st.dictionaries(st.sampled_from("ab"), st.sampled_from([None, 1, 1.0, True, [1], {"x": 2}]), max_size=2)


@st.composite
def contents(draw: st.DrawFn) -> Content:
    keys = draw(st.lists(st.sampled_from(sorted(KEYS)), unique=True))
    nodes = [
        make_node(
            key, draw(words), node_type=draw(st.sampled_from([*NodeType])), owner=draw(maybe), metadata=draw(metadata)
        )
        for key in keys
    ]
    pairs = [(source, target) for source in keys for target in keys if source != target]
    names = [EdgeName(source, target, kind) for source, target in pairs for kind in EdgeType]
    edges = [
        PurposeEdge("id", *name, draw(maybe), draw(st.none() | st.sampled_from([*Confidence])))
        for name in (draw(st.lists(st.sampled_from(names), unique=True, max_size=4)) if names else [])
    ]
    subjects: list[str | EdgeName] = [*keys, *(one.name for one in edges)]
    assumptions = [
        make_assumption(
            key, draw(st.sampled_from(subjects)), risk_level=draw(st.none() | st.sampled_from([*RiskLevel]))
        )
        for key in (draw(st.sets(st.sampled_from(["AS1", "AS2"]))) if subjects else [])
    ]
    indicators = [
        Indicator("id", key, draw(st.sampled_from(keys)), draw(words), baseline=draw(st.sampled_from([None, 1, 2.5])))
        for key in (draw(st.sets(st.sampled_from(["IN1", "IN2"]))) if keys else [])
    ]
    return build_content(nodes, edges, assumptions, indicators)


@pytest.mark.slow
@given(contents(), contents())
def test_a_comparison_is_empty_for_equal_content_only_and_its_mirror_image_the_other_way_round(
    before: Content, after: Content
) -> None:
    there, back = compare(before, after), compare(after, before)

    assert compare(before, before).is_empty
    assert compare(before, before).rewired == []
    assert there.is_empty == (encode_canonical(before) == encode_canonical(after))
    assert mirror(plain(there)) == mirror(mirror(plain(back)))
    assert [one.key for one in there.nodes.added] == [key for key in after.nodes if key not in before.nodes]


def mirror(comparison: dict[str, Any]) -> dict[str, Any]:
    """Return the reverse comparison. The key of an edge that changed its type is its later name."""
    found: dict[str, Any] = {
        sort: {
            "added": comparison[sort]["removed"],
            "removed": comparison[sort]["added"],
            "changed": sorted((_turn(one) for one in comparison[sort]["changed"]), key=str),
        }
        for sort in ("nodes", "edges", "assumptions", "indicators")
    }
    found["rewired"] = [
        {"key": one["key"], **{side: {"added": one[side]["removed"], "removed": one[side]["added"]} for side in SIDES}}
        for one in comparison["rewired"]
    ]
    return found


SIDES = ("causes", "effects")


def _turn(one: dict[str, Any]) -> dict[str, Any]:
    fields = [{"field": each["field"], "before": each["after"], "after": each["before"]} for each in one["fields"]]
    return {"key": one["key"].partition("/")[0], "fields": fields}


@given(contents(), contents())
def test_stored_text_never_makes_a_line_a_heading_or_a_span_of_its_own(before: Content, after: Content) -> None:
    comparison = compare(before, after)
    text = render_comparison(comparison, from_label="v1", to_label="# draft\n#")

    lines = text.splitlines()
    assert lines[0] == r"## Changes from v1 to \# draft #"
    allowed = {"Added", "Removed", "Retitled", "Retyped", "Changed", "Rewired", "Mechanism and confidence"}
    assert {line[4:] for line in lines if line.startswith("###")} <= allowed | {"Assumptions", "Indicators"}
    assert all(line.startswith(("- ", "### ")) for line in lines[4:] if line)
    assert (lines[2] == "No differences.") == comparison.is_empty


def test_what_came_and_what_went_is_listed_with_what_it_says() -> None:
    name = EdgeName("OP1", "OC1", EdgeType.CAUSES)
    after = build_content(
        [make_node("OP1", "Wells"), make_node("OC1", "Water")],
        [make_edge(*name)],
        [make_assumption("AS1", name, risk_level=RiskLevel.HIGH), make_assumption("AS2", "OC1")],
        [Indicator("i", "IN1", "OC1", "litres a day")],
    )

    found = plain(compare(NOTHING, after))

    assert found["nodes"]["added"] == [
        {"key": "OC1", "node_type": "OUTCOME", "title": "Water"},
        {"key": "OP1", "node_type": "OUTPUT", "title": "Wells"},
    ]
    assert found["edges"]["added"] == [
        {"key": "OP1->OC1/CAUSES", "source": "OP1", "target": "OC1", "edge_type": "CAUSES"}
    ]
    assert found["assumptions"]["added"] == [
        {"key": "AS1", "on": "OP1->OC1/CAUSES", "assumption_text": "it rains", "risk_level": "HIGH"},
        {"key": "AS2", "on": "OC1", "assumption_text": "it rains"},
    ]
    assert found["indicators"]["added"] == [{"key": "IN1", "node": "OC1", "name": "litres a day"}]
    assert found["rewired"] == []  # new nodes have no earlier value


def test_metadata_is_one_field_and_says_true_where_it_said_one() -> None:
    before = build_content([make_node("OC1", metadata={"a": 1, "b": 2})], [], [], [])
    after = build_content([make_node("OC1", metadata={"b": 2.0, "a": True})], [], [], [])

    (changed,) = plain(compare(before, after))["nodes"]["changed"]

    assert changed["key"] == "OC1"
    assert changes(changed["fields"]) == {"metadata": ({"a": 1, "b": 2}, {"b": 2.0, "a": True})}


def test_an_edge_of_another_type_is_the_same_edge_and_keeps_its_assumptions() -> None:
    nodes = [make_node("OP1"), make_node("OC1")]
    old, new = make_edge("OP1", "OC1"), make_edge("OP1", "OC1", EdgeType.CAUSES, mechanism="pumps")
    before = build_content(nodes, [old], [make_assumption("AS1", old.name)], [])
    after = build_content(nodes, [new], [make_assumption("AS1", new.name)], [])

    found = compare(before, after)

    assert (found.edges.added, found.edges.removed, found.assumptions.changed, found.rewired) == ([], [], [], [])
    (changed,) = plain(found)["edges"]["changed"]
    assert changed["key"] == "OP1->OC1/CAUSES"
    assert changes(changed["fields"]) == {"edge_type": ("CONTRIBUTES_TO", "CAUSES"), "mechanism": (None, "pumps")}


def test_of_several_edges_between_the_same_ends_none_is_taken_for_another() -> None:
    nodes = [make_node("OP1"), make_node("OC1")]
    before = build_content(nodes, [make_edge("OP1", "OC1")], [], [])
    after = build_content(
        nodes, [make_edge("OP1", "OC1", one) for one in (EdgeType.CAUSES, EdgeType.DEPENDS_ON)], [], []
    )

    found = compare(before, after).edges

    assert [one.key for one in found.added] == ["OP1->OC1/CAUSES", "OP1->OC1/DEPENDS_ON"]
    assert [one.key for one in found.removed] == ["OP1->OC1"]
    assert found.changed == []


def test_an_assumption_that_moved_says_where_it_was_and_where_it_is() -> None:
    nodes, name = [make_node("OP1"), make_node("OC1")], EdgeName("OP1", "OC1", EdgeType.CONTRIBUTES_TO)
    before = build_content(nodes, [make_edge(*name)], [make_assumption("AS1", "OP1", risk_level=RiskLevel.LOW)], [])
    after = build_content(nodes, [make_edge(*name)], [make_assumption("AS1", name, risk_level=RiskLevel.HIGH)], [])

    (changed,) = plain(compare(before, after))["assumptions"]["changed"]

    assert changes(changed["fields"]) == {"on": ("OP1", "OP1->OC1"), "risk_level": ("LOW", "HIGH")}


def test_a_node_with_other_causes_or_effects_is_rewired_and_feedback_is_neither() -> None:
    nodes = [make_node(key) for key in ("G1", "OC1", "OC2", "OP1")]
    before = build_content(nodes, [make_edge("OP1", "OC1"), make_edge("OC1", "G1")], [], [])
    after = build_content(
        nodes,
        [make_edge("OP1", "OC2"), make_edge("OC1", "G1", EdgeType.CAUSES), make_edge("G1", "OP1", EdgeType.FEEDBACK)],
        [],
        [],
    )

    assert plain(compare(before, after))["rewired"] == [
        {"key": "OC1", "causes": {"added": [], "removed": ["OP1"]}, "effects": {"added": [], "removed": []}},
        {"key": "OC2", "causes": {"added": ["OP1"], "removed": []}, "effects": {"added": [], "removed": []}},
        {"key": "OP1", "causes": {"added": [], "removed": []}, "effects": {"added": ["OC2"], "removed": ["OC1"]}},
    ]


def test_the_markdown_has_a_section_for_every_sort_of_change() -> None:
    before = build_content(
        [make_node("G1", "Health"), make_node("OC1", "Water"), make_node("OC2", "Gone"), make_node("OP1", "Wells")],
        [make_edge("OP1", "OC1", confidence=Confidence.LOW), make_edge("OP1", "OC2")],
        [make_assumption("AS1", "OC1", risk_level=RiskLevel.LOW), make_assumption("AS2", "OC1")],
        [Indicator("i", "IN1", "OC1", "litres", baseline=10)],
    )
    after = build_content(
        [
            make_node("G1", "Health", owner="Ben"),
            make_node("OC1", "Clean\nwater"),
            make_node("OP1", "Wells", node_type=NodeType.ACTIVITY),
            make_node("OP2", "Pumps *and* pipes"),
        ],
        [make_edge("OP1", "OC1", EdgeType.CAUSES, confidence=Confidence.HIGH), make_edge("OC1", "G1")],
        [make_assumption("AS1", "OC1", risk_level=RiskLevel.HIGH)],
        [Indicator("i", "IN1", "OC1", "litres", baseline=12.5)],
    )
    titles = {key: one.title for key, one in after.nodes.items()}

    text = render_comparison(compare(before, after), from_label="v1", to_label="draft", titles=titles)

    assert text == (
        "## Changes from v1 to draft\n\n"
        "Nodes: 1 added, 1 removed, 3 changed. Edges: 1 added, 1 removed, 1 changed. "
        "Assumptions: 0 added, 1 removed, 1 changed. Indicators: 0 added, 0 removed, 1 changed. Rewired nodes: 3.\n\n"
        "### Added\n\n- **OP2** (OUTPUT) Pumps \\*and\\* pipes\n- `OC1->G1` (CONTRIBUTES_TO)\n\n"
        "### Removed\n\n- **OC2** (OUTCOME) Gone\n- `OP1->OC2` (CONTRIBUTES_TO)\n\n"
        "### Retitled\n\n- **OC1**: Water → Clean water\n\n"
        "### Retyped\n\n- **OP1** Wells: OUTPUT → ACTIVITY\n- `OP1->OC1/CAUSES`: CONTRIBUTES_TO → CAUSES\n\n"
        "### Changed\n\n- **G1** Health, owner: — → Ben\n\n"
        "### Rewired\n\n- **G1** Health: causes gained OC1\n- **OC1** Clean water: effects gained G1\n"
        "- **OP1** Wells: effects lost OC2\n\n"
        "### Mechanism and confidence\n\n- `OP1->OC1/CAUSES`, confidence: low → high\n\n"
        "### Assumptions\n\n- removed **AS2** on `OC1`: it rains\n- **AS1**, risk: LOW → HIGH\n\n"
        "### Indicators\n\n- **IN1**, baseline: 10 → 12.5\n"
    )


def test_text_reads_as_it_was_written_and_is_no_structure() -> None:
    assert escape_inline("# a | `b` <i> [c](d) *e* _f_ g_h A -> B &lt; & ~x~") == (
        r"\# a \| \`b\` \<i> \[c\](d) \*e\* \_f\_ g_h A -> B \&lt; & \~x\~"
    )
    assert (escape_inline("12. x"), escape_inline("- x"), escape_inline("> x"), escape_inline("1984")) == (
        r"12\. x",
        r"\- x",
        r"\> x",
        "1984",
    )
    assert escape_inline("a\r\n\u2028 b") == "a b"
    assert len(escape_inline("x" * 1000)) == LINE_CHARS_MAX
    assert (format_code_span("a"), format_code_span("`a"), format_code_span("a``b"), format_code_span("")) == (
        "`a`",
        "`` `a ``",
        "```a``b```",
        "`  `",
    )
