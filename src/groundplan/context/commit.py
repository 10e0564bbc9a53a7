"""Commit a draft: it becomes final and comes into force.

What was committed since the draft was begun is merged into it first, so that no commit loses what another one brought.

Where a draft repeats a value that a person set, by somebody else or with a lower provenance, the entry of the person
stays: a lower provenance says less about the same value. If somebody else commits the draft, the entry also keeps the
description that the person gave it, because another label or unit would change what they said. A quotation belongs to
its sources: it stays with those of the draft, and goes with those that the draft does not cite. What stays
source-backed keeps its sources if the draft cites none.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple, TypeVar

from msgspec import UNSET, Struct, field, structs

from groundplan.context.events import Op
from groundplan.context.merge import Merge, SourceCopies, load_run_rows, no_conflict
from groundplan.context.provenance import classify_writer
from groundplan.context.refusals import DisplacesUserEntered, DropsFacts, RequiredUnset, SourceMissing, StaleBase
from groundplan.context.resolve import (
    RunRow,
    find_base,
    find_latest_committed_run,
    find_required_unset,
    load_draft,
    load_run,
    resolve_run_project,
    to_pciv_run,
)
from groundplan.context.rows import change_row, diff_rows
from groundplan.context.schemas import (
    OMITTED,
    InputRow,
    MergeSide,
    PcivConstraintV1,
    PcivRunV1,
    Provenance,
    RunStatus,
    UpdatedBy,
)
from groundplan.context.values import encode_json, load_rows, strip_row
from groundplan.context.view import (
    MESSAGE_POINTERS_MAX,
    DisplacedFacts,
    collect_warnings,
    find_displaced,
    format_pointers,
)
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import Budget, CutLists, LeftOut, Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import NextStep
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text

COMMIT_STEP = timedelta(milliseconds=1)  # the smallest difference that a timestamp shows

MESSAGE_VALUE_CHARS_MAX = 40  # of a value in a sentence; the details have all of it

sql = load_queries(__file__)

R = TypeVar("R", bound=InputRow | PcivConstraintV1)


class CommitRun(Struct, rename="camel", forbid_unknown_fields=True):
    """The draft to commit, whether required inputs may stay unset, and what to do with the facts in force."""

    run_id: str
    allow_partial: bool = False
    allow_drop: bool = False
    resolve: dict[str, MergeSide] | None = None
    lean: bool | None = None
    expected_rev: int | None = field(name="expected_rev", default=None)
    op_id: OpId = field(name="op_id", default=None)


def required_inputs_unset(pointers: list[str], request: CommitRun, budget: Budget) -> RequiredUnset:
    """Return the refusal of a complete commit without all required inputs."""
    problem = f"required and not set: {format_pointers(pointers)}; set them, or commit without them"
    step = _commit_again(request, "keeps them visible as missing", allowPartial=True)
    details = _fit_details(budget.reserve(RequiredUnset.code, problem, step), pointers=pointers)
    return RequiredUnset(problem, next_steps=step, **details)


def source_missing(pointers: list[str], keys: list[str], budget: Budget) -> SourceMissing:
    """Return the refusal of a commit with source-backed values that have no source."""
    problem = (
        f"source-backed, but without a source: {format_pointers([*pointers, *keys])}; link one, or change the "
        "provenance"
    )
    return SourceMissing(
        problem, **_fit_details(budget.reserve(SourceMissing.code, problem), pointers=pointers, keys=keys)
    )


def displaces_user_entered(
    facts: DisplacedFacts, scope_id: str, request: CommitRun, budget: Budget
) -> DisplacesUserEntered:
    """Return the refusal of a commit that would displace facts of a person, by an actor that is not a person."""
    problem = f"displaces what a person entered in the run in force: {format_pointers([*facts.pointers, *facts.keys])}"
    steps = (
        NextStep("context.create_draft", "begins from the run in force", {"scopeId": scope_id, "copyFrom": "latest"}),
        _commit_again(request, "commits it, if a person calls it"),
    )
    details = _fit_details(
        budget.reserve(DisplacesUserEntered.code, problem, steps), pointers=facts.pointers, constraints=facts.keys
    )
    return DisplacesUserEntered(problem, next_steps=steps, **details)


def _fit_details(budget: Budget, **places: list[Any]) -> dict[str, Any]:
    """Return the details of an error: as many places as fit, and the number of places that are left out."""
    counts = {name: len(names) for name, names in places.items()}
    budget.reserve({"details": counts, "left_out": counts})
    shares = {name: budget.share(1, of=len(places)) for name in places}
    fitting: dict[str, Any] = {name: share.take_rows(places[name]) for name, share in shares.items()}
    left_out = {name: left for name, count in counts.items() if (left := count - len(fitting[name]))}
    return {**fitting, "left_out": left_out} if left_out else fitting


def _commit_again(request: CommitRun, effect: str, **more: Any) -> NextStep:
    """Return the step that sends a commit again with more options, and with those that it had."""
    given = {"allowPartial": request.allow_partial, "allowDrop": request.allow_drop, "resolve": request.resolve}
    options = {name: value for name, value in {**given, **more}.items() if value}
    return NextStep("context.commit", effect, {"runId": request.run_id, **options})


def stale_base(merge: Merge, request: CommitRun, budget: Budget) -> StaleBase:
    """Return the refusal of a commit that contradicts what was committed since the draft was begun."""
    shown = [_format_conflict(merge.describe_conflict(name)) for name in merge.conflicts[:MESSAGE_POINTERS_MAX]]
    if more := len(merge.conflicts) - len(shown):
        shown.append(f"{more} more")
    problem = (
        f"changed in this draft and differently in the run in force: {'; '.join(shown)}. "
        "Choose for each with resolve: mine keeps what the draft has, theirs what is in force"
    )
    choices = dict.fromkeys(merge.conflicts[:MESSAGE_POINTERS_MAX], MergeSide.MINE)
    step = _commit_again(request, "keeps what the draft has", resolve={**(request.resolve or {}), **choices})
    details = _fit_details(
        budget.reserve(StaleBase.code, problem, step), conflicts=list(map(merge.describe_conflict, merge.conflicts))
    )
    return StaleBase(problem, next_steps=step, **details)


def _format_conflict(conflict: dict[str, Any]) -> str:
    """Return both sides of a conflict for a sentence."""
    name = quote_text(conflict["pointer"])[1:-1]
    if "removed" in conflict:
        return f"{name} (removed {'here' if conflict['removed'] is MergeSide.MINE else 'there'})"
    if "value" not in conflict["fields"]:
        return f"{name} ({', '.join(conflict['fields'])})"
    mine, theirs = (_shorten(encode_json(conflict[side])) for side in (MergeSide.MINE, MergeSide.THEIRS))
    return f"{name} ({mine} here, {theirs} in force)"


def _shorten(text: str) -> str:
    return text if len(text) <= MESSAGE_VALUE_CHARS_MAX else f"{text[:MESSAGE_VALUE_CHARS_MAX]}…"


def drops_facts(names: list[str], request: CommitRun, budget: Budget) -> DropsFacts:
    """Return the refusal of a draft that began empty and lacks what is in force."""
    problem = f"in force, and not in this draft, which began empty: {format_pointers(names)}"
    step = _commit_again(request, "drops them", allowDrop=True)
    details = _fit_details(budget.reserve(DropsFacts.code, problem, step), pointers=names)
    return DropsFacts(problem, next_steps=step, **details)


class Committed(Struct, rename="camel"):
    """The committed run, its required inputs without a value, and warnings.

    `merged` names what it took from the run in force, `dropped` what was in force and is not any more.
    """

    trimming: ClassVar[Trimming] = Trimming(CutLists(("missing", "merged", "dropped")))

    run: PcivRunV1
    missing: list[str] = OMITTED
    merged: list[str] = OMITTED
    dropped: list[str] = OMITTED
    warnings: list[str] = OMITTED
    left_out: LeftOut = field(name="left_out", default=UNSET)  # the view has the rest, page by page


def commit(tx: Transaction, request: CommitRun) -> Committed:
    """Make a draft final, with what was committed since it was begun.

    Raises:
        NotFound: the run does not exist.
        Frozen: the run is already committed.
        StaleRevision: the run changed since the caller read it.
        Invalid: the request resolves what is not in conflict.
        StaleBase: the draft and the run in force contradict each other, and the request does not resolve it.
        DropsFacts: the draft began empty and lacks facts in force, and the request does not allow it.
        SourceMissing: a source-backed value names no source.
        RequiredUnset: a required input is not set, and the commit is not partial.
        DisplacesUserEntered: the actor is not a person, and the run displaces what a person entered.
    """
    row = load_draft(tx, request.run_id, expected_rev=request.expected_rev)
    in_force = find_latest_committed_run(tx)
    replaced_id = None if in_force is None else in_force.id
    merged, base_id = _merge(tx, row, replaced_id, request)
    pointers = tx.scalars(sql.unbacked_inputs, run_id=row.id)
    keys = tx.scalars(sql.unbacked_constraints, run_id=row.id)
    if pointers or keys:
        raise source_missing(pointers, keys, tx.budget)
    missing = find_required_unset(tx, row.id)
    if missing and not request.allow_partial:
        raise required_inputs_unset(missing, request, tx.budget)
    displaced = find_displaced(tx, before_id=replaced_id, run_id=row.id)
    if displaced and tx.actor.kind is not ActorKind.PERSON:
        raise displaces_user_entered(displaced, tx.project.name, request, tx.budget)
    described, dropped = [], []
    if replaced_id is not None:
        described = keep_entries(tx, before_id=replaced_id, run_id=row.id)
        dropped = tx.scalars(sql.dropped, before_id=replaced_id, run_id=row.id)
    if dropped and row.starts_empty and not request.allow_drop:
        raise drops_facts(dropped, request, tx.budget)
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
        base_run_id=base_id,
        committed_at=committed_at,
    )
    changes = [changed("status", row.status, status), changed("committed_at", None, committed_at)]
    changes.append(changed("committer_kind", None, committer))
    if replaced_id is not None:
        changes.append(changed("replaced_run_id", None, replaced_id))
    if row.base_run_id != base_id:
        changes.append(changed("base_run_id", row.base_run_id, base_id))
    tx.record(Op.COMMITTED, row.id, *changes)
    after = load_run(tx, row.id)
    waiting = tx.scalar(sql.count_pending_suggestions, run_id=row.id)
    warnings = collect_warnings(after, missing, unbacked=[], pending_count=waiting)
    if tx.one_or_none(sql.any_fact, run_id=row.id) is None:
        warnings.append("the run has no inputs and no constraints: no facts are in force now")
    if displaced:
        listed = format_pointers([*displaced.pointers, *displaced.keys])
        warnings.append(f"displaces what a person entered in the previous commit: {listed}")
    if described:
        listed = format_pointers(described)
        warnings.append(f"kept as a person described them, because their values are the ones they entered: {listed}")
    committed = Committed(to_pciv_run(after, tx.project.name), missing, merged, dropped, warnings)
    if request.lean:
        strip_row(committed.run)
        strip_row(committed)
    return committed


class MergedDraft(NamedTuple):
    """The names of what a draft took from the run in force, and the run that it is based on now."""

    names: list[str]
    base_id: str | None


def _merge(tx: Transaction, row: RunRow, in_force_id: str | None, request: CommitRun) -> MergedDraft:
    """Merge what was committed since a draft was begun into it."""
    choices = request.resolve or {}
    base_id = find_base(tx, row)
    if row.starts_empty or base_id == in_force_id:
        for name in choices:
            raise no_conflict(name)
        return MergedDraft([], in_force_id)
    merge = Merge(tx, row.id, base_id=base_id, in_force_id=in_force_id)
    merge.settle(choices)
    if merge.conflicts:
        displaced = find_displaced(tx, before_id=in_force_id, run_id=row.id).select(merge.conflicts)
        if displaced and tx.actor.kind is not ActorKind.PERSON:
            raise displaces_user_entered(displaced, tx.project.name, request, tx.budget)
        raise stale_base(merge, request, tx.budget)
    return MergedDraft(merge.apply(), in_force_id)


def _compute_commit_time(tx: Transaction, in_force: RunRow | None) -> str:
    """Return the time of a commit. It is later than the last commit, because the latest commit is in force."""
    if in_force is None or in_force.committed_at is None or in_force.committed_at < tx.now:
        return tx.now
    return subtract_time(in_force.committed_at, -COMMIT_STEP)


OPERATION = declare(
    commit,
    name="context.commit",
    summary="Make a draft final, merged with what was committed since; allowPartial: with inputs unset.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    tool=Tool("context_run", Group.CONTEXT, "commit"),
    http=Route("POST", "/projects/{project}/context/runs/{runId}/commit"),
)


class EntryKind(NamedTuple):
    """Inputs or constraints: their statements, their events and the names of their fields."""

    shape: type[InputRow] | type[PcivConstraintV1]
    entered: Query
    repeated: Query
    keep: Query
    op: Op
    name: str
    snippet: str
    description: tuple[str, ...]


ENTRY_KINDS = (
    EntryKind(
        InputRow,
        sql.entered_inputs,
        sql.repeated_inputs,
        sql.keep_input,
        Op.INPUT_CHANGED,
        "pointer",
        "evidence_snippet",
        ("label", "domain", "field_type", "options", "required"),
    ),
    EntryKind(
        PcivConstraintV1,
        sql.entered_constraints,
        sql.repeated_constraints,
        sql.keep_constraint,
        Op.CONSTRAINT_CHANGED,
        "key",
        "snippet",
        ("label", "domain"),
    ),
)


def keep_entries(tx: Transaction, *, before_id: str, run_id: str) -> list[str]:
    """Restore the entries of persons from the run before; return their pointers and the keys of new descriptions."""
    runs = {"before_id": before_id, "run_id": run_id}
    cited = {fact_id for run in runs.values() for fact_id in tx.scalars(sql.facts_with_sources, run_id=run)}
    copies: SourceCopies | None = None
    described: list[str] = []
    for kind in ENTRY_KINDS:
        for entry, repeat in zip(
            load_rows(tx, kind.entered, kind.shape, **runs),
            load_rows(tx, kind.repeated, kind.shape, **runs),
            strict=True,
        ):
            after = _restore(tx, kind, entry, repeat, cited)
            if diff_rows(structs.replace(repeat, provenance=after.provenance), after):
                described.append(getattr(entry, kind.name))
            after.updated_by, after.updated_at = _date(tx, kind, entry, repeat, after)
            if _lacks_sources(after, cited):
                copies = copies or SourceCopies(tx, run_id, load_run_rows(tx, run_id), load_run_rows(tx, before_id))
                copies.cite(after)
            change_row(tx, kind.keep, after)
            tx.record(kind.op, repeat.id, *diff_rows(repeat, after))
    return described


def _restore(tx: Transaction, kind: EntryKind, entry: R, repeat: R, cited: Collection[str]) -> R:
    """Return the repeated row with the higher provenance, described as by the person unless a person did it anew."""
    provenance = max(entry.provenance, repeat.provenance, key=lambda provenance: provenance.rank)
    after = structs.replace(repeat, provenance=provenance)
    if tx.actor.kind is ActorKind.PERSON or repeat.updated_by is UpdatedBy.USER:
        return after
    given: dict[str, Any] = {name: getattr(entry, name) for name in kind.description}
    if repeat.id not in cited:
        goes = entry.id in cited and not _lacks_sources(after, cited)
        given[kind.snippet] = None if goes else getattr(entry, kind.snippet)
    return structs.replace(after, **given)


def _lacks_sources(row: InputRow | PcivConstraintV1, cited: Collection[str]) -> bool:
    """Return whether a restored row is source-backed without a source of its own; it gets those of the entry."""
    return row.provenance is Provenance.SOURCE_BACKED and row.id not in cited


def _date(tx: Transaction, kind: EntryKind, entry: R, repeat: R, after: R) -> tuple[UpdatedBy, str]:
    """Return the writer and the time of a kept row: of the entry, or of a new description of it."""
    if isinstance(entry, InputRow) and isinstance(after, InputRow) and entry.required and not after.required:
        return repeat.updated_by, repeat.updated_at  # the view shows it as displaced, by its writer
    if all(getattr(entry, name) == getattr(after, name) for name in kind.description):
        return entry.updated_by, entry.updated_at
    is_a_persons = repeat.updated_by is UpdatedBy.USER
    return UpdatedBy.USER, repeat.updated_at if is_a_persons else tx.now
