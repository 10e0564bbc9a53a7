"""The words for steps, work, assumptions, indicators and dead ends, for the outline and the terminal."""

from __future__ import annotations

from msgspec import UNSET

from groundplan.briefing.throughline.chain import (
    ChainAssumption,
    ChainEvidence,
    ChainFact,
    ChainIndicator,
    ChainStep,
    DeadEnd,
    DeadEndReason,
    WorkBelow,
)

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
    state = "dropped" if step.dropped else "resolved" if step.resolved else "open"
    if step.claimed_by:
        state = f"claimed by {step.claimed_by}"
    return f"work, {state}" if step.work is UNSET else f"work, {state}; {describe_work(step.work)}"


def describe_work(work: WorkBelow) -> str:
    """Return the counts of a subtree that are not zero."""
    counts = {"open": work.open, "claimed": work.claimed, "resolved": work.resolved, "dropped": work.dropped}
    named = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{work.total} nodes: {named}" if work.total != 1 else f"1 node: {named}"


def describe_assumption(one: ChainAssumption) -> str:
    """Return an assumption on one line."""
    risk = "" if one.risk is UNSET else f", {one.risk.lower()} risk"
    return f"assumes {one.key} ({one.status.replace('_', ' ')}{risk}): {one.text}"


def describe_evidence(one: ChainEvidence) -> str:
    """Return evidence on one line."""
    node = "" if one.node is UNSET else f" of {one.node}"
    return f"evidence{node}, {one.type}: {one.ref}"


def describe_fact(one: ChainFact) -> str:
    """Return a fact on one line."""
    return f"rests on {one.pointer}" + (f" ({one.label})" if one.label else "")


def describe_indicator(one: ChainIndicator) -> str:
    """Return an indicator with its latest value and its target on one line."""
    unit = f" {one.unit}" if one.unit else ""
    value = "not measured" if one.value is UNSET else f"{one.value:g}{unit} on {str(one.as_of)[:10]}"
    target = "" if one.target is UNSET else f", target {one.target:g}{unit}"
    return f"{one.key} {one.name}: {value}{target}"


def describe_dead_end(one: DeadEnd) -> str:
    """Return a dead end on one line."""
    source = "" if one.source is UNSET else f"; {one.source} links to it"
    return f"{one.ref}: {REASONS[one.reason]}{source}"
