"""A theory as a logical framework, read back with a Markdown parser."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.logframe import write_logframe
from groundplan.purpose.model import TEXT_BYTES_MAX, AssumptionStatus, IndicatorDirection, VersionStatus
from tests.purpose.exchange.theory_strategies import (
    NEVER_STORED,
    TROUBLE,
    any_theory,
    make_measurement,
    make_published,
    make_waiver,
    tries,
)
from tests.purpose.theories import theory, whole_theory

COLUMNS = ["Objective", "Indicators", "Means of verification", "Assumptions"]
LEVELS = ["Goals", "Outcomes", "Outputs", "Activities"]
MARKDOWN = MarkdownIt("commonmark").enable("table")

# The tokens of a page; no text may become another one.
BLOCKS = {"heading", "paragraph", "inline", "table", "thead", "tbody", "tr", "th", "td", "bullet_list", "list_item"}


class Page(NamedTuple):
    title: str
    about: str
    rows: dict[str, list[list[str]]]  # by table heading
    lists: dict[str, list[str]]


def read(text: str) -> Page:
    page = Page("", "", {}, {})
    inside: list[str] = []
    section = ""
    for token in MARKDOWN.parse(text):
        kind = token.type.removesuffix("_open").removesuffix("_close")
        assert kind in BLOCKS, token
        if token.nesting:
            inside.append(kind) if token.nesting > 0 else inside.pop()
            if token.type == "tr_open" and "tbody" in inside:
                page.rows.setdefault(section, []).append([])
            continue
        said = visible_text(token)
        match inside:
            case ["heading"] if not page.title:
                page = page._replace(title=said)
            case ["heading"]:
                section = said
            case ["paragraph"]:
                assert not page.about
                page = page._replace(about=said)
            case ["bullet_list", "list_item", "paragraph"]:
                page.lists.setdefault(section, []).append(said)
            case ["table", "thead", "tr", "th"]:
                assert said in COLUMNS
            case ["table", "tbody", "tr", "td"]:
                page.rows[section][-1].append(said)
            case _:
                pytest.fail(f"{said} stands in {inside}")
    return page


def visible_text(inline: Token) -> str:
    """Return the visible text: lines of a cell as lines, bold keys unchanged."""
    said = ""
    for one in inline.children or []:
        if one.type == "html_inline":
            assert one.content == "<br>"
            said += "\n"
        else:
            assert one.type in ("text", "text_special", "strong_open", "strong_close"), one
            said += one.content
    return said


def fold_blanks(text: str) -> str:
    return " ".join(text.split())


def test_a_table_for_each_level_leads_from_the_goals_down() -> None:
    page = read(write_logframe(make_published(theory("AC1 -> OP1 -> OC1 -> G1", "AC2"))))

    assert page.title == "Logical framework: wells, v2 Two wells, profile standard"
    assert page.about == "Groundplan, format: 1. Published on 2026-11-15."
    assert [*page.rows] == LEVELS
    assert [row[0] for row in page.rows["Activities"]] == ["AC1 what AC1 is", "AC2 what AC2 is"]
    assert page.rows["Goals"] == [["G1 what G1 is", "—", "—", "—"]]


@pytest.mark.parametrize(
    ("verified", "told"), [(True, "3 (verified) → "), (False, "3 (not verified) → "), (None, "3 → ")]
)
def test_whether_a_baseline_was_verified_is_told_where_somebody_said_it(verified: bool | None, told: str) -> None:
    content = theory("OC1", indicators={"IN1": {"on": "OC1", "baseline": 3, "baseline_verified": verified}})
    ((_, indicators, _, _),) = read(write_logframe(make_published(content))).rows["Outcomes"]

    assert told in indicators


def test_what_was_noted_at_a_measurement_stands_with_its_source() -> None:
    content = theory("OC1", indicators={"IN1": "OC1"})
    latest = {"IN1": make_measurement("IN1", 54, source="report 7", note="after rain")}
    ((_, _, verified, _),) = read(write_logframe(make_published(content, latest=latest))).rows["Outcomes"]

    assert verified == "IN1 latest from report 7, note: after rain"


def test_of_two_edges_with_the_same_ends_the_one_that_is_assumed_of_is_told() -> None:
    content = theory("AC1 -> OP1", "AC1->OP1/CAUSES", assumptions={"AS1": "AC1->OP1/CAUSES", "AS2": "AC1->OP1"})
    ((*_, assumptions),) = read(write_logframe(make_published(content))).rows["Activities"]

    assert "(for AC1 → OP1 CAUSES, " in assumptions
    assert "(for AC1 → OP1, " in assumptions


def test_indicators_stand_with_their_numbers_and_how_they_are_verified() -> None:
    content = theory(
        "OC1",
        indicators={
            "IN1": {
                "on": "OC1",
                "name": "Households",
                "unit": "%",
                "direction": IndicatorDirection.INCREASE,
                "baseline": 31.0,
                "baseline_verified": False,
                "target": 97.5,
                "method": "survey",
                "frequency": "yearly",
                "owner": "cleo",
            },
            "IN2": {"on": "OC1", "name": "Pumps"},
        },
    )
    latest = {"IN1": make_measurement("IN1", 54, "2026-11-15T09:30:00.000Z", source="report 7")}
    ((_, indicators, verified, _),) = read(write_logframe(make_published(content, latest=latest))).rows["Outcomes"]

    assert indicators.split("\n") == [
        "IN1 Households: 31 (not verified) → 97.5 %, should increase; latest 54 on 2026-11-15",
        "IN2 Pumps: — → —; not measured yet",
    ]
    assert verified.split("\n") == ["IN1 survey, yearly, cleo, latest from report 7", "IN2 —"]


def test_what_an_edge_rests_on_stands_in_the_row_it_leads_away_from() -> None:
    content = theory(
        "AC1 -> OP1",
        assumptions={
            "AS1": {
                "on": "AC1->OP1",
                "risk_level": "HIGH",
                "text": "it rains",
                "owner": "ben",
                "review_by": "2027-01-01",
            },
            "AS2": {"on": "OP1", "text": "it holds"},
        },
    )
    page = read(write_logframe(make_published(content, statuses={"AS1": AssumptionStatus.AT_RISK})))

    assert page.rows["Activities"][0][3] == (
        "AS1 it rains (for AC1 → OP1, risk HIGH, at risk, owner ben, review by 2027-01-01)"
    )
    assert page.rows["Outputs"][0][3] == "AS2 it holds (risk not said, untested)"


def test_it_says_what_leads_to_what_and_how() -> None:
    content = theory(
        "AC1 -> OP1", "OP1->AC1/FEEDBACK", edges={"AC1->OP1": {"mechanism": "by hand", "confidence": "low"}}
    )

    assert read(write_logframe(make_published(content))).lists == {
        "What leads to what": [
            "OP1 what OP1 is → AC1 what AC1 is (FEEDBACK)",
            "AC1 what AC1 is → OP1 what OP1 is (confidence low): by hand",
        ]
    }


def test_waivers_have_a_section_of_their_own() -> None:
    page = read(
        write_logframe(
            make_published(theory("G1"), waivers=[make_waiver("cycle", ["G1", "OC1"]), make_waiver("lonely")])
        )
    )

    assert page.lists["Waivers"] == [
        "cycle on G1, OC1: known and small (ada answers for it until 2027-02-28)",
        "lonely: known and small (ada answers for it until 2027-02-28)",
    ]


def test_a_draft_says_so_and_an_empty_one_too() -> None:
    page = read(write_logframe(make_published(theory(), status=VersionStatus.DRAFT, published_at=None)))

    assert page.title == "Logical framework: wells, v2 (draft), profile standard"
    assert page.about == "Groundplan, format: 1. There is nothing in this version yet."
    assert (page.rows, page.lists) == ({}, {})


def test_nothing_is_cut() -> None:
    text = "|x" * (TEXT_BYTES_MAX // 2)
    refs = ["r" * 1_024] * 100
    content = theory("G1", nodes={"G1": {"description": text}})
    page = read(write_logframe(make_published(content, waivers=[make_waiver("cycle", refs)])))

    assert page.rows["Goals"][0][0].endswith(text)
    assert page.lists["Waivers"][0].count("r" * 1_024) == len(refs)


@pytest.mark.parametrize(
    "text",
    [*TROUBLE, "".join(TROUBLE), "a\\", "a\\|b", "`a|b`", "\\\\|", f"a{NEVER_STORED[1:]}b", "__a__", "a__b__c"],
)
def test_a_text_that_means_something_to_markdown_keeps_to_its_cell(text: str) -> None:
    content = theory(
        "G1",
        nodes={"G1": {"title": f"x{text}", "owner": text}},
        assumptions={"AS1": {"on": "G1", "text": text}},
        indicators={"IN1": {"on": "G1", "name": text, "method": text}},
    )
    ((objective, indicators, verified, assumptions),) = read(write_logframe(make_published(content))).rows["Goals"]

    said = fold_blanks(text)
    assert objective == f"G1 {fold_blanks(f'x{text}')}\nOwner: {said}".rstrip()
    assert indicators == f"IN1 {said}: — → —; not measured yet"
    assert verified == f"IN1 {said}".rstrip() or verified == "IN1 —"
    assert assumptions == f"AS1 {said} (risk not said, untested)"


@given(any_theory())
@tries(10)
def test_every_row_has_four_cells_and_every_text_reads_as_it_was_written(one: Theory) -> None:
    text = write_logframe(one)
    page = read(text)
    rows = [row for rows in page.rows.values() for row in rows]

    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "row-" not in text
    assert [*page.rows] == [level for level in LEVELS if level in page.rows]
    assert {len(row) for row in rows} <= {len(COLUMNS)}
    said = {row[0].split(" ")[0]: row for row in rows}
    assert set(said) == set(one.content.nodes)
    for key, node in one.content.nodes.items():
        objective = [f"{key} {fold_blanks(node.title)}"]
        objective += [fold_blanks(node.description)] if node.description and node.description.strip() else []
        objective += [] if node.owner is None else [f"Owner: {fold_blanks(node.owner)}"]
        assert said[key][0].split("\n") == objective
    for each in one.content.assumptions.values():
        row = said[str(each.node) if each.edge is None else one.content.orient(each.edge).source]
        assert f"{each.key} {fold_blanks(each.assumption_text)} (" in row[3]
    for indicator in one.content.indicators.values():
        assert f"{indicator.key} {fold_blanks(indicator.name)}: " in said[indicator.node][1]
    assert len(page.lists.get("What leads to what", [])) == len(one.content.edges)
    for line, waived in zip(page.lists.get("Waivers", []), one.waivers, strict=True):
        assert fold_blanks(waived.reason) in line


def test_the_whole_theory_reads_as_a_framework() -> None:
    page = read(write_logframe(make_published(whole_theory())))

    assert [row[0].split("\n") for row in page.rows["Outcomes"]] == [["OC1 what OC1 is", "what it is", "Owner: ada"]]
