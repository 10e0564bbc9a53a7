"""The overview of a large plan: groups that keep their state, and open level by level."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import AssumptionStatus, RiskLevel
from groundplan.purpose.picture.overview import (
    CARDS_MAX,
    GROUPS_MAX,
    build_group_picture,
    build_overview_picture,
    divide_group,
    divide_nodes,
    find_group,
    is_large,
    list_groups,
)
from groundplan.purpose.picture.subjects import Emphasis, GroupSubject
from groundplan.purpose.picture.svg import draw
from tests.purpose.exchange.theory_strategies import any_theory, make_published, tries
from tests.purpose.theories import theory


def make_chains(count: int, *, is_joined: bool = False) -> Theory:
    """Return chains of four nodes, which share their goals in tens; joined ones have one goal."""
    lines = []
    for number in range(1, count + 1):
        goal = 1 if is_joined else (number - 1) // 10 + 1
        lines.append(f"AC{number} -> OP{number} -> OC{number} -> G{goal}")
    return make_published(theory(*lines, "OP900", "OP901", assumptions={"AS1": "OC3", "AS2": "OC4", "AS3": "OP3->OC3"}))


@tries(15)
@given(any_theory())
def test_every_node_is_in_one_group_and_every_group_is_found_by_its_id(drawn: Theory) -> None:
    groups = divide_nodes(drawn.content)

    assert sorted(key for one in groups for key in one.keys) == sorted(drawn.content.nodes)
    assert len({one.id for one in groups}) == len(groups) <= GROUPS_MAX + 1
    for one in groups:
        found = find_group(drawn.content, one.id)
        assert found is not None
        assert found[0] == one


@tries(15)
@given(any_theory())
def test_any_theory_has_an_overview_and_each_of_its_groups_opens(drawn: Theory) -> None:
    svg = draw(build_overview_picture(drawn)).svg

    for one in divide_nodes(drawn.content):
        opened = build_group_picture(drawn, one.id)
        assert 'data-group="' in svg
        assert opened is not None
        assert {key for key, card in opened.cards.items() if card.emphasis is not Emphasis.MUTED} == set(one.keys)


def test_connected_parts_are_groups_and_a_card_stands_for_the_nodes_of_one_type() -> None:
    picture = build_overview_picture(make_chains(31))

    assert [one.id for one in list_groups(make_chains(31), None)] == ["G1", "G2", "G3", "G4", "unlinked"]
    counts = {key: card.node.size for key, card in picture.cards.items() if isinstance(card.node, GroupSubject)}
    assert counts["G1:activity"] == 10
    assert counts["G4:goal"] == 1
    assert counts["unlinked:output"] == 2
    assert {str(one.edge.name): one.links for one in picture.arrows}["G1:activity->G1:output"] == 10
    assert "99 nodes in 5 groups" in picture.subtitle


def test_a_closed_group_keeps_how_many_assumptions_it_has_and_the_worst_of_them() -> None:
    drawn = make_chains(31)
    drawn.content.assumptions["AS1"].risk_level = RiskLevel.HIGH
    drawn.content.assumptions["AS2"].risk_level = RiskLevel.HIGH
    picture = build_overview_picture(drawn._replace(statuses={"AS2": AssumptionStatus.REFUTED}))

    (badge,) = picture.cards["G1:outcome"].badges
    assert (badge.key, badge.risk, badge.status, badge.text) == (
        "2",
        RiskLevel.HIGH,
        AssumptionStatus.REFUTED,
        "AS2, AS1",
    )
    (arrow,) = [one for one in picture.arrows if str(one.edge.name) == "G1:output->G1:outcome"]
    assert [one.key for one in arrow.badges] == ["AS3"]


def test_tags_divide_a_plan_in_which_most_nodes_have_one() -> None:
    drawn = make_chains(31)
    for number, node in enumerate(drawn.content.nodes.values()):
        node.metadata = {"tags": ["north" if number % 2 else "south"]} if number % 4 else {}

    assert {one.id for one in divide_nodes(drawn.content)} == {"north", "south", "untagged", "unlinked"}


def test_a_part_that_is_too_large_is_divided_by_the_nodes_that_it_leads_to() -> None:
    drawn = make_chains(31, is_joined=True)
    groups = divide_nodes(drawn.content)

    assert len(groups) > 10
    assert max(len(one.keys) for one in groups if one.id not in ("others", "unlinked")) <= 4


def test_a_group_opens_level_by_level_until_its_nodes_can_be_drawn() -> None:
    drawn = make_published(theory(*(f"AC{number} -> OP{number % 3} -> G{number % 2 + 1}" for number in range(400))))
    groups, opened = divide_nodes(drawn.content), []
    while groups:
        largest = max(groups, key=lambda one: len(one.keys))
        opened.append(largest.id)
        groups = list_groups(drawn, largest.id)

    assert len(opened) > 1
    assert opened[-1].startswith(f"{opened[0]}/")
    last = build_group_picture(drawn, opened[-1])
    assert last is not None
    assert len([card for card in last.cards.values() if not isinstance(card.node, GroupSubject)]) <= CARDS_MAX
    found = find_group(drawn.content, opened[0])
    assert found is not None
    assert sorted(key for one in divide_group(drawn.content, found[0]) for key in one.keys) == sorted(found[0].keys)


def test_an_opened_group_shows_its_nodes_and_the_groups_that_it_is_linked_to() -> None:
    drawn = make_published(
        theory("AC1 -> OP1 -> G1", "AC2 -> OP2 -> G2", "OP1->OP2/CAUSES", "AC3 -> G3", "OP2 -> OC2 -> G2", "AC1 -> OP3")
    )
    for key, node in drawn.content.nodes.items():
        node.metadata = {"tags": [key[-1]]}

    picture = build_group_picture(drawn, "1")
    assert picture is not None
    assert {key for key, card in picture.cards.items() if card.emphasis is not Emphasis.MUTED} == {"AC1", "OP1", "G1"}
    assert {"2:output", "3:output"} <= picture.cards.keys()
    assert not any(
        arrow.edge.source.startswith("2:") and arrow.edge.target.startswith("2:") for arrow in picture.arrows
    )
    assert build_group_picture(drawn, "nothing") is None


@pytest.mark.parametrize(("nodes", "expected"), [(CARDS_MAX, False), (CARDS_MAX + 1, True)])
def test_a_plan_is_large_above_120_nodes(nodes: int, expected: bool) -> None:
    assert is_large(make_published(theory(*(f"OP{number}" for number in range(nodes))))) is expected


def test_an_overview_of_a_random_plan_is_the_same_each_time() -> None:
    keys = [f"OP{number}" for number in range(200)]
    random = Shuffle(4)
    drawn = make_published(
        theory(
            *(f"{one} -> {other}" for one, other in zip(keys, random.sample(keys, 200), strict=True) if one != other)
        )
    )

    assert draw(build_overview_picture(drawn)) == draw(build_overview_picture(drawn))


class Shuffle(Random):
    """Chance that is the same for the same seed."""
