"""A theory as a Mermaid flowchart, read back with the part of Mermaid's grammar that it uses."""

from __future__ import annotations

import re
from colorsys import rgb_to_hls
from typing import NamedTuple

import pytest
from hypothesis import given

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.mermaid import write_mermaid
from groundplan.purpose.model import AssumptionStatus, NodeType
from tests.purpose.exchange.theory_strategies import NEVER_STORED, any_theory, make_published, make_waiver, tries
from tests.purpose.theories import theory, whole_theory

CLOSED_BY = {"[": "]", "(": ")", "([": "])", "{{": "}}", ">": "]"}
COLUMNS = {
    "activities": NodeType.ACTIVITY,
    "outputs": NodeType.OUTPUT,
    "outcomes": NodeType.OUTCOME,
    "goals": NodeType.GOAL,
}

COLUMN = re.compile(r'  subgraph (\w+)\["(\w+)"\]')
BOX = re.compile(r'    (\w+)([\[({>]+)"([^"]*)"([\])}]+):::(\w+)')
ARROW = re.compile(r'  (\w+) (-->|==>|-\.->)(?:\|"([^"]*)"\|)? (\w+)')
CLASS = re.compile(r"  classDef (\w+) fill:(#\w{6}),stroke:(#\w{6}),color:#\w{6}")
CODE = re.compile(r"#(\d+);")

# What Mermaid looks for before it reads labels: directives, old styles, directions of subgraphs.
TRAPS = (
    r"%%\{",
    r"style.*:\S*#.*;",
    r"classDef.*:\S*#.*;",
    r"direction\s+(TB|BT|RL|LR|TD)",
    r"accTitle|accDescr.*[:{]",
)


class Box(NamedTuple):
    column: str
    shape: str
    lines: list[str]
    hue: str


class Arrow(NamedTuple):
    source: str
    target: str
    line: str
    lines: list[str]


class Chart(NamedTuple):
    comments: list[str]
    columns: list[str]
    boxes: dict[str, Box]
    arrows: list[Arrow]
    classes: dict[str, tuple[str, str]]


def read(text: str) -> Chart:
    """Return a chart that contains only what the writer may write."""
    chart = Chart([], [], {}, [], {})
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    while lines[0].startswith("%% "):
        remark = lines.pop(0).removeprefix("%% ")
        assert not set(remark) & set("{}<>&\t\r\u2028"), remark  # which could start a directive or a tag
        chart.comments.append(CODE.sub(lambda found: chr(int(found[1])), remark))
    assert lines.pop(0) == "flowchart LR"
    inside = ""
    for line in lines:
        assert not [trap for trap in TRAPS if re.search(trap, line)]
        if inside and line == "  end":
            inside = ""
        elif inside and (box := BOX.fullmatch(line)):
            key, opened, label, closed, hue = box.groups()
            assert closed == CLOSED_BY[opened]
            assert key not in chart.boxes
            chart.boxes[key] = Box(inside, opened, visible_text(label), hue)
        elif not inside and (column := COLUMN.fullmatch(line)):
            inside = column[1]
            chart.columns.append(inside)
        elif not inside and (arrow := ARROW.fullmatch(line)):
            source, drawn, label, target = arrow.groups()
            chart.arrows.append(Arrow(source, target, drawn, visible_text(label) if label else []))
        elif not inside and (style := CLASS.fullmatch(line)):
            chart.classes[style[1]] = (style[2], style[3])
        else:
            pytest.fail(f"no line of a chart: {line!r}")
    return chart


def visible_text(label: str) -> list[str]:
    return [decode(line) for line in label.split("<br/>")]


def decode(text: str) -> str:
    bare = CODE.sub("", text)
    assert not set(bare) & set("\"'`#;&<>[]{}()|\\@$*_%~^=+!?:/\t\r"), bare
    # Characters that begin a list or an arrow are allowed only inside words.
    assert not re.search(r"(^|[\s.-])[.-]|[.-]($|\s)", text), text
    return CODE.sub(lambda found: chr(int(found[1])), text)


def on_one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_node_stands_in_the_column_of_its_type_in_a_shape_of_its_own() -> None:
    chart = read(
        write_mermaid(make_published(theory("AC1 -> OP1 -> OC1 -> G1", "AC2", nodes={"AC2": {"title": "Dig, twice"}})))
    )

    assert chart.columns == ["activities", "outputs", "outcomes", "goals"]
    assert {key: box.column for key, box in chart.boxes.items()} == {
        "AC1": "activities",
        "AC2": "activities",
        "OP1": "outputs",
        "OC1": "outcomes",
        "G1": "goals",
    }
    assert chart.boxes["AC2"] == Box("activities", "[", ["AC2", "Dig, twice"], "activity")
    assert len({box.shape for box in chart.boxes.values()}) == len(NodeType)


def test_a_type_without_nodes_has_no_column() -> None:
    assert read(write_mermaid(make_published(theory("OC1")))).columns == ["outcomes"]
    assert read(write_mermaid(make_published(theory()))).columns == []


def test_an_arrow_says_its_type_unless_it_is_a_contribution_and_how_sure_we_are() -> None:
    content = theory(
        "AC1 -> OP1",
        "AC1->OP1/CAUSES",
        "AC2->AC1/DEPENDS_ON",
        "OC1->OP1/DEPENDS_ON",
        "OP1->AC1/FEEDBACK",
        edges={"AC1->OP1/CAUSES": {"confidence": "low"}, "OP1->AC1/FEEDBACK": {"confidence": "high"}},
    )

    assert read(write_mermaid(make_published(content))).arrows == [
        Arrow("OP1", "OC1", "-->", ["NEEDED_BY"]),
        Arrow("OP1", "AC1", "-.->", ["FEEDBACK", "confidence high"]),
        Arrow("AC1", "OP1", "==>", ["CAUSES", "confidence low"]),
        Arrow("AC1", "OP1", "-->", []),
        Arrow("AC1", "AC2", "-->", ["NEEDED_BY"]),
    ]


def test_assumptions_are_marks_where_they_are_with_risk_and_what_was_found() -> None:
    content = theory(
        "AC1 -> OP1",
        assumptions={
            "AS1": {"on": "OP1", "risk_level": "HIGH"},
            "AS2": {"on": "AC1->OP1", "risk_level": "LOW"},
            "AS3": "OP1",
        },
    )
    statuses = {"AS2": AssumptionStatus.AT_RISK, "AS3": AssumptionStatus.REFUTED}
    chart = read(write_mermaid(make_published(content, statuses=statuses)))

    assert chart.boxes["OP1"].lines[2:] == ["AS1 HIGH", "AS3, refuted"]
    assert chart.arrows[0].lines == ["AS2 LOW, at risk"]


def test_waivers_stand_in_the_chart_with_refs_reason_owner_and_day() -> None:
    chart = read(
        write_mermaid(
            make_published(theory("G1"), waivers=[make_waiver("cycle", ["G1", "OC1"], reason='"small" so far')])
        )
    )

    assert chart.columns == ["goals", "waivers"]
    assert chart.boxes["waiver1"].lines == [
        'cycle on G1, OC1: "small" so far (ada answers for it until 2027-02-28)',
    ]
    assert chart.comments[2] == f"Waived: {chart.boxes['waiver1'].lines[0]}"


def test_the_chart_says_what_it_is_of_and_in_which_format() -> None:
    chart = read(write_mermaid(make_published(theory("G1"), project="wells & pipes")))

    assert chart.comments == [
        "Groundplan theory of change, format: 1",
        "wells & pipes, v2 Two wells, profile standard",
    ]


def test_types_keep_to_hues_from_blue_to_magenta() -> None:
    classes = read(write_mermaid(make_published(whole_theory()))).classes

    assert set(classes) == {"activity", "output", "outcome", "goal", "waiver"}
    for name in ("activity", "output", "outcome", "goal"):
        for colour in classes[name]:
            red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
            assert 190 <= rgb_to_hls(red, green, blue)[0] * 360 <= 320


@pytest.mark.parametrize(
    "title",
    [
        "flow in the direction LR of the river",
        "the style is a:b #34; c;",
        "classDef x fill:#fff;",
        "%%{init: {'theme': 'dark'}}%%",
        '"]:::goal',
        "<br/>end",
        "`code` and **bold**",
        "1. a list",
        "- another",
        "fa:fa-ban",
        "G1 --> G2",
        "ﬂ°°34¶ß",  # codes that Mermaid itself writes
        NEVER_STORED,
    ],
)
def test_a_title_that_means_something_to_mermaid_stays_a_title(title: str) -> None:
    chart = read(write_mermaid(make_published(theory("G1", nodes={"G1": {"title": title}}))))

    assert chart.boxes == {"G1": Box("goals", "{{", ["G1", on_one_line(title)], "goal")}


@given(any_theory())
@tries(12)
def test_text_never_becomes_structure_and_reads_as_it_was_written(one: Theory) -> None:
    text = write_mermaid(one)
    chart = read(text)
    nodes = {key: box for key, box in chart.boxes.items() if box.column != "waivers"}

    assert "row-" not in text
    assert set(nodes) == set(one.content.nodes)
    for key, node in one.content.nodes.items():
        assert COLUMNS[nodes[key].column] is node.node_type
        assert nodes[key].lines[:2] == [key, on_one_line(node.title)]
    assert [(arrow.source, arrow.target) for arrow in chart.arrows] == [
        one.content.orient(edge.name)[:2] for edge in one.content.edges
    ]
    marked = [
        line
        for lines in (*(box.lines[2:] for box in nodes.values()), *(a.lines for a in chart.arrows))
        for line in lines
    ]
    marks = [line.split()[0].rstrip(",") for line in marked]
    assert sorted(mark for mark in marks if mark.startswith("AS")) == sorted(one.content.assumptions)
    waived = [box.lines for box in chart.boxes.values() if box.column == "waivers"]
    assert len(waived) == len(one.waivers)
    for (said,), each in zip(waived, one.waivers, strict=True):
        assert said.startswith(on_one_line(each.code))
        assert on_one_line(each.reason) in said
        assert all(on_one_line(ref) in said for ref in each.refs)
