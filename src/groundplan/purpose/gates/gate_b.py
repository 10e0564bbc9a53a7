"""Gate B: the theory is ready to run and to measure."""

from __future__ import annotations

from collections.abc import Callable

from groundplan.kernel.next_steps import NextStep
from groundplan.purpose.gates.found import NOBODY_KNOWS, Found, Theory, edit, is_said
from groundplan.purpose.model import Indicator, NodeType, sorted_keys


def baseline(theory: Theory) -> Found:
    subjects = _of_effects(theory)
    return Found(
        "Every indicator on an OUTCOME or GOAL has a baseline",
        len(subjects),
        sorted_keys(one.key for one in subjects if one.baseline is None),
        edit("update_indicator (baseline) on {refs}"),
    )


def target(theory: Theory) -> Found:
    subjects = _of_effects(theory)
    return Found(
        "Every indicator on an OUTCOME or GOAL has a target",
        len(subjects),
        sorted_keys(one.key for one in subjects if one.target is None),
        edit("update_indicator (target) on {refs}"),
    )


def verified(theory: Theory) -> Found:
    """Of a baseline about which nobody said whether it was verified, nothing is held against it."""
    subjects = [one for one in theory.content.indicators.values() if one.baseline is not None]
    return Found(
        "No baseline is marked as unverified",
        len(subjects),
        sorted_keys(one.key for one in subjects if one.baseline_verified is False),
        edit("update_indicator (baseline_verified true) on {refs}, once somebody verified the baseline"),
    )


def plan(theory: Theory) -> Found:
    subjects = theory.content.indicators.values()
    return Found(
        "Every indicator has a method, a frequency and an owner",
        len(subjects),
        sorted_keys(
            one.key for one in subjects if not (is_said(one.method) and is_said(one.frequency) and is_said(one.owner))
        ),
        edit("update_indicator (method, frequency, owner) on {refs}"),
    )


def work(theory: Theory) -> Found:
    rule = "Every ACTIVITY is served by at least one work node"
    served = theory.outside.served
    if served is None:
        return Found(rule, 0, not_applicable=NOBODY_KNOWS)
    activities = [node.key for node in theory.content.of_type(NodeType.ACTIVITY)]
    return Found(
        rule,
        len(activities),
        sorted_keys(key for key in activities if served.get(key, 0) < 1),
        "plan work that serves {refs}",
    )


def facts(theory: Theory) -> Found:
    rule = "Every required fact of the project is set"
    known = theory.outside.context
    if known is None:
        return Found(rule, 0, not_applicable=NOBODY_KNOWS)
    if known.run is None:
        return Found(rule, 0, not_applicable="no facts were ever committed")
    unset = sorted(set(known.required_unset))
    wrong = f"{len(unset)} {'is' if len(unset) == 1 else 'are'} not" if unset else None
    fix = NextStep("context.edit", "sets {refs}"), NextStep("context.commit", "puts them in force")
    return Found(rule, 1, unset, fix, wrong=wrong, actual=len(unset), expected=0)


CHECKS: dict[str, Callable[[Theory], Found]] = {
    "GB_BASELINE": baseline,
    "GB_FACTS": facts,
    "GB_PLAN": plan,
    "GB_TARGET": target,
    "GB_VERIFIED": verified,
    "GB_WORK": work,
}


def _of_effects(theory: Theory) -> list[Indicator]:
    effects = (NodeType.OUTCOME, NodeType.GOAL)
    return [one for one in theory.content.indicators.values() if theory.type_of(one.node) in effects]
