"""Check a version: its gates, its health, its structure, or the compliance of a proposed operation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Effect, Group, Operation, Route, Tool, declare
from groundplan.kernel.operations.schema import CollapsedInSchema
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.purpose.analysis import Analysis, add_marks, analyse
from groundplan.purpose.compliance.checklist import CodeVerdict, Compliance, ProposedOperation
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.dates import parse_moment
from groundplan.purpose.gates.gates import GateResult
from groundplan.purpose.gates.run import read_gate_inputs, run_gate
from groundplan.purpose.health import Health, read_health
from groundplan.purpose.model import Profile, Ref
from groundplan.purpose.observing.read import Cutoff, read_version_observations
from groundplan.purpose.versions.versions import VersionRef, require_version

PATHWAYS_DEFAULT = 50
PATHWAYS_MAX = 500

# Arguments that only some checks use.
_GATES = ("A", "B")
_CHECKS_BY_ARGUMENT = {
    "operation": ("compliance",),
    "node": ("analysis",),
    "assumption": ("analysis",),
    "limit": ("analysis",),
    "profile": _GATES,
    "as_of": (*_GATES, "health", "analysis"),
    "detail": (*_GATES, "compliance"),
    "code": ("compliance",),
}
CODE_FILES_MAX = 20
CODE_BYTES_MAX = 65_536
FINDINGS_MAX = 200


class CodeText(Struct, forbid_unknown_fields=True):
    """The text of a file, and its path, whose suffix tells the language."""

    path: Annotated[str, MaxBytes(1_024)]
    text: Annotated[str, MaxBytes(CODE_BYTES_MAX)]


class CheckPurpose(Struct, forbid_unknown_fields=True):
    """The check: gate A, or the compliance of an operation, by default; and the version: the draft, else the latest."""

    project: Name
    gate: Literal["A", "B", "health", "compliance", "analysis"] | None = None
    version: VersionRef | None = None
    profile: Profile | None = None
    operation: Annotated[ProposedOperation, CollapsedInSchema()] | None = None
    node: Ref | None = None
    assumption: Ref | None = None
    limit: Annotated[int, Meta(ge=1, le=PATHWAYS_MAX)] | None = None
    as_of: str | None = None
    detail: Literal["short", "full"] | None = None
    code: Annotated[list[CodeText], Meta(max_length=CODE_FILES_MAX)] | None = None
    lean: bool | None = None


def check(tx: Transaction, request: CheckPurpose) -> GateResult:
    """Run gate A or B. For a published version the result is always the one at its publication.

    Raises:
        NotFound: there is no such version.
        Invalid: an argument does not belong to this check.
        ContentAltered: the content of a published version does not match its hash.
    """
    gate: Literal["A", "B"] = "B" if request.gate == "B" else "A"
    _refuse_unused_arguments(request, gate)
    row = require_version(tx, request.version)
    content = read_verified_content(tx, row)
    observations, outside, today = read_gate_inputs(tx, row, content, as_of=_parse_as_of(request))
    profile = request.profile or row.profile
    result = run_gate(gate, content, observations, profile=profile, external_facts=outside, today=today)
    described = result.describe(tx.preferences.vocabulary)
    return described.without_passed() if request.detail == "short" else described


def health(tx: Transaction, request: CheckPurpose) -> Health:
    """Return the health of a version, now or as of a day.

    Raises:
        NotFound: there is no such version.
        Invalid: an argument does not belong to this check.
        ContentAltered: the content of a published version does not match its hash.
    """
    _refuse_unused_arguments(request, "health")
    row = require_version(tx, request.version)
    as_of = _parse_as_of(request)
    content = read_verified_content(tx, row)
    return read_health(tx, content, read_version_observations(tx, content, Cutoff(as_of=as_of)), as_of=as_of)


def analysis(tx: Transaction, request: CheckPurpose) -> Analysis:
    """Analyse the structure of a version: pathways from a node, impact of an assumption, weak links.

    Raises:
        NotFound: there is no such version, or it lacks the node or assumption.
        Invalid: an argument does not belong to this check.
        ContentAltered: the content of a published version does not match its hash.
    """
    _refuse_unused_arguments(request, "analysis")
    row = require_version(tx, request.version)
    content = read_verified_content(tx, row)
    for name, ref, existing in (
        ("node", request.node, content.nodes),
        ("assumption", request.assumption, content.assumptions),
    ):
        if ref is not None and ref not in existing:
            show = NextStep("purpose.open", "shows the keys", {"project": tx.project.name})
            raise NotFound(name, ref, next_steps=show, field=name)
    observed = read_version_observations(tx, content, Cutoff(as_of=_parse_as_of(request)))
    limit = request.limit or PATHWAYS_DEFAULT
    answer = analyse(content, observed, node=request.node, assumption=request.assumption, limit=limit)
    if request.version is None and request.as_of is None:
        add_marks(tx, answer, limit)
    return answer


def compliance(tx: Transaction, request: CheckPurpose) -> Compliance | CodeVerdict:
    """Return the compliance checklist for a proposed operation, or the verdict on code.

    Raises:
        Invalid: neither an operation nor code is given, or both, or an argument does not belong to this check.
    """
    from groundplan.purpose.compliance.checks import (  # 18 ms of a start, which no other check needs
        build_checklist,
        shorten,
    )

    _refuse_unused_arguments(request, "compliance")
    if request.code is not None:
        if request.operation is not None:
            raise invalid_argument(("code",), "is checked on its own; omit operation, or ask twice")
        return _judge_code(request.code)
    if request.operation is None:
        wanted = 'the proposed operation, such as {"kind": "publish"}'
        compliance = NextStep("purpose.compliance", "checks one", {"project": tx.project.name}, ("operation",))
        raise missing_argument("operation", (), expected=wanted, next_steps=compliance)
    proposal = request.operation
    if request.version is not None:
        if proposal.version not in (None, request.version):
            raise invalid_argument(
                ("operation", "version"),
                f"is {proposal.version}, but version is {request.version}; give only one of them",
            )
        proposal = msgspec.structs.replace(proposal, version=request.version)
    checklist = build_checklist(tx, proposal)
    return shorten(checklist) if request.detail == "short" else checklist


def _judge_code(files: list[CodeText]) -> CodeVerdict:
    from groundplan.purpose.compliance.code_check import check_code, decide  # patterns that no other check needs

    findings = [finding for file in files for finding in check_code(file.path, file.text)]
    findings.sort(key=lambda finding: finding.verdict)
    more = len(findings) - FINDINGS_MAX
    return CodeVerdict(decide(findings), findings[:FINDINGS_MAX], {"findings": more} if more > 0 else UNSET)


def _parse_as_of(request: CheckPurpose) -> str | None:
    return None if request.as_of is None else parse_moment(request.as_of, ("as_of",))


def _refuse_unused_arguments(request: CheckPurpose, check_name: str) -> None:
    """Reject arguments that this check does not use."""
    if request.gate not in (None, check_name):
        raise invalid_argument(("gate",), f"must be {check_name} here, not {request.gate}; correct or omit it")
    for name, sorts in _CHECKS_BY_ARGUMENT.items():
        if getattr(request, name) is not None and check_name not in sorts:
            raise invalid_argument((name,), f"applies to gate {' or '.join(sorts)}, not to {check_name}; omit it")


def _choose_variant(request: CheckPurpose) -> Operation[CheckPurpose, Any] | None:
    is_of_gate = request.operation is None and request.code is None
    return _VARIANTS.get(request.gate or ("A" if is_of_gate else "compliance"))


HEALTH = declare(
    health,
    name="purpose.health",
    summary="Return the health of a version: metrics, bands, and how each goal is reached.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    http=Route(
        "GET",
        "/projects/{project}/purpose/health",
        fixed={"gate": "health"},
        without=("profile", "operation", "node", "assumption", "limit", "detail", "code"),
    ),
)

ANALYSIS = declare(
    analysis,
    name="purpose.analysis",
    summary="Analyse the structure of a version: pathways to goals, orphans, weak links, assumption impacts.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    http=Route(
        "GET",
        "/projects/{project}/purpose/analysis",
        fixed={"gate": "analysis"},
        without=("profile", "operation", "detail", "code"),
    ),
)

COMPLIANCE = declare(
    compliance,
    name="purpose.compliance",
    summary="Return the compliance checklist for a proposed operation, or the verdict on code, and why.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    http=Route(
        "POST",
        "/projects/{project}/purpose/compliance",
        fixed={"gate": "compliance"},
        without=("profile", "node", "assumption", "limit", "version", "as_of"),
    ),
)

_VARIANTS: dict[str, Operation[CheckPurpose, Any]] = {
    "health": HEALTH,
    "analysis": ANALYSIS,
    "compliance": COMPLIANCE,
}

OPERATION = declare(
    check,
    name="purpose.check",
    summary="Check a version: gate A or B, health, analysis, or compliance of a proposed operation or of code.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    variants=(HEALTH, ANALYSIS, COMPLIANCE),
    choose_variant=_choose_variant,
    tool=Tool("toc_check", Group.PURPOSE),
    http=Route(
        "GET",
        "/projects/{project}/purpose/check",
        summary="Check a version: gate A or B.",
        without=("operation", "node", "assumption", "limit", "code"),
    ),
)
