"""The drawing of the canvas: positions depend on cards and links only, and what nothing links is in the tray."""

from __future__ import annotations

import re

from groundplan.purpose.model import EdgeName, EdgeType, NodeType
from groundplan.surfaces.web.areas.plan.canvas_cards import CanvasCard, CanvasLink, LinkedWork
from groundplan.surfaces.web.areas.plan.canvas_drawing import (
    BAND_HEADER,
    CARD_HEIGHT,
    CanvasAddress,
    CanvasState,
    compute_positions,
    draw_canvas,
)

TYPES = {"AC1": NodeType.ACTIVITY, "AC2": NodeType.ACTIVITY, "OP1": NodeType.OUTPUT, "G1": NodeType.GOAL}


def link(source: str, target: str, edge_type: EdgeType = EdgeType.CONTRIBUTES_TO) -> EdgeName:
    return EdgeName(source, target, edge_type)


PLAIN = CanvasState()


def draw(titles: dict[str, str], state: CanvasState = PLAIN, work: LinkedWork | None = None) -> str:
    cards = [CanvasCard(key, node_type, titles.get(key, key), (), work) for key, node_type in TYPES.items()]
    links = [
        CanvasLink(link("AC1", "OP1"), link("AC1", "OP1"), ()),
        CanvasLink(link("OP1", "G1"), link("OP1", "G1"), ()),
    ]
    return draw_canvas(cards, links, state, CanvasAddress("/plan?")).svg


def find_transforms(svg: str) -> list[str]:
    return re.findall(r"translate\(([^)]+)\)", svg)


def test_a_longer_title_moves_no_card() -> None:
    assert find_transforms(draw({"OP1": "Wells"})) == find_transforms(draw({"OP1": "Wells of the valley " * 20}))


def test_a_line_that_leads_back_above_the_bands_is_inside_the_picture() -> None:
    cards = [CanvasCard(key, node_type, key, ()) for key, node_type in TYPES.items()]
    edges = [link("AC1", "OP1"), link("OP1", "G1"), link("G1", "AC1", EdgeType.FEEDBACK)]
    drawn = draw_canvas(cards, [CanvasLink(edge, edge, ()) for edge in edges], PLAIN, CanvasAddress("/plan?"))

    top = float(find_transforms(drawn.svg)[0].split()[1])
    levels = [-y for route in compute_positions(TYPES.items(), edges).routes.values() for _, y in route.points]
    assert max(levels) > BAND_HEADER, "the plan has no line above the bands"
    assert top - max(levels) >= 1
    assert drawn.height >= top - min(levels)


def test_equal_content_is_drawn_equally_and_a_change_is_never_missed() -> None:
    plain = draw({})

    assert draw({}) == plain
    for other in (
        draw({"OP1": "Wells"}),
        draw({}, CanvasState("OP1")),
        draw({}, CanvasState(lit={"OP1"})),
        draw({}, CanvasState(can_edit=True)),
        draw({}, work=LinkedWork(4, 1)),
    ):
        assert other != plain
    assert draw({}) == plain


def test_a_band_without_cards_offers_its_first_one_only_to_those_who_may_add_it() -> None:
    assert 'data-id="new-OUTCOME"' in draw({}, CanvasState(can_edit=True))
    assert "new-" not in draw({})


def test_cards_that_nothing_links_are_in_a_tray_below_the_bands() -> None:
    at = compute_positions(TYPES.items(), [link("AC1", "OP1"), link("OP1", "G1")])

    assert at.tray is not None
    assert at.tray.keys == ["AC2"]
    assert at.cards["AC2"][1] >= at.tray.y > max(at.cards[key][1] for key in TYPES if key != "AC2") + CARD_HEIGHT
    assert at.depth >= at.cards["AC2"][1] + CARD_HEIGHT
    svg = draw({})
    assert re.findall(r'data-id="(\w+)" data-type="\w+" data-tray', svg) == ["AC2"]
    assert 'aria-label="Activity AC2, AC2, not linked"' in svg
    assert 'Not linked <tspan class="count-of">1</tspan>' in svg


def test_a_plan_without_links_has_no_tray() -> None:
    assert compute_positions(TYPES.items(), []).tray is None


def test_the_band_of_cards_in_the_tray_stays_for_those_who_may_add_to_it() -> None:
    cards = [CanvasCard(key, node_type, key, ()) for key, node_type in TYPES.items() if key not in ("AC2", "G1")]
    cards.append(CanvasCard("OC1", NodeType.OUTCOME, "Alone", ()))
    links = [CanvasLink(link("AC1", "OP1"), link("AC1", "OP1"), ())]
    svg = draw_canvas(cards, links, CanvasState(can_edit=True), CanvasAddress("/plan?")).svg

    assert re.findall(r'data-id="new-(\w+)"', svg) == ["OUTCOME", "GOAL"]
    assert 'data-id="band-OUTCOME"' in svg
    assert 'data-id="OC1" data-type="OUTCOME" data-tray' in svg
