"""A theory as a Graphviz graph, read back with a parser of the documented language."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

import pytest
from hypothesis import given

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.dot import NOTE_LINE_CHARS, TITLE_LINE_CHARS, write_dot
from groundplan.purpose.model import AssumptionStatus, NodeType
from tests.purpose.exchange.theory_strategies import NEVER_STORED, any_theory, make_published, make_waiver, tries
from tests.purpose.theories import theory

# A quoted string ends at the first quote without a backslash before it.
TOKEN = re.compile(
    r'\s+|//[^\n]*\n|(?P<quoted>"(?:\\["\\]|[^"\\]|\\(?!["\\]))*")|(?P<bare>[A-Za-z_]\w*|\d+)|(?P<sign>->|[{}\[\]=;,])'
)
KEYWORDS = ("node", "edge", "graph", "subgraph", "digraph", "strict")
SHOWN_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

Attributes = dict[str, str]


class Arrow(NamedTuple):
    source: str
    target: str
    attributes: Attributes


class Graph:
    """A parsed Graphviz file."""

    def __init__(self, text: str) -> None:
        self.attributes: Attributes = {}
        self.clusters: dict[str, Attributes] = {}
        self.nodes: dict[str, tuple[str, Attributes]] = {}  # with their cluster
        self.arrows: list[Arrow] = []
        self._tokens = tokens(text)
        assert [self._next() for _ in range(3)] == ["digraph", '"theory"', "{"]
        self._statements("", self.attributes)
        assert not self._tokens

    def _statements(self, cluster: str, attributes: Attributes) -> None:
        while (first := self._next()) != "}":
            if first == "subgraph":
                name = unquote(self._next())
                assert self._next() == "{"
                self._statements(name, self.clusters.setdefault(name, {}))
                continue
            if first in ("node", "edge"):
                self._attributes()
            elif self._tokens[0] == "=":
                self._next()
                attributes[first] = unquote(self._next())
            elif self._tokens[0] == "->":
                self._next()
                self.arrows.append(Arrow(unquote(first), unquote(self._next()), self._attributes()))
            else:
                key = unquote(first)
                assert key not in self.nodes
                self.nodes[key] = (cluster, self._attributes())
            assert self._next() == ";"

    def _attributes(self) -> Attributes:
        found: Attributes = {}
        if self._tokens[0] == "[":
            while self._next() != "]":
                name, equals, value = self._next(), self._next(), self._next()
                assert equals == "="
                assert name not in found
                found[name] = unquote(value)
                assert self._tokens[0] in ",]"
        return found

    def _next(self) -> str:
        return self._tokens.pop(0)


def tokens(text: str) -> list[str]:
    found: list[str] = []
    place = 0
    while place < len(text):
        token = TOKEN.match(text, place)
        assert token is not None, text[place : place + 40]
        if token.lastgroup:
            found.append(token[0])
        place = token.end()
    return found


def unquote(token: str) -> str:
    if not token.startswith('"'):
        assert token not in KEYWORDS
        return token
    # Only a quote loses its backslash here; labels have the other escapes.
    return re.sub(r'\\(["\\])', lambda found: '"' if found[1] == '"' else found[0], token[1:-1])


def visible_text(value: str) -> str:
    """Return the visible text of a label or tooltip: escapes first, then entities."""

    def meant(found: re.Match[str]) -> str:
        assert found[1] in "nl\\", f"Graphviz would put something in for {found[0]}"
        return "\\" if found[1] == "\\" else "\n"

    return html.unescape(SHOWN_ESCAPE.sub(meant, value))


def without_spaces(text: str) -> str:
    """Return text without what line breaking may change."""
    return "".join(text.split())


def test_every_node_stands_in_the_cluster_of_its_type_in_a_shape_of_its_own() -> None:
    graph = Graph(write_dot(make_published(theory("AC1 -> OP1 -> OC1 -> G1"))))

    assert {key: cluster for key, (cluster, _) in graph.nodes.items()} == {
        "AC1": "cluster_activities",
        "OP1": "cluster_outputs",
        "OC1": "cluster_outcomes",
        "G1": "cluster_goals",
    }
    assert [one["label"] for one in graph.clusters.values()] == ["Activities", "Outputs", "Outcomes", "Goals"]
    assert len({(one["shape"], one["style"]) for _, one in graph.nodes.values()}) == len(NodeType)
    assert graph.attributes["rankdir"] == "LR"


def test_an_arrow_says_its_type_unless_it_is_a_contribution_and_how_sure_we_are_and_why() -> None:
    content = theory(
        "AC1 -> OP1",
        "AC2->OP1/CAUSES",
        "OP1->AC1/FEEDBACK",
        edges={"AC2->OP1/CAUSES": {"confidence": "low", "mechanism": "it\nflows"}},
    )
    back, plain, cause = Graph(write_dot(make_published(content))).arrows

    assert (back.source, back.target, visible_text(back.attributes["label"])) == ("OP1", "AC1", "FEEDBACK")
    assert (back.attributes["style"], "constraint" in back.attributes) == ("dashed", False)
    assert plain == Arrow("AC1", "OP1", {})
    assert visible_text(cause.attributes["label"]) == "CAUSES\nconfidence low"
    assert visible_text(cause.attributes["tooltip"]) == visible_text(cause.attributes["labeltooltip"]) == "it\nflows"


def test_assumptions_are_marks_where_they_are_and_whole_in_the_tooltip() -> None:
    content = theory(
        "AC1 -> OP1",
        nodes={"OP1": {"description": "first\r\nsecond"}},
        assumptions={
            "AS1": {"on": "OP1", "risk_level": "HIGH", "text": "it rains"},
            "AS2": {"on": "AC1->OP1", "risk_level": "LOW", "text": "it is dry"},
        },
    )
    graph = Graph(write_dot(make_published(content, statuses={"AS2": AssumptionStatus.HOLDING})))
    _, node = graph.nodes["OP1"]

    assert visible_text(node["label"]) == "OP1\nwhat OP1 is\nAS1 HIGH"
    assert visible_text(node["tooltip"]) == "first\nsecond\nAS1 HIGH: it rains"
    assert visible_text(graph.arrows[0].attributes["label"]) == "AS2 LOW, holding"
    assert visible_text(graph.arrows[0].attributes["tooltip"]) == "AS2 LOW, holding: it is dry"


def test_the_graph_is_titled_with_its_version_and_its_waivers() -> None:
    text = write_dot(make_published(theory("G1"), waivers=[make_waiver("cycle", ["G1"], reason="small \\so far\\")]))

    assert text.startswith("// Groundplan theory of change, format: 1\n")
    assert visible_text(Graph(text).attributes["label"]) == (
        "wells, v2 Two wells, profile standard\n"
        "Waived: cycle on G1: small \\so far\\ (ada answers for it until 2027-02-28)\n"
    )


def test_long_texts_are_broken_into_lines_and_nothing_of_them_is_cut() -> None:
    title, reason = "wells " * 80, "x" * 1_000
    graph = Graph(
        write_dot(
            make_published(theory("G1", nodes={"G1": {"title": title}}), waivers=[make_waiver("cycle", reason=reason)])
        )
    )
    label, note = visible_text(graph.nodes["G1"][1]["label"]), visible_text(graph.attributes["label"])

    assert max(map(len, label.split("\n"))) <= TITLE_LINE_CHARS
    assert max(map(len, note.split("\n"))) <= NOTE_LINE_CHARS
    assert without_spaces(label) == "G1" + without_spaces(title)
    assert reason in without_spaces(note)


@pytest.mark.parametrize(
    "title",
    [
        'a "quote"',
        "a\\",
        '\\"',
        '\\\\"; x [',
        "\\N \\G \\n \\l",
        "&lt;b&gt;",
        "&#10;",
        "<b>bold</b>",
        "//",
        "/* */",
        "#",
    ],
)
def test_a_title_that_means_something_to_graphviz_stays_a_title(title: str) -> None:
    graph = Graph(write_dot(make_published(theory("AC1 -> G1", nodes={"G1": {"title": title, "description": title}}))))

    assert visible_text(graph.nodes["G1"][1]["label"]) == f"G1\n{title}"
    assert visible_text(graph.nodes["G1"][1]["tooltip"]) == title
    assert len(graph.arrows) == 1


def test_a_sign_stands_for_what_no_picture_can_hold() -> None:
    graph = Graph(write_dot(make_published(theory("G1", nodes={"G1": {"title": f"a{NEVER_STORED}b"}}))))

    assert "\ufffd" in graph.nodes["G1"][1]["label"]
    assert not set("\x00\x01\x1b\ufffe\uffff") & set(graph.nodes["G1"][1]["label"])


@given(any_theory())
@tries(12)
def test_text_never_becomes_structure_and_reads_as_it_was_written(one: Theory) -> None:
    text = write_dot(one)
    graph = Graph(text)

    assert text.endswith("}\n")
    assert "row-" not in text
    assert set(graph.nodes) == set(one.content.nodes)
    marks = one.group_assumptions_by_subject()
    for key, node in one.content.nodes.items():
        _, attributes = graph.nodes[key]
        assert without_spaces(visible_text(attributes["label"])).startswith(without_spaces(key + node.title))
        tooltip = visible_text(attributes.get("tooltip", ""))
        assert tooltip.startswith("\n".join((node.description or "").splitlines()).rstrip("\n"))
        assert tooltip.count("\n") >= len(marks.get(key, ())) - 1
    assert [(arrow.source, arrow.target) for arrow in graph.arrows] == [
        one.content.orient(edge.name)[:2] for edge in one.content.edges
    ]
    for arrow, edge in zip(graph.arrows, one.content.edges, strict=True):
        if edge.mechanism is not None:
            assert without_spaces(edge.mechanism) in without_spaces(visible_text(arrow.attributes["tooltip"]))
        assert all(each.key in arrow.attributes["label"] for each in marks.get(edge.name, ()))
    note = without_spaces(visible_text(graph.attributes["label"]))
    assert note.startswith(without_spaces(one.project))
    for each in one.waivers:
        assert all(without_spaces(said) in note for said in (each.code, each.reason, each.owner, each.due, *each.refs))
