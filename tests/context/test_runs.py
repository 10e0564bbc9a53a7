"""A run is created, committed once in full or in part, copied, compared, and deleted by an owner."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Conflict, Invalid, NotFound, RuleViolated
from groundplan.session import Session
from tests.context.client import NOWHERE, ContextClient
from tests.context.conftest import ADA, begin_draft
from tests.engines import Engine, fill_once, person
from tests.errors import error_of
from tests.manual_clock import ManualClock


def fill(engine: Engine) -> dict[str, str]:
    """Create a draft with one row of each kind and return the ids of the client."""
    desk = ContextClient(Session(engine.store_with_clock(ManualClock()), ADA), ids=begin_draft(engine))
    desk.source("survey", excerpt="5,000 ha", rawMeta={"pages": 3})
    desk.write("/site/location", valueKind="string", required=True, domain="site")
    desk.write("/site/size", 5000, sourceIds=["survey"], evidenceSnippet="5,000 ha")
    desk.write("/site/notes", "")
    desk.write("/site/access", "unknown", valueKind="enum", options=["road", "unknown"])
    desk.constrain("max_cost", 9, sourceId=desk["survey"])
    desk.edit(artifacts=[{"type": "plan", "title": "First", "payload": {"steps": []}}])
    desk.agent.write("/site/notes", "near the river", rationale="on the map")
    return desk.ids


@pytest.fixture
def filled_draft(engine: Engine, clock: ManualClock) -> ContextClient:
    """A draft with inputs that are set, unset and required, empty, source-backed, and with a waiting suggestion."""
    ids = fill_once(engine, fill)
    return ContextClient(Session(engine.store_with_clock(clock), ADA), ids={**ids})


def test_a_draft_is_empty_and_belongs_to_whoever_began_it_unless_it_is_shared(client: ContextClient) -> None:
    view = client.view()
    shared = client.call("context.create_draft", scopeId="atlas", ownership="shared").run

    assert (view.run.status, view.run.user_id, view.run.committed_at, view.run.allow_partial) == (
        "draft",
        "ada",
        None,
        False,
    )
    assert (view.sources_by_id, view.inputs_by_pointer, view.constraints, view.artifacts_by_type) == ({}, {}, [], {})
    assert (shared.user_id, shared.scope_id) == (None, "atlas")


def test_rights_come_from_membership_and_not_from_ownership(client: ContextClient) -> None:
    client.by("ben", ActorKind.PERSON).write("/a", 1)
    assert client.input("/a").value_number == 1


def test_a_whole_commit_without_what_is_required_is_refused_and_names_it(filled_draft: ContextClient) -> None:
    error = error_of(filled_draft.commit)

    assert (isinstance(error, RuleViolated), error.code) == (True, "required_inputs_unset")
    assert error.details["pointers"] == ["/site/location"]
    assert filled_draft.view().run.status == "draft"
    (step,) = error.next_steps
    assert filled_draft.call(step.operation, **step.arguments).run.status == "partial_committed"


def test_a_partial_commit_keeps_what_is_missing_in_sight(filled_draft: ContextClient) -> None:
    done = filled_draft.commit(allowPartial=True)
    view = filled_draft.view_in_force()

    assert (done.run.status, done.run.allow_partial, done.missing) == ("partial_committed", True, ["/site/location"])
    assert done.warnings == view.warnings
    assert (view.run, view.missing) == (done.run, ["/site/location"])
    assert "/site/location" in view.inputs_by_pointer
    assert any("/site/location" in warning for warning in view.warnings)


def test_a_commit_that_may_be_partial_is_partial_even_when_nothing_is_missing(filled_draft: ContextClient) -> None:
    filled_draft.write("/site/location", "Hamburg")
    done = filled_draft.commit(allowPartial=True)
    assert (done.run.status, done.missing) == ("partial_committed", [])


def test_a_whole_commit_lacks_nothing(filled_draft: ContextClient, clock: ManualClock) -> None:
    filled_draft.write("/site/location", "")  # the empty text is a value
    clock.move(minutes=1)
    done = filled_draft.commit()
    assert (done.run.status, done.run.allow_partial, done.missing) == ("committed", False, [])
    assert done.run.committed_at == done.run.updated_at == "2026-03-01T09:01:00.000Z"


def test_what_is_backed_names_its_source_at_the_latest_when_it_is_committed(client: ContextClient) -> None:
    client.write("/a", 1, provenance="source-backed")
    client.write("/unset", valueKind="number", provenance="source-backed")
    client.constrain("k", 1, provenance="source-backed")
    client.constrain("l", valueKind="number", provenance="source-backed")
    lacking = {"pointers": ["/a", "/unset"], "keys": ["k", "l"]}

    assert client.view().warnings[1:] == [
        "source-backed, but without a source: /a, /unset, k, l; a commit needs one for each"
    ]
    for partial_too in (False, True):
        error = error_of(partial(client.commit, allowPartial=partial_too))
        assert (error.code, error.details) == ("source_missing", lacking)
    survey = client.source("survey")
    client.edit(
        links=[{"pointer": "/a", "sourceId": survey}, {"constraint": "k", "sourceId": survey}],
        inputs=[{"pointer": "/unset", "provenance": "unknown"}],
        constraints=[{"key": "l", "provenance": "unknown"}],
    )
    assert len(client.view().warnings) == 1
    assert client.commit().run.status == "committed"


def test_a_committed_run_never_changes_again(filled_draft: ContextClient) -> None:
    waiting = filled_draft.suggestions()[0].id
    filled_draft.commit(allowPartial=True)
    final = filled_draft.run
    filled_draft.draft()
    filled_draft.commit(allowPartial=True)
    filled_draft.ids["run"] = final
    before = encode(filled_draft.view())

    for call in (
        partial(filled_draft.edit, inputs=[{"pointer": "/site/size", "value": 1}]),
        partial(filled_draft.edit, inputs=[{"pointer": "/new", "label": "n", "value": 1}]),
        partial(filled_draft.edit, sources=[{"kind": "url", "title": "t", "uri": "u"}]),
        partial(filled_draft.edit, unlinks=[{"pointer": "/site/size", "sourceId": filled_draft["survey"]}]),
        partial(filled_draft.edit, accept=[waiting]),
        partial(filled_draft.commit),
        partial(filled_draft.commit, allowPartial=True),
        partial(filled_draft.call, "context.discard", runId=filled_draft.run),
        partial(filled_draft.call, "context.update_draft", runId=filled_draft.run),
    ):
        error = error_of(call)
        assert (isinstance(error, Conflict), error.code) == (True, "frozen")
    assert encode(filled_draft.view()) == before


def content_by_name(view: Any) -> Any:
    """Return the content of a view, with ids of the run replaced by names."""
    rows = msgspec.to_builtins(view)
    named = {one["id"]: one["uri"] for one in rows["sourcesById"].values()}
    named |= {one["id"]: one["pointer"] for one in rows["inputsByPointer"].values()}
    named |= {one["id"]: one["key"] for one in rows["constraints"]}
    named |= {one["id"]: one["title"] for kind in rows["artifactsByType"].values() for one in kind}
    named |= {one["id"]: one["pointer"] or one["key"] for one in rows.get("suggestions", ())}
    for row in (*rows["sourcesById"].values(), *(one for kind in rows["artifactsByType"].values() for one in kind)):
        del row["originId"]  # only a copy has one
    text = encode({name: rows[name] for name in rows if name not in ("run", "rev", "contextVersionId", "warnings")})
    for id_, name in named.items():
        text = text.replace(id_.encode(), name.encode())
    found = msgspec.json.decode(text.replace(rows["run"]["id"].encode(), b"run"))
    found["suggestions"] = sorted(found.get("suggestions", ()), key=lambda one: one["pointer"] or one["key"])
    found["constraints"].sort(key=lambda one: one["key"])
    return found


@pytest.mark.parametrize("copied", ["latest", "by its id", "a draft"])
def test_a_copy_is_the_same_in_every_field_and_shares_no_row(
    filled_draft: ContextClient, clock: ManualClock, copied: str
) -> None:
    origin = filled_draft.run
    if copied != "a draft":
        filled_draft.commit(allowPartial=True)
    before = filled_draft.view()
    clock.move(days=1)

    filled_draft.draft(copyFrom="latest" if copied == "latest" else origin)

    after = filled_draft.view()
    assert content_by_name(after) == content_by_name(before)
    ids = [set(encode(view).decode().split('"')) & {*view.sources_by_id} for view in (before, after)]
    assert not ids[0] & ids[1]
    filled_draft.write("/site/size", 1, provenance="user-entered")
    filled_draft.edit(accept=[filled_draft.suggestions()[0].id])
    assert filled_draft.view(runId=origin) == before


def test_only_a_run_of_this_scope_can_be_copied(client: ContextClient) -> None:
    other = ContextClient(client.session, "borealis")
    theirs = other.draft()

    for copied in (theirs, NOWHERE):
        error = error_of(partial(client.draft, copyFrom=copied))
        assert (isinstance(error, NotFound), error.code) == (True, "not_found")
    assert error_of(partial(client.draft, copyFrom="newest")).code == "invalid_id"


def test_a_draft_in_a_scope_that_is_not_there_begins_the_scope(client: ContextClient) -> None:
    other = ContextClient(client.session, "borealis")
    other.draft()

    assert [(one.user_id, one.role) for one in other.call("member.list", scopeId="borealis").members] == [
        ("ada", "owner")
    ]
    assert other.call("work.open", project="borealis").summary.total == 1
    assert error_of(partial(other.call, "context.create_draft", scopeId="x" * 201)).code == "pciv_scope_id_too_long"
    assert error_of(partial(other.call, "context.create_draft", scopeId="new", copyFrom=NOWHERE)).code == "not_found"
    assert error_of(partial(other.call, "project.archive", project="new")).code == "not_found"


def test_a_draft_that_is_discarded_is_gone_with_everything_in_it(engine: Engine, filled_draft: ContextClient) -> None:
    run = filled_draft.run
    assert filled_draft.call("context.discard", runId=run).discarded == run

    assert isinstance(error_of(filled_draft.view), NotFound)
    tables = ("runs", "sources", "inputs", "input_sources", "constraints", "artifacts", "suggestions")
    assert [engine.as_owner(f"SELECT count(*) FROM pciv_{table}")[0][0] for table in tables] == [0] * 7


def test_a_committed_run_that_is_deleted_is_out_of_view_and_stays_as_it_was(
    engine: Engine, filled_draft: ContextClient, clock: ManualClock
) -> None:
    first = filled_draft.run
    filled_draft.commit(allowPartial=True)
    clock.move(minutes=1)
    filled_draft.draft(copyFrom="latest")
    filled_draft.commit(allowPartial=True)
    rows = engine.as_owner("SELECT id, pointer FROM pciv_inputs ORDER BY id")

    assert filled_draft.call("context.delete", runId=filled_draft.run).deleted == filled_draft.run

    assert filled_draft.view_in_force().run.id == first
    assert [run.id for run in filled_draft.call("context.list", scopeId="atlas").runs] == [first]
    assert engine.as_owner("SELECT id, pointer FROM pciv_inputs ORDER BY id") == rows
    for call in (
        filled_draft.view,
        filled_draft.commit,
        partial(filled_draft.edit, inputs=[{"pointer": "/a", "value": 1}]),
        partial(filled_draft.draft, copyFrom=filled_draft.run),
        partial(filled_draft.call, "context.delete", runId=filled_draft.run),
        partial(filled_draft.call, "context.fetch_run", runId=filled_draft.run),
        partial(filled_draft.call, "context.diff", **{"from": first, "to": filled_draft.run}),
    ):
        assert isinstance(error_of(call), NotFound)
    filled_draft.call("context.delete", runId=first)
    assert error_of(filled_draft.view_in_force).code == "no_context"


def test_runs_are_listed_newest_first_and_none_is_missed_between_two_pages(
    client: ContextClient, clock: ManualClock
) -> None:
    first = client.run
    others = []
    for ownership in ("shared", "owned", "owned"):
        clock.move(minutes=1)
        others.append(client.by("ben", ActorKind.PERSON).draft(ownership=ownership))
    client.ids["run"] = others[0]
    clock.move(minutes=1)
    client.commit()
    order = [*reversed(others), first]

    def listed(**given: Any) -> list[str]:
        return [run.id for run in client.call("context.list", scopeId="atlas", **given).runs]

    assert listed() == order
    assert listed(userId="ada") == [others[0], first]
    assert listed(status="draft") == [others[2], others[1], first]
    pages, cursor = [], None
    while True:
        page = client.call("context.list", scopeId="atlas", limit=1, cursor=cursor)
        pages += [run.id for run in page.runs]
        clock.move(minutes=1)
        client.call("context.update_draft", runId=first)  # a run that changes meanwhile keeps its position in the list
        if page.next_cursor is msgspec.UNSET:
            break
        cursor = page.next_cursor
    assert pages == order
    assert error_of(partial(listed, cursor="x")).code == "invalid_cursor"


def test_a_draft_becomes_shared_and_somebodys_own_again(client: ContextClient, clock: ManualClock) -> None:
    clock.move(minutes=1)
    shared = client.call("context.update_draft", runId=client.run, ownership="shared")
    own = client.by("ben", ActorKind.PERSON).call("context.update_draft", runId=client.run, ownership="owned")

    assert (shared.run.user_id, shared.rev, shared.run.updated_at) == (None, 2, "2026-03-01T09:01:00.000Z")
    assert (own.run.user_id, own.rev) == ("ben", 3)


def test_a_diff_says_by_pointer_what_became_of_every_fact(filled_draft: ContextClient, clock: ManualClock) -> None:
    before = filled_draft.run
    filled_draft.write("/gone", 1)
    filled_draft.write("/cleared", 2)
    filled_draft.write("/relabelled", 2)
    filled_draft.write("/moved", "x", provenance="model-inferred")
    filled_draft.write("/linked", 3)
    filled_draft.constrain("twice", 2)
    filled_draft.draft(copyFrom=before)
    after = filled_draft.run
    filled_draft.source("permit")
    filled_draft.write("/site/location", "Hamburg")
    filled_draft.write("/site/size", 4800, provenance="user-entered", sourceIds=["permit"])
    filled_draft.write("/cleared", None)
    filled_draft.write("/relabelled", label="Another")
    filled_draft.write("/moved", provenance="user-entered")
    filled_draft.write("/linked", sourceIds=["permit"])
    filled_draft.write("/new", 1)
    filled_draft.write("/asked", valueKind="number")
    filled_draft.edit(constraints=[{"key": "twice", "value": 3}])
    filled_draft.constrain("fresh", "x")

    found = filled_draft.call("context.diff", **{"from": before, "to": after})

    survey, permit = "https://example.org/survey", "https://example.org/permit"
    changes = {one.pointer: (one.change.value, [also.value for also in one.also or ()]) for one in found.inputs}
    assert changes == {
        "/asked": ("added", []),
        "/cleared": ("cleared", []),
        "/linked": ("sources_added", []),
        "/moved": ("provenance_moved", []),
        "/new": ("set", ["added"]),
        "/relabelled": ("redefined", []),
        "/site/location": ("set", ["provenance_moved"]),
        "/site/size": ("changed", ["provenance_moved", "sources_added", "sources_removed"]),
    }
    (size,) = [one for one in found.inputs if one.pointer == "/site/size"]
    assert (size.before.value, size.before.provenance, size.before.sources) == (5000, "source-backed", [survey])
    assert (size.after.value, size.after.provenance, size.after.sources) == (4800, "user-entered", [permit])
    assert [(one.key, one.change.value) for one in found.constraints] == [("fresh", "set"), ("twice", "changed")]
    assert [(one.uri, one.change.value) for one in found.sources] == [(permit, "added")]

    back = filled_draft.call("context.diff", **{"from": after, "to": before, "pointers": ["/site", "/new"]})
    assert [(one.pointer, one.change.value) for one in back.inputs] == [
        ("/new", "removed"),
        ("/site/location", "cleared"),
        ("/site/size", "changed"),
    ]
    same = filled_draft.call("context.diff", **{"from": after, "to": after})
    assert (same.inputs, same.constraints, same.sources) == ([], [], [])


def test_two_runs_of_two_scopes_are_not_compared(client: ContextClient) -> None:
    theirs = ContextClient(client.session, "borealis").draft()
    error = error_of(partial(client.call, "context.diff", **{"from": client.run, "to": theirs}))
    assert (isinstance(error, Invalid), error.code) == (True, "mixed_projects")


@pytest.mark.parametrize("copied", ["latest", "none", NOWHERE])
def test_a_draft_in_a_scope_of_others_is_refused_as_every_other_call_about_it(
    engine: Engine, client: ContextClient, copied: str
) -> None:
    engine.session("mallory").call("project.create", name="mallory's own")  # so that she is in the organization
    mallory = engine.session(person("mallory"))

    hidden = error_of(partial(mallory.call, "context.create_draft", scopeId=client.scope, copyFrom=copied))
    listed = error_of(partial(mallory.call, "context.list", scopeId=client.scope))

    assert isinstance(hidden, NotFound)
    assert (hidden.code, hidden.message, hidden.details) == (listed.code, listed.message, listed.details)
