"""The Python adapter of the context contract: every name, and the contract's own example from draft to plan."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from msgspec import structs

import groundplan
from groundplan.context import PcivAuthRequiredError, PcivRlsDeniedError, PcivRuntimeInvariantError
from groundplan.context.hydrate import Hydrated
from groundplan.context.schemas import (
    ArtifactWrite,
    ConstraintWrite,
    ContextView,
    InputWrite,
    LinkWrite,
    PcivInputSourceV1,
    PcivRunV1,
    PcivScopeMemberV1,
    Provenance,
    ReplacedValue,
    RunStatus,
    SourceKind,
    SourceWrite,
    ValueKind,
)
from groundplan.context_adapter import ContextAdapter
from groundplan.kernel.access import Role
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import Forbidden, GroundplanError, NotFound, RuleViolated, Unauthenticated
from groundplan.session import Session
from tests.engines import Engine, person
from tests.manual_clock import ManualClock

# The names of the contract. Two are left out on purpose: one with which a stranger could become an owner,
# and the one that describes tables.
NAMES = """
createDraftRun updateDraftRun commitRun deleteRun fetchRunById listRunsForScope getLatestRunForScope
getLatestCommittedRunForScope fetchLatestCommittedRun
upsertSources upsertInputs linkInputSources upsertConstraints upsertArtifacts getLatestArtifactByType
getLatestArtifactForScopeByType
fetchContextViewByRunId fetchLatestCommittedContextView resolveContextView getContextViewForSkill
listScopeMembers upsertScopeMember removeScopeMember
pciv_bootstrap_scope
"""


def error_of(call: Any) -> str:
    with pytest.raises(GroundplanError) as refused:
        call()
    return refused.value.code


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


@pytest.fixture
def ada(engine: Engine, clock: ManualClock) -> Session:
    """Ada, a person, at a store with a clock that the test moves."""
    return Session(engine.store_with_clock(clock), local_actor("ada", kind=ActorKind.PERSON))


def test_every_name_of_the_contract_is_there_and_explained() -> None:
    for name in NAMES.split():
        method = getattr(ContextAdapter, re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower())
        assert method.__doc__, name


def test_the_contract_s_example_from_a_partial_commit_to_a_plan_that_shows_what_is_missing(ada: Session) -> None:
    facts = ada.context
    assert error_of(lambda: facts.fetch_latest_committed_context_view("atlas")) == "not_found"
    run = facts.create_draft_run("atlas")
    assert facts.fetch_latest_committed_context_view("atlas") is None
    assert facts.get_latest_committed_run_for_scope("atlas") is None
    facts.upsert_inputs(
        run.id,
        [
            {"pointer": "/site/location", "label": "Location", "required": True, "valueKind": "string"},
            {"pointer": "/site/size", "label": "Size", "valueKind": "number", "valueNumber": 5000},
            {"pointer": "/project/notes", "label": "Notes", "valueKind": "string", "valueString": ""},
        ],
    )
    assert error_of(lambda: facts.commit_run(run.id)) == "required_inputs_unset"

    committed = facts.commit_run(run.id, allow_partial=True)

    assert (run.status, run.scope_id, run.user_id) == (RunStatus.DRAFT, "atlas", "ada")
    assert (committed.id, committed.status, committed.allow_partial) == (run.id, RunStatus.PARTIAL_COMMITTED, True)
    view = facts.fetch_context_view_by_run_id(run.id)
    assert isinstance(view, ContextView)
    location = view.inputs_by_pointer["/site/location"]
    assert (location.value_string, location.provenance) == (None, Provenance.UNKNOWN)
    assert (view.missing, view.run) == (["/site/location"], committed)
    assert groundplan.hydrate(view, {"site": {"location": "?"}, "project": {"notes": "old"}}) == Hydrated(
        target={
            "site": {"location": "?", "size": 5000},
            "project": {"notes": ""},
            "contextVersionId": committed.committed_at,
        },
        context_version_id=str(committed.committed_at),
        placed=["/site/size"],
        kept=[],
        replaced=[ReplacedValue("/project/notes", "old", Provenance.USER_ENTERED)],
        unplaced=[],
        missing=["/site/location"],
    )
    same = (
        facts.resolve_context_view("atlas"),
        facts.resolve_context_view("atlas", run_id=run.id, prefer="runId"),
        facts.get_context_view_for_skill("atlas", user_id="ada"),
        facts.fetch_latest_committed_context_view("atlas", "ada"),
    )
    assert all(other == view for other in same)
    completed = facts.upsert_inputs(run.id, [{"pointer": "/site/size", "value": 1}])
    assert (completed.from_, completed.draft) == (run.id, completed.run.id)
    facts.discard_run(completed.run.id)


def test_the_adapter_refuses_a_scope_without_facts_with_the_text_of_the_contract(ada: Session) -> None:
    ada.context.create_draft_run("atlas")

    with pytest.raises(NotFound, match=r"^No committed PCIV v1 context found; ") as refused:
        ada.context.resolve_context_view("atlas")
    assert refused.value.code == "no_context"


def test_rows_can_be_given_as_they_are_written_as_they_were_read_and_as_dicts(ada: Session) -> None:
    facts = ada.context
    first = facts.create_draft_run("atlas", ownership="shared")
    survey, law = str(uuid4()), str(uuid4())
    sources: list[Any] = [
        SourceWrite(id=survey, kind=SourceKind.FILE, title="Survey", uri="file:survey.pdf", size_bytes=7),
        {"id": law, "kind": "url", "title": "Law", "uri": "https://example.org/law"},
    ]
    inputs: list[Any] = [
        InputWrite("/site/size", label="Size", value_kind=ValueKind.NUMBER, value=12.5, source_ids=[survey]),
        {"pointer": "/site/open", "label": "Open", "valueKind": "boolean", "value": False},
        InputWrite("/site/soil", label="Soil", required=True, value_kind=ValueKind.ENUM, options=["clay", "unknown"]),
    ]
    constraints: list[Any] = [
        ConstraintWrite(key="slope", label="Slope", value_kind=ValueKind.JSON, value={"max": 8}, source_id=law),
        {"key": "name", "label": "Name", "valueKind": "string", "valueString": ""},
    ]

    assert [one.id for one in facts.upsert_sources(first.id, sources).sources] == [survey, law]
    assert [one.pointer for one in facts.upsert_inputs(first.id, inputs).inputs] == [
        "/site/size",
        "/site/open",
        "/site/soil",
    ]
    assert [one.key for one in facts.upsert_constraints(first.id, constraints).constraints] == ["slope", "name"]
    facts.upsert_artifacts(first.id, [ArtifactWrite(type="map", title="Map", payload={"a": [1]})])
    written = facts.fetch_context_view_by_run_id(first.id)
    soil = written.inputs_by_pointer["/site/soil"]
    facts.link_input_sources(
        first.id,
        [
            LinkWrite(pointer="/site/open", source_id=law),
            {"pointer": "/site/soil", "sourceId": survey},
            PcivInputSourceV1(soil.id.replace("-", ""), law),
        ],
    )

    linked = facts.fetch_context_view_by_run_id(first.id)
    assert {pointer: one.source_ids for pointer, one in linked.inputs_by_pointer.items()} == {
        "/site/open": [law],
        "/site/size": [survey],
        "/site/soil": sorted([law, survey]),
    }
    facts.upsert_sources(first.id, linked.sources_by_id.values())
    facts.upsert_inputs(first.id, linked.inputs_by_pointer.values())
    facts.upsert_constraints(first.id, linked.constraints)
    facts.upsert_artifacts(linked.artifacts_by_type["map"])  # the contract's spelling: each row names its run
    again = facts.fetch_context_view_by_run_id(first.id)
    assert rows_of(again) == rows_of(linked)

    unset = structs.replace(linked.inputs_by_pointer["/site/size"], value_number=None)
    facts.upsert_inputs(first.id, [unset])
    view = facts.fetch_context_view_by_run_id(first.id)
    assert (view.inputs_by_pointer["/site/size"].value_number, view.run.user_id) == (None, None)

    assert facts.upsert_inputs(first.id, []).rev == view.rev
    assert error_of(lambda: facts.upsert_artifacts([])) == "missing_argument"
    assert error_of(lambda: facts.upsert_artifacts([{"type": "map", "title": "Of no run"}])) == "missing_argument"
    assert error_of(lambda: facts.link_input_sources(first.id, [PcivInputSourceV1(law, law)])) == "not_found"
    other = facts.create_draft_run("atlas")
    assert error_of(lambda: facts.upsert_inputs(other.id, linked.inputs_by_pointer.values())) == "invalid_argument"


def rows_of(view: ContextView) -> Any:
    return view.sources_by_id, view.inputs_by_pointer, view.constraints, view.artifacts_by_type


def test_the_latest_is_found_among_runs_and_what_they_hold(ada: Session, clock: ManualClock) -> None:
    facts = ada.context
    runs: list[PcivRunV1] = []
    for number in range(4):
        clock.move(minutes=1)
        copied = "latest" if number == 3 else "none"
        runs.append(facts.create_draft_run("atlas", ownership="shared" if number else "owned", copy_from=copied))
        if number < 3:
            map_ = {"type": "map", "title": f"Map {number}"}
            facts.upsert_artifacts(runs[-1].id, [map_, {"type": "list", "title": f"List {number}"}])
            runs[-1] = (
                facts.commit_run(runs[-1].id, allow_drop=True) if number < 2 else facts.fetch_run_by_id(runs[-1].id)
            )
    owned, in_force, draft, copy = runs

    assert facts.list_runs_for_scope("atlas") == [copy, draft, in_force, owned]
    assert facts.list_runs_for_scope("atlas", "ben") == [copy, draft, in_force]
    assert facts.get_latest_run_for_scope("atlas") == copy
    assert facts.get_latest_run_for_scope("atlas", status=RunStatus.COMMITTED) == in_force
    assert facts.get_latest_run_for_scope("atlas", status="partial_committed", prefer_committed=True) is None
    assert facts.get_latest_run_for_scope("atlas", prefer_committed=True) == in_force
    assert facts.fetch_latest_committed_run("atlas", "ben") == in_force
    clock.move(minutes=1)
    draft = facts.update_draft_run(draft.id, ownership="owned")
    assert (facts.get_latest_run_for_scope("atlas"), draft.user_id) == (draft, "ada")

    def title(run_id: str, type_: str = "map") -> str | None:
        found = facts.get_latest_artifact_by_type(run_id, type_)
        return found.title if found else None

    assert [title(run.id) for run in runs] == ["Map 0", "Map 1", "Map 2", "Map 1"]
    assert title(copy.id, "none") is None
    latest = facts.get_latest_artifact_for_scope_by_type("atlas", "map")
    assert latest is not None
    assert (latest.title, latest.run_id) == ("Map 2", draft.id)
    assert facts.get_latest_artifact_for_scope_by_type("atlas", "none") is None

    facts.discard_run(draft.id)
    facts.delete_run(in_force.id)
    assert facts.get_latest_committed_run_for_scope("atlas") == owned
    assert error_of(lambda: facts.fetch_run_by_id(in_force.id)) == "not_found"
    assert facts.list_runs_for_scope("atlas") == [copy, owned]


def test_what_an_agent_infers_waits_beside_what_a_person_said(ada: Session) -> None:
    run = ada.context.create_draft_run("atlas")
    size = {"pointer": "/site/size", "label": "Size", "valueKind": "number", "value": 5}
    ada.context.upsert_inputs(run.id, [size])
    agent = Session(ada.store, local_actor("scout", kind=ActorKind.AGENT)).context

    edited = agent.upsert_inputs(run.id, [{**size, "value": 6}])

    assert [one.pointer for one in edited.suggested] == ["/site/size"]
    view = agent.get_context_view_for_skill("atlas", run_id=run.id)
    assert view.inputs_by_pointer["/site/size"].value_number == 5


def test_a_scope_is_begun_and_its_members_are_known_by_its_name(engine: Engine) -> None:
    begun = engine.session("ada").context.pciv_bootstrap_scope("atlas")
    facts = engine.session(person("ada")).context

    added = facts.upsert_scope_member(begun.project_id, "ben", Role.EDITOR)

    assert isinstance(added, PcivScopeMemberV1)
    assert (added.scope_id, added.user_id, added.role, added.created_by) == ("atlas", "ben", Role.EDITOR, "ada")
    facts.upsert_scope_member("atlas", "ben", "viewer")
    assert [(one.scope_id, one.user_id, one.role) for one in facts.list_scope_members(begun.project_id)] == [
        ("atlas", "ada", Role.OWNER),
        ("atlas", "ben", Role.VIEWER),
    ]
    assert facts.fetch_run_by_id(str(begun.run_id)).status is RunStatus.DRAFT
    ben = engine.session(person("ben")).context
    assert ben.list_runs_for_scope("atlas") == facts.list_runs_for_scope("atlas")
    assert error_of(lambda: ben.create_draft_run("atlas")) == "forbidden"
    facts.remove_scope_member("atlas", "ben")
    assert error_of(lambda: ben.list_runs_for_scope("atlas")) == "not_found"
    assert error_of(lambda: facts.remove_scope_member("atlas", "ada")) == "pciv_scope_members_last_owner_forbidden"
    assert error_of(lambda: facts.pciv_bootstrap_scope("atlas", create_draft_run=False)) == (
        "pciv_scope_already_initialized"
    )


# --- Errors and newcomers ---


def test_who_opens_a_plan_without_an_actor_is_asked_for_one(tmp_path: Path) -> None:
    with groundplan.open(str(tmp_path / "plan.db"), actor=None) as plan:
        raised(PcivAuthRequiredError, lambda: plan.context.resolve_context_view("atlas"))
        raised(Unauthenticated, lambda: plan.call("project.list"))


def test_the_adapter_raises_the_contract_s_classes_each_also_an_error_of_its_family(engine: Engine) -> None:
    ada, ben = engine.session("ada"), Session(engine.store, person("ben"))
    run = ada.context.create_draft_run("atlas")
    ada.context.upsert_scope_member("atlas", "ben", "viewer")

    nobody = raised(PcivAuthRequiredError, lambda: Session(engine.store, None).context.create_draft_run("atlas"))
    viewer = raised(PcivRlsDeniedError, lambda: ben.context.commit_run(run.id))
    hidden = raised(PcivRlsDeniedError, lambda: ben.context.resolve_context_view("borealis"))
    misplaced = {"pointer": "/a", "label": "a", "valueKind": "number", "valueString": "x"}
    broken = raised(PcivRuntimeInvariantError, lambda: ada.context.upsert_inputs(run.id, [misplaced]))

    families = {Unauthenticated: nobody, Forbidden: viewer, NotFound: hidden, RuleViolated: broken}
    assert all(isinstance(error, family) for family, error in families.items())
    assert [error.code for error in families.values()] == [
        *("unauthenticated", "forbidden", "not_found", "pciv_v1_runtime_invariant_failed")
    ]
    assert viewer.details["role"] == "viewer"
    assert "borealis" in str(hidden)


def raised(expected: type[Exception], call: Callable[[], object]) -> Any:
    with pytest.raises(expected) as refused:
        call()
    return refused.value


def test_whom_the_organization_knows_may_bootstrap_a_scope_of_their_own(engine: Engine) -> None:
    ada = Session(engine.store, person("ada"))
    engine.session("ada").context.create_draft_run("atlas")
    for name in ("ben", "cleo"):
        ada.context.upsert_scope_member("atlas", name, "viewer")
    ada.context.remove_scope_member("atlas", "cleo")
    ben, cleo = Session(engine.store, person("ben")), Session(engine.store, person("cleo"))

    scope = ben.context.pciv_bootstrap_scope("his own")
    run = cleo.context.create_draft_run("her own")

    assert (scope.role, run.user_id) == (Role.OWNER, "cleo")
    assert [(one.user_id, one.role) for one in cleo.context.list_scope_members("her own")] == [("cleo", Role.OWNER)]
    with pytest.raises(PcivRlsDeniedError):
        ben.context.list_scope_members("her own")
    with pytest.raises(PcivRlsDeniedError):
        Session(engine.store, person("mallory")).context.pciv_bootstrap_scope("theirs")
