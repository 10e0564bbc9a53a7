"""The contract's storage adapter in Python: its names, its types, and behind each of them one of the operations.

with groundplan.open("plan.db", actor="ada") as plan:
    run = plan.context.create_draft_run("atlas")
    plan.context.upsert_inputs(run.id, [{"pointer": "/site/size", "label": "Size", "valueKind": "number"}])
    plan.context.commit_run(run.id, allow_partial=True)
    hydrated = groundplan.hydrate(plan.context.resolve_context_view("atlas"), {"site": {}})

Rows are given as they are written (`InputWrite`), as they were read (`PcivInputV1`, with the columns that are None
meaning that there is no value), or as dicts in the names of the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from msgspec import UNSET, Struct, structs

from groundplan.context.schemas import (
    ArtifactWrite,
    ConstraintWrite,
    ContextView,
    InputWrite,
    LinkWrite,
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
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.wording import describe_value

if TYPE_CHECKING:
    from groundplan.context.editing.edit import EditedRun
    from groundplan.kernel.members.bootstrap import BootstrappedScope
    from groundplan.kernel.members.view import MemberView

WireRow: TypeAlias = Mapping[str, Any]  # in the names of the wire
SourceRow: TypeAlias = SourceWrite | PcivSourceV1 | WireRow
InputRow: TypeAlias = InputWrite | PcivInputV1 | WireRow
LinkRow: TypeAlias = LinkWrite | PcivInputSourceV1 | WireRow
ConstraintRow: TypeAlias = ConstraintWrite | PcivConstraintV1 | WireRow
ArtifactRow: TypeAlias = ArtifactWrite | PcivArtifactV1 | WireRow


class ContextAdapter:
    """Runs, what lies below them, views and members of scopes, for whoever's session it is.

    What is asked for by id or by name and is not there is refused (`NotFound`). What is asked for as the latest of its
    kind, and does not exist yet, is None.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    # --- Runs ---

    def create_draft_run(
        self, scope_id: str, *, ownership: RunOwnership | str = RunOwnership.OWNED, copy_from: str | None = None
    ) -> PcivRunV1:
        """Begin a draft, and the scope with it where there is none; `copy_from` a run or "latest" is not empty."""
        return self._run("context.create_draft", scopeId=scope_id, ownership=ownership, copyFrom=copy_from)

    def update_draft_run(self, run_id: str, *, ownership: RunOwnership | str | None = None) -> PcivRunV1:
        """Say that a draft is being worked on, or whose it is."""
        return self._run("context.update_draft", runId=run_id, ownership=ownership)

    def commit_run(self, run_id: str, allow_partial: bool = False) -> PcivRunV1:
        """Freeze a draft. Only with `allow_partial` may something that is required be missing."""
        return self._run("context.commit", runId=run_id, allowPartial=allow_partial)

    def discard_run(self, run_id: str) -> None:
        """Throw a draft away."""
        self._asked("context.discard", runId=run_id)

    def delete_run(self, run_id: str) -> None:
        """Throw a draft away, or take a committed run out of view."""
        self._asked("context.delete", runId=run_id)

    def fetch_run_by_id(self, run_id: str) -> PcivRunV1:
        """A run by itself."""
        return self._run("context.fetch_run", runId=run_id)

    def list_runs_for_scope(self, scope_id: str, user_id: str | None = None) -> list[PcivRunV1]:
        """Every run of a scope, the newest first; of one user, those that are theirs or shared."""
        runs: list[PcivRunV1] = []
        cursor = None
        while True:
            page = self._asked("context.list", scopeId=scope_id, userId=user_id, cursor=cursor)
            runs += page.runs
            cursor = page.next_cursor
            if cursor is UNSET:
                return runs

    def get_latest_run_for_scope(
        self, scope_id: str, *, status: RunStatus | str | None = None, prefer_committed: bool | None = None
    ) -> PcivRunV1 | None:
        """The run that was changed last, of one status if that is given.

        With `prefer_committed` it is the run in force, and the one that was changed last only where there is none.
        """
        if prefer_committed and status is None and (run := self.get_latest_committed_run_for_scope(scope_id)):
            return run
        runs = self._asked("context.list", scopeId=scope_id, status=status).runs
        return max(runs, key=lambda run: run.updated_at, default=None)

    def get_latest_committed_run_for_scope(self, scope_id: str) -> PcivRunV1 | None:
        """The run in force: the latest that was committed, whole or partial."""
        return self.fetch_latest_committed_run(scope_id)

    def fetch_latest_committed_run(self, scope_id: str, user_id: str | None = None) -> PcivRunV1 | None:
        """The run in force; of one user, among those that are theirs or shared."""
        # Asked of the resolver, for which run is in force is decided there and nowhere else.
        view = self.fetch_latest_committed_context_view(scope_id, user_id)
        return view.run if view else None

    # --- Below a run ---

    def upsert_sources(self, run_id: str, sources: Iterable[SourceRow]) -> EditedRun:
        """Add sources, or change those whose id is given."""
        return self._edit(run_id, sources=sources)

    def upsert_inputs(self, run_id: str, inputs: Iterable[InputRow]) -> EditedRun:
        """Add inputs, or change those that are at the pointers.

        What is written with a lower provenance than that of the value there waits in `suggested` for a person.
        """
        return self._edit(run_id, inputs=inputs)

    def link_input_sources(self, run_id: str, links: Iterable[LinkRow]) -> EditedRun:
        """Say that inputs, named by their pointer or by their id, were taken from sources."""
        rows = [_to_wire_row(link) for link in links]
        if any("inputId" in row for row in rows):
            pointers = {one.id: one.pointer for one in self._fetch_view(run_id).inputs_by_pointer.values()}
            rows = [_replace_input_id(row, pointers) for row in rows]
        return self._edit(run_id, links=rows)

    def upsert_constraints(self, run_id: str, constraints: Iterable[ConstraintRow]) -> EditedRun:
        """Add constraints, or change those whose id is given; suggestions as with inputs."""
        return self._edit(run_id, constraints=constraints)

    @overload
    def upsert_artifacts(self, run_id: str, artifacts: Iterable[ArtifactRow]) -> EditedRun: ...

    @overload
    def upsert_artifacts(self, run_id: Iterable[ArtifactRow]) -> EditedRun: ...

    def upsert_artifacts(
        self, run_id: str | Iterable[ArtifactRow], artifacts: Iterable[ArtifactRow] | None = None
    ) -> EditedRun:
        """Add artifacts, or change those whose id is given.

        The contract's own spelling has no run: `upsert_artifacts(rows)` writes to the one that all the rows name.

        Raises:
            Invalid: no run is given, and the rows do not name one and the same.
        """
        if isinstance(run_id, str):
            return self._edit(run_id, artifacts=artifacts or ())
        rows = [_to_wire_row(artifact) for artifact in run_id]
        named = {row.get("runId") for row in rows}
        if len(named) != 1 or not isinstance(only := named.pop(), str):
            raise Invalid(
                "the artifacts do not name one and the same run; give its id in front of them",
                code="missing_argument",
                field="runId",
            )
        return self._edit(only, artifacts=rows)

    def get_latest_artifact_by_type(self, run_id: str, type_: str) -> PcivArtifactV1 | None:
        """The newest artifact of a type in a run."""
        found = self._fetch_view(run_id).artifacts_by_type.get(type_)
        return found[-1] if found else None

    def get_latest_artifact_for_scope_by_type(self, scope_id: str, type_: str) -> PcivArtifactV1 | None:
        """The newest artifact of a type in any run of a scope."""
        newest = None
        for run in sorted(self.list_runs_for_scope(scope_id), key=lambda run: run.updated_at, reverse=True):
            # Nothing in a run was made after the run was last changed.
            if newest is not None and run.updated_at < newest.created_at:
                break
            try:
                found = self.get_latest_artifact_by_type(run.id, type_)
            except NotFound:  # taken away meanwhile
                continue
            if found and (newest is None or (found.created_at, found.id) > (newest.created_at, newest.id)):
                newest = found
        return newest

    # --- Views ---

    def fetch_context_view_by_run_id(self, run_id: str) -> ContextView:
        """The facts of a run, also of a draft."""
        return self._fetch_view(run_id)

    def fetch_latest_committed_context_view(self, scope_id: str, user_id: str | None = None) -> ContextView | None:
        """The facts in force, if any were ever committed."""
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
        """The facts of a scope: of the run that is named, else of the latest commit.

        Raises:
            NotFound: there is no such scope or run; its code is `no_context` where nothing was committed yet.
        """
        view: ContextView = self._asked("context.view", scopeId=scope_id, userId=user_id, runId=run_id, prefer=prefer)
        return view

    def get_context_view_for_skill(
        self,
        scope_id: str,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        prefer: ResolvePrefer | str | None = None,
    ) -> ContextView:
        """What a skill works with: the same view as everybody's."""
        return self.resolve_context_view(scope_id, user_id=user_id, run_id=run_id, prefer=prefer)

    # --- Members ---

    def pciv_bootstrap_scope(self, scope_id: str, create_draft_run: bool = True) -> BootstrappedScope:
        """Begin a new scope, with its first draft unless that is not wanted; the caller owns it."""
        begun: BootstrappedScope = self._asked("member.bootstrap", scopeId=scope_id, createDraftRun=create_draft_run)
        return begun

    def list_scope_members(self, scope_id: str) -> list[PcivScopeMemberV1]:
        """Who is in a scope, and as what."""
        members = self._asked("member.list", scopeId=scope_id).members
        name = self._find_scope_name(scope_id)
        return [_to_scope_member(name, one) for one in members]

    def upsert_scope_member(self, scope_id: str, user_id: str, role: Role | str) -> PcivScopeMemberV1:
        """Bring somebody into a scope, or give them another role."""
        member = self._asked("member.add", scopeId=scope_id, userId=user_id, role=role).member
        return _to_scope_member(self._find_scope_name(scope_id), member)

    def remove_scope_member(self, scope_id: str, user_id: str) -> None:
        """Take somebody out of a scope."""
        self._asked("member.remove", scopeId=scope_id, userId=user_id)

    # --- How it is done ---

    def _asked(self, operation: str, /, **arguments: Any) -> Any:
        return self._call(operation, **{name: value for name, value in arguments.items() if value is not None})

    def _run(self, operation: str, /, **arguments: Any) -> PcivRunV1:
        run: PcivRunV1 = self._asked(operation, **arguments).run
        return run

    def _fetch_view(self, run_id: str) -> ContextView:
        return self.resolve_context_view(self.fetch_run_by_id(run_id).scope_id, run_id=run_id)

    def _edit(self, run_id: str, **rows: Iterable[Struct | WireRow]) -> EditedRun:
        given = {sort: [_to_wire_row(one) for one in several] for sort, several in rows.items()}
        if not any(given.values()):
            return self._read_unchanged(run_id)
        edited: EditedRun = self._asked("context.edit", runId=run_id, **given)
        return edited

    def _read_unchanged(self, run_id: str) -> EditedRun:
        """The answer to whoever has no rows to write. The operation itself would ask what they are doing here."""
        from groundplan.context.editing.edit import EditedRun, RunSummary

        fetched = self._asked("context.fetch_run", runId=run_id)
        return EditedRun(RunSummary(fetched.run.id, fetched.run.status), [], [], [], [], [], fetched.rev)

    def _find_scope_name(self, scope_id: str) -> str:
        """What a scope is called: it can be addressed by the id of its project, and the contract knows its name."""
        projects = self._asked("project.list", archived=True).projects
        return next((one.name for one in projects if one.id == scope_id), scope_id)


def _to_wire_row(given: Struct | WireRow) -> dict[str, Any]:
    """A row in the names of the wire."""
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, Struct):
        raise Invalid(f"a row is an object or one of the types of the contract, not {describe_value(given)}")
    values = ((field.encode_name, getattr(given, field.name)) for field in structs.fields(given))
    return {name: value for name, value in values if value is not UNSET}


def _replace_input_id(row: dict[str, Any], pointers: Mapping[str, str]) -> dict[str, Any]:
    """A link that names an input by its id, as one that says where that input is."""
    if "inputId" not in row:
        return row
    input_id = row.pop("inputId")
    pointer = pointers.get(parse_uuid(input_id) or input_id)
    if pointer is None:
        raise NotFound("input", input_id)
    return {"pointer": pointer, **row}


def _to_scope_member(scope_id: str, member: MemberView) -> PcivScopeMemberV1:
    return PcivScopeMemberV1(scope_id, member.user_id, member.role, member.created_at, member.created_by)
