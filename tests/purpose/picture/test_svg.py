"""The SVG renderer: what a picture contains, and what it never contains."""

from __future__ import annotations

import re
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.gates.gates import NOT_WAIVABLE, SEVERITY_TABLES
from groundplan.purpose.model import AssumptionStatus, EdgeType, NodeType, RiskLevel
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.legend import EXPECTATIONS
from groundplan.purpose.picture.shapes import build_card_path, build_risk_path, build_status_path
from groundplan.purpose.picture.subjects import build_comparison_picture, build_pathway_picture, build_plan_picture
from groundplan.purpose.picture.svg import draw
from groundplan.purpose.picture.text import measure_width
from groundplan.purpose.picture.tokens import Theme
from tests.purpose.exchange.theory_strategies import any_theory, hostile_line, make_published, make_waiver, tries
from tests.purpose.theories import theory, whole_theory

READABLE_PX = 9  # the minimum readable size

SVG = "{http://www.w3.org/2000/svg}"

# The elements of a picture. None can run, load or link.
ELEMENTS = {"svg", "title", "desc", "rect", "g", "path", "text", "circle", "style"}
ATTRIBUTES = {
    "width", "height", "viewBox", "role", "font-family", "data-format", "fill", "x", "y", "rx", "class", "transform",
    "font-size", "font-weight", "text-anchor", "textLength", "text-decoration", "d", "stroke", "stroke-width",
    "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "data-key", "data-edge", "cx", "cy", "r", "paint-order",
}  # fmt: skip


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - what we drew ourselves


def cards(svg: str) -> dict[str, ElementTree.Element]:
    return {one.attrib["data-key"]: one for one in parse(svg).iter(f"{SVG}g") if one.get("class") == "gp-card"}


def edges(svg: str) -> dict[str, ElementTree.Element]:
    return {one.attrib["data-edge"]: one for one in parse(svg).iter(f"{SVG}g") if one.get("class") == "gp-edge"}


def texts(element: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in element.iter(f"{SVG}text")]


@tries(20)
@given(any_theory(), st.sampled_from(Theme))
def test_any_theory_is_drawn_as_plain_svg_with_every_card_and_edge(chain_client: Theory, theme: Theme) -> None:
    svg = draw(build_plan_picture(chain_client), theme).svg

    root = parse(svg)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= ELEMENTS
    assert {name for one in root.iter() for name in one.attrib} <= ATTRIBUTES
    assert cards(svg).keys() == chain_client.content.nodes.keys()
    assert edges(svg).keys() == {str(edge.name) for edge in chain_client.content.edges}


@tries(15)
@given(any_theory())
def test_the_same_theory_gives_the_same_bytes(chain_client: Theory) -> None:
    assert draw(build_plan_picture(chain_client)) == draw(build_plan_picture(chain_client))


def box(card: ElementTree.Element) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a card's outline, which is curved only at the corners."""
    outline = next(card.iter(f"{SVG}path")).attrib["d"]
    xs: list[float] = []
    ys: list[float] = []
    for command, said in re.findall(r"([MLHVA])([^A-Z]*)", outline):
        numbers = [float(one) for one in said.split()]
        match command:
            case "H":
                xs.append(numbers[0])
            case "V":
                ys.append(numbers[0])
            case _:
                xs.append(numbers[-2])
                ys.append(numbers[-1])
    return min(xs), min(ys), max(xs), max(ys)


@tries(20)
@given(hostile_line(), hostile_line(255), st.sampled_from(NodeType), st.integers(0, 40), st.integers(0, 3))
def test_nothing_in_a_card_overflows_it(
    title: str, owner: str, node_type: NodeType, badges: int, indicators: int
) -> None:
    content = theory(
        "OC1",
        nodes={"OC1": {"node_type": node_type, "title": title, "owner": owner}},
        assumptions={f"AS{number}": "OC1" for number in range(1, badges + 1)},
        indicators={f"IN{number}": "OC1" for number in range(indicators)},
    )
    card = cards(draw(build_plan_picture(make_published(content))).svg)["OC1"]
    left, top, right, bottom = box(card)

    for text in card.iter(f"{SVG}text"):
        size = float(text.attrib["font-size"])
        width = measure_width(text.text or "", size)
        x = float(text.attrib["x"]) - {"end": width, "middle": width / 2}.get(text.get("text-anchor", ""), 0)
        assert left <= x
        assert x + width <= right
        assert top <= float(text.attrib["y"]) - size * 0.72  # height of capitals
        assert float(text.attrib["y"]) + size * 0.21 <= bottom  # depth of letters below the line


def test_what_the_table_cannot_measure_is_cut_off_at_its_card() -> None:
    content = theory("G1", "OC1", nodes={"G1": {"title": "ǄǄǄ"}, "OC1": {"title": "Water"}})
    found = cards(draw(build_plan_picture(make_published(content))).svg)

    (window,) = found["G1"].iter(f"{SVG}svg")
    left, top, right, bottom = box(found["G1"])
    x, y, width, height = (float(window.attrib[name]) for name in ("x", "y", "width", "height"))
    assert (x, y, x + width, y + height) == (left, top, right, bottom)
    assert texts(window) == texts(found["G1"])
    assert not list(found["OC1"].iter(f"{SVG}svg"))


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
def test_a_file_has_its_colours_resolved_and_needs_no_page(theme: Theme) -> None:
    svg = draw(build_plan_picture(make_published(whole_theory())), theme).svg

    assert "var(" not in svg
    assert "<style" not in svg
    assert set(re.findall(r"#[0-9a-f]{6}", svg)) <= {getattr(colour, theme) for colour in tokens.COLOURS.values()}


def test_a_picture_that_follows_its_reader_is_light_for_whoever_does_not_know_variables() -> None:
    theory_ = make_published(whole_theory())
    svg, light = draw(build_plan_picture(theory_), Theme.AUTO).svg, draw(build_plan_picture(theory_), Theme.LIGHT).svg

    style = parse(svg).findtext(f"{SVG}style") or ""
    rules = dict(re.findall(r'\[(?:fill|stroke)="(#[0-9a-f]{6})"\]\{(?:fill|stroke):var\(--gp-([a-z-]+)\)\}', style))
    used = re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', svg.replace(style, ""))
    assert set(used) <= rules.keys()
    assert [tokens.COLOURS[rules[shade]].light for shade in used] == re.findall(
        r'(?:fill|stroke)="(#[0-9a-f]{6})"', light
    )
    assert all(f"--gp-{name}:" in style for name in rules.values())


def test_a_title_that_is_markup_stays_text() -> None:
    title = "</text><script>alert(1)</script><a href='javascript:x'>&amp;\"]]>"
    svg = draw(build_plan_picture(make_published(theory("G1", nodes={"G1": {"title": title}})))).svg

    assert "<script" not in svg
    assert title.replace(" ", "") in "".join(texts(cards(svg)["G1"])).replace(" ", "")


def test_what_is_waived_stands_below_the_picture() -> None:
    drawn = make_published(
        whole_theory(), waivers=[make_waiver("GA_LEAP", ["AC1->OP1"], reason="Known <and> small", owner="ben")]
    )

    said = " ".join(texts(parse(draw(build_plan_picture(drawn)).svg)))
    assert "Waived until 2027-02-28 by ben" in said
    assert "The rule that no link skips a level (AC1 to OP1): Known <and> small" in said
    assert "GA_LEAP" not in said


def test_a_goal_weighs_more_than_any_other_card() -> None:
    chain = ("G1", "OC1", "OP1", "AC1")
    found = cards(
        draw(
            build_plan_picture(make_published(theory(*chain, nodes={key: {"title": "Clean water"} for key in chain})))
        ).svg
    )

    def weight(key: str) -> tuple[float, float, float]:
        left, top, right, bottom = box(found[key])
        title = next(text for text in found[key].iter(f"{SVG}text") if text.text == "Clean water")
        outline = next(found[key].iter(f"{SVG}path"))
        return (right - left) * (bottom - top), float(title.attrib["font-size"]), float(outline.attrib["stroke-width"])

    for other in chain[1:]:
        assert all(heavy > light for heavy, light in zip(weight("G1"), weight(other), strict=True))


def test_types_risks_and_findings_are_told_apart_by_shape_alone() -> None:
    for shapes in (
        [build_card_path(one, 0, 0, 190, 60) for one in NodeType],
        [build_risk_path(one, 0, 0, 15) for one in (*RiskLevel, None)],
        [build_status_path(one, 0, 0) for one in AssumptionStatus],
    ):
        assert len(set(shapes)) == len(shapes)


def test_a_pathway_is_only_what_leads_to_a_node_and_what_it_leads_to() -> None:
    drawn = make_published(
        theory(
            "AC1 -> OP1 -> OC1 -> G1", "AC2 -> OP2 -> OC1", "AC1 -> OP2", "OC1->AC1/FEEDBACK", "OC2 -> G1",
            assumptions={"AS1": "OP1", "AS2": "OC2", "AS3": "AC2->OP2"},
        ),
        waivers=[make_waiver("GA_LEAP", ["OC2->G1"]), make_waiver("GA_MECHANISM", ["AC1->OP1"])],
    )  # fmt: skip

    picture = build_pathway_picture(drawn, "OP1")

    assert {key: card.emphasis.value for key, card in picture.cards.items()} == {
        "AC1": "plain",
        "OP1": "focus",
        "OC1": "plain",
        "G1": "plain",
    }
    assert {str(one.edge.name) for one in picture.arrows} == {"AC1->OP1", "OP1->OC1", "OC1->G1"}
    said = " ".join(texts(parse(draw(picture).svg)))
    assert "AS1 · on OP1" in said
    assert "AS2" not in said
    assert "AS3" not in said
    assert [one.code for one in picture.waivers] == ["GA_MECHANISM"]


def test_a_comparison_shows_what_came_what_went_and_what_is_said_otherwise() -> None:
    before = make_published(theory("AC1 -> OP1 -> OC1 -> G1", "OP2 -> OC1"), number=1)
    after = make_published(
        theory("AC1 -> OP1 -> OC1 -> G1", "AC2 -> OP1", nodes={"OP1": {"title": "Another title"}},
               edges={"AC1->OP1": {"confidence": "low"}})
    )  # fmt: skip

    picture = build_comparison_picture(before, after)

    assert {key: card.emphasis.value for key, card in picture.cards.items()} == {
        "G1": "muted",
        "OC1": "muted",
        "OP1": "changed",
        "OP2": "removed",
        "AC1": "muted",
        "AC2": "added",
    }
    marks = {str(one.edge.name): one.emphasis.value for one in picture.arrows}
    assert marks == {
        "OC1->G1": "muted",
        "OP1->OC1": "muted",
        "OP2->OC1": "removed",
        "AC1->OP1": "changed",
        "AC2->OP1": "added",
    }
    svg = draw(picture).svg
    # Each of four cards and of three edges has its sign, and so does the legend.
    assert [texts(parse(svg)).count(sign) for sign in ("+", "−", "~")] == [3, 3, 3]  # noqa: RUF001 - a real minus
    assert {"added", "removed", "changed"} <= set(texts(parse(svg)))


def test_a_comparison_shows_what_happened_to_assumptions_and_indicators_where_they_are() -> None:
    chain = "OP1 -> OC1 -> G1"
    before = make_published(
        theory(chain, assumptions={"AS1": {"on": "OC1", "risk_level": "LOW"}, "AS2": "OC1"}, indicators={"IN1": "G1"})
    )
    after = make_published(
        theory(chain, assumptions={"AS1": {"on": "OC1", "risk_level": "HIGH"}, "AS3": "OP1->OC1"}, indicators={})
    )

    picture = build_comparison_picture(before, after)

    assert {key: card.emphasis.value for key, card in picture.cards.items()} == {
        "G1": "changed",
        "OC1": "changed",
        "OP1": "muted",
    }
    assert picture.cards["OC1"].remark == "AS2 removed\nAS1 changed: risk_level"
    assert picture.cards["G1"].remark == "IN1 removed"
    assert {str(one.edge.name): one.remark for one in picture.arrows} == {"OC1->G1": None, "OP1->OC1": "AS3 added"}
    assert picture.subtitle.endswith("assumptions 1 added, 1 removed, 1 changed; indicators 1 removed")
    assert {"AS1 ~", "AS2 −"} <= set(texts(cards(draw(picture).svg)["OC1"]))  # noqa: RUF001 - a real minus


def test_a_comparison_of_equals_says_that_nothing_changed() -> None:
    same = make_published(whole_theory())

    assert build_comparison_picture(same, same).subtitle.endswith("nothing changed")


def test_what_went_does_not_lie_below_what_came() -> None:
    before = make_published(theory("AC1 -> OP1 -> OC1 -> G1", "AC1 -> G1"), number=1)
    after = make_published(theory("AC1 -> OP1 -> OC1 -> G1", "AC1 -> OC1"))

    ways = {
        name: next(edge.iter(f"{SVG}path")).attrib["d"]
        for name, edge in edges(draw(build_comparison_picture(before, after)).svg).items()
    }
    lane = ways["AC1->OC1"].split("C")[1]
    assert lane not in ways["AC1->G1"]


@tries(12)
@given(any_theory(), any_theory())
def test_any_two_theories_can_be_compared_in_a_picture(one: Theory, other: Theory) -> None:
    svg = draw(build_comparison_picture(one, other)).svg

    assert cards(svg).keys() == one.content.nodes.keys() | other.content.nodes.keys()


WORDS = ("villages", "agree", "to", "keep", "their", "wells", "clean", "and", "safe", "for", "everybody", "all", "year")


def make_ordinary(seed: int, nodes: int = 40) -> Theory:
    """Return a theory of usual shape: few goals, mostly activities, each leading to one or two of the next level."""
    random = Random(seed)  # noqa: S311 - nothing is kept secret with it
    counts = {"G": 2, "OC": nodes // 5, "OP": nodes // 3}
    counts["AC"] = nodes - sum(counts.values())
    layers = {prefix: [f"{prefix}{number}" for number in range(1, count + 1)] for prefix, count in counts.items()}
    lines = []
    for lower, upper in (("AC", "OP"), ("OP", "OC"), ("OC", "G")):
        for key in layers[lower]:
            lines += [f"{key} -> {one}" for one in random.sample(layers[upper], random.choice((1, 1, 2)))]
    for _ in range(4):
        one, other = sorted(random.sample(range(1, counts["OC"] + 1), 2))
        lines.append(f"OC{one} -> OC{other}")
    titles = {
        key: {"title": " ".join(random.choices(WORDS, k=random.choice((4, 6, 8, 11)))), "owner": "ada"}
        for layer in layers.values()
        for key in layer
    }
    assumed = {f"AS{number}": random.choice(lines).replace(" ", "") for number in range(1, 9)}
    assumed |= {f"AS{number}": random.choice([*titles]) for number in range(9, 19)}
    back = [f"OC{random.randint(1, counts['OC'])}->AC{number}/FEEDBACK" for number in range(1, 4)]
    return make_published(theory(*dict.fromkeys(lines), *back, nodes=titles, assumptions=assumed))


@pytest.mark.parametrize("seed", range(12))
def test_forty_nodes_can_be_read_when_they_fit_a_page(seed: int) -> None:
    # The list of assumptions comes below; it is text of its own.
    drawn = draw(build_plan_picture(make_ordinary(seed))._replace(lists_assumptions=False))

    scale = min(tokens.PAGE_WIDTH / drawn.width, tokens.PAGE_HEIGHT / drawn.height)
    assert tokens.CARD.title_px * scale >= READABLE_PX


def test_every_type_of_edge_has_a_head_or_a_line_of_its_own() -> None:
    drawn = make_published(theory(*(f"AC1->OP1/{one}" for one in EdgeType)))

    svg = draw(build_plan_picture(drawn)).svg
    looks = set()
    for edge in edges(svg).values():
        line, head = edge.iter(f"{SVG}path")
        looks.add((line.get("stroke-dasharray"), head.get("fill"), head.attrib["d"].count("M")))
    assert len(looks) == len(EdgeType)


def test_assumptions_have_their_keys_on_the_picture_and_are_listed_below_it_in_full() -> None:
    drawn = make_published(
        theory(
            "OP1 -> OC1 -> G1",
            assumptions={
                "AS1": {
                    "on": "OC1",
                    "risk_level": "HIGH",
                    "owner": "ada",
                    "review_by": "2027-03-01",
                    "text": "Rain falls",
                },
                "AS2": {"on": "OP1->OC1", "text": "Prices stay"},
                "AS3": {"on": "OP1->OC1", "text": "Roads stay open"},
            },
        ),
        statuses={"AS2": AssumptionStatus.AT_RISK},
    )

    root = parse(draw(build_plan_picture(drawn)).svg)
    block = next(one for one in root.iter(f"{SVG}g") if one.get("class") == "gp-assumptions")
    assert texts(block) == [
        "Assumptions",
        "AS1 · on OC1",
        "Rain falls (high risk, untested, owner ada, review by 2027-03-01)",
        "AS2 · on OP1 to OC1",
        "Prices stay (risk not said, at risk, no owner, no review date)",
        "AS3 · on OP1 to OC1",
        "Roads stay open (risk not said, untested, no owner, no review date)",
    ]
    assert texts(cards(draw(build_plan_picture(drawn)).svg)["OC1"])[-1] == "AS1"
    assert "AS2 +1" in texts(root)
    without = draw(build_plan_picture(drawn)._replace(lists_assumptions=False)).svg
    assert "gp-assumptions" not in without


def test_a_picture_is_called_after_the_goal_of_its_project() -> None:
    goals = {"G1": {"title": "Peace"}, "G2": {"title": "Clean water"}, "OC1": {"title": "Wells"}}
    one, several, none = (
        make_published(theory(*lines, nodes=goals)) for lines in (["OC1 -> G2"], ["G1", "OC1 -> G2"], ["OC1 -> OC2"])
    )

    assert build_plan_picture(one).title == "Clean water"
    assert build_plan_picture(several).title == "Clean water, and 1 other goal"
    assert build_plan_picture(none).title == none.project
    assert build_plan_picture(one).subtitle.startswith(f"{one.project} · ")


def test_every_check_that_can_be_waived_has_words() -> None:
    codes = {code for table in SEVERITY_TABLES.values() for code in table}

    assert EXPECTATIONS.keys() == codes - NOT_WAIVABLE


@pytest.mark.parametrize("nodes", [40, 120, 240])
def test_titles_of_bands_and_the_legend_can_be_read_when_the_picture_fits_a_page(nodes: int) -> None:
    drawn = draw(build_plan_picture(make_ordinary(1, nodes))._replace(lists_assumptions=False))

    root = parse(drawn.svg)
    fit = min(tokens.PAGE_WIDTH / drawn.width, tokens.PAGE_HEIGHT / drawn.height, 1.0)
    legend = next(one for one in root.iter(f"{SVG}g") if one.get("class") == "gp-legend")
    scale = float((re.findall(r"scale\(([\d.]+)\)", legend.attrib["transform"]) or ["1"])[0])
    assert tokens.LEGEND_PX * scale * fit >= READABLE_PX
    titles = [one for one in root.iter(f"{SVG}text") if one.get("class") == "gp-band-title"]
    assert len(titles) == 4
    for title in titles:
        assert float(title.attrib["font-size"]) * fit >= READABLE_PX
