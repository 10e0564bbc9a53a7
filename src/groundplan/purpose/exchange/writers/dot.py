"""Write a theory as a Graphviz graph: a cluster per type, an arrow per edge, longer texts as tooltips.

    "OP1" [label="OP1\\nTwelve wells\\nAS3 HIGH", shape=box, …, tooltip="…"];
    "AC5" -> "OP1" [label="confidence high", tooltip="A lined borehole reaches water that no latrine reaches"];

Text is always quoted. Graphviz interprets backslash escapes and HTML entities, so both are escaped in texts. Most
drawings become SVG, so characters that XML does not allow are replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import TextWrapper

from groundplan.purpose.exchange.document import FORMAT
from groundplan.purpose.exchange.theory import (
    Theory,
    describe_assumption,
    describe_edge,
    describe_version,
    describe_waiver,
)
from groundplan.purpose.markup import replace_invalid_xml
from groundplan.purpose.model import Assumption, EdgeType, NodeType, PurposeNode
from groundplan.purpose.picture.tokens import BAND_NAMES, COLOURS, TYPE_HUES

TITLE_LINE_CHARS = 28
NOTE_LINE_CHARS = 100

# The shape, and its style in addition to `filled`.
SHAPES = {
    NodeType.ACTIVITY: ("box", ""),
    NodeType.OUTPUT: ("box", ",rounded"),
    NodeType.OUTCOME: ("ellipse", ""),
    NodeType.GOAL: ("hexagon", ""),
}
STYLES = {
    EdgeType.CONTRIBUTES_TO: {},
    EdgeType.CAUSES: {"style": "bold"},
    EdgeType.DEPENDS_ON: {"arrowhead": "vee"},
    # Not `constraint=false`, though it leads back: with labels on such edges Graphviz fails on some graphs.
    EdgeType.FEEDBACK: {"style": "dashed"},
}

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
_CENTERED_BREAK, _LEFT_BREAK = "\\n", "\\l"  # line ends of Graphviz, with their alignment

_wrap_title = TextWrapper(TITLE_LINE_CHARS, break_on_hyphens=False).wrap
_wrap_note = TextWrapper(NOTE_LINE_CHARS, break_on_hyphens=False).wrap


def write_dot(theory: Theory) -> str:
    """Write a theory as a Graphviz graph."""
    lines = [
        f"// Groundplan theory of change, format: {FORMAT}",
        'digraph "theory" {',
        "  rankdir=LR;",
        '  node [fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
        *_format_clusters(theory),
        *_format_edges(theory),
        # At the end, because clusters inherit the attributes set before them.
        *_format_note(theory),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _format_clusters(theory: Theory) -> Iterator[str]:
    assumed = theory.group_assumptions_by_subject()
    for node_type, name in BAND_NAMES.items():
        nodes = theory.content.list_nodes_of_type(node_type)
        if not nodes:
            continue
        yield f'  subgraph "cluster_{name.lower()}" {{'
        yield f'    label="{name}";'
        yield '    fontname="sans-serif";'
        for node in nodes:
            attributes = _format_attributes(_build_node_attributes(theory, node, assumed.get(node.key, [])))
            yield f"    {_quote_lines([node.key])} [{attributes}];"
        yield "  }"


def _build_node_attributes(theory: Theory, node: PurposeNode, assumptions: list[Assumption]) -> dict[str, str]:
    shape, style = SHAPES[node.node_type]
    hue = TYPE_HUES[node.node_type]
    marks = [describe_assumption(theory, assumption) for assumption in assumptions]
    return {
        "label": _quote_lines([node.key, *_wrap_title(node.title), *marks]),
        "shape": shape,
        "style": f'"filled{style}"',
        "fillcolor": f'"{COLOURS[f"{hue}-fill"].light}"',
        "color": f'"{COLOURS[f"{hue}-line"].light}"',
        "fontcolor": f'"{COLOURS.get(f"{hue}-text", COLOURS["text"]).light}"',
        **_build_tooltip(theory, "tooltip", node.description, assumptions),
    }


def _format_edges(theory: Theory) -> Iterator[str]:
    assumed = theory.group_assumptions_by_subject()
    for edge in theory.content.edges:
        assumptions = assumed.get(edge.name, [])
        parts = describe_edge(edge) + [describe_assumption(theory, assumption) for assumption in assumptions]
        # An arrow and its label have separate tooltips.
        fields = {
            **({"label": _quote_lines(parts)} if parts else {}),
            **STYLES[edge.edge_type],
            **_build_tooltip(theory, "tooltip", edge.mechanism, assumptions),
            **(_build_tooltip(theory, "labeltooltip", edge.mechanism, assumptions) if parts else {}),
        }
        listed = f" [{_format_attributes(fields)}]" if fields else ""
        cause, effect, _ = theory.content.orient(edge.name)
        yield f"  {_quote_lines([cause])} -> {_quote_lines([effect])}{listed};"


def _build_tooltip(theory: Theory, name: str, text: str | None, assumptions: list[Assumption]) -> dict[str, str]:
    lines = (text or "").splitlines()
    for assumption in assumptions:
        lines += f"{describe_assumption(theory, assumption)}: {assumption.assumption_text}".splitlines()
    return {name: _quote_lines(lines)} if any(lines) else {}


def _format_note(theory: Theory) -> Iterator[str]:
    waived = [line for waiver in theory.waivers for line in _wrap_note(f"Waived: {describe_waiver(waiver)}")]
    yield f"  label={_quote_lines([*_wrap_note(describe_version(theory)), *waived], _LEFT_BREAK)};"
    yield "  labelloc=b;"
    yield "  labeljust=l;"
    yield '  fontname="sans-serif";'


def _format_attributes(fields: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items())


def _quote_lines(lines: Iterable[str], ending: str = _CENTERED_BREAK) -> str:
    """Join lines into one Graphviz string."""
    escaped = [replace_invalid_xml(line).translate(_ESCAPES) for line in lines]
    return f'"{ending.join(escaped)}{ending if ending == _LEFT_BREAK else ""}"'
