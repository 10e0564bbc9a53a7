"""Miradi projects: which factors and links are read as what, and what is reported about the rest."""

from __future__ import annotations

from itertools import pairwise

import pytest

from groundplan.purpose.exchange.document import DocumentEdge, DocumentNode
from groundplan.purpose.exchange.readers.builder import ReadDocument
from groundplan.purpose.exchange.readers.miradi import read_miradi
from groundplan.purpose.model import Confidence, EdgeType, NodeType
from tests.purpose.exchange.miradi_project import Factor, MiradiProject, whole_project, xmpz2


def nodes(reading: ReadDocument) -> dict[str, DocumentNode]:
    return {node.title: node for node in reading.document.nodes}


def node(project: MiradiProject, title: str) -> DocumentNode:
    return nodes(read_miradi(project.file()))[title]


def edges(project: MiradiProject) -> list[tuple[str, str, EdgeType]]:
    return [(one.source, one.target, one.edge_type) for one in read_miradi(project.file()).document.edges]


def only_edge(project: MiradiProject) -> DocumentEdge:
    (edge,) = read_miradi(project.file()).document.edges
    return edge


def skipped(project: MiradiProject) -> dict[tuple[str, str], list[str]]:
    reading = read_miradi(project.file())
    assert all(one.count >= len(one.examples) for one in reading.skipped)
    return {(one.what, one.why): one.examples for one in reading.skipped}


def make_chain(*kinds: str) -> tuple[MiradiProject, list[Factor]]:
    """Return a project with a chain of factors that are named after their types."""
    project = MiradiProject()
    factors = [project.factor(kind, kind) for kind in kinds]
    for source, target in pairwise(factors):
        project.link(source, target)
    return project, factors


def chain() -> tuple[MiradiProject, Factor, Factor]:
    project, (source, target) = make_chain("Strategy", "IntermediateResult")
    return project, source, target


# Types


def test_a_results_chain_comes_in_level_by_level() -> None:
    project, factors = make_chain("Strategy", "IntermediateResult", "ThreatReductionResult", "BiodiversityTarget")
    reading = read_miradi(project.file())

    assert {title: one.node_type for title, one in nodes(reading).items()} == {
        "Strategy": NodeType.ACTIVITY,
        "IntermediateResult": NodeType.OUTPUT,
        "ThreatReductionResult": NodeType.OUTCOME,
        "BiodiversityTarget": NodeType.GOAL,
    }
    assert edges(project) == [(source.ref, target.ref, EdgeType.CONTRIBUTES_TO) for source, target in pairwise(factors)]
    assert reading.skipped == []


@pytest.mark.parametrize(
    ("kind", "node_type"),
    [
        ("Cause", NodeType.OUTCOME),
        ("BiophysicalFactor", NodeType.OUTCOME),
        ("BiophysicalResult", NodeType.OUTCOME),
        ("HumanWelfareTarget", NodeType.GOAL),
        ("HumanWellbeingTarget", NodeType.GOAL),
    ],
)
def test_what_a_factor_is_decides_what_its_node_is(kind: str, node_type: NodeType) -> None:
    project, _ = make_chain("Strategy", kind)

    assert node(project, kind).node_type is node_type


def test_a_whole_project_comes_in_and_what_does_not_is_counted() -> None:
    reading = read_miradi(whole_project().file())

    assert [(one.key.partition("-")[0], one.title) for one in reading.document.nodes] == [
        ("BiodiversityTarget", "Reefs"),
        ("HumanWellbeingTarget", "Fishing families"),
        ("ThreatReductionResult", "Less poaching"),
        ("Cause", "Poaching"),
        ("Cause", "Poverty"),
        ("IntermediateResult", "Poachers are caught"),
        ("Strategy", "Patrols"),
    ]
    assert len(reading.document.edges) == 7
    assert [(one.name, one.unit) for one in reading.document.indicators] == [
        ("Cover of coral", "%"),
        ("Boats a day", None),
    ]
    assert [(one.what, one.count, one.examples) for one in reading.skipped] == [
        ("link", 1, ["Less poaching -> Both"]),
        ("goal", 1, ["More reef"]),
        ("key ecological attribute", 1, ["Cover"]),
        ("threat or contributing factor", 2, ["Poaching", "Poverty"]),
        ("activity", 1, ["Train rangers"]),
        ("group box", 1, ["Both"]),
        ("text box", 1, ["A note"]),
        ("scope box", 1, ["All of it"]),
        ("stress", 1, ["Bleaching"]),
    ]


def test_the_same_project_without_prefixes_and_of_another_schema_is_the_same_theory() -> None:
    newest, plain = MiradiProject(), MiradiProject(prefix="", namespace="http://xml.miradi.org/schema/73")
    for project in (newest, plain):
        project.link(project.factor("Strategy", "a"), project.factor("Cause", "b"))

    assert read_miradi(newest.file()) == read_miradi(plain.file())


def test_what_is_in_the_pool_of_something_else_is_not_read() -> None:
    project, _, _ = chain()
    xml = (
        project.xml()
        .replace("<miradi:Strategy Id=", "<miradi:Stranger Id=")
        .replace("</miradi:Strategy>", "</miradi:Stranger>")
    )

    assert list(nodes(read_miradi(xmpz2(xml.encode())))) == ["IntermediateResult"]


def test_a_factor_without_a_link_comes_in_and_is_counted() -> None:
    project, _, _ = chain()
    project.factor("Strategy", "alone")

    assert node(project, "alone").node_type is NodeType.ACTIVITY
    assert skipped(project) == {("factor without a link", "imported anyway"): ["alone"]}


def test_a_factor_without_a_name_comes_in_without_a_title() -> None:
    project = MiradiProject()
    project.link(project.factor("Strategy"), project.factor("BiodiversityTarget", "x"))

    assert node(project, "").node_type is NodeType.ACTIVITY


def test_an_activity_with_a_link_of_its_own_is_a_node() -> None:
    project = MiradiProject()
    task = project.factor("Task", "Train rangers")
    activity = Factor("Activity", task.id)
    project.link(activity, project.factor("IntermediateResult", "trained"))
    strategy = project.factor("Strategy", "Patrols", OrderedActivityIds=project.ids("Activity", task.id))
    project.link(strategy, activity)

    reading = nodes(read_miradi(project.file()))
    assert reading["Train rangers"].key == activity.ref
    assert reading["Patrols"].description is None


def test_an_activity_of_an_older_schema_is_found_in_its_own_pool() -> None:
    project = MiradiProject()
    activity = project.factor("Activity", "Train rangers")
    project.link(
        project.factor("Strategy", "Patrols", SortedActivityIds=project.ids("Activity", activity.id)),
        project.factor("BiodiversityTarget", "x"),
    )

    assert node(project, "Patrols").description == "Activity: Train rangers"


def test_where_a_node_comes_from_stays_in_its_metadata() -> None:
    project = MiradiProject()
    threat = project.factor("Cause", "threat", IsDirectThreat="true", Identifier="T <b>1</b>")
    project.link(project.factor("Cause", "factor", called="77", IsDirectThreat="0"), threat)

    assert node(project, "threat").metadata == {
        "miradi_id": threat.id,
        "miradi_type": "DirectThreat",
        "miradi_identifier": "T 1",
    }
    assert node(project, "factor").metadata == {"miradi_id": "77", "miradi_type": "ContributingFactor"}


# Links


def test_a_factor_on_two_diagrams_is_one_node_and_a_link_on_two_diagrams_is_one_edge() -> None:
    project, source, target = chain()
    project.link(source, target, again=True)
    reading = read_miradi(project.file())

    assert len(reading.document.nodes) == 2
    assert len(reading.document.edges) == 1
    assert reading.skipped == []


def test_a_link_both_ways_is_an_edge_and_a_feedback() -> None:
    project, (source, target) = make_chain("BiodiversityTarget", "HumanWellbeingTarget")
    project.link(source, target, again=True, is_both_ways=True)

    assert edges(project) == [
        (source.ref, target.ref, EdgeType.CONTRIBUTES_TO),
        (target.ref, source.ref, EdgeType.FEEDBACK),
    ]


def test_a_link_both_ways_is_so_where_another_link_leads_back_as_well() -> None:
    project, (source, target) = make_chain("BiodiversityTarget", "HumanWellbeingTarget")
    project.link(source, target, is_both_ways=True)
    project.link(target, source)

    assert edges(project) == [
        (source.ref, target.ref, EdgeType.CONTRIBUTES_TO),
        (target.ref, source.ref, EdgeType.FEEDBACK),
        (target.ref, source.ref, EdgeType.CONTRIBUTES_TO),
    ]


def test_an_uncertain_link_has_low_confidence_on_whichever_diagram_it_says_so() -> None:
    project, source, target = chain()
    assert only_edge(project).confidence is None

    project.link(source, target, again=True, IsUncertainLink="true")
    assert only_edge(project).confidence is Confidence.LOW


def test_what_is_written_at_a_link_is_its_mechanism_each_thing_once() -> None:
    project, source, target = chain()
    for said in ("<div>Seen<br/>and known</div>", "", "Known", "Known"):
        project.link(source, target, again=True, Annotation=said)

    assert only_edge(project).mechanism == "Seen\nand known\nKnown"


def test_a_cycle_comes_in_as_it_is() -> None:
    project, (one, other) = make_chain("Cause", "Cause")
    project.link(other, one)

    assert [pair[:2] for pair in edges(project)] == [(one.ref, other.ref), (other.ref, one.ref)]


def test_the_link_of_a_group_box_is_left_out_for_those_of_its_members() -> None:
    project, source, target = chain()
    box = project.factor("GroupBox", "box")
    member = project.link(source, target)
    project.link(source, box, grouped=(member,))
    project.link(box, target, grouped=("no such link",))

    assert len(edges(project)) == 1
    assert skipped(project) == {
        ("link", "it connects a group box, whose members have their own links"): ["Strategy -> box"],
        ("link", "it connects a group box, whose members have no links"): ["box -> IntermediateResult"],
        ("group box", "it groups factors and is not a factor itself"): ["box"],
    }


@pytest.mark.parametrize("kind", ["TextBox", "Stress", "Assumption", "SomethingNew"])
def test_a_link_to_what_is_no_factor_is_left_out(kind: str) -> None:
    project, source, _ = chain()
    project.link(source, project.factor(kind, "other"))

    assert len(edges(project)) == 1
    assert ("link", "its source or target is not a factor") in skipped(project)


def test_a_link_whose_end_is_nowhere_is_left_out() -> None:
    project, source, target = chain()
    project.link(source, Factor("Strategy", "999"))
    project.factor(
        "DiagramLink",
        FromDiagramFactorId=project.tag("LinkableFactorId", project.ids("Strategy", "999")),
        ToDiagramFactorId=project.tag("LinkableFactorId", project.ids("IntermediateResult", project.place(target))),
    )
    project.factor("DiagramLink")
    project.link(source, Factor("Strategy", "9" * 100_000))

    assert len(edges(project)) == 1
    assert skipped(project) == {
        ("edge", "its source or target is not among the nodes"): [f"{source.ref} -> Strategy-999"],
        ("link", "its source or target is not in the file"): ["? -> IntermediateResult", "? -> ?", "Strategy -> ?"],
    }
