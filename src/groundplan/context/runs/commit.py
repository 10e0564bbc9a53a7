"""Commit a draft, which makes it final and puts it in force."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from msgspec import UNSET, Struct, field

from groundplan.context.editing.provenance import classify_writer
from groundplan.context.events import Op
from groundplan.context.lean import strip_row
from groundplan.context.refusals import DisplacesUserEntered, RequiredUnset, SourceMissing
from groundplan.context.resolve import find_latest_committed_run, find_required_unset
from groundplan.context.run import RunRow, load_draft, load_run, resolve_run_project, to_pciv_run
from groundplan.context.runs.displaced import DisplacedFacts, find_displaced
from groundplan.context.runs.kept_entries import keep_entries
from groundplan.context.schemas import OMITTED, PcivRunV1, RunStatus
from groundplan.context.warnings import collect_warnings, format_pointers
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import Budget, CutLists, LeftOut, Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import NextStep
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

COMMIT_STEP = timedelta(milliseconds=1)  # the smallest difference that a timestamp shows

sql = load_queries(__file__)


def required_inputs_unset(pointers: list[str], budget: Budget) -> RequiredUnset:
    """Return the refusal of a complete commit that lacks required inputs."""
    problem = (
        f"required and not set: {format_pointers(pointers)}; set them, or commit with allowPartial: true, "
        "which keeps them visible as missing"
    )
    return RequiredUnset(problem, **_fit_details(budget.reserve(RequiredUnset.code, problem), pointers=pointers))


def source_missing(pointers: list[str], keys: list[str], budget: Budget) -> SourceMissing:
    """Return the refusal of a commit with source-backed values that name no source."""
    problem = (
        f"source-backed, but without a source: {format_pointers([*pointers, *keys])}; link one, or change the "
        "provenance"
    )
    return SourceMissing(
        problem, **_fit_details(budget.reserve(SourceMissing.code, problem), pointers=pointers, keys=keys)
    )


def displaces_user_entered(facts: DisplacedFacts, scope_id: str, run_id: str, budget: Budget) -> DisplacesUserEntered:
    """Return the refusal of a commit, by an actor that is not a person, of what displaces a person's facts."""
    problem = f"displaces what a person entered in the run in force: {format_pointers([*facts.pointers, *facts.keys])}"
    steps = (
        NextStep("context.create_draft", "begins from the run in force", {"scopeId": scope_id, "copyFrom": "latest"}),
        NextStep("context.commit", "commits it, if a person calls it", {"runId": run_id}),
    )
    details = _fit_details(
        budget.reserve(DisplacesUserEntered.code, problem, steps), pointers=facts.pointers, constraints=facts.keys
    )
    return DisplacesUserEntered(problem, next_steps=steps, **details)


def _fit_details(budget: Budget, **places: list[str]) -> dict[str, Any]:
    """Return the details of an error: as many places as fit, and how many are left out."""
    counts = {name: len(each) for name, each in places.items()}
    budget.reserve({"details": counts, "left_out": counts})
    shares = {name: budget.share(1, of=len(places)) for name in places}
    found: dict[str, Any] = {name: share.take_rows(places[name]) for name, share in shares.items()}
    left_out = {name: left for name, count in counts.items() if (left := count - len(found[name]))}
    return {**found, "left_out": left_out} if left_out else found


class CommitRun(Struct, rename="camel", forbid_unknown_fields=True):
    """The draft to commit, and whether required inputs may stay unset."""

    run_id: str
    allow_partial: bool = False
    lean: bool | None = None
    expected_rev: int | None = field(name="expected_rev", default=None)
    op_id: OpId = field(name="op_id", default=None)


class Committed(Struct, rename="camel"):
    """The committed run, its required inputs without a value, and warnings."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("missing",)))

    run: PcivRunV1
    missing: list[str] = OMITTED
    warnings: list[str] = OMITTED
    left_out: LeftOut = field(name="left_out", default=UNSET)  # the view has the rest, page by page


def commit(tx: Transaction, request: CommitRun) -> Committed:
    """Make a draft final.

    Raises:
        NotFound: the run does not exist.
        Frozen: the run is already committed.
        StaleRevision: the run changed since the caller read it.
        SourceMissing: a source-backed value names no source.
        RequiredUnset: a required input is not set, and the commit is not partial.
        DisplacesUserEntered: the actor is not a person, and the run displaces what a person entered.
    """
    row = load_draft(tx, request.run_id, expected_rev=request.expected_rev)
    pointers = tx.scalars(sql.unbacked_inputs, run_id=row.id)
    keys = tx.scalars(sql.unbacked_constraints, run_id=row.id)
    if pointers or keys:
        raise source_missing(pointers, keys, tx.budget)
    missing = find_required_unset(tx, row.id)
    if missing and not request.allow_partial:
        raise required_inputs_unset(missing, tx.budget)
    in_force = find_latest_committed_run(tx)
    replaced_id = None if in_force is None else in_force.id
    displaced = find_displaced(tx, before_id=replaced_id, run_id=row.id)
    if displaced and tx.actor.kind is not ActorKind.PERSON:
        raise displaces_user_entered(displaced, tx.project.name, row.id, tx.budget)
    described = [] if replaced_id is None else keep_entries(tx, before_id=replaced_id, run_id=row.id)
    committer = classify_writer(tx.actor)
    committed_at = _compute_commit_time(tx, in_force)
    status = RunStatus.PARTIAL_COMMITTED if request.allow_partial else RunStatus.COMMITTED
    tx.run(
        sql.commit_run,
        run_id=row.id,
        status=status.value,
        allow_partial=request.allow_partial,
        committer_kind=committer.value,
        replaced_run_id=replaced_id,
        committed_at=committed_at,
    )
    changes = [changed("status", row.status, status), changed("committed_at", None, committed_at)]
    changes.append(changed("committer_kind", None, committer))
    if replaced_id is not None:
        changes.append(changed("replaced_run_id", None, replaced_id))
    tx.record(Op.COMMITTED, row.id, *changes)
    after = load_run(tx, row.id)
    waiting = tx.scalar(sql.count_pending_suggestions, run_id=row.id)
    warnings = collect_warnings(after, missing, pending_count=waiting)
    if tx.one_or_none(sql.any_fact, run_id=row.id) is None:
        warnings.append("the run has no inputs and no constraints: no facts are in force now")
    if displaced:
        listed = format_pointers([*displaced.pointers, *displaced.keys])
        warnings.append(f"displaces what a person entered in the previous commit: {listed}")
    if described:
        listed = format_pointers(described)
        warnings.append(f"kept as a person described them, because their values are the ones they entered: {listed}")
    committed = Committed(to_pciv_run(after, tx.project.name), missing, warnings)
    if request.lean:
        strip_row(committed.run)
        strip_row(committed)
    return committed


def _compute_commit_time(tx: Transaction, in_force: RunRow | None) -> str:
    """Return the time of a commit, which is after the last one: by it the latest commit is in force."""
    if in_force is None or in_force.committed_at is None or in_force.committed_at < tx.now:
        return tx.now
    return subtract_time(in_force.committed_at, -COMMIT_STEP)


OPERATION = declare(
    commit,
    name="context.commit",
    summary="Make a draft final; allowPartial lets required inputs stay unset.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    tool=Tool("context_run", Group.CONTEXT, "commit"),
    command=Command(("context", "commit"), arguments=("run_id",), names={"run_id": "run"}, without=("lean",)),
    http=Route("POST", "/projects/{project}/context/runs/{runId}/commit"),
)
