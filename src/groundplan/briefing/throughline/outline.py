"""Write a throughline as Markdown: a nested outline in which each step stands once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from groundplan.briefing.throughline.chain import (
    ChainAssumption,
    ChainLink,
    ChainStep,
    StepRelation,
    Throughline,
    ThroughlineText,
)
from groundplan.briefing.throughline.wording import (
    describe_assumption,
    describe_dead_end,
    describe_evidence,
    describe_fact,
    describe_indicator,
    describe_step,
    describe_work,
)
from groundplan.kernel.answers import ENVELOPE_CHARS, count_chars
from groundplan.purpose.markup import escape_inline

INDENT_MAX = 12  # levels; a longer chain goes on at this depth


def write_outline(line: Throughline, *, chars_max: int) -> ThroughlineText:
    """Return the outline; of a long chain as many steps as fit into `chars_max` characters, 0 for all."""
    shown = len(line.chain)
    while True:
        left_out = line.left_out or {}
        if shown < len(line.chain):
            left_out = {**left_out, "chain": left_out.get("chain", 0) + len(line.chain) - shown}
        answer = ThroughlineText(
            start=line.start,
            direction=line.direction,
            version=line.version,
            markdown="\n".join(_list_lines(line, line.chain[:shown])) + "\n",
            left_out=left_out or UNSET,
        )
        if not chars_max or shown <= 1 or count_chars(answer) + ENVELOPE_CHARS <= chars_max:
            return answer
        shown = shown * 2 // 3


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
        yield from (f"- {describe_dead_end(one)}" for one in line.dead_ends)


def _list_steps(steps: Sequence[ChainStep], *, is_upward: bool) -> Iterator[str]:
    """Yield each step below the first step that leads to it, or for a line down, that it leads to."""
    by_ref = {step.ref: step for step in steps}
    below: dict[str, list[tuple[str, ChainLink]]] = {}
    for step in steps:
        for one in step.to:
            if one.ref in by_ref:
                above, under = (step.ref, one.ref) if is_upward else (one.ref, step.ref)
                below.setdefault(above, []).append((under, one))
    seen: set[str] = set()
    for first in steps:  # the first is the start; others follow only if the chain was cut before them
        if first.ref in seen:
            continue
        waiting: list[tuple[str, ChainLink | None, int]] = [(first.ref, None, 0)]
        while waiting:
            ref, link, depth = waiting.pop()
            indent = "  " * min(depth, INDENT_MAX)
            if ref in seen:
                yield f"{indent}- {ref}, see above{_describe_link(link)}"
                yield from _list_assumptions(link.assumptions or [] if link else [], indent + "  ")
                continue
            seen.add(ref)
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
    return (f"{indent}- {escape_inline(describe_assumption(one))}" for one in assumptions)


def _describe_link(link: ChainLink | None) -> str:
    """Return what is known of an edge: its mechanism and confidence, and its type if it is not the usual one."""
    if link is None:
        return ""
    parts = [escape_inline(link.mechanism.rstrip(" ."))] if link.mechanism else []
    if link.confidence:
        parts.append(f"{link.confidence} confidence")
    if link.by in (StepRelation.CAUSES, StepRelation.DEPENDS_ON):
        parts.append(link.by.lower().replace("_", " "))
    return f": {', '.join(parts)}" if parts else ""
