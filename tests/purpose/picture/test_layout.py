"""The layout of the picture, for any structure of a plan."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.model import EdgeName, EdgeType, NodeType
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.layout import Box, CardSize, Layout, compute_layout
from groundplan.purpose.picture.routes import EdgeRoute, Point
from groundplan.purpose.picture.tokens import BANDS
from tests.purpose.exchange.theory_strategies import tries

STEPS = 24  # points of a curve
A_HAIR = 0.11  # coordinates have one decimal


@st.composite
def structures(draw: st.DrawFn) -> tuple[dict[str, CardSize], list[EdgeName]]:
    """Draw cards of any types and heights, and any edges between them: cycles, leaps, edges down or back."""
    count = draw(st.integers(1, 24))
    cards = {
        f"N{number}": CardSize(draw(st.sampled_from(NodeType)), tokens.CARD.width, draw(st.sampled_from((48, 66, 111))))
        for number in range(count)
    }
    keys = st.sampled_from(list(cards))
    names = st.builds(EdgeName, keys, keys, st.sampled_from(EdgeType))
    edges = draw(st.lists(names.filter(lambda one: one.source != one.target), max_size=40, unique=True))
    return cards, edges


def lay_out(structure: tuple[dict[str, CardSize], list[EdgeName]]) -> Layout:
    cards, edges = structure
    return compute_layout(cards, edges, [one for one in edges if one.edge_type is not EdgeType.FEEDBACK])


def points_along(route: EdgeRoute) -> list[Point]:
    """Return close points along an edge, as the renderer draws it."""
    found = [route.points[0]]
    for (x1, y1), (x2, y2) in pairwise(route.points):
        for step in range(1, STEPS + 1):
            share = step / STEPS
            rest = 1 - share
            if route.is_back or y1 == y2:
                found.append((x1 * rest + x2 * share, y1 * rest + y2 * share))
            else:
                middle = (x1 + x2) / 2
                x = rest**3 * x1 + 3 * rest * share * middle + share**3 * x2
                y = (rest**3 + 3 * rest**2 * share) * y1 + (3 * rest * share**2 + share**3) * y2
                found.append((x, y))
    return found


def is_inside(point: Point, box: Box) -> bool:
    x, y = point
    inside_x = box.x + A_HAIR < x < box.x + box.width - A_HAIR
    return inside_x and box.y + A_HAIR < y < box.y + box.height - A_HAIR


@tries(30)
@given(structures())
def test_no_two_cards_overlap(structure: tuple[dict[str, CardSize], list[EdgeName]]) -> None:
    for one, other in combinations(lay_out(structure).boxes.values(), 2):
        is_beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert is_beside or one.y + one.height <= other.y + A_HAIR or other.y + other.height <= one.y + A_HAIR


@tries(20)
@given(structures())
def test_every_card_stands_in_the_band_of_its_type_and_bands_go_from_left_to_right(
    structure: tuple[dict[str, CardSize], list[EdgeName]],
) -> None:
    layout = lay_out(structure)
    bands = {band.node_type: band for band in layout.bands}

    for key, box in layout.boxes.items():
        band = bands[structure[0][key].node_type]
        assert band.x <= box.x
        assert box.x + box.width <= band.x + band.width
        assert box.y >= -A_HAIR
        assert box.y + box.height <= layout.height + A_HAIR
    assert [BANDS.index(band.node_type) for band in layout.bands] == sorted(BANDS.index(one) for one in bands)
    assert all(left.x + left.width < right.x for left, right in pairwise(layout.bands))


@tries(30)
@given(structures())
def test_no_edge_crosses_a_card(structure: tuple[dict[str, CardSize], list[EdgeName]]) -> None:
    layout = lay_out(structure)

    for route in layout.routes.values():
        for point in points_along(route):
            assert not any(is_inside(point, box) for box in layout.boxes.values())


@tries(30)
@given(structures())
def test_no_edge_points_backward_over_a_band(structure: tuple[dict[str, CardSize], list[EdgeName]]) -> None:
    """An edge up the chain never turns back; an edge down or back runs above or below all bands."""
    cards = structure[0]
    layout = lay_out(structure)

    for name, route in layout.routes.items():
        leads_up = BANDS.index(cards[name.target].node_type) > BANDS.index(cards[name.source].node_type)
        assert not (leads_up and route.is_back)
        for (x1, y1), (x2, y2) in pairwise(points_along(route)):
            turns_back = x2 < x1 - A_HAIR
            is_outside = min(y1, y2) > layout.height + tokens.BAND_PAD or max(y1, y2) < -layout.header
            assert not turns_back or (route.is_back and is_outside)


@tries(15)
@given(structures())
def test_edges_begin_and_end_at_their_cards(structure: tuple[dict[str, CardSize], list[EdgeName]]) -> None:
    layout = lay_out(structure)

    for name, route in layout.routes.items():
        source, target = layout.boxes[name.source], layout.boxes[name.target]
        (x1, y1), (x2, y2) = route.points[0], route.points[-1]
        assert x1 == pytest.approx(source.x + source.width, abs=A_HAIR)
        assert y1 == pytest.approx(source.middle, abs=A_HAIR)
        assert x2 == pytest.approx(target.x, abs=A_HAIR)
        assert target.y < y2 < target.y + target.height


@tries(12)
@given(structures())
def test_the_same_structure_is_laid_out_alike(structure: tuple[dict[str, CardSize], list[EdgeName]]) -> None:
    assert lay_out(structure) == lay_out(structure)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "edges"), [(150, 240), (400, 600)])
def test_large_structures_keep_to_the_same_rules(count: int, edges: int) -> None:
    random = Random(count)  # noqa: S311 - nothing is kept secret with it
    cards = {
        f"N{number}": CardSize(random.choice([*NodeType]), 190, random.choice((48, 66, 111))) for number in range(count)
    }
    ends = (random.sample([*cards], 2) for _ in range(edges))
    names = dict.fromkeys(EdgeName(one, other, EdgeType.CONTRIBUTES_TO) for one, other in ends)
    layout = lay_out((cards, [*names]))

    rows: dict[float, list[Box]] = {}
    for box in layout.boxes.values():
        rows.setdefault(box.x, []).append(box)
    for column in rows.values():
        column.sort(key=lambda box: box.y)
        assert all(upper.y + upper.height <= lower.y + A_HAIR for upper, lower in pairwise(column))
    lefts = sorted(rows)
    tops = {left: [box.y for box in column] for left, column in rows.items()}
    for route in layout.routes.values():
        for x, y in points_along(route):
            for left in lefts[bisect_left(lefts, x - 190) : bisect_right(lefts, x)]:
                # Cards of a column do not overlap, so only the last one that begins above can reach this far down.
                below = bisect_right(tops[left], y)
                assert not any(is_inside((x, y), box) for box in rows[left][max(below - 1, 0) : below])


def test_a_chain_that_is_too_long_for_a_band_goes_on_in_its_first_column() -> None:
    keys = [f"N{number:02}" for number in range(40)]
    layout = lay_out(chain(*keys))

    assert len({box.x for box in layout.boxes.values()}) == 16
    assert layout.boxes["N16"].x == layout.boxes["N00"].x
    assert [str(name) for name, route in layout.routes.items() if route.is_back] == ["N15->N16", "N31->N32"]


def chain(*keys: str, node_type: NodeType = NodeType.OUTCOME) -> tuple[dict[str, CardSize], list[EdgeName]]:
    cards = {key: CardSize(node_type, 190, 60) for key in sorted(keys)}
    return cards, [EdgeName(one, other, EdgeType.CONTRIBUTES_TO) for one, other in pairwise(keys)]


def test_lines_that_lead_back_stay_on_the_page() -> None:
    cards = {f"N{number:02}": CardSize(NodeType.OUTCOME, 190, 60) for number in range(30)}
    cards["A"] = CardSize(NodeType.ACTIVITY, 190, 60)
    layout = lay_out((cards, [EdgeName(key, "A", EdgeType.FEEDBACK) for key in cards if key != "A"]))

    xs = [x for route in layout.routes.values() for x, _ in route.points]
    assert min(xs) > -tokens.MARGIN
    assert max(xs) < layout.width + tokens.MARGIN


def test_inside_a_band_causes_stand_left_of_their_effects() -> None:
    boxes = lay_out(chain("c", "a", "b")).boxes

    assert boxes["c"].x < boxes["a"].x < boxes["b"].x


def test_an_edge_that_closes_a_cycle_goes_round_and_the_others_go_on() -> None:
    routes = lay_out(chain("a", "b", "c", "a")).routes

    assert [str(name) for name, route in routes.items() if route.is_back] == ["c->a"]


def test_a_band_that_is_too_tall_for_a_page_gets_more_columns() -> None:
    many = {f"N{number}": CardSize(NodeType.ACTIVITY, 190, 60) for number in range(60)}
    few = dict(list(many.items())[:6])

    assert len({box.x for box in compute_layout(few, [], []).boxes.values()}) == 1
    assert len({box.x for box in compute_layout(many, [], []).boxes.values()}) > 2


def test_edges_of_one_card_share_their_way_until_they_part() -> None:
    cards = {
        key: CardSize(type_, 190, 60)
        for key, type_ in zip("abc", (NodeType.ACTIVITY, *2 * [NodeType.GOAL]), strict=True)
    }
    cards["d"] = CardSize(NodeType.OUTPUT, 190, 60)
    edges = [EdgeName("a", one, EdgeType.CONTRIBUTES_TO) for one in "bc"]
    routes = compute_layout(cards, edges, edges).routes

    ways = [route.points[:-1] for route in routes.values()]
    assert ways[0] == ways[1]
    assert len(ways[0]) == 3


def test_a_picture_of_nothing_has_a_layout() -> None:
    assert compute_layout({}, [], []).boxes == {}
