"""Sections 2 and 3: check whether the version can be edited, and whether the versions of the project are valid."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.errors import Invalid, NextStep
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.store.live_catalog import LiveTable
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import get_policies
from groundplan.purpose.compliance.proposal import OperationKind
from groundplan.purpose.compliance.proposal_context import ProposalContext
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, decide_verdict, has_failures
from groundplan.purpose.gates.gates import Check, GateResult, list_required_gates
from groundplan.purpose.gates.run import read_gate_inputs, run_gate
from groundplan.purpose.model import Profile, compute_content_hash
from groundplan.purpose.versions.drafts import get_least_profile, is_lighter
from groundplan.purpose.versions.publish import LABEL_CHARS_MAX, is_same_as, is_unambiguous_label
from groundplan.purpose.versions.versions import VersionRow, find_latest_published


def check_version_state(ctx: ProposalContext) -> SectionResult:
    """Check whether the version can be edited."""
    row, kind = ctx.row, ctx.kind

    def must_be_draft(text: str, applies: bool) -> CheckedItem:
        return CheckedItem(text, ctx.is_draft if applies else None, ctx.why_not_editable, *ctx.how_to_edit)

    changes = kind is not OperationKind.READ
    checks = [
        must_be_draft("If operation is CREATE/UPDATE/DELETE node → Version MUST be DRAFT", kind.subject == "node"),
        must_be_draft("If operation is CREATE/UPDATE/DELETE edge → Version MUST be DRAFT", kind.subject == "edge"),
        must_be_draft("If operation is PUBLISH → Version MUST be DRAFT", kind is OperationKind.PUBLISH),
        CheckedItem(
            "If operation is READ → Version can be DRAFT or PUBLISHED",
            None if changes else row is not None or ctx.proposal.version_ref is None,
            ctx.why_not_editable,
            "Name an existing version.",
            NextStep("purpose.versions", "lists the versions", {"project": ctx.project.name}),
        ),
        CheckedItem(
            "Project is not archived (if anything changes)",
            ctx.project.archived_at is None if changes else None,
            "the project is archived, so it cannot be changed",
            "",
            NextStep("project.restore", "restores the project", {"project": ctx.project.name}),
        ),
    ]
    facts = {
        "version_id": row and row.id,
        "version": row and row.number,
        "project_id": ctx.project.id,
        "status": row and row.status,
        "label": row and row.label,
        "profile": row and row.profile,
        "rev": row and row.rev,
        "can_modify": ctx.is_draft,
    }
    is_blocked = has_failures(checks) or (kind.edits and not ctx.is_draft)
    return SectionResult(2, checks, facts, "BLOCKED" if is_blocked else "VALID")


def check_version_constraints(tx: Transaction, ctx: ProposalContext, versions: LiveTable | None) -> SectionResult:
    """Check whether the versions of the project are valid, before and after the operation."""
    kind, row = ctx.kind, ctx.row
    drafts = [one.number for one in ctx.versions if one.is_draft]
    numbers = [one.number for one in ctx.versions]
    published = [one.number for one in ctx.versions if not one.is_draft]
    is_publish = kind is OperationKind.PUBLISH
    one_draft = CheckedItem(
        "Only ONE DRAFT exists per project",
        not drafts if kind is OperationKind.CREATE_DRAFT else len(drafts) <= 1,
        f"version {', '.join(map(str, drafts))} is already a draft",
        "Publish, discard or edit the existing draft.",
    )
    results = _run_gates(tx, row, ctx) if is_publish and row is not None and row.is_draft else []
    checks = [
        one_draft,
        CheckedItem("Query to verify", len(drafts) in (0, 1), one_draft.reason, one_draft.action),
        CheckedItem(
            "Current version is DRAFT",
            ctx.is_draft if is_publish else None,
            ctx.why_not_editable,
            *ctx.how_to_edit,
        ),
        CheckedItem(
            "All validation gates pass (Gate A/B if required)",
            all(result.passed for result in results) if results else None,
            "; ".join(f"gate {one.gate}: {_describe_failures(one)}" for one in results if not one.passed),
            " ".join(_describe_fixes(tx, one) for one in results if not one.passed),
        ),
        CheckedItem(
            "Version number is next in sequence",
            row.number == len(published) + 1 and numbers == list(range(1, len(numbers) + 1))
            if is_publish and row is not None and row.is_draft
            else None,
            f"the versions are {numbers}, so this is not the next one",
            "Restore the database from a backup: version numbers have no gaps.",
        ),
        CheckedItem(
            "`published_at` timestamp will be set to NOW()",
            versions is not None and "published_at" in versions.columns and row is not None and row.published_at is None
            if is_publish
            else None,
            ctx.why_not_editable,
            *ctx.how_to_edit,
        ),
        _check_origin(ctx),
        CheckedItem(
            "Profile is valid (if CREATE DRAFT)",
            ctx.proposal.profile in list(Profile)
            if kind is OperationKind.CREATE_DRAFT and ctx.proposal.profile
            else None,
            f"profile {quote_text(ctx.proposal.profile or '')} is not one of {' / '.join(Profile)}",
            f"Set profile to {' / '.join(Profile)}, or omit it.",
        ),
        CheckedItem(
            "Label is unambiguous (if PUBLISH)",
            _is_label(ctx.proposal.label, row) if is_publish and ctx.proposal.label is not None else None,
            f"label {quote_text(ctx.proposal.label or '')} is not one line, or can be mistaken for another version",
            "Give another label, or omit it.",
        ),
    ]
    checks += _check_profile_and_change(tx, ctx)
    facts: dict[str, Any] = {
        "draft_count": len(drafts),
        "versions": numbers,
        "next_number": len(numbers) + 1,
        "publish_gates": get_policies(tx).publish_gates,
        "published_at": tx.now if is_publish and ctx.is_draft else None,
        "gates": [
            {
                "gate": one.gate,
                "profile": one.profile,
                "passed": one.passed,
                "score": one.score,
                "failed": [check.code for check in _find_blocking_checks(one)],
            }
            for one in results
        ],
    }
    return SectionResult(3, checks, facts, decide_verdict(checks))


def _check_profile_and_change(tx: Transaction, ctx: ProposalContext) -> list[CheckedItem]:
    """Check what publishing refuses besides the gates: a profile that is too light, and a draft without changes."""
    profile, least = _find_proposed_profile(ctx), get_least_profile(tx)
    row, latest = ctx.row, find_latest_published(tx)
    is_changed: bool | None = None
    if ctx.kind is OperationKind.PUBLISH and row is not None and row.is_draft and latest is not None:
        facts = read_gate_inputs(tx, row, ctx.content)[1].context
        is_changed = not is_same_as(
            latest, content_hash=compute_content_hash(ctx.content), context_run=facts.run if facts else None
        )
    return [
        CheckedItem(
            "Profile is allowed by the project (if CREATE DRAFT or PUBLISH)",
            None if profile is None else not is_lighter(profile, least),
            f"the profile {profile} is lighter than {least}, the lightest that policy profile_min allows",
            f"Begin a draft with profile {least}.",
        ),
        CheckedItem(
            "Content or facts differ from the latest version (if PUBLISH)",
            is_changed,
            f"the draft has the same content and the same facts as version {latest and latest.number}",
            "Change the draft, or discard it.",
        ),
    ]


def _find_proposed_profile(ctx: ProposalContext) -> Profile | None:
    """Return the profile that the operation would give or publish; None if it is not about a profile."""
    if ctx.kind is OperationKind.CREATE_DRAFT and ctx.proposal.profile in list(Profile):
        return Profile(ctx.proposal.profile)
    is_publish = ctx.kind is OperationKind.PUBLISH and ctx.row is not None and ctx.row.is_draft
    return ctx.row.profile if is_publish and ctx.row is not None else None


def _is_label(label: str, row: VersionRow | None) -> bool:
    try:
        normalized = apply_marker(NormalizedName(LABEL_CHARS_MAX), label, ("label",))
    except Invalid:
        return False
    return row is None or is_unambiguous_label(normalized, row.number)


def _check_origin(ctx: ProposalContext) -> CheckedItem:
    """Check that a new draft copies a published version, if there is one."""
    applies = ctx.kind is OperationKind.CREATE_DRAFT and (ctx.proposal.version_ref is not None or ctx.row is not None)
    return CheckedItem(
        "Draft copies a published version (if CREATE DRAFT)",
        ctx.row is not None and not ctx.row.is_draft if applies else None,
        f"{ctx.version_name} is not a published version",
        "Name a published version, or omit it to copy the latest one.",
    )


def _run_gates(tx: Transaction, row: VersionRow, ctx: ProposalContext) -> list[GateResult]:
    """Run the gates that publishing requires."""
    observations, outside, today = read_gate_inputs(tx, row, ctx.content)
    return [
        run_gate(gate, ctx.content, observations, profile=row.profile, external_facts=outside, today=today).describe(
            tx.preferences.vocabulary
        )
        for gate in list_required_gates(get_policies(tx))
    ]


def _describe_failures(result: GateResult) -> str:
    return ", ".join(f"{check.code} ({check.message})" for check in _find_blocking_checks(result))


def _describe_fixes(tx: Transaction, result: GateResult) -> str:
    fixes = "; ".join(f"{check.code}: {check.fix or check.message}" for check in _find_blocking_checks(result))
    steps = (
        NextStep("purpose.edit", f"corrects what gate {result.gate} found"),
        NextStep("purpose.record", "with waivers lets an owner waive it"),
    )
    return f"{tx.describe(*steps)}. {fixes}."


def _find_blocking_checks(result: GateResult) -> list[Check]:
    """Return the checks that make a gate fail."""
    return [check for check in result.checks if check.is_blocking]
