"""Gate B: the theory is ready to be run and measured."""

from __future__ import annotations

from collections.abc import Callable

from groundplan.kernel.errors import NextStep
from groundplan.purpose.gates.check_findings import NOT_KNOWN, CheckFinding, GateSubject, has_text, suggest_edit
from groundplan.purpose.model import Indicator, NodeType, sort_keys


def check_baseline(theory: GateSubject) -> CheckFinding:
    subjects = _find_effect_indicators(theory)
    return CheckFinding(
        "Every indicator on an OUTCOME or GOAL has a baseline",
        len(subjects),
        sort_keys(one.key for one in subjects if one.baseline is None),
        suggest_edit("update_indicator (baseline) on {refs}"),
    )


def check_target(theory: GateSubject) -> CheckFinding:
    subjects = _find_effect_indicators(theory)
    return CheckFinding(
        "Every indicator on an OUTCOME or GOAL has a target",
        len(subjects),
        sort_keys(one.key for one in subjects if one.target is None),
        suggest_edit("update_indicator (target) on {refs}"),
    )


def check_verified(theory: GateSubject) -> CheckFinding:
    """Report baselines marked as unverified. One without a mark passes."""
    subjects = [one for one in theory.content.indicators.values() if one.baseline is not None]
    return CheckFinding(
        "No baseline is marked as unverified",
        len(subjects),
        sort_keys(one.key for one in subjects if one.baseline_verified is False),
        suggest_edit("update_indicator (baseline_verified true) on {refs}, after the baseline is verified"),
    )


def check_plan(theory: GateSubject) -> CheckFinding:
    subjects = theory.content.indicators.values()
    return CheckFinding(
        "Every indicator has a method, a frequency and an owner",
        len(subjects),
        sort_keys(
            one.key
            for one in subjects
            if not (has_text(one.method) and has_text(one.frequency) and has_text(one.owner))
        ),
        suggest_edit("update_indicator (method, frequency, owner) on {refs}"),
    )


def indicators(theory: GateSubject) -> CheckFinding:
    """Report outcomes without an indicator; a theory that measures no effect fails whatever is waived for outcomes."""
    rule = "An OUTCOME or GOAL has an indicator, and every OUTCOME has one"
    outcomes = [node.key for node in theory.content.list_nodes_of_type(NodeType.OUTCOME)]
    failing = sort_keys(key for key in outcomes if key not in theory.nodes_with_indicator)
    if _find_effect_indicators(theory):
        return CheckFinding(rule, max(1, len(outcomes)), failing, suggest_edit("add_indicator on {refs}"))
    return CheckFinding(
        rule,
        1,
        failing,
        suggest_edit("add_indicator on an OUTCOME or GOAL"),
        problem="there is none",
        actual=0,
        expected=max(1, len(outcomes)),
        needs_whole_waiver=True,
    )


def check_work(theory: GateSubject) -> CheckFinding:
    rule = "Every ACTIVITY is served by at least one work node"
    served = theory.external_facts.served
    if served is None:
        return CheckFinding(rule, 0, not_applicable=NOT_KNOWN)
    activities = [node.key for node in theory.content.list_nodes_of_type(NodeType.ACTIVITY)]
    return CheckFinding(
        rule,
        len(activities),
        sort_keys(key for key in activities if served.get(key, 0) < 1),
        "add work that serves {refs}",
    )


def check_facts(theory: GateSubject) -> CheckFinding:
    rule = "Every required fact of the project is set"
    known = theory.external_facts.context
    if known is None:
        return CheckFinding(rule, 0, not_applicable=NOT_KNOWN)
    if known.run is None:
        return CheckFinding(rule, 0, not_applicable="no facts were ever committed")
    unset = sorted(set(known.required_unset))
    wrong = f"{len(unset)} {'is' if len(unset) == 1 else 'are'} not" if unset else None
    fix = NextStep("context.edit", "sets {refs}"), NextStep("context.commit", "puts them in force")
    return CheckFinding(rule, 1, unset, fix, problem=wrong, actual=len(unset), expected=0)


CHECKS: dict[str, Callable[[GateSubject], CheckFinding]] = {
    "GB_BASELINE": check_baseline,
    "GB_FACTS": check_facts,
    "GB_INDICATORS": indicators,
    "GB_PLAN": check_plan,
    "GB_TARGET": check_target,
    "GB_VERIFIED": check_verified,
    "GB_WORK": check_work,
}


def _find_effect_indicators(theory: GateSubject) -> list[Indicator]:
    effects = (NodeType.OUTCOME, NodeType.GOAL)
    return [one for one in theory.content.indicators.values() if theory.get_type(one.node) in effects]
