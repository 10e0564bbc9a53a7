"""A theory as GraphML, read back completely."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from xml.etree import ElementTree

from hypothesis import given
from msgspec import Struct
from msgspec.structs import asdict

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.graphml import write_graphml
from groundplan.purpose.model import AssumptionStatus, EdgeType
from tests.purpose.exchange.theory_strategies import (
    NEVER_STORED,
    any_theory,
    make_measurement,
    make_published,
    make_waiver,
    tries,
)
from tests.purpose.theories import theory, whole_theory

NAMES = "{http://graphml.graphdrawing.org/xmlns}"
NMTOKEN = re.compile(r"[\w.:-]+")
JSON = ("waivers", "metadata", "assumptions", "indicators")

Data = dict[str, Any]


class Graph(NamedTuple):
    data: Data
    nodes: dict[str, Data]
    edges: dict[tuple[str, str, str], Data]


def read(text: str) -> Graph:
    """Return the graph, with every datum by the name that its key declares."""
    root = ElementTree.fromstring(text.encode())  # noqa: S314 - written by ourselves
    assert root.tag == f"{NAMES}graphml"
    *keys, graph = root
    declared = {one.attrib["id"]: one.attrib for one in keys}
    assert len(declared) == len(keys)
    assert graph.attrib == {"id": "theory", "edgedefault": "directed"}

    def data(of: str, element: ElementTree.Element) -> Data:
        found: Data = {}
        for one in element.iterfind(f"{NAMES}data"):
            key = declared[one.attrib["key"]]
            assert key["for"] == of
            name, said = key["attr.name"], one.text or ""
            assert name not in found
            found[name] = json.loads(said) if name in JSON or key["attr.type"] == "int" else said
        return found

    nodes = {one.attrib["id"]: data("node", one) for one in graph.iterfind(f"{NAMES}node")}
    edges: dict[tuple[str, str, str], Data] = {}
    ids = [*nodes]
    for one in graph.iterfind(f"{NAMES}edge"):
        found = data("edge", one)
        ids.append(one.attrib["id"])
        assert {one.attrib["source"], one.attrib["target"]} <= set(nodes)
        source, target, edge_type = one.attrib["id"].split(".")
        # Drawn from the cause, what depends on it is needed by it, and does not depend on its effect.
        assert found["edge_type"] == ("NEEDED_BY" if edge_type == "DEPENDS_ON" else edge_type)
        found["leads"] = one.attrib["source"], one.attrib["target"]
        edges[source, target, edge_type] = found
    assert len(set(ids)) == len(ids)
    assert all(NMTOKEN.fullmatch(one) for one in ids)
    return Graph(data("graph", graph), nodes, edges)


def expected_data(row: Any, *leaving: str, **more: Any) -> Data:
    """Return what a file must say about a row: all fields with a value but the id."""
    fields = {**(asdict(row) if isinstance(row, Struct) else row._asdict()), **more}
    return {name: value for name, value in fields.items() if value not in (None, [], {}) and name not in leaving}


def expected(one: Theory) -> Graph:
    content = one.content

    def assumptions(on: Any) -> list[Data]:
        return [
            expected_data(each, "id", "node", "edge", status=one.get_status(each.key))
            for each in content.assumptions.values()
            if on in (each.node, each.edge)
        ]

    def indicators(node: str) -> list[Data]:
        return [
            expected_data(each, "id", "node", latest=latest(each.key))
            for each in content.indicators.values()
            if each.node == node
        ]

    def latest(key: str) -> Data | None:
        found = one.latest.get(key)
        return None if found is None else expected_data(found, "rev", "n", "indicator", "recorded_at", "recorded_by")

    waivers = [
        {name: getattr(each, name) for name in ("code", "refs", "reason", "owner", "due")} for each in one.waivers
    ]
    return Graph(
        expected_data(one, "content", "statuses", "latest", format=1, waivers=waivers),
        {
            key: expected_data(node, "id", "key", assumptions=assumptions(key), indicators=indicators(key))
            for key, node in content.nodes.items()
        },
        {
            edge.name: expected_data(
                edge,
                *("id", "source", "target"),
                assumptions=assumptions(edge.name),
                leads=content.orient(edge.name)[:2],
                **({"edge_type": "NEEDED_BY"} if edge.edge_type is EdgeType.DEPENDS_ON else {}),
            )
            for edge in content.edges
        },
    )


def test_everything_in_a_version_is_data_of_its_node_or_its_edge() -> None:
    graph = read(
        write_graphml(
            make_published(
                whole_theory(),
                statuses={"AS1": AssumptionStatus.AT_RISK},
                latest={"IN1": make_measurement("IN1", 1.5, source="survey")},
                waivers=[make_waiver("cycle", ["OC1"])],
            )
        )
    )

    assert graph.data["number"] == 2
    assert graph.data["waivers"][0]["reason"] == "known and small"
    assert graph.edges["OP1", "OC1", "CONTRIBUTES_TO"] == {
        "edge_type": "CONTRIBUTES_TO",
        "mechanism": "this is how",
        "confidence": "high",
        "assumptions": [{"key": "AS2", "assumption_text": "it holds", "status": "untested"}],
        "leads": ("OP1", "OC1"),
    }
    assert graph.nodes["OC1"]["assumptions"][0]["status"] == "at_risk"
    assert graph.nodes["OC1"]["indicators"][0]["latest"] == {"value": 1.5, "as_of": "2026-11-15", "source": "survey"}
    assert "assumptions" not in graph.nodes["AC1"]


def test_an_edge_of_a_dependency_leads_from_the_cause_and_says_so() -> None:
    edges = read(write_graphml(make_published(theory("OC1->OP1/DEPENDS_ON", "AC2->AC1/DEPENDS_ON")))).edges

    assert edges["OC1", "OP1", "DEPENDS_ON"] == {"edge_type": "NEEDED_BY", "leads": ("OP1", "OC1")}
    assert edges["AC2", "AC1", "DEPENDS_ON"] == {"edge_type": "NEEDED_BY", "leads": ("AC1", "AC2")}


def test_an_empty_text_is_there_and_none_is_not() -> None:
    graph = read(write_graphml(make_published(theory("G1", "OC1", nodes={"G1": {"description": ""}}))))

    assert graph.nodes["G1"]["description"] == ""
    assert "description" not in graph.nodes["OC1"]


def test_a_number_is_spelled_in_one_way() -> None:
    whole, broken = (
        write_graphml(make_published(theory("G1", indicators={"IN1": {"on": "G1", "target": value}})))
        for value in (5000, 5000.0)
    )

    assert whole == broken
    assert '"target":5000' in whole


def test_a_sign_stands_for_what_xml_cannot_hold() -> None:
    content = theory("G1", nodes={"G1": {"title": f"a{NEVER_STORED}b", "metadata": {NEVER_STORED: NEVER_STORED}}})
    node = read(write_graphml(make_published(content))).nodes["G1"]

    assert node["title"] == "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\x7f\x80\x85\x9f\ufffd\ufffdb"
    assert len(node["metadata"]) == 1


@given(any_theory())
@tries(16)
def test_everything_comes_back_as_it_was_and_no_row_has_an_id(one: Theory) -> None:
    text = write_graphml(one)

    assert read(text) == expected(one)
    assert text.endswith("</graphml>\n")
    assert "row-" not in text
