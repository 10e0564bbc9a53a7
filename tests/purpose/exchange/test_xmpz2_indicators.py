"""Miradi projects: diagrams as views, and what belongs to indicators."""

from __future__ import annotations

import msgspec
import pytest

from groundplan.kernel.errors import NotFound
from groundplan.purpose.exchange.readers.miradi import VIEWS_PER_NODE_MAX, parse_number, read_miradi
from tests.purpose.client import PurposeClient
from tests.purpose.exchange.miradi_project import Factor, MiradiProject
from tests.purpose.exchange.test_xmpz2 import chain, node, skipped


def add_diagram(project: MiradiProject, kind: str, name: str | None, *factors: Factor) -> None:
    project.factor(
        kind, name, DiagramFactorIds=project.ids("DiagramFactor", *(project.place(factor) for factor in factors))
    )


def measured_project() -> tuple[MiradiProject, Factor]:
    """Return a project with one indicator that has methods, a future status and measurements."""
    project, source, target = chain()
    count = project.factor("Method", "Count", Details="From a boat.")
    ask = project.factor("Method", "Ask")
    statuses = [
        project.factor("FutureStatus", Date="2027-12-31", Summary="40 %"),
        project.factor("FutureStatus", Date="2030-12-31", Summary="45 %"),
    ]
    values = [
        project.factor("Measurement", Date="2025-06-01", MeasurementValue="30", Details="After the storm."),
        project.factor("Measurement", Date="2025-09-01", MeasurementValue="1,250.5 boats"),
        project.factor("Measurement", Date="2025-10-01", MeasurementValue="better"),
        project.factor("Measurement", MeasurementValue="7"),
        project.factor("Measurement", Date="2999-01-01", MeasurementValue="8"),
    ]
    project.factor("Measurement", "Of nothing", Date="2025-09-01", MeasurementValue="9")
    indicator = project.factor(
        "Indicator",
        "Boats",
        Unit="boats",
        MethodIds=project.ids("Method", count.id, ask.id, "999"),
        FutureStatusIds=project.ids("FutureStatus", *(one.id for one in statuses)),
        MeasurementIds=project.ids("Measurement", *(one.id for one in values)),
    )
    reefs = project.factor("BiodiversityTarget", "Reefs", IndicatorIds=project.ids("Indicator", indicator.id))
    project.link(target, reefs)
    return project, source


def test_a_diagram_becomes_a_view_of_the_factors_on_it() -> None:
    project, source, target = chain()
    add_diagram(project, "ResultsChain", "Fishing", source, target)
    add_diagram(project, "ConceptualModel", "Fishing", target)
    add_diagram(project, "ResultsChain", None, source)

    assert node(project, "Strategy").metadata == {
        "miradi_id": source.id,
        "miradi_type": "Strategy",
        "views": ["Fishing (2)", "results chain 8"],
    }
    assert (node(project, "IntermediateResult").metadata or {})["views"] == ["Fishing", "Fishing (2)"]
    assert skipped(project) == {}


def test_a_factor_on_very_many_diagrams_keeps_the_first() -> None:
    project, source, _ = chain()
    for number in range(VIEWS_PER_NODE_MAX + 2):
        add_diagram(project, "ResultsChain", f"Chain {number}", source)

    views = (node(project, "Strategy").metadata or {})["views"]
    assert len(views) == VIEWS_PER_NODE_MAX
    assert [what for what, _ in skipped(project)] == ["view of a factor"]


def test_an_indicator_has_its_methods_its_future_status_and_its_measurements() -> None:
    project, _ = measured_project()
    reading = read_miradi(project.file())

    (indicator,) = reading.document.indicators
    assert indicator.target == 45
    assert indicator.method == "Count: From a boat.\nAsk\nFuture status by 2030-12-31: 45 %"
    assert [(one.value, one.as_of, one.note) for one in reading.document.measurements] == [
        (30, "2025-06-01", "After the storm."),
        (1250.5, "2025-09-01", None),
        (8, "2999-01-01", None),
    ]
    assert {(one.what, one.why) for one in reading.skipped} == {
        ("measurement", "its value is not a number"),
        ("measurement", "it has no date"),
        ("measurement", "its indicator was not imported"),
    }


def test_the_future_status_of_older_schemas_is_read_from_the_indicator_and_words_are_kept() -> None:
    project, _, target = chain()
    indicator = project.factor(
        "Indicator", "Nests", FutureStatusDate="2030-01-01", FutureStatusSummary="Good or better"
    )
    reefs = project.factor("BiodiversityTarget", "Reefs", IndicatorIds=project.ids("Indicator", indicator.id))
    project.link(target, reefs)

    (found,) = read_miradi(project.file()).document.indicators
    assert found.target is None
    assert found.method == "Future status by 2030-01-01: Good or better"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("45", 45), ("45 %", 45), (">= 45%", 45), ("-1.5", -1.5), ("1,200 boats", 1200), ("1 200", 1200), ("", None),
        ("good", None), ("10 - 20", None), ("1/3", None), ("2030-01-01", None), ("9" * 400, None), ("1,2", None),
    ],
)  # fmt: skip
def test_a_text_is_a_value_if_it_is_one_number(text: str, value: float | None) -> None:
    assert parse_number(text) == value


def test_an_import_records_the_measurements_once_and_a_view_can_be_drawn(client: PurposeClient) -> None:
    project, source = measured_project()
    add_diagram(project, "ResultsChain", "Patrols", source)
    document = msgspec.to_builtins(read_miradi(project.file()).document)
    client.discard()

    answer = client.call("purpose.import", document=document)
    assert answer.counts.measurements == 2
    assert [(one.what, one.why, one.examples) for one in answer.skipped] == [
        ("measurement", "it is in the future", ["IN1 2999-01-01"])
    ]
    observed = client.call("purpose.observations").measurements
    assert sorted(one.value for one in observed) == [30, 1250.5]
    drawn = client.call("purpose.render", view="Patrols").svg
    assert 'data-key="AC1"' in drawn
    assert 'data-key="OP1"' not in drawn
    with pytest.raises(NotFound, match="Patrols"):
        client.call("purpose.render", view="patrols")

    # A document with the keys of this project names the same indicator again.
    same = msgspec.json.decode(client.call("purpose.export", format="json").content)
    client.discard()
    again = client.call(
        "purpose.import",
        document={**same, "measurements": [{"indicator": "IN1", "value": 30, "as_of": "2025-06-01"}]},
        keys="same",
    )
    assert again.counts.measurements == 0
    assert [(one.what, one.why, one.count) for one in again.skipped] == [("measurement", "it is recorded already", 1)]
