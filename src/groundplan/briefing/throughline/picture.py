"""Draw a throughline with the renderer of the purpose: work in a column of its own, left of its causes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from groundplan.briefing.throughline.chain import ChainAssumption, ChainStep, Throughline, ThroughlinePicture
from groundplan.briefing.throughline.wording import describe_step
from groundplan.kernel.answers import ENVELOPE_CHARS, count_chars
from groundplan.purpose.model import EdgeType, NodeType, PurposeEdge, PurposeNode, edge_order, key_order
from groundplan.purpose.picture.card_types import WorkSubject
from groundplan.purpose.picture.picture_model import Arrow, Badge, Card, Emphasis, Picture, pluralize
from groundplan.purpose.picture.svg import draw

SHRINK = 0.9  # of the number of cards that would just fit


def draw_line(line: Throughline, project: str, *, chars_max: int) -> ThroughlinePicture:
    """Return the picture; of a long chain as many steps as fit into `chars_max` characters, 0 for all."""
    shown = len(line.chain)
    while True:
        left_out = line.left_out or {}
        if shown < len(line.chain):
            left_out = {**left_out, "chain": left_out.get("chain", 0) + len(line.chain) - shown}
        drawn = draw(build_line_picture(line, project, line.chain[:shown]))
        answer = ThroughlinePicture(
            start=line.start,
            direction=line.direction,
            version=line.version,
            svg=drawn.svg,
            width=drawn.width,
            height=drawn.height,
            left_out=left_out or UNSET,
        )
        chars = count_chars(answer) + ENVELOPE_CHARS
        if not chars_max or shown <= 1 or chars <= chars_max:
            return answer
        shown = max(1, min(shown - 1, int(shown * chars_max / chars * SHRINK)))


def build_line_picture(line: Throughline, project: str, steps: Sequence[ChainStep]) -> Picture:
    """Build the picture of some steps of a line. The start is in focus."""
    ordered = sorted(steps, key=lambda step: (not step.is_work, key_order(step.ref)))
    cards = {step.ref: _build_card(step, is_start=step.ref == line.start) for step in ordered}
    arrows = []
    for step in ordered:
        for link in step.to:
            if link.ref in cards:
                edge_type = EdgeType.CONTRIBUTES_TO if step.is_work else EdgeType(link.by)
                edge = PurposeEdge("", step.ref, link.ref, edge_type, link.mechanism or None, link.confidence or None)
                remark = link.by.lower().replace("_", " ") if step.is_work else None
                arrows.append(Arrow(edge, _build_badges(link.assumptions or ()), remark=remark))
    arrows.sort(key=lambda arrow: edge_order(arrow.edge.name))
    way = "what it is for" if line.direction == "up" else "what leads to it"
    count = sum(step.is_work for step in steps)
    subtitle = f"{line.start}, {way} · {pluralize(count, 'work node')}, {pluralize(len(steps) - count, 'purpose node')}"
    return Picture(project, subtitle, cards, arrows, [])


def _build_card(step: ChainStep, *, is_start: bool) -> Card:
    node: PurposeNode | WorkSubject
    if step.is_work:
        node = WorkSubject(step.ref, step.title, step.claimed_by or None)
    else:
        node = PurposeNode(step.ref, step.ref, NodeType(step.type), step.title)
    return Card(
        node,
        _build_badges(step.assumptions or ()),
        len(step.indicators or ()),
        Emphasis.FOCUS if is_start else Emphasis.PLAIN,
        describe_step(step) if step.is_work else None,
    )


def _build_badges(assumptions: Iterable[ChainAssumption]) -> list[Badge]:
    return [Badge(one.key, one.text, one.risk or None, one.status) for one in assumptions]
