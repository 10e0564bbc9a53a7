"""Odd or hostile Miradi projects are refused, or read as a consistent document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.exchange.readers.builder import UnreadableFile
from groundplan.purpose.exchange.readers.miradi import KINDS_NAMED_MAX, read_miradi
from groundplan.purpose.model import EdgeType
from tests.purpose.exchange.miradi_project import MiradiProject, whole_project, xmpz2
from tests.purpose.exchange.test_xmpz2 import chain, edges, node
from tests.purpose.exchange.theory_strategies import tries


@pytest.mark.parametrize("kind", ["Strategy", "DiagramFactor", "DiagramLink", "Indicator"])
def test_two_things_of_one_id_refuse_the_file(kind: str) -> None:
    project, _, _ = chain()
    for _ in range(2):
        project.factor(kind, "x", called="88")

    with pytest.raises(UnreadableFile):
        read_miradi(project.file())


@pytest.mark.parametrize("identifier", ["", " ", "9" * 65, "9" * 100_000])
def test_an_id_that_is_none_refuses_the_file(identifier: str) -> None:
    project = MiradiProject()
    project.factor("Strategy", "x", called="77")

    with pytest.raises(UnreadableFile):
        read_miradi(xmpz2(project.xml().replace('"77"', f'"{identifier}"').encode()))


def test_an_id_may_be_longer_than_any_number_of_a_machine() -> None:
    project = MiradiProject()
    factor = project.factor("Strategy", "x", called="9" * 60)

    assert node(project, "x").key == factor.ref


def test_a_project_without_factors_is_refused() -> None:
    with pytest.raises(UnreadableFile):
        read_miradi(MiradiProject().file())


def test_other_xml_is_refused() -> None:
    with pytest.raises(UnreadableFile):
        read_miradi(xmpz2(b"<Project><StrategyPool><Strategy Id='1'/></StrategyPool></Project>"))


def test_a_text_that_is_referred_to_again_and_again_is_not_repeated() -> None:
    project = MiradiProject()
    goal = project.factor("Goal", "g" * 5_000, Details="d" * 5_000)
    for n in range(100):
        project.factor("BiodiversityTarget", str(n), GoalIds=project.ids("Goal", *[goal.id] * 10))

    told = [one for one in read_miradi(project.file()).document.nodes if one.description]
    assert [one.title for one in told] == ["0"]


def test_many_odd_things_are_counted_in_few_lines() -> None:
    project, source, _ = chain()
    for n in range(200):
        project.link(source, project.factor(f"New{n}", f"new {n}"), Annotation=str(n))

    assert [(one.what, one.count, len(one.examples)) for one in read_miradi(project.file()).skipped] == [
        ("link", 200, 5),
        ("item of an unknown kind", 200, 5),
    ]


def test_a_file_cannot_fill_the_report_with_pools_of_its_own() -> None:
    project, _, _ = chain()
    for n in range(100):
        project.factor("New" + "a" * n, "new")

    lines = read_miradi(project.file()).skipped
    assert len(lines) == KINDS_NAMED_MAX + 1
    assert lines[-1].count == 100 - KINDS_NAMED_MAX


def test_what_has_no_id_refuses_no_file_where_nothing_reads_it() -> None:
    project, _, _ = chain()
    xml = project.xml().replace("</miradi:StrategyPool>", "</miradi:StrategyPool><xPool>text<x/><x/></xPool>")

    (line,) = read_miradi(xmpz2(xml.encode())).skipped
    assert (line.what, line.count, line.examples) == ("x", 2, ["x", "x"])


def test_a_pool_of_far_too_many_things_refuses_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.purpose.exchange.readers.miradi.POOL_MAX", 2)
    project, source, target = chain()
    assert read_miradi(project.file()).document.nodes
    for _ in range(2):
        project.link(source, target, again=True)

    with pytest.raises(UnreadableFile, match="more than 2 items of the kind 'DiagramFactor'"):
        read_miradi(project.file())


# Any file

FACTORS = ["Strategy", "IntermediateResult", "Cause", "BiodiversityTarget", "HumanWelfareTarget"]
kinds = st.sampled_from(
    [*FACTORS, "Task", "Activity", "Goal", "Indicator", "KeyEcologicalAttribute", "GroupBox", "Assumption", "New"]
)
ids = st.sampled_from(["1", "2", "3", "9" * 30])
things = st.dictionaries(
    st.tuples(kinds, ids),
    st.dictionaries(
        st.sampled_from(
            ["GoalIds", "IndicatorIds", "KeyEcologicalAttributeIds", "OrderedActivityIds", "RelevantDiagramFactorIds"]
        ),
        st.lists(ids, max_size=2),
    ),
    max_size=12,
)
placed = st.dictionaries(ids | st.integers(10, 20).map(str), st.tuples(kinds, ids), max_size=8)
links = st.lists(st.tuples(ids | st.integers(10, 20).map(str), ids | st.integers(10, 20).map(str), st.booleans()))


@tries(40)
@given(things=things, placed=placed, links=links)
def test_whatever_refers_to_whatever_the_theory_holds_together(
    things: dict[tuple[str, str], dict[str, list[str]]],
    placed: dict[str, tuple[str, str]],
    links: list[tuple[str, str, bool]],
) -> None:
    project = MiradiProject()
    project.factor("Strategy", "there is one", called="0")
    for (kind, identifier), lists in things.items():
        fields = {field: project.ids(field.removesuffix("Ids"), *listed) for field, listed in lists.items()}
        project.factor(kind, f"{kind} {identifier}", called=identifier, **fields)
    for identifier, (kind, wrapped) in placed.items():
        project.factor("DiagramFactor", called=identifier, WrappedFactorId=project.ids(kind, wrapped))
    for source, target, is_both_ways in links:
        project.factor(
            "DiagramLink",
            FromDiagramFactorId=project.ids("Strategy", source),
            ToDiagramFactorId=project.ids("Strategy", target),
            IsBidirectionalLink=str(is_both_ways).lower(),
        )

    document = read_miradi(project.file()).document

    refs = {one.key for one in document.nodes}
    assert {ref for ref in refs if not ref.startswith("Activity-")} == {
        "Strategy-0",
        *(f"{kind}-{identifier}" for kind, identifier in things if kind in FACTORS),
    }
    assert {one.node for one in document.indicators} <= refs
    assert {one.node for one in document.assumptions} <= refs
    assert {(one.source, one.target) for one in document.edges if one.edge_type is EdgeType.CONTRIBUTES_TO} == {
        (source, target)
        for source, target in (
            tuple("-".join(placed.get(end, ("", ""))) for end in link[:2])
            for link in links  # as refs
        )
        if source != target and {source, target} <= refs
    }


@pytest.mark.parametrize("count", [0, 1, 5])
def test_nested_references_are_followed_to_their_end(count: int) -> None:
    project = MiradiProject()
    source, target = project.factor("Strategy", "x"), project.factor("Cause", "y")
    inside = project.ids("Strategy", source.id)
    for _ in range(count):
        inside = project.tag("WrappedByDiagramFactorId", inside)
    placed = project.factor("DiagramFactor", WrappedFactorId=inside)
    project.factor(
        "DiagramLink",
        FromDiagramFactorId=project.ids("DiagramFactor", placed.id),
        ToDiagramFactorId=project.ids("DiagramFactor", project.place(target)),
    )

    assert [pair[:2] for pair in edges(project)] == [(source.ref, target.ref)]


WHOLE = whole_project().xml()


@tries(40)
@given(
    at=st.integers(0, len(WHOLE)),
    length=st.integers(0, 60),
    instead=st.sampled_from(["", "1", "</", "<br/>", "&amp;", "&x;", 'Id="1"', "<!DOCTYPE x>", "\x00", "Strategy"]),
)
def test_a_whole_project_with_something_else_in_it_is_read_or_refused(at: int, length: int, instead: str) -> None:
    try:
        read_miradi(xmpz2((WHOLE[:at] + instead + WHOLE[at + length :]).encode()))
    except UnreadableFile:
        return
