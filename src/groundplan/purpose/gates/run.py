"""Run a gate: all checks that are on in the profile, with waivers applied.

A pure function: equal content, observations, outside facts and day always give equal bytes.
"""

from __future__ import annotations

from msgspec import UNSET

from groundplan.purpose.canonical import compute_content_hash
from groundplan.purpose.gates import gate_a, gate_b
from groundplan.purpose.gates.active_waivers import ActiveWaivers
from groundplan.purpose.gates.check_findings import CheckFinding, GateSubject, format_refs
from groundplan.purpose.gates.profiles import Gate, Severity, get_severities
from groundplan.purpose.gates.result import (
    NOTHING_TO_CHECK,
    Check,
    ExternalFacts,
    Findings,
    Fix,
    GateResult,
    count_results,
)
from groundplan.purpose.model import Content, Profile
from groundplan.purpose.observing.observation_rows import Observations

_CHECKS = {"A": gate_a.CHECKS, "B": gate_b.CHECKS}


def run_gate(
    gate: Gate,
    content: Content,
    observations: Observations,
    *,
    profile: Profile,
    external_facts: ExternalFacts,
    today: str,
) -> Findings:
    """Run a gate on some content. `today` is the day on which waivers must be active."""
    checks, fixes = run_checks(gate, content, observations, profile=profile, external_facts=external_facts, today=today)
    counts = count_results(checks)
    applicable = len(checks) - counts.not_applicable
    result = GateResult(
        gate=gate,
        profile=profile,
        passed=bool(applicable) and not any(check.is_blocking for check in checks),
        score=round(counts.passed / applicable, 3) if applicable else None,
        counts=counts,
        message=UNSET if applicable else NOTHING_TO_CHECK,
        checks=checks,
        content_hash=compute_content_hash(content),
    )
    return Findings(result, fixes)


def run_checks(
    gate: Gate,
    content: Content,
    observations: Observations,
    *,
    profile: Profile,
    external_facts: ExternalFacts,
    today: str,
) -> tuple[list[Check], dict[str, Fix]]:
    """Return the results of the checks of a gate, and the fixes of the failing ones by code."""
    theory = GateSubject(content, observations, profile, external_facts)
    waivers = ActiveWaivers(observations.waivers, today)
    found = {code: _CHECKS[gate][code](theory) for code in get_severities(gate, profile)}
    checks = [_judge(code, severity, found[code], waivers) for code, severity in get_severities(gate, profile).items()]
    fixes = {check.code: _name_refs(found[check.code].fix, check.refs) for check in checks if check.result == "failed"}
    return checks, fixes


def _judge(code: str, severity: Severity, finding: CheckFinding, waivers: ActiveWaivers) -> Check:
    """Turn a finding into a check result. A failing check is waived if waivers cover all its failing refs."""
    if finding.is_warning:
        severity = "warn"
    if not finding.subjects:
        message = f"{finding.rule}: does not apply, {finding.not_applicable}"
        return Check(code, severity, "not_applicable", message, [])
    failing = sorted(finding.failing)  # as text: keys, names of edges and pointers alike
    if not failing and finding.problem is None:
        return Check(code, severity, "passed", finding.rule, [])
    remaining = waivers.list_unwaived(code, failing)
    is_waived = waivers.covers_check(code) or bool(failing and not remaining and not finding.needs_whole_waiver)
    refs = failing if is_waived else remaining
    wrong, actual, expected = finding.problem, finding.actual, finding.expected
    if finding.describe_failing is not None:
        wrong, actual = finding.describe_failing(refs)
    elif wrong is None:
        broken = len(failing)
        wrong = f"{broken} of {finding.subjects} {'does' if broken == 1 else 'do'} not hold"
        actual, expected = finding.subjects - broken, finding.subjects
    if is_waived:
        message = f"{finding.rule}: {wrong}; waived"
        return Check(code, severity, "waived", message, refs, actual=actual, expected=expected)
    if len(refs) < len(failing):
        wrong = f"{wrong}; {len(failing) - len(refs)} waived"
    return Check(code, severity, "failed", f"{finding.rule}: {wrong}", refs, actual=actual, expected=expected)


def _name_refs(fix: Fix, refs: list[str]) -> Fix:
    """Replace `{refs}` in a fix with the failing refs without a waiver."""
    if isinstance(fix, str):
        return fix.replace("{refs}", format_refs(refs))
    return tuple(step._replace(effect=step.effect.replace("{refs}", format_refs(refs))) for step in fix)
