"""Publish the draft if it passes its gates, in the transaction that read their inputs. The version is then final."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Budget, CutLists, Trimming, trim
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import OPERATION_NAMES, Conflict, NextStep, RuleViolated
from groundplan.kernel.input_gate.text_limits import Name, NormalizedName
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument, quote_text
from groundplan.policies import get_policies
from groundplan.purpose.content import read_content
from groundplan.purpose.gates.gates import GateResult, list_required_gates
from groundplan.purpose.gates.run import read_gate_inputs, run_gate
from groundplan.purpose.model import VersionStatus, compute_content_hash
from groundplan.purpose.tables import Op
from groundplan.purpose.versions.drafts import refuse_light_profile
from groundplan.purpose.versions.versions import (
    DRAFT_LABEL,
    Version,
    VersionRow,
    find_latest_published,
    load_draft,
    read_versions,
    to_version,
)

sql = load_queries(__file__)

LABEL_CHARS_MAX = 255
_VERSION_LABEL = re.compile(r"v[0-9]+")  # the label of a version that was given none


class _GateDetails(Struct):
    """The gate results in the details of the error."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("gates[].checks[].refs", "gates[].checks[].actual")))

    gates: list[GateResult]


class GateFailed(RuleViolated):
    """The draft does not pass its gates, so it cannot be published."""

    code = "gate_failed"

    def __init__(self, results: list[GateResult], budget: Budget, project: str) -> None:
        blocking = [
            f"{check.code}: {check.message}" for result in results for check in result.checks if check.is_blocking
        ]
        blocking += [f"gate {result.gate}: {result.message}" for result in results if result.message]
        details = _GateDetails(results)
        trim(details, budget)
        more = f" (and {len(blocking) - 5} more)" if len(blocking) > 5 else ""
        cut_gates = [result.gate for result in details.gates if any(check.left_out for check in result.checks)]
        super().__init__(
            f"not published. {'; '.join(blocking[:5])}{more}",
            next_steps=(
                NextStep("purpose.edit", "corrects the draft", {"project": project}),
                NextStep(
                    "purpose.record", "with waivers lets an owner waive a check", {"project": project}, ("waivers",)
                ),
                *(
                    NextStep("purpose.check", "lists the refs left out here", {"project": project, "gate": gate})
                    for gate in cut_gates
                ),
            ),
            gates=msgspec.to_builtins(details.gates),
        )


class NothingChanged(Conflict):
    """The draft has the same content and facts as the latest version."""

    code = "nothing_changed"

    def __init__(self, number: int, project: str) -> None:
        super().__init__(
            f"not published. The draft has the same content and the same facts as version {number}",
            next_steps=(
                NextStep("purpose.edit", "changes the draft", {"project": project}),
                NextStep("purpose.discard", "removes it", {"project": project}),
            ),
            version=number,
        )


def is_unambiguous_label(label: str, number: int) -> bool:
    """Return True if a label cannot be mistaken for a draft or for the number of another version."""
    return label != DRAFT_LABEL and (label == f"v{number}" or not _VERSION_LABEL.fullmatch(label))


def is_same_as(version: VersionRow, *, content_hash: str, context_run: str | None) -> bool:
    """Return True if a published version has this content and rests on these facts."""
    return (version.content_hash, version.context_run) == (content_hash, context_run)


class PublishDraft(Struct, forbid_unknown_fields=True):
    """The project, the label of the version (by default `v3` for version 3), and the detail of the answer."""

    project: Name
    label: Annotated[str, NormalizedName(LABEL_CHARS_MAX)] | None = None
    detail: Literal["full"] | None = None
    expected_rev: int | None = None
    lean: bool | None = None
    op_id: OpId = None


class Published(Struct):
    """The published version and the results of its gates, with the checks that did not pass."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    trimming: ClassVar[Trimming] = Trimming(CutLists(("gates[].checks[].refs", "gates[].checks[].actual")))

    version: Version
    gates: list[GateResult]
    rev: int


def publish(tx: Transaction, request: PublishDraft) -> Published:
    """Publish the draft if it passes its gates.

    Raises:
        NoDraft: the project has no draft.
        StaleRevision: the draft is not at `expected_rev`.
        Invalid: the label is `draft` or the number of another version.
        ProfileTooLight: the profile of the draft is lighter than the project allows.
        NothingChanged: the latest version has the same content and the same facts.
        GateFailed: the draft does not pass a gate.
    """
    row = load_draft(tx, expected_rev=request.expected_rev)
    label = request.label or f"v{row.number}"
    if not is_unambiguous_label(label, row.number):
        raise invalid_argument(
            ("label",), f"{quote_text(label)} can be mistaken for another version or for a draft; this is v{row.number}"
        )
    refuse_light_profile(tx, row.profile, has_draft=True)
    content = read_content(tx, row.id)
    observations, outside, today = read_gate_inputs(tx, row, content)
    run_id = outside.context.run if outside.context else None
    digest, latest = compute_content_hash(content), find_latest_published(tx)
    if latest is not None and is_same_as(latest, content_hash=digest, context_run=run_id):
        raise NothingChanged(latest.number, tx.project.name)
    findings = [
        run_gate(gate, content, observations, profile=row.profile, external_facts=outside, today=today)
        for gate in list_required_gates(get_policies(tx))
    ]
    results = [gate_findings.describe(tx.preferences.vocabulary) for gate_findings in findings]
    if request.detail is None:
        results = [result.without_passed() for result in results]
    if not all(result.passed for result in results):
        raise GateFailed(results, tx.budget.share(1, of=2), tx.project.name)
    tx.run(
        sql.publish_version,
        version_id=row.id,
        project_id=tx.project.id,
        label=label,
        content_hash=digest,
        context_run=run_id,
        gates=msgspec.json.encode([gate_findings.describe(OPERATION_NAMES) for gate_findings in findings]).decode(),
        outside=msgspec.json.encode(outside).decode(),
        project_rev=tx.rev,
    )
    tx.record(
        Op.PUBLISHED,
        f"v{row.number}",
        changed("status", row.status, VersionStatus.PUBLISHED),
        changed("label", row.label, label),
        changed("content_hash", None, digest),
        changed("context_run", None, run_id),
    )
    after = read_versions(tx)[-1]
    return Published(to_version(after), results, after.rev)


OPERATION = declare(
    publish,
    name="purpose.publish",
    summary="Publish the draft if it passes its gates.",
    permission=Permission.PURPOSE_PUBLISH,
    effect=Effect.DESTROY,
    tool=Tool("toc_version", Group.PURPOSE, "publish"),
    http=Route("POST", "/projects/{project}/purpose/draft/publish"),
)
