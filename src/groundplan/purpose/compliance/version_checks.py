"""Sections 2 and 3: whether the version meant may change, and whether the versions of the project are in order."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.live_catalog import LiveTable
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.purpose.compliance.proposal import OperationKind
from groundplan.purpose.compliance.proposal_context import ProposalContext
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, has_failures, verdict
from groundplan.purpose.gates.profiles import gates_to_publish
from groundplan.purpose.gates.result import Check, GateResult
from groundplan.purpose.model import Profile
from groundplan.purpose.version import VersionRow
from groundplan.purpose.versions.publish import LABEL_CHARS_MAX, is_unambiguous_label


def check_version_state(it: ProposalContext) -> SectionResult:
    """Whether the version meant may change."""
    row, kind = it.row, it.kind

    def must_be_draft(text: str, applies: bool) -> CheckedItem:
        return CheckedItem(text, it.is_draft if applies else None, it.why_not_editable, *it.how_to_edit)

    changes = kind is not OperationKind.READ
    checks = [
        must_be_draft("If operation is CREATE/UPDATE/DELETE node → Version MUST be DRAFT", kind.subject == "node"),
        must_be_draft("If operation is CREATE/UPDATE/DELETE edge → Version MUST be DRAFT", kind.subject == "edge"),
        must_be_draft("If operation is PUBLISH → Version MUST be DRAFT", kind is OperationKind.PUBLISH),
        CheckedItem(
            "If operation is READ → Version can be DRAFT or PUBLISHED",
            None if changes else row is not None or it.proposal.meant is None,
            it.why_not_editable,
            "Name a version that is there.",
            NextStep("purpose.versions", "lists them", {"project": it.project.name}),
        ),
        CheckedItem(
            "Project is not archived (if anything changes)",
            it.project.archived_at is None if changes else None,
            "the project is archived, and nothing in it can change",
            "",
            NextStep("project.restore", "brings the project back", {"project": it.project.name}),
        ),
    ]
    facts = {
        "version_id": row and row.id,
        "version": row and row.number,
        "project_id": it.project.id,
        "status": row and row.status,
        "label": row and row.label,
        "profile": row and row.profile,
        "rev": row and row.rev,
        "can_modify": it.is_draft,
    }
    is_blocked = has_failures(checks) or (kind.edits and not it.is_draft)
    return SectionResult(2, "Version State Validation", checks, facts, "BLOCKED" if is_blocked else "VALID")


def check_version_constraints(tx: Transaction, it: ProposalContext, versions: LiveTable | None) -> SectionResult:
    """Whether the versions of the project are in order, and would be so afterwards."""
    kind, row = it.kind, it.row
    drafts = [one.number for one in it.versions if one.is_draft]
    numbers = [one.number for one in it.versions]
    published = [one.number for one in it.versions if not one.is_draft]
    is_publish = kind is OperationKind.PUBLISH
    one_draft = CheckedItem(
        "Only ONE DRAFT exists per project",
        not drafts if kind is OperationKind.CREATE_DRAFT else len(drafts) <= 1,
        f"version {', '.join(map(str, drafts))} is a draft already",
        "Publish or discard the draft that is there, or work on it.",
    )
    results = _gates(tx, row, it) if is_publish and row is not None and row.is_draft else []
    checks = [
        one_draft,
        CheckedItem("Query to verify", len(drafts) in (0, 1), one_draft.reason, one_draft.action),
        CheckedItem(
            "Current version is DRAFT",
            it.is_draft if is_publish else None,
            it.why_not_editable,
            *it.how_to_edit,
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
            "Let the database be restored from a backup: numbers never have gaps.",
        ),
        CheckedItem(
            "`published_at` timestamp will be set to NOW()",
            versions is not None and "published_at" in versions.columns and row is not None and row.published_at is None
            if is_publish
            else None,
            it.why_not_editable,
            *it.how_to_edit,
        ),
        _origin(it),
        CheckedItem(
            "Profile is valid (if CREATE DRAFT)",
            it.proposal.profile in list(Profile)
            if kind is OperationKind.CREATE_DRAFT and it.proposal.profile
            else None,
            f"profile {quote_text(it.proposal.profile or '')} is none of {' / '.join(Profile)}",
            f"Say profile {' / '.join(Profile)}, or leave it out.",
        ),
        CheckedItem(
            "Label is its own (if PUBLISH)",
            _is_label(it.proposal.label, row) if is_publish and it.proposal.label is not None else None,
            f"label {quote_text(it.proposal.label or '')} is no line of text, or would be taken for another version",
            "Give another label, or none.",
        ),
    ]
    facts: dict[str, Any] = {
        "draft_count": len(drafts),
        "versions": numbers,
        "next_number": len(numbers) + 1,
        "publish_gates": it.project.policies.publish_gates,
        "published_at": tx.now if is_publish and it.is_draft else None,
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
    return SectionResult(3, "Version Constraint Verification", checks, facts, verdict(checks))


def _is_label(label: str, row: VersionRow | None) -> bool:
    try:
        said = apply_marker(NormalizedName(LABEL_CHARS_MAX), label, ("label",))
    except Invalid:
        return False
    return row is None or is_unambiguous_label(said, row.number)


def _origin(it: ProposalContext) -> CheckedItem:
    """A draft begins empty where nothing is published, and else from something that is."""
    applies = it.kind is OperationKind.CREATE_DRAFT and (it.proposal.meant is not None or it.row is not None)
    return CheckedItem(
        "Draft begins from a published version (if CREATE DRAFT)",
        it.row is not None and not it.row.is_draft if applies else None,
        f"{it.version_name} is not a published version",
        "Name a published version, or none to begin from the one published last.",
    )


def _gates(tx: Transaction, row: VersionRow, it: ProposalContext) -> list[GateResult]:
    """What the gates say that stand before publishing."""
    from groundplan.purpose.gate_inputs import read_gate_inputs
    from groundplan.purpose.gates.run import run_gate  # only who publishes stands before the gates

    observations, outside, today = read_gate_inputs(tx, row, it.content)
    return [
        run_gate(gate, it.content, observations, profile=row.profile, outside=outside, today=today).describe(
            tx.preferences.vocabulary
        )
        for gate in gates_to_publish(it.project.policies)
    ]


def _describe_failures(result: GateResult) -> str:
    return ", ".join(f"{check.code} ({check.message})" for check in _find_blocking_checks(result))


def _describe_fixes(tx: Transaction, result: GateResult) -> str:
    fixes = "; ".join(f"{check.code}: {check.fix or check.message}" for check in _find_blocking_checks(result))
    steps = (
        NextStep("purpose.edit", f"mends what gate {result.gate} found"),
        NextStep("purpose.record", "with waivers lets an owner answer for it"),
    )
    return f"{tx.describe(*steps)}. {fixes}."


def _find_blocking_checks(result: GateResult) -> list[Check]:
    """The checks that keep a gate shut."""
    return [check for check in result.checks if check.is_blocking]
