"""Indicators as IATI results: valid against the order of its schema, with nothing invented."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.iati import NAMESPACE, build_identifier, write_iati
from groundplan.purpose.model import IndicatorDirection, NodeType
from tests.purpose.exchange.theory_strategies import (
    NEVER_STORED,
    any_theory,
    make_measurement,
    make_published,
    make_waiver,
    tries,
)
from tests.purpose.theories import theory

# The child elements of the 2.03 schema for each element that we write, in order; required ones end in `!`.
SCHEMA = {
    "iati-activities": "iati-activity!",
    "iati-activity": """iati-identifier! reporting-org! title! description! participating-org! other-identifier
        activity-status! activity-date! contact-info activity-scope recipient-country recipient-region location sector
        tag country-budget-items humanitarian-scope policy-marker collaboration-type default-flow-type
        default-finance-type default-aid-type default-tied-status budget planned-disbursement capital-spend transaction
        document-link related-activity legacy-data conditions result crs-add fss""",
    "title": "narrative!",
    "description": "narrative!",
    "comment": "narrative!",
    "result": "title! description document-link reference indicator!",
    "indicator": "title! description document-link reference baseline period",
    "baseline": "location dimension document-link comment",
    "period": "period-start! period-end! target actual",
    "target": "location dimension comment document-link",
    "actual": "location dimension comment document-link",
    "iati-identifier": "",
    "narrative": "",
    "period-start": "",
    "period-end": "",
}
# Attributes without a namespace, with the form of their values; `?` marks optional ones.
DAY = r"\d{4}-\d\d-\d\d"
NUMBER = r"-?\d+(\.\d+)?"
ATTRIBUTES = {
    "iati-activities": {"version": r"2\.03"},
    "result": {"type": "[1239]"},
    "indicator": {"measure": "[12]", "ascending?": "[01]"},
    "baseline": {"value": NUMBER},  # and the year, which the publisher adds
    "period-start": {"iso-date": DAY},
    "period-end": {"iso-date": DAY},
    "target": {"value": NUMBER},
    "actual": {"value": NUMBER},
}
SEVERAL = {"result", "indicator", "period"}  # also baselines, of which we write one
OF_THE_PUBLISHER = ["reporting-org", "participating-org", "activity-status", "activity-date"]
RESULT_TYPES = {NodeType.OUTPUT: "1", NodeType.OUTCOME: "2", NodeType.GOAL: "3", NodeType.ACTIVITY: "9"}
OURS = f"{{{NAMESPACE}}}"


def read(text: str) -> Element:
    """Return the activity of a file that follows the schema, except for what only a publisher knows."""
    root = ElementTree.fromstring(text.encode())  # noqa: S314 - written by ourselves
    for element in root.iter():
        check_order(element)
        check_attributes(element)
    (activity,) = root
    return activity


def check_order(element: Element) -> None:
    allowed = SCHEMA[element.tag].split()
    order = [name.rstrip("!") for name in allowed]
    places = [order.index(child.tag) for child in element]
    assert places == sorted(places)
    missing = [name[:-1] for name in allowed if name.endswith("!") and element.find(name[:-1]) is None]
    if element.find("target") is not None:
        assert missing == ["period-start", "period-end"]
    else:
        assert missing == (OF_THE_PUBLISHER if element.tag == "iati-activity" else [])
    assert all(len(element.findall(name)) <= 1 for name in order if name not in SEVERAL)


def check_attributes(element: Element) -> None:
    found = {name: value for name, value in element.attrib.items() if not name.startswith(OURS)}
    for name, pattern in ATTRIBUTES.get(element.tag, {}).items():
        value = found.pop(name.rstrip("?"), None)
        assert value is not None or name.endswith("?")
        assert value is None or re.fullmatch(pattern, value)
    assert not found


def narrative_of(element: Element, tag: str) -> str | None:
    return element.findtext(f"{tag}/narrative")


def by_key(activity: Element, tag: str) -> dict[str, Element]:
    return {one.attrib[f"{OURS}key"]: one for one in activity.iter(tag)}


def test_results_lead_from_the_goals_down_under_the_codes_of_the_standard() -> None:
    content = theory(
        "AC1 -> OP1 -> OC1 -> G1",
        nodes={"G1": {"title": "Safe water", "description": "for all"}},
        indicators={f"IN{n}": key for n, key in enumerate(("AC1", "OP1", "OC1", "G1", "G1"), 1)},
    )
    activity = read(write_iati(make_published(content)))

    assert [one.attrib["type"] for one in activity.iter("result")] == ["3", "2", "1", "9"]
    goal = by_key(activity, "result")["G1"]
    assert (narrative_of(goal, "title"), narrative_of(goal, "description")) == ("Safe water", "for all")
    assert [*by_key(goal, "indicator")] == ["IN4", "IN5"]


def test_a_node_without_indicators_is_no_result() -> None:
    activity = read(write_iati(make_published(theory("OP1 -> OC1", indicators={"IN1": "OC1"}))))

    assert [*by_key(activity, "result")] == ["OC1"]


def test_a_description_that_says_nothing_is_left_out() -> None:
    content = theory("G1", nodes={"G1": {"description": " \n"}}, indicators={"IN1": "G1"})
    (result,) = read(write_iati(make_published(content))).iter("result")

    assert [child.tag for child in result] == ["title", "indicator"]
    assert [child.tag for child in result[1]] == ["title"]


def test_percentages_and_directions_are_told_in_codes() -> None:
    content = theory(
        "G1",
        indicators={
            "IN1": {"on": "G1", "unit": "%", "direction": IndicatorDirection.INCREASE},
            "IN2": {"on": "G1", "unit": "Per cent", "direction": IndicatorDirection.DECREASE},
            "IN3": {"on": "G1", "unit": "of 12"},
        },
    )
    found = by_key(read(write_iati(make_published(content))), "indicator")

    assert [(one.get("measure"), one.get("ascending")) for one in found.values()] == [
        ("2", "1"),
        ("2", "0"),
        ("1", None),
    ]


def test_a_baseline_of_no_year_and_a_target_of_no_day_are_told_but_not_dated() -> None:
    planned = {
        "on": "G1",
        "unit": "%",
        "baseline": 31.0,
        "baseline_verified": False,
        "target": 97.5,
        "method": "survey",
    }
    one = by_key(read(write_iati(make_published(theory("G1", indicators={"IN1": planned})))), "indicator")["IN1"]

    assert [(each.tag, each.attrib["value"]) for each in one.iter() if "value" in each.attrib] == [
        ("baseline", "31"),
        ("target", "97.5"),
    ]
    assert one.findtext("baseline/comment/narrative") == "not verified"
    assert narrative_of(one, "description") == "Unit: %\nMethod: survey"
    assert "year" not in one.find("baseline").attrib  # type: ignore[union-attr] # it is there


def test_the_latest_measurement_is_the_actual_value_of_its_day_and_the_target_is_of_none() -> None:
    content = theory("G1", indicators={"IN1": {"on": "G1", "target": 100}})
    latest = {
        "IN1": make_measurement("IN1", 54.5, "2026-11-15T09:30:00.000Z", source="report 7", note="two villages missing")
    }
    measured_then, planned = read(write_iati(make_published(content, latest=latest))).iter("period")

    told = [one.attrib.get("iso-date") or one.attrib["value"] for one in measured_then]
    assert told == ["2026-11-15", "2026-11-15", "54.5"]
    assert measured_then.findtext("actual/comment/narrative") == "report 7\ntwo villages missing"
    assert [(one.tag, one.attrib) for one in planned] == [("target", {"value": "100"})]


def test_what_only_the_publisher_knows_is_asked_for_where_it_belongs() -> None:
    def added(comment: re.Match[str]) -> str:
        return "".join(f"<{name}/>" for name in OF_THE_PUBLISHER if name in comment[1].partition("here")[2])

    text = write_iati(make_published(theory("G1", indicators={"IN1": "G1"})))
    (activity,) = ElementTree.fromstring(re.sub("<!--(.*?)-->", added, text))  # noqa: S314 - as above

    assert [child.tag for child in activity] == [
        "iati-identifier",
        "reporting-org",
        "title",
        "description",
        "participating-org",
        "activity-status",
        "activity-date",
        "result",
    ]
    assert "xml:lang" in text


@pytest.mark.parametrize(
    ("project", "expected"),
    [("wells", "XX-WELLS"), ("Two wells & a pipe/line", "XX-TWO-WELLS-A-PIPE-LINE"), ("漢字", "XX-PROJECT")],
)
def test_an_activity_is_called_by_what_an_identifier_may_hold(project: str, expected: str) -> None:
    assert build_identifier(project) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(5000.0, "5000"), (1e-9, "0.000000001"), (-0.0, "0"), (1e21, "1" + "0" * 21), (0.1, "0.1")]
)
def test_a_number_has_no_exponent(value: float, expected: str) -> None:
    content = theory("G1", indicators={"IN1": {"on": "G1", "target": value}})
    one = by_key(
        read(write_iati(make_published(content, latest={"IN1": make_measurement("IN1", value)}))), "indicator"
    )["IN1"]

    assert [each.attrib["value"] for each in one.iter() if "value" in each.attrib] == [expected] * 2


def test_nothing_is_told_of_waivers_and_assumptions() -> None:
    content = theory("G1", indicators={"IN1": "G1"}, assumptions={"AS1": {"on": "G1", "text": "it rains"}})
    text = write_iati(make_published(content, waivers=[make_waiver("cycle", reason="too small")]))

    assert "it rains" not in text
    assert "too small" not in text


def test_a_sign_stands_for_what_xml_cannot_hold() -> None:
    content = theory("G1", nodes={"G1": {"title": f"a{NEVER_STORED}b"}}, indicators={"IN1": "G1"})

    (result,) = read(write_iati(make_published(content))).iter("result")
    assert str(narrative_of(result, "title")).startswith("a\ufffd")


@given(any_theory())
@tries(15)
def test_a_file_keeps_to_the_schema_and_every_text_comes_back_as_it_was(one: Theory) -> None:
    text = write_iati(one)
    activity = read(text)
    results, indicators = by_key(activity, "result"), by_key(activity, "indicator")

    assert text.endswith("</iati-activities>\n")
    assert "row-" not in text
    assert narrative_of(activity, "title") == one.project
    placed = sorted((key, each) for key, result in results.items() for each in by_key(result, "indicator"))
    assert placed == sorted((each.node, each.key) for each in one.content.indicators.values())
    for key, result in results.items():
        node = one.content.nodes[key]
        assert result.attrib["type"] == RESULT_TYPES[node.node_type]
        assert narrative_of(result, "title") == node.title
        assert narrative_of(result, "description") == (node.description if (node.description or "").strip() else None)
    for key, found in indicators.items():
        indicator = one.content.indicators[key]
        assert narrative_of(found, "title") == indicator.name
        said = narrative_of(found, "description") or ""
        assert all(text in said for text in (indicator.unit, indicator.method, indicator.owner) if text is not None)
        assert (found.find("period/target") is not None) == (indicator.target is not None)
        assert (found.find("baseline") is not None) == (indicator.baseline is not None)
        if key in one.latest:
            (actual,) = found.iter("actual")
            assert float(actual.attrib["value"]) == one.latest[key].value
            assert narrative_of(actual, "comment") == one.latest[key].source
