"""The view of a throughline: the chain, what it rests on, and what is missing in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundplan.briefing.outline import (
    describe_assumption,
    describe_dead_end,
    describe_evidence,
    describe_fact,
    describe_indicator,
    describe_step,
    describe_work,
)
from groundplan.surfaces.cli.drawing import FOOTER, GAP, Lines, Part, Rows, TypeSwitch, View
from groundplan.surfaces.cli.terminal import join_first

if TYPE_CHECKING:
    from groundplan.briefing.chain import ChainStep, Throughline

GOALS_SHOWN_MAX = 12
REFS_SHOWN_MAX = 4


def _format_targets(step: ChainStep) -> str:
    return join_first([link.ref for link in step.to], REFS_SHOWN_MAX)


def _list_conditions(line: Throughline) -> Iterator[str]:
    for step in line.chain:
        for link in step.to:
            for assumption in link.assumptions or ():
                yield f"{step.ref}->{link.ref} {describe_assumption(assumption)}"
        for assumption in step.assumptions or ():
            yield f"{step.ref} {describe_assumption(assumption)}"


def _list_facts(line: Throughline) -> Iterator[str]:
    for step in line.chain:
        for fact in step.facts or ():
            yield f"{step.ref} {describe_fact(fact)}"


def _list_proofs(line: Throughline) -> Iterator[str]:
    for step in line.chain:
        for indicator in step.indicators or ():
            yield f"{step.ref} {describe_indicator(indicator)}"
        for evidence in step.evidence or ():
            yield f"{step.ref} {describe_evidence(evidence)}"


def _summarize(line: Throughline) -> Iterator[Part]:
    yield GAP
    if line.work:
        yield f"Work: {describe_work(line.work)}"
    if line.goals:
        yield f"Goals: {join_first(line.goals, GOALS_SHOWN_MAX)}"


def _suggest(line: Throughline) -> Iterator[Part]:
    if line.dead_ends:
        yield from (GAP, "Next: groundplan coverage --project PROJECT")
    elif line.direction == "up" and line.goals:
        yield from (GAP, f"Next: groundplan throughline {line.goals[0]} --project PROJECT")


TABLE = (
    Rows("chain", "step: level, ref", ("what", describe_step), "title", ("leads to", _format_targets), whole=("ref",)),
    _summarize,
    Lines(_list_conditions, title="Assumptions:"),
    Lines(_list_facts, title="Facts:"),
    Lines(_list_proofs, title="Evidence and measurements:"),
    Lines("dead_ends", describe_dead_end, title="Dead ends:"),
    _suggest,
    *FOOTER,
)


RENDERERS = {
    "briefing.throughline": View(
        TypeSwitch(
            {
                "Throughline": TABLE,
                "ThroughlineText": (Lines("markdown"),),
                "ThroughlinePicture": (Lines("svg"),),  # nothing else, so that the output is the file
            }
        ),
        footer=(),
    ),
}
