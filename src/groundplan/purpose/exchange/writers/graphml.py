"""Write a theory as GraphML: every field of a node or an edge as data under a declared key.

The source of an edge is its cause, and its type is the relation of the cause to the effect; its id is its name in the
theory. Lists are JSON: assumptions with the status of their latest review, indicators with
their latest measurement. The ids of nodes are their keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import asdict

from groundplan.purpose.exchange.document import FORMAT
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.markup import escape_xml
from groundplan.purpose.model import Assumption, EdgeName, Indicator, normalize_numbers

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
SCHEMA = "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd"

# The declared data by element. A key id combines element and name, because some names occur twice.
STRING, INT = "string", "int"
KEYS = {
    "graph": {
        "format": INT,
        "project": STRING,
        "number": INT,
        "label": STRING,
        "status": STRING,
        "profile": STRING,
        "published_at": STRING,
        "waivers": STRING,
    },
    "node": {
        "node_type": STRING,
        "title": STRING,
        "description": STRING,
        "narrative": STRING,
        "owner": STRING,
        "metadata": STRING,
        "assumptions": STRING,
        "indicators": STRING,
    },
    "edge": {"edge_type": STRING, "mechanism": STRING, "confidence": STRING, "assumptions": STRING},
}

# The fields of items inside JSON, without the node or edge that contains them.
ASSUMPTION_FIELDS = ("key", *Assumption.__struct_fields__[4:])
INDICATOR_FIELDS = ("key", *Indicator.__struct_fields__[3:])
MEASUREMENT_FIELDS = ("value", "as_of", "source", "note")
WAIVER_FIELDS = ("code", "refs", "reason", "owner", "due")

Fields = dict[str, Any]


def write_graphml(theory: Theory) -> str:
    """Write a theory as GraphML."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<graphml xmlns="{NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        f' xsi:schemaLocation="{NAMESPACE} {SCHEMA}">',
        *(
            f'  <key id="{of}_{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>'
            for of, names in KEYS.items()
            for name, kind in names.items()
        ),
        '  <graph id="theory" edgedefault="directed">',
        *_format_graph(theory),
        "  </graph>",
        "</graphml>",
    ]
    return "\n".join(lines) + "\n"


def _format_graph(theory: Theory) -> Iterator[str]:
    assumed, measured = theory.group_assumptions_by_subject(), theory.group_indicators_by_node()

    def assumptions(on: str | EdgeName) -> list[Fields]:
        return [
            {**_select_fields(assumption, ASSUMPTION_FIELDS), "status": theory.get_status(assumption.key)}
            for assumption in assumed.get(on, ())
        ]

    def indicators(of: str) -> list[Fields]:
        return [_build_indicator_fields(theory, indicator) for indicator in measured.get(of, ())]

    waivers = [_select_fields(waiver, WAIVER_FIELDS) for waiver in theory.waivers]
    yield from _format_data("graph", {**theory._asdict(), "format": FORMAT, "waivers": waivers}, "    ")
    for node in theory.content.nodes.values():
        more = {"assumptions": assumptions(node.key), "indicators": indicators(node.key)}
        yield f'    <node id="{node.key}">'
        yield from _format_data("node", {**asdict(node), **more}, "      ")
        yield "    </node>"
    for edge in theory.content.edges:
        cause, effect, _ = theory.content.orient(edge.name)
        yield f'    <edge id="{".".join(edge.name)}" source="{cause}" target="{effect}">'
        fields = {**asdict(edge), "edge_type": edge.edge_type.relation, "assumptions": assumptions(edge.name)}
        yield from _format_data("edge", fields, "      ")
        yield "    </edge>"


def _build_indicator_fields(theory: Theory, indicator: Indicator) -> Fields:
    fields = _select_fields(indicator, INDICATOR_FIELDS)
    if indicator.key in theory.latest:
        fields["latest"] = _select_fields(theory.latest[indicator.key], MEASUREMENT_FIELDS)
    return fields


def _format_data(of: str, values: Fields, indent: str) -> Iterator[str]:
    """Yield the existing values in key order."""
    for name in KEYS[of]:
        value = values[name]
        if value is not None and value not in ([], {}):
            text = (
                value
                if isinstance(value, str)
                else msgspec.json.encode(normalize_numbers(value), order="sorted").decode()
            )
            yield f'{indent}<data key="{of}_{name}">{escape_xml(text)}</data>'


def _select_fields(row: Any, names: tuple[str, ...]) -> Fields:
    """Return these fields of a row, without those that have no value."""
    return {name: value for name in names if (value := getattr(row, name)) is not None}
