"""Publish the draft if it passes its gates, in the transaction that read their inputs. It is final afterwards."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.budget import Budget, CutLists, Trimming, trim
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.input_gate.text_limits import Name, NormalizedName
from groundplan.kernel.next_steps import OPERATION_NAMES, NextStep
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument, quote_text
from groundplan.policies import get_policies
from groundplan.purpose.content import read_content
from groundplan.purpose.events import Op
from groundplan.purpose.gate_inputs import read_gate_inputs
from groundplan.purpose.gates.profiles import gates_to_publish
from groundplan.purpose.gates.result import GateResult
from groundplan.purpose.model import VersionStatus
from groundplan.purpose.version import DRAFT_LABEL, Version, draft_row, read_versions, to_version

sql = load_queries(__file__)

LABEL_CHARS_MAX = 255
_VERSION_LABEL = re.compile(r"v[0-9]+")  # the label of a version that was given none


class _GateDetails(Struct):
    """The gate results in the details of the error."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("gates[].checks[].refs", "gates[].checks[].actual")))

    gates: list[GateResult]


class GateFailed(RuleViolated):
    """The draft does not pass its gates, so it is not published."""

    code = "gate_failed"

    def __init__(self, results: list[GateResult], budget: Budget, project: str) -> None:
        blocking = [check for result in results for check in result.checks if check.is_blocking]
        details = _GateDetails(results)
        trim(details, budget)
        listed = "; ".join(f"{check.code}: {check.message}" for check in blocking[:5])
        more = f" (and {len(blocking) - 5} more)" if len(blocking) > 5 else ""
        super().__init__(
            f"not published. {listed}{more}",
            next_steps=(
                NextStep("purpose.edit", "corrects the draft", {"project": project}),
                NextStep("purpose.record", "with waivers lets an owner waive a check", {"project": project}),
            ),
            gates=msgspec.to_builtins(details.gates),
        )


def is_unambiguous_label(label: str, number: int) -> bool:
    """Return whether a label cannot be mistaken for a draft or for the number of another version."""
    return label != DRAFT_LABEL and (label == f"v{number}" or not _VERSION_LABEL.fullmatch(label))


class PublishDraft(Struct, forbid_unknown_fields=True):
    """The project and the label of the version, by default `v3` for version 3."""

    project: Name
    label: Annotated[str, NormalizedName(LABEL_CHARS_MAX)] | None = None
    expected_rev: int | None = None
    op_id: OpId = None


class Published(Struct):
    """The published version and the results of its gates."""

    trimming: ClassVar[Trimming] = Trimming(
        CutLists(
            ("gate.checks[].refs", "gate.checks[].actual", "gates[].checks[].refs", "gates[].checks[].actual"),
        )
    )

    version: Version
    gate: GateResult
    gates: list[GateResult]
    rev: int


def publish(tx: Transaction, request: PublishDraft) -> Published:
    """Publish the draft if it passes its gates.

    Raises:
        NoDraft: the project has no draft.
        StaleRevision: the draft is not at `expected_rev`.
        Invalid: the label is `draft` or the number of another version.
        GateFailed: the draft does not pass a gate.
    """
    from groundplan.purpose.gates.run import run_gate  # loaded only to publish or check

    row = draft_row(tx, expected_rev=request.expected_rev)
    label = request.label or f"v{row.number}"
    if not is_unambiguous_label(label, row.number):
        raise invalid_argument(
            ("label",), f"{quote_text(label)} can be mistaken for another version or for a draft; this is v{row.number}"
        )
    content = read_content(tx, row.id)
    observations, outside, today = read_gate_inputs(tx, row, content)
    findings = [
        run_gate(gate, content, observations, profile=row.profile, outside=outside, today=today)
        for gate in gates_to_publish(get_policies(tx))
    ]
    results = [found.describe(tx.preferences.vocabulary) for found in findings]
    if not all(result.passed for result in results):
        raise GateFailed(results, tx.budget.share(1, of=2), tx.project.name)
    run_id = outside.context.run if outside.context else None
    tx.run(
        sql.publish_version,
        version_id=row.id,
        label=label,
        content_hash=results[0].content_hash,
        context_run=run_id,
        gates=msgspec.json.encode([found.describe(OPERATION_NAMES) for found in findings]).decode(),
        outside=msgspec.json.encode(outside).decode(),
        project_rev=tx.rev,
    )
    tx.record(
        Op.PUBLISHED,
        f"v{row.number}",
        changed("status", row.status, VersionStatus.PUBLISHED),
        changed("label", row.label, label),
        changed("content_hash", None, results[0].content_hash),
        changed("context_run", None, run_id),
    )
    after = read_versions(tx)[-1]
    # The first result appears twice. Each copy is trimmed by itself, so they must be two objects.
    return Published(to_version(after), findings[0].describe(tx.preferences.vocabulary), results, after.rev)


OPERATION = Operation(
    name="purpose.publish",
    summary="Publish the draft if it passes its gates.",
    permission=Permission.PURPOSE_PUBLISH,
    effect=Effect.DESTROY,
    input=PublishDraft,
    output=Published,
    handler=publish,
    project=lambda _tx, request: request.project,
    tool=Tool("toc_version", Group.PURPOSE, "publish"),
    command=Command(("purpose", "publish")),
)
