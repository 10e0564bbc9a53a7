"""Show a throughline to a person: as a nested outline in Markdown, and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from groundplan.briefing.chain import (
    ChainAssumption,
    ChainEvidence,
    ChainFact,
    ChainIndicator,
    ChainLink,
    ChainStep,
    DeadEnd,
    DeadEndReason,
    StepRelation,
    Throughline,
    ThroughlinePicture,
    ThroughlineText,
    WorkBelow,
)
from groundplan.kernel.answers import ENVELOPE_CHARS, LeftOut, count_chars
from groundplan.purpose.markup import escape_inline
from groundplan.purpose.model import EdgeType, NodeType, PurposeEdge, PurposeNode, edge_order, key_order
from groundplan.purpose.picture.subjects import Arrow, Badge, Card, Emphasis, Picture, WorkSubject, pluralize
from groundplan.purpose.picture.svg import draw
from groundplan.purpose.picture.tokens import RELATION_NAMES
from groundplan.work.evidence_check import format_marks
from groundplan.work.kinds import DROPPED

REASONS = {
    DeadEndReason.REACHES_NO_GOAL: "leads to no goal",
    DeadEndReason.SERVES_NOTHING: "serves nothing",
    DeadEndReason.DANGLING: "is in no version",
    DeadEndReason.NO_WORK: "no work serves it",
}


def describe_step(step: ChainStep) -> str:
    """Return the type of a purpose node, or the state of work."""
    if not step.is_work:
        return step.type.lower() + (", only in the draft" if step.draft else "")
    state = "dropped" if step.outcome == DROPPED else "resolved" if step.resolved else "open"
    if step.claimed_by:
        state = f"claimed by {step.claimed_by}"
    return f"work, {state}" if step.work is UNSET else f"work, {state}; {describe_work(step.work)}"


def describe_work(work: WorkBelow) -> str:
    """Return the counts of a subtree that are not zero."""
    counts = {"open": work.open, "claimed": work.claimed, "resolved": work.resolved, "dropped": work.dropped}
    named = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{work.total} nodes: {named}" if work.total != 1 else f"1 node: {named}"


def describe_assumption(assumption: ChainAssumption) -> str:
    """Return an assumption on one line."""
    risk = "" if assumption.risk is UNSET else f", {assumption.risk.lower()} risk"
    return f"assumes {assumption.key} ({assumption.status.replace('_', ' ')}{risk}): {assumption.text}"


def describe_evidence(evidence: ChainEvidence) -> str:
    """Return evidence on one line."""
    node = "" if evidence.node is UNSET else f" of {evidence.node}"
    return f"evidence{node}, {evidence.type}: {evidence.ref} {format_marks(evidence)}".rstrip()


def describe_fact(fact: ChainFact) -> str:
    """Return a fact on one line."""
    return f"rests on {fact.pointer}" + (f" ({fact.label})" if fact.label else "")


def describe_indicator(indicator: ChainIndicator) -> str:
    """Return an indicator with its latest value and its target on one line."""
    unit = f" {indicator.unit}" if indicator.unit else ""
    value = "not measured" if indicator.value is UNSET else f"{indicator.value:g}{unit} on {str(indicator.as_of)[:10]}"
    target = "" if indicator.target is UNSET else f", target {indicator.target:g}{unit}"
    return f"{indicator.key} {indicator.name}: {value}{target}"


def describe_dead_end(dead_end: DeadEnd) -> str:
    """Return a dead end on one line."""
    source = "" if dead_end.source is UNSET else f"; {dead_end.source} links to it"
    return f"{dead_end.ref}: {REASONS[dead_end.reason]}{source}"


# --- Write a throughline as Markdown: a nested outline in which each step stands once ---------------------------------

INDENT_MAX = 12  # levels; a longer chain goes on at this depth


def write_outline(line: Throughline, *, chars_max: int) -> ThroughlineText:
    """Return the outline of a line, cut to `chars_max` characters; 0 means no limit."""
    shown = len(line.chain)
    while True:
        answer = ThroughlineText(
            start=line.start,
            direction=line.direction,
            version=line.version,
            markdown="\n".join(_list_lines(line, line.chain[:shown])) + "\n",
            left_out=_count_left_out(line, shown),
        )
        if not chars_max or shown <= 1 or count_chars(answer) + ENVELOPE_CHARS <= chars_max:
            return answer
        shown = shown * 2 // 3


def _count_left_out(line: Throughline, shown: int) -> LeftOut:
    """Return the counts of steps and parts that an answer with the given steps leaves out."""
    left_out = line.left_out or {}
    if shown < len(line.chain):
        left_out = {**left_out, "chain": left_out.get("chain", 0) + len(line.chain) - shown}
    return left_out or UNSET


def _list_lines(line: Throughline, steps: Sequence[ChainStep]) -> Iterator[str]:
    titles = {step.ref: step.title for step in line.chain}
    name = f"{line.start}: {titles[line.start]}" if line.start in titles else line.start
    heading = "What it is for" if line.direction == "up" else "What leads to it"
    yield f"# {escape_inline(name)}"
    yield ""
    yield f"{heading}{'' if line.version is UNSET else f', by v{line.version} of the purpose'}."
    if line.work is not UNSET:
        yield ""
        yield f"Work: {describe_work(line.work)}."
    yield ""
    yield from _list_steps(steps, is_upward=line.direction == "up")
    if line.dead_ends:
        yield from ("", "## Dead ends", "")
        yield from (f"- {describe_dead_end(dead_end)}" for dead_end in line.dead_ends)


def _list_steps(steps: Sequence[ChainStep], *, is_upward: bool) -> Iterator[str]:
    """Yield the lines of the outline: each step once, nested under its first neighbour that is nearer to the start."""
    by_ref = {step.ref: step for step in steps}
    below: dict[str, list[tuple[str, ChainLink]]] = {}
    for step in steps:
        for outgoing in step.to:
            if outgoing.ref in by_ref:
                above, under = (step.ref, outgoing.ref) if is_upward else (outgoing.ref, step.ref)
                below.setdefault(above, []).append((under, outgoing))
    listed: set[str] = set()
    for first in steps:  # the first is the start; others follow only if the chain was cut before them
        if first.ref in listed:
            continue
        waiting: list[tuple[str, ChainLink | None, int]] = [(first.ref, None, 0)]
        while waiting:
            ref, link, depth = waiting.pop()
            indent = "  " * min(depth, INDENT_MAX)
            if ref in listed:
                yield f"{indent}- {ref}, see above{_describe_link(link)}"
                yield from _list_assumptions(link.assumptions or [] if link else [], indent + "  ")
                continue
            listed.add(ref)
            yield from _list_step(by_ref[ref], link, indent)
            waiting += [(under, by, depth + 1) for under, by in reversed(below.get(ref, []))]


def _list_step(step: ChainStep, link: ChainLink | None, indent: str) -> Iterator[str]:
    state = escape_inline(describe_step(step))
    yield f"{indent}- **{step.ref}** {escape_inline(step.title)} ({state}){_describe_link(link)}"
    inner = indent + "  "
    on_link = [] if link is None else link.assumptions or []
    yield from _list_assumptions([*on_link, *(step.assumptions or [])], inner)
    for fact in step.facts or []:
        yield f"{inner}- {escape_inline(describe_fact(fact))}"
    for indicator in step.indicators or []:
        yield f"{inner}- {escape_inline(describe_indicator(indicator))}"
    for evidence in step.evidence or []:
        yield f"{inner}- {escape_inline(describe_evidence(evidence))}"


def _list_assumptions(assumptions: Sequence[ChainAssumption], indent: str) -> Iterator[str]:
    return (f"{indent}- {escape_inline(describe_assumption(assumption))}" for assumption in assumptions)


def _describe_link(link: ChainLink | None) -> str:
    """Return the mechanism and the confidence of an edge, and its type unless that is CONTRIBUTES_TO."""
    if link is None:
        return ""
    parts = [escape_inline(link.mechanism.rstrip(" ."))] if link.mechanism else []
    if link.confidence:
        parts.append(f"{link.confidence} confidence")
    if link.by in (StepRelation.CAUSES, StepRelation.NEEDED_BY):
        parts.append(RELATION_NAMES[link.by.edge_type])
    return f": {', '.join(parts)}" if parts else ""


# --- Draw a throughline with the renderer of the purpose: work in a column of its own, left of its causes -------------

SHRINK = 0.9  # of the number of cards that would just fit


def draw_line(line: Throughline, project: str, *, chars_max: int) -> ThroughlinePicture:
    """Return the picture of a line, cut to `chars_max` characters; 0 means no limit."""
    shown = len(line.chain)
    while True:
        drawn = draw(build_line_picture(line, project, line.chain[:shown]))
        answer = ThroughlinePicture(
            start=line.start,
            direction=line.direction,
            version=line.version,
            svg=drawn.svg,
            width=drawn.width,
            height=drawn.height,
            left_out=_count_left_out(line, shown),
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
                edge_type = EdgeType.CONTRIBUTES_TO if step.is_work else link.by.edge_type
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
    return [
        Badge(assumption.key, assumption.text, assumption.risk or None, assumption.status) for assumption in assumptions
    ]
