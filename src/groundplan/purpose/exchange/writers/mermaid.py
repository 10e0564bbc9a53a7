"""Write a theory as a Mermaid flowchart: a column per type, an arrow per edge, marks for assumptions.

    subgraph outputs["Outputs"]
      OP1("OP1<br/>Twelve wells<br/>AS3 HIGH"):::output
    end
    AC5 -->|"confidence high"| OP1

Mermaid has no escape character, but codes: `#34;` is a quote. All characters except letters, digits, spaces and commas
are written as codes, so text cannot end a label, begin a directive or act as Markdown. By default Mermaid does not draw
more than 50,000 characters or 500 edges; for a large theory raise `maxTextSize` and `maxEdges`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from groundplan.purpose.exchange.document import FORMAT
from groundplan.purpose.exchange.theory import (
    Theory,
    describe_assumption,
    describe_edge,
    describe_version,
    describe_waiver,
)
from groundplan.purpose.model import EdgeType, NodeType
from groundplan.purpose.picture.tokens import BAND_NAMES, COLOURS, TYPE_HUES

SHAPES = {
    NodeType.ACTIVITY: ('["', '"]'),
    NodeType.OUTPUT: ('("', '")'),
    NodeType.OUTCOME: ('(["', '"])'),
    NodeType.GOAL: ('{{"', '"}}'),
}
WAIVER_SHAPE = ('>"', '"]')
ARROWS = {
    EdgeType.CONTRIBUTES_TO: "-->",
    EdgeType.CAUSES: "==>",
    EdgeType.DEPENDS_ON: "-->",
    EdgeType.FEEDBACK: "-.->",
}
NEW_LINE = "<br/>"

# A point or a hyphen inside a word is harmless; elsewhere it can begin a list or an arrow.
_SPECIAL_CHARS = re.compile(r"[^\w ,.-]|_|(?<![^\W_])[.-]|[.-](?![^\W_])")
_COMMENT_SPECIAL_CHARS = re.compile("[{}<>&]")
# Mermaid parses any line with these words as the direction of a subgraph.
_DIRECTION = re.compile("(?<=direction) (?=[A-Z]{2})")


def write_mermaid(theory: Theory) -> str:
    """Write a theory as a Mermaid flowchart."""
    lines = [
        f"%% Groundplan theory of change, format: {FORMAT}",
        f"%% {_escape_comment(describe_version(theory))}",
        *(f"%% Waived: {_escape_comment(describe_waiver(waiver))}" for waiver in theory.waivers),
        "flowchart LR",
        *_format_columns(theory),
        *_format_waivers(theory),
        *_format_arrows(theory),
        *_format_classes(),
    ]
    return "\n".join(lines) + "\n"


def encode_text(text: str) -> str:
    """Escape text for a label: one line, with codes for all special characters."""
    line = " ".join(text.split())
    return _DIRECTION.sub("#32;", _SPECIAL_CHARS.sub(lambda match: f"#{ord(match[0])};", line))


def _escape_comment(text: str) -> str:
    """Escape text for a comment, where only directives and HTML tags are special."""
    return _COMMENT_SPECIAL_CHARS.sub(lambda match: f"#{ord(match[0])};", " ".join(text.split()))


def _format_columns(theory: Theory) -> Iterator[str]:
    assumed = theory.group_assumptions_by_subject()
    for node_type, name in BAND_NAMES.items():
        nodes = theory.content.list_nodes_of_type(node_type)
        if not nodes:
            continue
        yield f'  subgraph {name.lower()}["{name}"]'
        for node in nodes:
            marks = [describe_assumption(theory, assumption) for assumption in assumed.get(node.key, ())]
            opened, closed = SHAPES[node_type]
            label = _format_label((node.key, node.title, *marks))
            yield f"    {node.key}{opened}{label}{closed}:::{TYPE_HUES[node_type]}"
        yield "  end"


def _format_waivers(theory: Theory) -> Iterator[str]:
    if theory.waivers:
        opened, closed = WAIVER_SHAPE
        yield '  subgraph waivers["Waived"]'
        for number, waiver in enumerate(theory.waivers, 1):
            yield f"    waiver{number}{opened}{encode_text(describe_waiver(waiver))}{closed}:::waiver"
        yield "  end"


def _format_arrows(theory: Theory) -> Iterator[str]:
    assumed = theory.group_assumptions_by_subject()
    for edge in theory.content.edges:
        parts = describe_edge(edge) + [
            describe_assumption(theory, assumption) for assumption in assumed.get(edge.name, ())
        ]
        label = f'|"{_format_label(parts)}"|' if parts else ""
        cause, effect, _ = theory.content.orient(edge.name)
        yield f"  {cause} {ARROWS[edge.edge_type]}{label} {effect}"


def _format_label(parts: Iterable[str]) -> str:
    return NEW_LINE.join(encode_text(part) for part in parts)


def _format_classes() -> Iterator[str]:
    colour = {name: colours.light for name, colours in COLOURS.items()}
    for hue in TYPE_HUES.values():
        text = colour.get(f"{hue}-text", colour["text"])
        yield f"  classDef {hue} fill:{colour[f'{hue}-fill']},stroke:{colour[f'{hue}-line']},color:{text}"
    yield f"  classDef waiver fill:{colour['band']},stroke:{colour['muted-line']},color:{colour['text']}"
