"""A large plan on the canvas: groups with exact counts that open level by level, and the list that stays complete."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from groundplan.purpose.picture.overview import CARDS_MAX
from tests.engines import Engine
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.plan_pages import PLAN
from tests.surfaces.web.test_pages import HOSTILE, open_page

CHAINS = 40  # of four items, which share their goals in tens
_CARD = re.compile(r'<a class="(node [^"]*)" ([^>]*)>')
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')


class DrawnCard(NamedTuple):
    classes: set[str]
    key: str
    group: str
    href: str
    label: str


def fill(engine: Engine, *, tags: list[str] | None = None, views: list[str] | None = None) -> None:
    """Write a draft of chains, each with one of the tags, and two items without links."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("purpose.draft", project="atlas")
    steps = {"g": "GOAL", "oc": "OUTCOME", "op": "OUTPUT", "ac": "ACTIVITY"}
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for number in range(CHAINS):
        refs = [f"g{number // 10}", f"oc{number}", f"op{number}", f"ac{number}"]
        for ref in refs[number % 10 > 0 :]:
            metadata: dict[str, Any] = {"tags": [tags[number // 10]]} if tags else {}
            if views and number < 3:
                metadata["views"] = views
            type_ = steps[ref.rstrip("0123456789")]
            nodes.append(
                {"op": "add_node", "ref": ref, "node_type": type_, "title": f"Title {ref}", "metadata": metadata}
            )
        edges += [{"op": "add_edge", "source": a, "target": b} for b, a in pairwise(refs)]
    alone = [{"op": "add_node", "node_type": "OUTPUT", "title": title} for title in ("Alone", "Also alone")]
    assumed = [
        {"op": "add_assumption", "node": "oc2", "assumption_text": "Rain comes", "risk_level": "HIGH"},
        {"op": "add_assumption", "node": "oc3", "assumption_text": "Roads stay open", "risk_level": "LOW"},
        {"op": "add_assumption", "source": "oc4", "target": "g0", "assumption_text": "Trust grows"},
    ]
    ada.call("purpose.edit", project="atlas", operations=[*nodes, *alone, *edges, *assumed])


def read(browser: Browser, query: str = "") -> str:
    reply = browser.get(f"{PLAN}{query if query.startswith('?') else f'?{query}'}")
    assert reply.status == 200
    return reply.body.decode()


def list_cards(page: str) -> dict[str, DrawnCard]:
    found = {}
    for classes, rest in _CARD.findall(page):
        named = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(rest)}
        card = DrawnCard(
            set(classes.split()), named["data-id"], named.get("data-group", ""), named["href"], named["aria-label"]
        )
        assert card.key not in found
        found[card.key] = card
    return found


@pytest.fixture
def reader(browser: Browser) -> Browser:
    browser.log_in()
    return browser


def test_a_large_plan_opens_as_groups_with_exact_counts_and_the_worst_risk(reader: Browser, engine: Engine) -> None:
    fill(engine)
    page = read(reader)
    cards = list_cards(page)
    items = 3 * CHAINS + CHAINS // 10 + 2

    assert items > CARDS_MAX
    assert f"{items} items in 5 groups" in page
    assert {card.group for card in cards.values()} == {"G1", "G2", "G3", "G4", "unlinked"}
    assert cards["G1:activity"].label == "Group, 10 activities, Title g0"
    assert cards["G1:outcome"].label == "Group, 10 outcomes, Title g0, 2 assumptions, high risk"
    assert cards["unlinked:output"].label == "Group, 2 outputs, Not linked"
    assert sum(int(re.findall(r"\d+", card.label)[0]) for card in cards.values()) == items
    assert "has-risk-high" in cards["G1:outcome"].classes
    assert "10 links" in page


def test_the_list_stays_complete_and_everything_can_be_shown(reader: Browser, engine: Engine) -> None:
    fill(engine)
    whole = list_cards(read(reader, "detail=all"))
    rows = re.findall(r'<tr data-id="([^"]+)"', read(reader, "view=list"))

    assert set(rows) == set(whole)
    assert len(rows) == 3 * CHAINS + CHAINS // 10 + 2
    assert not any(card.group for card in whole.values())
    assert "detail=all" in whole["AC1"].href


def test_a_group_opens_with_its_items_and_a_way_back(reader: Browser, engine: Engine) -> None:
    fill(engine)
    cards = list_cards(read(reader, list_cards(read(reader))["G2:output"].href))
    inside = read(reader, "group=G2")

    assert {key for key in cards if cards[key].group == ""} == {
        "G2",
        *(f"{type_}{number}" for type_ in ("OC", "OP", "AC") for number in range(11, 21)),
    }
    assert cards["OP11"].href == "?group=G2&key=OP11"
    assert f'<a href="{PLAN}" data-key="u">Overview</a>' in inside
    assert '<span aria-current="page">Title g1</span>' in inside
    assert "31 items" in inside


def test_groups_around_an_opened_one_are_marked_and_lead_on(reader: Browser, engine: Engine) -> None:
    fill(engine)
    across = [
        {"op": "add_edge", "source": "OP1", "target": "OC11"},
        {"op": "add_edge", "source": "OP2", "target": "OC12"},
    ]
    engine.session("ada").call("purpose.edit", project="atlas", operations=across)
    first = next(iter(list_cards(read(reader)).values())).group
    cards = list_cards(read(reader, f"group={first}"))
    around = [card for card in cards.values() if "around" in card.classes]

    assert around
    for card in around:
        assert card.group not in ("", first)
        assert card.href == f"?group={card.group}"
        assert any(one.group == "" for one in list_cards(read(reader, card.href)).values())


@pytest.mark.parametrize("query", ["key=OC4", "edge=OC4-G1", "key=AS1", "key=OC4&group=G3", "key=OC4&group=gone"])
def test_the_address_of_an_item_opens_the_group_that_holds_it(reader: Browser, engine: Engine, query: str) -> None:
    fill(engine)
    page = read(reader, query)
    cards = list_cards(page)

    assert {"OC4", "G1", "AC1"} <= set(cards)
    assert "OC11" not in cards
    assert f'href="{PLAN}?group=G1" data-key="Escape"' in page  # closing the item stays in the group


def test_a_pathway_of_a_large_plan_shows_only_what_is_on_it(reader: Browser, engine: Engine) -> None:
    fill(engine)
    assert set(list_cards(read(reader, "pathway=OP3"))) == {"AC3", "OP3", "OC3", "G1"}


def test_a_group_that_is_gone_is_said_above_the_overview(reader: Browser, engine: Engine) -> None:
    fill(engine)
    page = open_page(reader, f"{PLAN}?group=%3Cb%3E&drawn=nothing")

    assert "There is no view “nothing”. All items are shown." in page.text
    assert "There is no group “<b>” any more." in open_page(reader, f"{PLAN}?group=%3Cb%3E").text


def test_groups_with_hostile_names_are_text_and_open_each_with_its_own_items(reader: Browser, engine: Engine) -> None:
    tags = [HOSTILE, "a", "a/b", "unlinked"]
    fill(engine, tags=tags)
    page = read(reader)
    cards = list_cards(page)

    assert {card.group for card in cards.values()} == set(tags)
    assert "<script>alert" not in page
    for number, tag in enumerate(tags):
        href = next(card.href for card in cards.values() if card.group == tag)
        opened = {card.key for card in list_cards(read(reader, href)).values() if not card.group}
        alone = {"OP41", "OP42"} if tag == "unlinked" else set()
        assert opened == alone | {f"G{number + 1}"} | {
            f"{type_}{10 * number + step}" for type_ in ("OC", "OP", "AC") for step in range(1, 11)
        }


def test_a_named_view_shows_its_items_only(reader: Browser, engine: Engine) -> None:
    name = f"Chain {HOSTILE}"
    fill(engine, views=[name])
    offered = re.findall(r"<option>([^<]+)</option>", read(reader))
    page = read(reader, f"drawn={quote(name)}")

    assert name in map(html.unescape, offered)
    assert set(list_cards(page)) == {"G1", *(f"{type_}{step}" for type_ in ("OC", "OP", "AC") for step in (1, 2, 3))}


def test_a_small_plan_has_no_groups(reader: Browser, engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("purpose.draft", project="atlas")
    ada.call(
        "purpose.edit", project="atlas", operations=[{"op": "add_node", "node_type": "GOAL", "title": "Safe water"}]
    )
    page = read(reader, "group=G1&detail=overview")

    assert list(list_cards(page)) == ["G1"]
    assert 'class="crumbs"' not in page
