"""A theory as a Graphviz graph: a cluster for each type, an arrow for each edge, longer texts as tooltips.

    "OP1" [label="OP1\\nTwelve wells\\nAS3 HIGH", shape=box, …, tooltip="…"];
    "AC5" -> "OP1" [label="confidence high", tooltip="A lined borehole reaches water that no latrine reaches"];

Text stands in quotes only. Graphviz knows escapes that begin with a backslash, and entities as HTML has them; what
looks like either in a text is written so that it is shown as it stands. Most drawings become SVG, so what XML cannot
hold has no place here either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import TextWrapper

from groundplan.purpose.exchange.formats.captions import about_assumption, about_edge, about_version, about_waiver
from groundplan.purpose.exchange.formats.document import FORMAT
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.xml_text import xml_characters
from groundplan.purpose.model import Assumption, EdgeType, Node, NodeType
from groundplan.purpose.picture.tokens import BAND_NAMES, COLOURS, TYPE_HUES

TITLE_LINE_CHARS = 28
NOTE_LINE_CHARS = 100

# The shape, and what its style has besides being filled.
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
    # Not `constraint=false`, though it leads back: with labels at such edges Graphviz loses its way in some graphs.
    EdgeType.FEEDBACK: {"style": "dashed"},
}

_QUOTED = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
_MIDDLE, _LEFT = "\\n", "\\l"  # how Graphviz ends a line, and where it puts that line

_title_lines = TextWrapper(TITLE_LINE_CHARS, break_on_hyphens=False).wrap
_note_lines = TextWrapper(NOTE_LINE_CHARS, break_on_hyphens=False).wrap


def dot(theory: Theory) -> str:
    """A theory as a Graphviz graph."""
    lines = [
        f"// Groundplan theory of change, format: {FORMAT}",
        'digraph "theory" {',
        "  rankdir=LR;",
        '  node [fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
        *_clusters(theory),
        *_edges(theory),
        # At the end, for clusters take over what a graph has said before them.
        *_note(theory),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _clusters(theory: Theory) -> Iterator[str]:
    assumed = theory.assumed()
    for node_type, name in BAND_NAMES.items():
        nodes = theory.content.of_type(node_type)
        if not nodes:
            continue
        yield f'  subgraph "cluster_{name.lower()}" {{'
        yield f'    label="{name}";'
        yield '    fontname="sans-serif";'
        for node in nodes:
            yield f"    {_quoted([node.key])} [{_listed(_node(theory, node, assumed.get(node.key, [])))}];"
        yield "  }"


def _node(theory: Theory, node: Node, assumptions: list[Assumption]) -> dict[str, str]:
    shape, style = SHAPES[node.node_type]
    hue = TYPE_HUES[node.node_type]
    marks = [about_assumption(theory, one) for one in assumptions]
    return {
        "label": _quoted([node.key, *_title_lines(node.title), *marks]),
        "shape": shape,
        "style": f'"filled{style}"',
        "fillcolor": f'"{COLOURS[f"{hue}-fill"].light}"',
        "color": f'"{COLOURS[f"{hue}-line"].light}"',
        "fontcolor": f'"{COLOURS.get(f"{hue}-text", COLOURS["text"]).light}"',
        **_tooltip(theory, "tooltip", node.description, assumptions),
    }


def _edges(theory: Theory) -> Iterator[str]:
    assumed = theory.assumed()
    for edge in theory.content.edges:
        assumptions = assumed.get(edge.name, [])
        said = about_edge(edge) + [about_assumption(theory, one) for one in assumptions]
        # An arrow and the words at it are two things to point at.
        fields = {
            **({"label": _quoted(said)} if said else {}),
            **STYLES[edge.edge_type],
            **_tooltip(theory, "tooltip", edge.mechanism, assumptions),
            **(_tooltip(theory, "labeltooltip", edge.mechanism, assumptions) if said else {}),
        }
        listed = f" [{_listed(fields)}]" if fields else ""
        yield f"  {_quoted([edge.source])} -> {_quoted([edge.target])}{listed};"


def _tooltip(theory: Theory, name: str, text: str | None, assumptions: list[Assumption]) -> dict[str, str]:
    lines = (text or "").splitlines()
    for one in assumptions:
        lines += f"{about_assumption(theory, one)}: {one.assumption_text}".splitlines()
    return {name: _quoted(lines)} if any(lines) else {}


def _note(theory: Theory) -> Iterator[str]:
    waived = [line for one in theory.waivers for line in _note_lines(f"Waived: {about_waiver(one)}")]
    yield f"  label={_quoted([*_note_lines(about_version(theory)), *waived], _LEFT)};"
    yield "  labelloc=b;"
    yield "  labeljust=l;"
    yield '  fontname="sans-serif";'


def _listed(fields: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items())


def _quoted(lines: Iterable[str], ending: str = _MIDDLE) -> str:
    """Lines as one string of Graphviz."""
    said = [xml_characters(line).translate(_QUOTED) for line in lines]
    return f'"{ending.join(said)}{ending if ending == _LEFT else ""}"'
