"""The storage adapter of the context contract in Python. Each of its methods calls an operation.

with groundplan.open("plan.db", actor="ada") as plan:
    run = plan.context.create_draft_run("atlas")
    plan.context.upsert_inputs(run.id, [{"pointer": "/site/size", "label": "Size", "valueKind": "number"}])
    plan.context.commit_run(run.id, allow_partial=True)
    hydrated = groundplan.hydrate(plan.context.resolve_context_view("atlas"), {"site": {}})

Rows are types for writing (`InputWrite`), types for reading (`PcivInputV1`, where None means no value), or dicts with
wire names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, overload

from msgspec import UNSET, Struct, structs

from groundplan.context.edit import EditedRun, RunSummary
from groundplan.context.refusals import to_contract_error
from groundplan.context.runs import BootstrappedScope
from groundplan.context.schemas import (
    ArtifactWrite,
    ConstraintWrite,
    ContextView,
    InputWrite,
    LinkWrite,
    MergeSide,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivInputSourceV1,
    PcivInputV1,
    PcivRunV1,
    PcivScopeMemberV1,
    PcivSourceV1,
    ResolvePrefer,
    RunOwnership,
    RunStatus,
    SourceWrite,
)
from groundplan.kernel.access import Role
from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.members import MemberView
from groundplan.kernel.wording import describe_value

WireRow: TypeAlias = Mapping[str, Any]  # by wire names
SourceRow: TypeAlias = SourceWrite | PcivSourceV1 | WireRow
InputRow: TypeAlias = InputWrite | PcivInputV1 | WireRow
LinkRow: TypeAlias = LinkWrite | PcivInputSourceV1 | WireRow
ConstraintRow: TypeAlias = ConstraintWrite | PcivConstraintV1 | WireRow
ArtifactRow: TypeAlias = ArtifactWrite | PcivArtifactV1 | WireRow


class ContextAdapter:
    """Runs and their rows, views, and members of scopes, for the actor of a session.

    A missing id or name raises `NotFound`, which is a `PcivRlsDeniedError` too: a hidden one gives the same answer. The
    error classes of the contract are in `groundplan.context`. Methods for the latest run, artifact or view return None
    if there is none.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    # --- Runs ---

    def create_draft_run(
        self, scope_id: str, *, ownership: RunOwnership | str = RunOwnership.OWNED, copy_from: str = "latest"
    ) -> PcivRunV1:
        """Create a draft, and its scope if missing: a copy of the facts in force, of a run, or of "none"."""
        return self._run("context.create_draft", scopeId=scope_id, ownership=ownership, copyFrom=copy_from)

    def update_draft_run(self, run_id: str, *, ownership: RunOwnership | str | None = None) -> PcivRunV1:
        """Update the time of the last change of a draft, or its ownership."""
        return self._run("context.update_draft", runId=run_id, ownership=ownership)

    def commit_run(
        self,
        run_id: str,
        allow_partial: bool = False,
        *,
        allow_drop: bool = False,
        resolve: Mapping[str, MergeSide | str] | None = None,
    ) -> PcivRunV1:
        """Commit a draft, which freezes it, with what was committed since it was begun.

        Required inputs may be missing only with `allow_partial`. Facts in force that a draft which began empty lacks
        are dropped only with `allow_drop`; `resolve` names the side to keep where both have changed.
        """
        return self._run(
            "context.commit", runId=run_id, allowPartial=allow_partial, allowDrop=allow_drop, resolve=resolve
        )

    def discard_run(self, run_id: str) -> None:
        """Discard a draft."""
        self._call_given("context.discard", runId=run_id)

    def delete_run(self, run_id: str) -> None:
        """Delete a draft, or mark a committed run as deleted."""
        self._call_given("context.delete", runId=run_id)

    def fetch_run_by_id(self, run_id: str) -> PcivRunV1:
        """Return a run."""
        return self._run("context.fetch_run", runId=run_id)

    def list_runs_for_scope(self, scope_id: str, user_id: str | None = None) -> list[PcivRunV1]:
        """Return every run of a scope, newest first; with `user_id`, only shared runs and the runs of this user."""
        runs: list[PcivRunV1] = []
        cursor = None
        while True:
            page = self._call_given("context.list", scopeId=scope_id, userId=user_id, cursor=cursor)
            runs += page.runs
            cursor = page.next_cursor
            if cursor is UNSET:
                return runs

    def get_latest_run_for_scope(
        self, scope_id: str, *, status: RunStatus | str | None = None, prefer_committed: bool | None = None
    ) -> PcivRunV1 | None:
        """Return the run that changed last, with `status` if it is given.

        `prefer_committed` returns the run in force, or the run that changed last if none is in force.
        """
        if prefer_committed and status is None and (run := self.get_latest_committed_run_for_scope(scope_id)):
            return run
        runs = self._call_given("context.list", scopeId=scope_id, status=status).runs
        return max(runs, key=lambda run: run.updated_at, default=None)

    def get_latest_committed_run_for_scope(self, scope_id: str) -> PcivRunV1 | None:
        """Return the run in force: the latest committed run, complete or partial."""
        return self.fetch_latest_committed_run(scope_id)

    def fetch_latest_committed_run(self, scope_id: str, user_id: str | None = None) -> PcivRunV1 | None:
        """Return the run in force; with `user_id`, among shared runs and the runs of this user."""
        # Only the resolver decides which run is in force.
        view = self.fetch_latest_committed_context_view(scope_id, user_id)
        return view.run if view else None

    # --- Below a run ---

    def upsert_sources(self, run_id: str, sources: Iterable[SourceRow]) -> EditedRun:
        """Add sources, or change those whose id is given."""
        return self._edit(run_id, sources=sources)

    def upsert_inputs(self, run_id: str, inputs: Iterable[InputRow]) -> EditedRun:
        """Add inputs, or change those with the same pointers.

        A value with a lower provenance than the current one goes to `suggested`, where a person decides.
        """
        return self._edit(run_id, inputs=inputs)

    def link_input_sources(self, run_id: str, links: Iterable[LinkRow]) -> EditedRun:
        """Link inputs, named by pointer or id, to their sources."""
        rows = [_to_wire_row(link) for link in links]
        if any("inputId" in row for row in rows):
            pointers = {row.id: row.pointer for row in self._fetch_view(run_id).inputs_by_pointer.values()}
            rows = [_replace_input_id(row, pointers) for row in rows]
        return self._edit(run_id, links=rows)

    def upsert_constraints(self, run_id: str, constraints: Iterable[ConstraintRow]) -> EditedRun:
        """Add constraints, or change those with the same ids or keys. Suggestions work as in `upsert_inputs`."""
        return self._edit(run_id, constraints=constraints)

    @overload
    def upsert_artifacts(self, run_id: str, artifacts: Iterable[ArtifactRow]) -> EditedRun: ...

    @overload
    def upsert_artifacts(self, run_id: Iterable[ArtifactRow]) -> EditedRun: ...

    def upsert_artifacts(
        self, run_id: str | Iterable[ArtifactRow], artifacts: Iterable[ArtifactRow] | None = None
    ) -> EditedRun:
        """Add artifacts, or change those whose id is given.

        The form of the contract has no run: `upsert_artifacts(rows)` writes to the run that all rows name.
        """
        if isinstance(run_id, str):
            return self._edit(run_id, artifacts=artifacts or ())
        rows = [_to_wire_row(artifact) for artifact in run_id]
        run_ids = {row.get("runId") for row in rows}
        if len(run_ids) != 1 or not isinstance(only_id := run_ids.pop(), str):
            raise Invalid(
                "the artifacts do not all name the same run; pass the id of the run as the first argument",
                code="missing_argument",
                field="runId",
            )
        return self._edit(only_id, artifacts=rows)

    def get_latest_artifact_by_type(self, run_id: str, type_: str) -> PcivArtifactV1 | None:
        """Return the newest artifact of a type in a run."""
        artifacts = self._fetch_view(run_id).artifacts_by_type.get(type_)
        return artifacts[-1] if artifacts else None

    def get_latest_artifact_for_scope_by_type(self, scope_id: str, type_: str) -> PcivArtifactV1 | None:
        """Return the newest artifact of a type in any run of a scope."""
        newest = None
        for run in sorted(self.list_runs_for_scope(scope_id), key=lambda run: run.updated_at, reverse=True):
            # No artifact is newer than the last change of its run.
            if newest is not None and run.updated_at < newest.created_at:
                break
            try:
                artifact = self.get_latest_artifact_by_type(run.id, type_)
            except NotFound:  # deleted in the meantime
                continue
            if artifact and (newest is None or (artifact.created_at, artifact.id) > (newest.created_at, newest.id)):
                newest = artifact
        return newest

    # --- Views ---

    def fetch_context_view_by_run_id(self, run_id: str) -> ContextView:
        """Return the facts of a run, which may be a draft."""
        return self._fetch_view(run_id)

    def fetch_latest_committed_context_view(self, scope_id: str, user_id: str | None = None) -> ContextView | None:
        """Return the facts in force; None if no run was committed."""
        try:
            return self.resolve_context_view(scope_id, user_id=user_id)
        except NotFound as error:
            if error.code != "no_context":
                raise
            return None

    def resolve_context_view(
        self,
        scope_id: str,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        prefer: ResolvePrefer | str | None = None,
    ) -> ContextView:
        """Return the facts of a scope: of the given run, else of the latest commit."""
        view: ContextView = self._call_given(
            "context.view", scopeId=scope_id, userId=user_id, runId=run_id, prefer=prefer
        )
        return view

    def get_context_view_for_skill(
        self,
        scope_id: str,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        prefer: ResolvePrefer | str | None = None,
    ) -> ContextView:
        """Return the view for a skill, which is the same as `resolve_context_view`."""
        return self.resolve_context_view(scope_id, user_id=user_id, run_id=run_id, prefer=prefer)

    # --- Members ---

    def pciv_bootstrap_scope(self, scope_id: str, create_draft_run: bool = True) -> BootstrappedScope:
        """Create a scope owned by the caller, with a first draft unless `create_draft_run` is False."""
        bootstrapped: BootstrappedScope = self._call_given(
            "member.bootstrap", scopeId=scope_id, createDraftRun=create_draft_run
        )
        return bootstrapped

    def list_scope_members(self, scope_id: str) -> list[PcivScopeMemberV1]:
        """Return the members of a scope with their roles."""
        members = self._call_given("member.list", scopeId=scope_id).members
        name = self._find_scope_name(scope_id)
        return [_to_scope_member(name, member) for member in members]

    def upsert_scope_member(self, scope_id: str, user_id: str, role: Role | str) -> PcivScopeMemberV1:
        """Add a member to a scope, or change their role."""
        member = self._call_given("member.add", scopeId=scope_id, userId=user_id, role=role).member
        return _to_scope_member(self._find_scope_name(scope_id), member)

    def remove_scope_member(self, scope_id: str, user_id: str) -> None:
        """Remove a member from a scope."""
        self._call_given("member.remove", scopeId=scope_id, userId=user_id)

    # --- Calls ---

    def _call_given(self, operation: str, /, **arguments: Any) -> Any:
        try:
            return self._call(operation, **{name: value for name, value in arguments.items() if value is not None})
        except GroundplanError as error:
            raise to_contract_error(error) from None

    def _run(self, operation: str, /, **arguments: Any) -> PcivRunV1:
        run: PcivRunV1 = self._call_given(operation, **arguments).run
        return run

    def _fetch_view(self, run_id: str) -> ContextView:
        return self.resolve_context_view(self.fetch_run_by_id(run_id).scope_id, run_id=run_id)

    def _edit(self, run_id: str, **rows: Iterable[Struct | WireRow]) -> EditedRun:
        wire_rows = {kind: [_to_wire_row(row) for row in of_kind] for kind, of_kind in rows.items()}
        if not any(wire_rows.values()):
            return self._read_unchanged(run_id)
        edited: EditedRun = self._call_given("context.edit", runId=run_id, **wire_rows)
        return edited

    def _read_unchanged(self, run_id: str) -> EditedRun:
        """Return the answer of a write without rows. The operation itself rejects a request without rows."""
        fetched = self._call_given("context.fetch_run", runId=run_id)
        return EditedRun(RunSummary(fetched.run.id, fetched.run.status), [], [], [], [], [], fetched.rev)

    def _find_scope_name(self, scope_id: str) -> str:
        """Return the name of a scope, given its name or the id of its project."""
        projects = self._call_given("project.list", archived=True).projects
        return next((project.name for project in projects if project.id == scope_id), scope_id)


def _to_wire_row(row: Struct | WireRow) -> dict[str, Any]:
    """Return a row as a dict with wire names."""
    if isinstance(row, Mapping):
        return dict(row)
    if not isinstance(row, Struct):
        raise Invalid(f"a row must be an object or a type of the contract, not {describe_value(row)}")
    values = ((field.encode_name, getattr(row, field.name)) for field in structs.fields(row))
    return {name: value for name, value in values if value is not UNSET}


def _replace_input_id(row: dict[str, Any], pointers: Mapping[str, str]) -> dict[str, Any]:
    """Return a link with the pointer of its input instead of the id."""
    if "inputId" not in row:
        return row
    input_id = row.pop("inputId")
    pointer = pointers.get(parse_uuid(input_id) or input_id)
    if pointer is None:
        raise to_contract_error(NotFound("input", input_id))
    return {"pointer": pointer, **row}


def _to_scope_member(scope_id: str, member: MemberView) -> PcivScopeMemberV1:
    return PcivScopeMemberV1(scope_id, member.user_id, member.role, member.created_at, member.created_by)
