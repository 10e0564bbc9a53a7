"""Miradi projects: texts, indicators, assumptions, and what is skipped."""

from __future__ import annotations

import pytest

from groundplan.purpose.exchange.readers.miradi import read_miradi
from tests.purpose.exchange.miradi_project import MiradiProject
from tests.purpose.exchange.test_xmpz2 import chain, node, skipped

# Assumptions


@pytest.mark.parametrize("kind", ["Assumption", "SubAssumption", "AnalyticalQuestion"])
@pytest.mark.parametrize("field", ["RelevantDiagramFactorIds", "DiagramFactorIds"])
def test_what_says_which_factor_it_is_about_is_an_assumption_on_that_node(kind: str, field: str) -> None:
    project, source, _ = chain()
    listed = project.ids("DiagramFactor", project.place(source), project.place(source, again=True))
    said = project.factor(kind, "It <b>rains</b>", Details="<div>Each</div><div>year</div>", **{field: listed})

    reading = read_miradi(project.file())

    assert [(one.key, one.node, one.assumption_text) for one in reading.document.assumptions] == [
        (said.ref, source.ref, "It rains\nEach\nyear")
    ]
    assert reading.skipped == []


def test_an_assumption_about_several_factors_is_kept_at_the_first_that_came_in() -> None:
    project, source, target = chain()
    box = project.factor("GroupBox", "box")
    places = [*(project.place(one) for one in (box, target, source)), "nowhere"]
    project.factor("Assumption", "It rains", RelevantDiagramFactorIds=project.ids("DiagramFactor", *places))

    assert [one.node for one in read_miradi(project.file()).document.assumptions] == [target.ref]
    assert skipped(project)["assumption", "it is about several factors; kept at the first one"] == ["It rains"]


def test_what_is_assumed_of_nothing_that_came_in_is_left_out() -> None:
    project, source, _ = chain()
    box = project.place(project.factor("GroupBox", "box"))
    project.factor("Assumption", "of nothing")
    project.factor("AnalyticalQuestion", "of no factor", RelevantDiagramFactorIds=project.ids("DiagramFactor"))
    project.factor("Assumption", "of a box", RelevantDiagramFactorIds=project.ids("DiagramFactor", box))
    about = project.ids("DiagramFactor", project.place(source))
    silent = project.factor("Assumption", RelevantDiagramFactorIds=about)

    assert read_miradi(project.file()).document.assumptions == []
    assert (
        skipped(project).items()
        >= {
            ("assumption", "it names no factor or link"): ["of nothing"],
            ("analytical question", "it names no factor or link"): ["of no factor"],
            ("assumption", "its node or edge was not imported"): ["of a box"],
            ("assumption", "its text is empty"): [silent.ref],
        }.items()
    )


def test_what_is_in_pools_that_nothing_reads_is_counted_by_what_it_is() -> None:
    project, _, _ = chain()
    for name in ("Turtles", "Sharks"):
        project.factor("SubTarget", name)
    project.factor("IUCNRedListSpecies", "Turtle")
    report = project.factor("ProgressReport", Details="Done")

    assert skipped(project) == {
        ("sub target", "a theory cannot store it"): ["Turtles", "Sharks"],
        ("IUCN red list species", "a theory cannot store it"): ["Turtle"],
        ("progress report", "a theory cannot store it"): [f"ProgressReport {report.id}"],
    }


def test_tasks_beside_activities_of_an_older_schema_are_counted_too() -> None:
    project, _, _ = chain()
    project.factor("Activity", "Train rangers")
    project.factor("Task", "Buy boots")

    assert skipped(project)["task", "a theory cannot store it"] == ["Buy boots"]


# Texts


@pytest.mark.parametrize(
    ("formatted", "title"),
    [
        ("<div>Less</div><div>fishing</div>", "Less fishing"),
        ("Less<br/>fish<b>ing</b>", "Less fishing"),
        ("\n   Less\n   <i> fishing </i>\n", "Less fishing"),
        ("pH &lt; 7 &amp; warm", "pH < 7 & warm"),
        ("&lt;br/&gt; is a tag", "<br/> is a tag"),
        ("<![CDATA[<script>]]>", "<script>"),
        ("caf&#233;\u00a0&#x1F41F;", "café 🐟"),
    ],
)
def test_a_title_is_text_without_its_format(formatted: str, title: str) -> None:
    project = MiradiProject()
    project.factor("Strategy", formatted)

    assert read_miradi(project.file()).document.nodes[0].title == title


def test_a_description_has_a_line_for_each_line_and_a_dash_for_each_item() -> None:
    project = MiradiProject()
    project.factor("Strategy", "x", Details="<div>First</div><ul><li>one</li><li>two <b>2</b></li></ul>last<br/><br/>")

    assert node(project, "x").description == "First\n- one\n- two 2\nlast"


def test_lines_of_the_xml_are_no_lines_of_a_text() -> None:
    project = MiradiProject()
    project.factor("Strategy", "x", Details="\n   one\n   line <b>\n and</b>\t<div>\n another\n</div>\n")

    assert node(project, "x").description == "one line and\nanother"


def test_what_belongs_to_a_factor_is_told_in_its_description_once() -> None:
    project = MiradiProject()
    goal = project.factor("Goal", "More", Details="Twice as much.")
    shared = project.factor("Task", "Shared")
    project.factor("Objective", "Nobody's")
    project.factor("BiodiversityTarget", "x", Details="What it is.", GoalIds=project.ids("Goal", goal.id, "0"))
    for name in ("y", "z"):
        project.factor("Strategy", name, OrderedActivityIds=project.ids("Activity", shared.id))

    assert node(project, "x").description == "What it is.\n\nGoal: More\nTwice as much."
    assert node(project, "y").description == "Activity: Shared"
    assert node(project, "z").description is None
    told = "added to the description of its factor"
    assert (
        skipped(project).items()
        >= {
            ("goal", told): ["More"],
            ("activity", told): ["Shared"],
            ("objective", "no imported item lists it"): ["Nobody's"],
        }.items()
    )


def test_indicators_come_in_at_their_factor_and_each_at_one() -> None:
    project = MiradiProject()
    one, other, _ = (project.factor("Indicator", name, Unit=f" {name}s ") for name in ("one", "other", "lost"))
    attribute = project.factor("KeyEcologicalAttribute", "k", IndicatorIds=project.ids("Indicator", other.id))
    target = project.factor(
        "BiodiversityTarget",
        "x",
        IndicatorIds=project.ids("Indicator", one.id),
        KeyEcologicalAttributeIds=project.ids("KeyEcologicalAttribute", attribute.id),
    )
    project.factor("Strategy", "y", IndicatorIds=project.ids("Indicator", one.id))

    reading = read_miradi(project.file())
    assert [(each.key, each.node, each.name, each.unit) for each in reading.document.indicators] == [
        (one.ref, target.ref, "one", "ones"),
        (other.ref, target.ref, "other", "others"),
    ]
    assert (
        skipped(project).items()
        >= {
            ("indicator", "it is not in the file, or belongs to another factor"): ["y"],
            ("indicator", "its factor was not imported"): ["lost"],
        }.items()
    )
