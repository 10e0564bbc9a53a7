"""The resolver: the only way by which facts leave, whoever asks.

Which run is in force is decided here, and nowhere else: the latest commit, whole or partial, by `committedAt`, then
`updatedAt`, then id. All of a view is read in one transaction, so it is of one state; everything in it has an order, so
the same facts give the same bytes.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from groundplan.context.invariants import Invariant, PcivRuntimeInvariantError, check_view
from groundplan.context.run import RunRow, run_from, run_row, run_shown
from groundplan.context.schemas import (
    PcivArtifactV1,
    PcivConstraintV1,
    PcivContextViewV1,
    PcivInputV1,
    PcivSourceV1,
    Provenance,
    ResolvePrefer,
    SourceKind,
    SourceParseStatus,
    Suggestion,
    UpdatedBy,
    ValueKind,
)
from groundplan.context.values import shown_number
from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.kernel.input_gate.shapes import missing
from groundplan.kernel.members.principals import principal_called
from groundplan.kernel.ports import ContextInForce
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

_SOURCE_KINDS = {kind.value: kind for kind in SourceKind}
_PARSE_STATUSES = {status.value: status for status in SourceParseStatus}
_KINDS = {kind.value: kind for kind in ValueKind}
_PROVENANCES = {provenance.value: provenance for provenance in Provenance}
_WRITERS = {writer.value: writer for writer in UpdatedBy}

_decoded = msgspec.json.Decoder().decode


class NoContext(NotFound):
    """No facts were ever committed here."""

    code = "no_context"
    contract_name = "Error"

    def __init__(self, scope_id: str) -> None:
        self.hint = "Commit a run first (context_run commit), or view a draft by its runId"
        GroundplanError.__init__(self, f"No committed PCIV v1 context found. {self.hint}", scopeId=scope_id)


class Resolved(NamedTuple):
    """A view, and what is known of its run beside it."""

    view: PcivContextViewV1
    row: RunRow


def resolve_context_view(
    tx: Transaction,
    *,
    run_id: str | None = None,
    prefer: ResolvePrefer | None = None,
    user_id: str | None = None,
    field: str = "runId",
) -> Resolved:
    """The facts of the project entered: those of the run that is named, else of the run in force.

    Raises:
        Invalid: a run is preferred and none is named.
        NotFound: there is no such run in this project.
        NoContext: none was ever committed.
        PcivRuntimeInvariantError: what is kept is not what it must be.
    """
    row = _run_meant(tx, run_id, prefer, user_id, field)
    view = _view(tx, row)
    check_view(view)
    return Resolved(view, row)


def _run_meant(
    tx: Transaction, run_id: str | None, prefer: ResolvePrefer | None, user_id: str | None, field: str
) -> RunRow:
    if prefer is ResolvePrefer.RUN_ID and run_id is None:
        raise missing("runId", (), wanted="the id of the run to view; or leave prefer out")
    named = None if run_id is None else run_row(tx, run_id, field)
    if named is not None and prefer is not ResolvePrefer.LATEST_COMMIT:
        return named
    found = latest_committed(tx, user_id)
    if found is None:
        raise NoContext(tx.project.name)
    return found


def latest_committed(tx: Transaction, user_id: str | None = None) -> RunRow | None:
    """The run in force, if facts were ever committed."""
    if user_id is None:
        row = tx.one_or_none(sql.latest_committed, project_id=tx.project.id)
    else:
        whose = principal_called(tx, user_id) or user_id
        row = tx.one_or_none(sql.latest_committed_of_user, project_id=tx.project.id, user_id=whose)
    return run_from(row) if row else None


def context_in_force(tx: Transaction, _asked: None) -> ContextInForce | None:
    """What the gates of other slices ask: which facts the project entered stands on, and what these lack."""
    row = latest_committed(tx)
    if row is None:
        return None
    return ContextInForce(row.id, row.allow_partial, row.context_version_id, required_unset(tx, row.id))


def required_unset(tx: Transaction, run_id: str) -> list[str]:
    """The pointers of what is required and not there."""
    return [pointer for (pointer,) in tx.all(sql.required_unset, run_id=run_id)]


def suggestions_of(tx: Transaction, run_id: str) -> list[Suggestion]:
    """What waits for a person."""
    return [_suggestion(row) for row in tx.all(sql.suggestions_of_run, run_id=run_id)]


def _view(tx: Transaction, row: RunRow) -> PcivContextViewV1:
    run = run_shown(row, tx.project.name)
    try:
        sources = {one[0]: _source(one) for one in tx.all(sql.sources_of_run, run_id=row.id)}
        links = tx.all(sql.links_of_run, run_id=row.id)
        cited = {input_id: [one[1] for one in group] for input_id, group in groupby(links, itemgetter(0))}
        inputs = {one[2]: _input(one, cited) for one in tx.all(sql.inputs_of_run, run_id=row.id)}
        constraints = [_constraint(one) for one in tx.all(sql.constraints_of_run, run_id=row.id)]
        artifacts: dict[str, list[PcivArtifactV1]] = {}
        for one in tx.all(sql.artifacts_of_run, run_id=row.id):
            artifacts.setdefault(one[2], []).append(_artifact(one))
    except (KeyError, msgspec.DecodeError) as error:
        raise PcivRuntimeInvariantError(
            Invariant.SCHEMA_VALIDATION,
            "something in this run is not of the type that it must have",
            scope_id=run.scope_id,
            run_id=run.id,
        ) from error
    return PcivContextViewV1(run, sources, inputs, constraints, artifacts)


def _source(row: tuple[Any, ...]) -> PcivSourceV1:
    id_, run_id, kind, title, uri, file_id, mime_type, size_bytes, parse_status, excerpt, raw_meta, created_at = row
    return PcivSourceV1(
        id_,
        run_id,
        _SOURCE_KINDS[kind],
        title,
        uri,
        file_id,
        mime_type,
        size_bytes,
        _PARSE_STATUSES[parse_status],
        excerpt,
        {} if raw_meta == "{}" else _decoded(raw_meta),
        created_at,
    )


def _input(row: tuple[Any, ...], cited: dict[str, list[str]]) -> PcivInputV1:
    (
        id_,
        run_id,
        pointer,
        label,
        domain,
        required,
        field_type,
        options,
        kind,
        string,
        number,
        boolean,
        enum,
        json,
        provenance,
        updated_by,
        updated_at,
        evidence_snippet,
    ) = row
    return PcivInputV1(
        id_,
        run_id,
        pointer,
        label,
        domain,
        required == 1,
        field_type,
        None if options is None else _decoded(options),
        _KINDS[kind],
        string,
        None if number is None else shown_number(number),
        None if boolean is None else boolean == 1,
        enum,
        None if json is None else _decoded(json),
        _PROVENANCES[provenance],
        _WRITERS[updated_by],
        updated_at,
        evidence_snippet,
        cited.get(id_) or [],
    )


def _constraint(row: tuple[Any, ...]) -> PcivConstraintV1:
    id_, run_id, key, domain, label, kind, string, number, boolean, enum, json, provenance, *others = row
    return PcivConstraintV1(
        id_,
        run_id,
        key,
        domain,
        label,
        _KINDS[kind],
        string,
        None if number is None else shown_number(number),
        None if boolean is None else boolean == 1,
        enum,
        None if json is None else _decoded(json),
        _PROVENANCES[provenance],
        *others,
    )


def _artifact(row: tuple[Any, ...]) -> PcivArtifactV1:
    id_, run_id, type_, title, payload, created_at = row
    return PcivArtifactV1(id_, run_id, type_, title, _decoded(payload), created_at)


def _suggestion(row: tuple[Any, ...]) -> Suggestion:
    id_, pointer, key, constraint_id, kind, string, number, boolean, enum, json, provenance, sources, *others = row
    snippet, rationale, created_at, created_by, author_kind, _ = others
    return Suggestion(
        id_,
        pointer,
        key,
        constraint_id,
        _KINDS[kind],
        string,
        None if number is None else shown_number(number),
        None if boolean is None else boolean == 1,
        enum,
        None if json is None else _decoded(json),
        _PROVENANCES[provenance],
        _decoded(sources),
        snippet,
        rationale,
        created_at,
        created_by,
        _WRITERS[author_kind],
    )
