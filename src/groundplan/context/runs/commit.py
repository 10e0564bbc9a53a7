"""Commit a draft, which makes it final and puts it in force."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET, Struct, field

from groundplan.context.events import Op
from groundplan.context.refusals import RequiredUnset, SourceMissing
from groundplan.context.resolve import find_latest_committed_run, find_required_unset
from groundplan.context.run import load_draft, load_run, project_of_run, to_pciv_run
from groundplan.context.schemas import PcivRunV1, RunStatus
from groundplan.context.warnings import collect_warnings, format_pointers
from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.budget import Budget, CutLists, LeftOut, Trimming
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

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
    expected_rev: int | None = field(name="expected_rev", default=None)
    op_id: OpId = field(name="op_id", default=None)


class Committed(Struct, rename="camel"):
    """The committed run, its required inputs without a value, and warnings."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("missing",)))

    run: PcivRunV1
    missing: list[str]
    warnings: list[str]
    left_out: LeftOut = field(name="left_out", default=UNSET)  # the view has the rest, page by page


def commit(tx: Transaction, request: CommitRun) -> Committed:
    """Make a draft final.

    Raises:
        NotFound: the run does not exist.
        Frozen: the run is already committed.
        StaleRevision: the run changed since the caller read it.
        SourceMissing: a source-backed value names no source.
        RequiredUnset: a required input is not set, and the commit is not partial.
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
    overruled = [] if in_force is None else tx.scalars(sql.overruled_user_values, run_id=row.id, before_id=in_force.id)
    status = RunStatus.PARTIAL_COMMITTED if request.allow_partial else RunStatus.COMMITTED
    tx.run(sql.commit_run, run_id=row.id, status=status.value, allow_partial=request.allow_partial)
    tx.record(Op.COMMITTED, row.id, changed("status", row.status, status), changed("committed_at", None, tx.now))
    after = load_run(tx, row.id)
    waiting = tx.scalar(sql.count_pending_suggestions, run_id=row.id)
    warnings = collect_warnings(after, missing, waiting=waiting)
    if overruled:
        warnings.append(f"overrides user-entered values of the previous commit: {format_pointers(overruled)}")
    return Committed(to_pciv_run(after, tx.project.name), missing, warnings)


OPERATION = Operation(
    name="context.commit",
    summary="Make a draft final; allowPartial lets required inputs stay unset.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    input=CommitRun,
    output=Committed,
    handler=commit,
    project=lambda tx, request: project_of_run(tx, request.run_id),
    tool=Tool("context_run", Group.CONTEXT, "commit"),
    command=Command(("context", "commit"), arguments=("run_id",), names={"run_id": "run"}),
)
