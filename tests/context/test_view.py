"""The resolver is the only way to read facts: one run, one snapshot, one order, and only what is valid."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from groundplan import providers
from groundplan.context.refusals import Invariant, check_view
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from tests.context.client import NOWHERE, ContextClient
from tests.engines import Engine, person
from tests.errors import error_of
from tests.manual_clock import ManualClock


def test_nothing_is_in_force_before_the_first_commit(client: ContextClient) -> None:
    error = error_of(client.view_in_force)

    assert (isinstance(error, NotFound), error.code) == (True, "no_context")
    assert "PCIV" not in error.message


def call_next(client: ContextClient, error: GroundplanError) -> Any:
    """Make the only call that an error suggests."""
    (step,) = error.next_steps
    return client.call(step.operation, **step.arguments)


def test_where_nothing_is_in_force_the_next_step_shows_a_draft_of_mine_first(
    client: ContextClient, clock: ManualClock
) -> None:
    mine = client.run
    clock.move(minutes=1)
    ContextClient(client.by("ben").session).draft()

    assert call_next(client, error_of(client.view_in_force)).run.id == mine
    assert call_next(client.by("cleo"), error_of(client.by("cleo").view_in_force)).run.id != mine
    named = partial(client.view, runId=mine, prefer="latest_commit")
    assert call_next(client.by("cleo"), error_of(named)).run.id == mine


def test_where_there_is_no_draft_the_next_step_begins_one_for_those_who_may(client: ContextClient) -> None:
    client.call("context.discard", runId=client.run)
    cleo = client.by(person("cleo"))
    client.call("member.add", scopeId="atlas", userId="cleo", role="viewer")

    assert error_of(cleo.view_in_force).next_steps == ()
    assert call_next(client, error_of(client.view_in_force)).run.status == "draft"


def test_a_user_without_a_commit_of_their_own_is_shown_the_way_to_the_facts_in_force(client: ContextClient) -> None:
    client.commit()

    error = error_of(partial(client.call, "context.view", scopeId="atlas", userId="ben"))
    assert (error.code, call_next(client, error).run.id) == ("no_context", client.run)


def test_the_latest_commit_is_in_force_whole_or_partial(client: ContextClient, clock: ManualClock) -> None:
    runs = []
    for partially in (False, True, False, True):
        client.commit(allowPartial=partially)
        runs.append(client.run)
        clock.move(minutes=1)
        client.draft()
    assert client.view_in_force().run.id == runs[-1]


@pytest.mark.parametrize("step_s", [0, -1, -3600, -20 * 365 * 86400])
def test_the_last_commit_is_in_force_whatever_the_clock_says(
    client: ContextClient, clock: ManualClock, step_s: int
) -> None:
    runs, times = [], []
    for _ in range(3):
        client.commit()
        runs.append(client.run)
        times.append(str(client.view_in_force().run.committed_at))
        client.draft()
        clock.move(seconds=step_s)
    assert client.view_in_force().run.id == runs[-1]
    assert times == sorted(set(times))


def test_a_run_that_is_named_is_shown_and_a_preference_for_the_latest_is_honoured(
    client: ContextClient, clock: ManualClock
) -> None:
    first = client.run
    client.commit()
    clock.move(minutes=1)
    second = client.draft()
    client.commit()
    draft = client.draft()

    assert client.view_in_force(runId=first).run.id == first
    assert client.view_in_force(runId=first, prefer="runId").run.id == first
    assert client.view_in_force(runId=draft.replace("-", "")).run.id == draft
    assert client.view_in_force(runId=first, prefer="latest_commit").run.id == second
    assert client.view_in_force(prefer="latest_commit").run.id == second
    assert isinstance(error_of(partial(client.view_in_force, prefer="runId")), Invalid)


def test_runs_of_other_scopes_are_not_there(client: ContextClient) -> None:
    other = ContextClient(client.session, "borealis")
    theirs = other.draft()
    other.commit()

    for run in (theirs, NOWHERE):
        for prefer in ("runId", "latest_commit", None):
            assert isinstance(error_of(partial(client.view_in_force, runId=run, prefer=prefer)), NotFound)
    assert error_of(client.view_in_force).code == "no_context"


def test_one_users_facts_are_their_own_and_the_shared_ones(client: ContextClient, clock: ManualClock) -> None:
    from groundplan.kernel.actors import ActorKind

    shared = client.draft(ownership="shared")
    client.commit()
    clock.move(minutes=1)
    bens = client.by("ben", ActorKind.PERSON).draft()
    client.commit()

    assert client.view_in_force().run.id == client.view_in_force(userId="ben").run.id == bens
    assert client.view_in_force(userId="ada").run.id == shared


def test_the_version_of_the_facts_is_since_when_they_are_as_they_are(client: ContextClient, clock: ManualClock) -> None:
    clock.move(minutes=1)
    client.write("/a", 1)
    assert client.view().context_version_id == "2026-03-01T09:01:00.000Z"
    clock.move(minutes=1)
    client.commit()
    assert client.view().context_version_id == "2026-03-01T09:02:00.000Z"


def test_everything_in_a_view_has_an_order_and_the_same_facts_give_the_same_bytes(client: ContextClient) -> None:
    for name in ("b", "a", "c"):
        client.source(name)
    client.edit(
        inputs=[
            {"pointer": p, "label": p, "value": 1, "required": True} for p in ("/é", "/b", "/a/b", "/a", "/a-b", "/Z")
        ],
        constraints=[{"key": k, "label": k, "value": 1} for k in ("b", "a", "B")],
        artifacts=[{"type": t, "title": t} for t in ("plan", "map", "plan")],
    )
    view = client.view()

    assert list(view.sources_by_id) == sorted(view.sources_by_id)
    assert list(view.inputs_by_pointer) == ["/Z", "/a", "/a-b", "/a/b", "/b", "/é"]
    assert [one.key for one in view.constraints] == ["B", "a", "b"]
    assert list(view.artifacts_by_type) == ["map", "plan"]
    plans = view.artifacts_by_type["plan"]
    assert [one.id for one in plans] == sorted(one.id for one in plans)
    assert encode(view) == encode(client.view())


def test_what_is_required_and_unset_is_missing_in_order(client: ContextClient) -> None:
    rows: list[dict[str, Any]] = [
        {"pointer": "/c", "required": True, "valueKind": "string"},
        {"pointer": "/a", "required": True, "valueKind": "json", "provenance": "model-inferred"},
        {"pointer": "/empty", "required": True, "value": ""},
        {"pointer": "/no", "required": True, "value": False},
        {"pointer": "/zero", "required": True, "value": 0},
        {"pointer": "/list", "required": True, "value": []},
        {"pointer": "/optional", "valueKind": "string"},
    ]
    client.edit(inputs=[{"label": "x", **row} for row in rows])
    assert client.view().missing == ["/a", "/c"]


def test_a_view_is_narrowed_to_what_lies_at_or_below_some_pointers(client: ContextClient) -> None:
    survey, permit = client.source("survey"), client.source("permit")
    for pointer in ("/site", "/site/size", "/siteplan", "/cost"):
        client.write(pointer, 1, provenance="user-entered", sourceIds=["survey" if "site" in pointer else "permit"])
    client.write("/site/name", valueKind="string", required=True)
    client.write("/cost/name", valueKind="string", required=True)
    client.agent.write("/cost", 2)

    view = client.view(pointers=["/site"])

    assert list(view.inputs_by_pointer) == ["/site", "/site/name", "/site/size"]
    assert (list(view.sources_by_id), view.missing, view.suggestions) == ([survey], ["/site/name"], msgspec.UNSET)
    assert list(client.view(pointers=["/cost/", "/siteplan"]).inputs_by_pointer) == ["/cost/name", "/siteplan"]
    assert permit in client.view(pointers=["/cost"]).sources_by_id
    assert error_of(partial(client.view, pointers=["cost"])).code == "invalid_pointer"


def join_pages(pages: list[Any]) -> dict[str, Any]:
    """Return the pages joined."""
    first, *others = (msgspec.to_builtins(page) for page in pages)
    for page in others:
        for name in ("sourcesById", "inputsByPointer"):
            first[name] |= page[name]
        for name in ("missing", "constraints", "warnings"):
            first[name] += page[name]
        for kind, artifacts in page["artifactsByType"].items():
            first["artifactsByType"].setdefault(kind, []).extend(artifacts)
        if "suggestions" in page:
            first["suggestions"] = [*first.get("suggestions", ()), *page["suggestions"]]
    return {name: value for name, value in first.items() if name not in ("left_out", "next_cursor")}


def test_pages_that_keep_the_cap_are_the_whole_view_when_put_together(
    client: ContextClient, clock: ManualClock
) -> None:
    for name in ("survey", "permit", "map"):
        client.source(name)
    client.edit(
        inputs=[{"pointer": f"/{n:02}", "label": "x" * n, "value": "é" * n, "required": True} for n in range(1, 30)]
        + [{"pointer": f"/unset/{n}", "label": "u", "valueKind": "json", "required": True} for n in range(9)],
        constraints=[{"key": f"k{n}", "label": "k", "value": n} for n in range(9)],
        artifacts=[{"type": f"t{n % 2}", "title": "t", "payload": {"n": n}} for n in range(5)],
    )
    for n in range(1, 4):
        client.agent.write(f"/{n:02}", "other")
    client.commit(allowPartial=True)
    whole = msgspec.to_builtins(client.view_in_force())
    capped = ContextClient(
        Session(client.session.store, client.session.actor, preferences=Preferences(answer_tokens_max=900)),
        ids=client.ids,
    )

    pages = [capped.view_in_force()]
    clock.move(minutes=1)
    client.draft(copyFrom="none")
    client.commit(allowDrop=True)  # another run is in force now; the pages stay with the run they began with
    while pages[-1].next_cursor is not msgspec.UNSET:
        pages.append(capped.view_in_force(cursor=pages[-1].next_cursor))

    assert len(pages) > 5
    assert all(count_tokens(encode(page)) <= 900 for page in pages)
    assert join_pages(pages) == whole
    parts = {"missing": "missing", "sourcesById": "sources", "inputsByPointer": "inputs", "constraints": "constraints"}
    for place, page in enumerate(pages[:-1]):
        rest = join_pages(pages[place + 1 :])
        for name, part in parts.items():
            assert (page.left_out or {}).get(part, 0) == len(rest[name])
    assert pages[-1].left_out is msgspec.UNSET
    assert (
        error_of(partial(capped.view_in_force, cursor=pages[0].next_cursor, pointers=["/01"])).code == "invalid_cursor"
    )


BROKEN: dict[str, Invariant] = {
    "UPDATE pciv_runs SET status = 'draft'": Invariant.DRAFT_AT,
    "UPDATE pciv_runs SET committed_at = NULL": Invariant.COMMITTED_AT,
    "UPDATE pciv_inputs SET value_kind = 'json'": Invariant.VALUE_COLUMNS,
    "UPDATE pciv_constraints SET value_kind = 'string'": Invariant.VALUE_COLUMNS,
    "UPDATE pciv_inputs SET provenance = 'guessed'": Invariant.SCHEMA_VALIDATION,
    "UPDATE pciv_sources SET kind = 'rumour'": Invariant.SCHEMA_VALIDATION,
    "UPDATE pciv_inputs SET options = '['": Invariant.SCHEMA_VALIDATION,
    "DELETE FROM pciv_sources": Invariant.SOURCE_REFERENCES,
}


def drop_policies(engine: Engine) -> None:
    """Drop the policies of the context tables."""
    if engine.dialect is Dialect.SQLITE:
        triggers = engine.as_owner("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name LIKE 'pciv%'")
        engine.as_owner(*(f"DROP TRIGGER {name}" for (name,) in triggers))
        return
    engine.as_owner(*(f"ALTER TABLE pciv_{table} DISABLE TRIGGER USER" for table in TABLES))
    rules = engine.as_owner(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE conrelid::regclass::text LIKE 'pciv%' "
        "AND contype IN ('c', 'f')"
    )
    engine.as_owner(*(f"ALTER TABLE {table} DROP CONSTRAINT {name}" for table, name in rules))


TABLES = ("runs", "inputs", "constraints", "sources")
UNCHECKED = ("PRAGMA foreign_keys = OFF", "PRAGMA ignore_check_constraints = ON")


def test_a_view_of_facts_that_something_else_tampered_with_is_refused_by_name(
    engine: Engine, client: ContextClient
) -> None:
    client.source("survey")
    client.write("/a", 1, sourceIds=["survey"])
    client.constrain("k", 1)
    client.commit()
    drop_policies(engine)
    off = UNCHECKED if engine.dialect is Dialect.SQLITE else ()
    engine.as_owner(*(f"CREATE TABLE kept_{table} AS SELECT * FROM pciv_{table}" for table in TABLES))

    for statement, invariant in BROKEN.items():
        engine.as_owner(*off, statement)
        error = error_of(client.view)
        assert (error.code, error.details["invariantName"]) == ("pciv_v1_runtime_invariant_failed", invariant)
        undone = (s for t in TABLES for s in (f"DELETE FROM pciv_{t}", f"INSERT INTO pciv_{t} SELECT * FROM kept_{t}"))
        engine.as_owner(*off, *undone)
    assert client.view_in_force().run.id == client.run


def test_keys_of_a_view_that_do_not_fit_are_refused_by_name(client: ContextClient) -> None:
    client.source("survey")
    client.write("/a", 1)
    view = client.view()

    for name, invariant in (("sources_by_id", Invariant.SOURCE_KEYS), ("inputs_by_pointer", Invariant.INPUT_KEYS)):
        rows = getattr(view, name)
        broken = msgspec.structs.replace(view, **{name: {"/else": next(iter(rows.values()))}})
        error = error_of(partial(check_view, broken))
        assert error.details["invariantName"] == invariant


def test_the_gates_learn_which_facts_are_in_force_and_what_these_lack(
    client: ContextClient, clock: ManualClock
) -> None:
    def in_force() -> providers.ContextInForce | None:
        def ask(tx: Transaction) -> providers.ContextInForce | None:
            tx.set_project(authorize_project(tx, "atlas", Permission.CONTEXT_READ))
            return providers.find_context_in_force(tx)

        return client.session.store.read(client.session.actor, ask)

    assert in_force() is None
    client.write("/a", valueKind="string", required=True)
    client.commit(allowPartial=True)
    moment = "2026-03-01T09:00:00.000Z"
    assert in_force() == providers.ContextInForce(client.run, True, moment, ["/a"])
    clock.move(minutes=1)
    client.draft(copyFrom="latest")
    client.write("/a", "x")
    client.commit()
    assert in_force() == providers.ContextInForce(client.run, False, "2026-03-01T09:01:00.000Z", [])
