"""Run a gate: all checks that the profile enables, with waivers applied.

A gate is a pure function of the content and of its other inputs: observations, facts from other slices and the
database, and the day. Equal inputs always give equal bytes. For a published version they are those at its publication:
the observations recorded before it, and the outside facts stored with it. So its gates always give the same result.
With `as_of` the observations are those known on that day.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from msgspec import UNSET

from groundplan import providers
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.store.live_catalog import check_row_security
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.dates import get_day
from groundplan.purpose.gates.checks import GATE_A_CHECKS, GATE_B_CHECKS, CheckFinding, GateSubject, format_refs
from groundplan.purpose.gates.gates import (
    NOTHING_TO_CHECK,
    ActiveWaivers,
    Check,
    ContextFacts,
    ExternalFacts,
    Findings,
    Fix,
    Gate,
    GateResult,
    PublishedFacts,
    Severity,
    count_results,
    get_severities,
)
from groundplan.purpose.model import Content, NodeType, Profile, compute_content_hash
from groundplan.purpose.observing.read import Cutoff, read_version_observations
from groundplan.purpose.observing.records import Observations
from groundplan.purpose.tables import TABLES
from groundplan.purpose.versions.versions import VersionRow

sql = load_queries(__file__)


class GateInputs(NamedTuple):
    """The inputs of a gate besides the content."""

    observations: Observations
    external_facts: ExternalFacts
    today: str


def read_gate_inputs(tx: Transaction, row: VersionRow, content: Content, *, as_of: str | None = None) -> GateInputs:
    """Return the gate inputs of a version: current for a draft, else from its publication, or as of a given day."""
    if row.published_at is None:
        observed = read_version_observations(tx, content, Cutoff(as_of=as_of))
        # The outside facts of another day are not known.
        outside = (
            read_external_facts(tx, content) if as_of is None else ExternalFacts(row_security=_check_row_security(tx))
        )
        return GateInputs(observed, outside, get_day(as_of or tx.now))
    outside = get_decoder(PublishedFacts).decode(tx.scalar(sql.published_external_facts, version_id=row.id))
    known = Cutoff(before_rev=row.published_rev) if as_of is None else Cutoff(as_of=as_of)
    return GateInputs(read_version_observations(tx, content, known), outside, get_day(as_of or row.published_at))


def read_external_facts(tx: Transaction, content: Content) -> ExternalFacts:
    """Return the current facts from other slices and the database."""
    return ExternalFacts(
        read_context_facts(tx),
        _count_serving_work(tx, content),
        _check_row_security(tx),
        find_refuting_evidence(tx, content.assumptions) or None,
    )


def read_context_facts(tx: Transaction) -> ContextFacts:
    """Return the facts in force."""
    facts = providers.find_context_in_force(tx)
    return ContextFacts() if facts is None else ContextFacts(facts.run_id, facts.is_partial, facts.required_unset)


def find_refuting_evidence(tx: Transaction, assumptions: Collection[str]) -> dict[str, int]:
    """Return the revision of the latest evidence against each assumption, by its key."""
    if not assumptions:
        return {}
    revs: dict[str, int] = {}
    for link in list_links_to(tx, LinkType.REFUTES, assumptions):
        revs[link.target] = max(link.rev, revs.get(link.target, 0))
    return revs


def _check_row_security(tx: Transaction) -> list[str] | None:
    return check_row_security(tx, [table.name for table in TABLES])


def _count_serving_work(tx: Transaction, content: Content) -> dict[str, int]:
    """Return the number of work nodes that serve each activity."""
    keys = [node.key for node in content.list_nodes_of_type(NodeType.ACTIVITY)]
    serving = providers.find_work_serving(tx, keys)
    return {key: len(serving.get(key, ())) for key in keys}


_CHECKS = {"A": GATE_A_CHECKS, "B": GATE_B_CHECKS}


def run_gate(
    gate: Gate,
    content: Content,
    observations: Observations,
    *,
    profile: Profile,
    external_facts: ExternalFacts,
    today: str,
) -> Findings:
    """Run a gate on some content. Waivers that are active on `today` apply."""
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
    """Return the results of the checks of a gate, and the fixes of failing checks by code."""
    theory = GateSubject(content, observations, profile, external_facts)
    waivers = ActiveWaivers(observations.waivers, today)
    severities = get_severities(gate, profile, external_facts.edition)
    findings = {code: _CHECKS[gate][code](theory) for code in severities}
    checks = [_judge(code, severity, findings[code], waivers) for code, severity in severities.items()]
    fixes = {
        check.code: _name_refs(findings[check.code].fix, check.refs) for check in checks if check.result == "failed"
    }
    return checks, fixes


def _judge(code: str, severity: Severity, finding: CheckFinding, waivers: ActiveWaivers) -> Check:
    """Return the check result of a finding. A failing check is waived if waivers cover all of its failing refs."""
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
    """Replace `{refs}` in a fix by the failing refs without a waiver."""
    if isinstance(fix, str):
        return fix.replace("{refs}", format_refs(refs))
    return tuple(step._replace(effect=step.effect.replace("{refs}", format_refs(refs))) for step in fix)
