"""The table of formats is right: it names what each format loses."""

from __future__ import annotations

from typing import cast

import pytest

from groundplan.purpose.exchange.export import Export, ExportFormat, write_export
from groundplan.purpose.exchange.formats import FORMATS, READABLE, WRITABLE, FileFormat
from groundplan.purpose.exchange.readers.files import read_file
from groundplan.purpose.model import AssumptionStatus, IndicatorDirection, Profile
from tests.purpose.exchange.theory_strategies import make_measurement, make_published, make_waiver
from tests.purpose.theories import theory

THEORY = make_published(
    theory(
        "AC1 -> OP1",
        "AC1->OP1/CAUSES",
        nodes={
            "OP1": {
                "title": "mtitle",
                "description": "mdescription",
                "narrative": "mnarrative",
                "owner": "mowner",
                "metadata": {"mmetadata": 1},
            }
        },
        edges={"AC1->OP1/CAUSES": {"mechanism": "mmechanism", "confidence": "low"}},
        assumptions={
            "AS1": {
                "on": "OP1",
                "text": "massumed",
                "risk_level": "HIGH",
                "owner": "mbearer",
                "review_by": "2031-05-06",
            }
        },
        indicators={
            "IN1": {
                "on": "OP1",
                "name": "mindicator",
                "unit": "munit",
                "direction": IndicatorDirection.INCREASE,
                "baseline": 11.5,
                "baseline_verified": True,
                "target": 99.5,
                "method": "mmethod",
                "frequency": "mfrequency",
                "owner": "mcounter",
            }
        },
    ),
    label="mlabel",
    number=7771,
    profile=Profile.STRICT,
    published_at="2030-04-03T10:11:12.000Z",
    statuses={"AS1": AssumptionStatus.REFUTED},
    latest={"IN1": make_measurement("IN1", 42.25, "2029-08-07T06:05:04.000Z", source="msource", note="mnote")},
    waivers=[make_waiver("mcode", ["OP1"], reason="mreason", owner="mwaiver", due="2032-01-02")],
)

# How to find a thing in a file, and the name of its loss.
NAMED = {
    "mtitle": "titles",
    "mdescription": "descriptions",
    "mnarrative": "narratives",
    "mowner": "owners",
    "mmetadata": "metadata",
    "mmechanism": "mechanism",
    "low": "confidence",
    "massumed": "assumptions",
    "mbearer": "owners|assumptions with",
    "2031-05-06": "review dates",
    "refuted": "reviews",
    "mindicator": "indicators",
    "munit": "indicators",
    "11.5": "indicators",
    "99.5": "indicators",
    "mmethod": "indicators",
    "mfrequency": "indicators",
    "mcounter": "indicators",
    "42.25": "measurements",
    "2029-08-07": "measurements",
    "06:05": "times of measurements|measurements",
    "msource": "measurements",
    "mnote": "measurements",
    "strict": "profile",
    "7771": "number",
    "mlabel": "label",
    "2030-04-03": "publication date",
    "mreason": "waivers",
    "mwaiver": "waivers",
    "2032-01-02": "waivers",
}
# Unambiguous words: where the losses name one, it must be lost.
PLAIN = ("mnarrative", "mmetadata", "mmechanism", "low", "2031-05-06", "strict", "mreason", "2030-04-03")


def file_of(one: FileFormat) -> str:
    return write_export(Export(THEORY, cast(ExportFormat, str(one)))).content


@pytest.mark.parametrize("one", WRITABLE)
def test_what_a_file_does_not_hold_is_named_among_its_losses(one: FileFormat) -> None:
    content, loses = file_of(one).casefold(), FORMATS[one].loses
    lost = {mark: name for mark, name in NAMED.items() if mark not in content}

    assert {mark: name for mark, name in lost.items() if not any(word in loses for word in name.split("|"))} == {}
    assert [mark for mark in PLAIN if mark not in lost and NAMED[mark] in loses] == []


@pytest.mark.parametrize("one", [one for one in READABLE if one in WRITABLE])
def test_what_no_file_of_a_format_can_bring_is_what_does_not_come_back(one: FileFormat) -> None:
    there = file_of(FileFormat.JSON).casefold()
    came = str(read_file(one, file_of(one).encode()).document).casefold()

    lost = {name.split("|")[0] for mark, name in NAMED.items() if mark in there and mark not in came}
    assert lost == {*FORMATS[one].not_carried}
