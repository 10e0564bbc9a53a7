"""A throughline is drawn by the renderer of the purpose, with work in the first column."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.briefing.chain import ChainLink, ChainStep, StepRelation, StepType, Throughline
from groundplan.briefing.outline import build_line_picture, draw_line
from groundplan.purpose.picture.cards import measure_card
from groundplan.purpose.picture.layout import Box, Layout, compute_layout
from groundplan.purpose.picture.tokens import WorkType
from tests.briefing.line.client import PlanClient

SVG = "{http://www.w3.org/2000/svg}"
PURPOSE_TYPES = (StepType.ACTIVITY, StepType.OUTPUT, StepType.OUTCOME, StepType.GOAL)
PREFIXES = {StepType.WORK: "n", **dict(zip(PURPOSE_TYPES, ("AC", "OP", "OC", "G"), strict=True))}


@st.composite
def lines(draw: st.DrawFn) -> Throughline:
    """Draw a line with a few steps of each type; links lead onward in the order of the types."""
    counts = {one: draw(st.integers(0 if one is not StepType.GOAL else 1, 4)) for one in PREFIXES}
    steps = [
        ChainStep(ref=f"{PREFIXES[one]}{number}", type=one, title=draw(st.text(max_size=40)), level=0, to=[])
        for one, count in counts.items()
        for number in range(1, count + 1)
    ]
    for index, step in enumerate(steps):
        for after in draw(st.lists(st.sampled_from(steps), max_size=3, unique_by=lambda one: one.ref)):
            if steps.index(after) > index:
                relation = StepRelation.SERVES if step.is_work else StepRelation.CAUSES
                step.to.append(ChainLink(after.ref, relation))
    return Throughline(start=steps[0].ref, direction="up", chain=steps, goals=[], dead_ends=[])


def lay_out(line: Throughline) -> Layout:
    picture = build_line_picture(line, "atlas", line.chain)
    names = [arrow.edge.name for arrow in picture.arrows]
    return compute_layout({key: measure_card(card).size for key, card in picture.cards.items()}, names, names)


def overlaps(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@given(line=lines())
def test_cards_do_not_overlap_and_work_stands_left_of_all_purpose(line: Throughline) -> None:
    layout = lay_out(line)

    boxes = list(layout.boxes.values())
    assert not any(overlaps(one, other) for place, one in enumerate(boxes) for other in boxes[:place])
    lefts = {step.ref: layout.boxes[step.ref].x for step in line.chain}
    work = [lefts[step.ref] for step in line.chain if step.is_work]
    purpose = [lefts[step.ref] for step in line.chain if not step.is_work]
    assert not work or max(work) < min(purpose)


@given(line=lines())
def test_any_line_is_drawn_as_plain_svg_with_every_step_and_link(line: Throughline) -> None:
    root = ElementTree.fromstring(draw_line(line, "atlas", chars_max=0).svg)  # noqa: S314 - our own picture

    cards = [str(one.get("data-key")) for one in root.iter(f"{SVG}g") if one.get("class") == "gp-card"]
    edges = [one for one in root.iter(f"{SVG}g") if one.get("class") == "gp-edge"]
    assert sorted(cards) == sorted(step.ref for step in line.chain)
    assert len(edges) == sum(len(step.to) for step in line.chain)


def test_the_picture_of_a_line_names_its_bands_and_what_a_line_of_work_means(plan: PlanClient) -> None:
    plan.link(phase="AC1")

    svg = plan.line("drill", format="svg").svg

    for text in ("Work (2)", "Activities (1)", "Goals (1)", "serves, or is part of", "what it is for"):
        assert text in svg


def test_a_picture_of_the_purpose_alone_does_not_mention_work(plan: PlanClient) -> None:
    svg = plan.line("AC1", "up", format="svg").svg

    assert "Work (" not in svg
    assert "serves" not in svg


@pytest.mark.parametrize("field", ["node_type", "key", "title"])
def test_a_work_card_has_the_fields_of_a_purpose_card(plan: PlanClient, field: str) -> None:
    plan.link(phase="AC1")
    line = plan.line("drill")
    cards = build_line_picture(line, "atlas", line.chain).cards

    assert cards[plan.work["drill"]].node.node_type is WorkType.WORK
    assert all(getattr(card.node, field) for card in cards.values())
