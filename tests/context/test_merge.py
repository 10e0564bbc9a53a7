"""No fact is lost by a commit: drafts begin with the facts in force, and a commit keeps what others committed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Conflict, Invalid
from tests.context.client import NOWHERE, ContextClient, value_of
from tests.errors import error_of
from tests.manual_clock import ManualClock


@pytest.fixture
def ada(client: ContextClient, clock: ManualClock) -> ContextClient:
    """Ada, whose facts are in force: two inputs, a constraint, two sources and an artifact."""
    client.source("survey")
    client.source("permit")
    client.write("/lim", 1, sourceIds=["survey"])
    client.write("/cur", 1)
    client.constrain("max", 9, sourceId=client["permit"])
    client.edit(artifacts=[{"type": "map", "title": "Map", "payload": {"scale": 1}}])
    client.commit()
    clock.move(minutes=1)
    return client


def second_client(client: ContextClient, name: str = "ben") -> ContextClient:
    """Return a client of another person, with a draft of their own."""
    other = client.by(name, ActorKind.PERSON)
    other.ids = {}
    other.draft()
    return other


def values_in_force(client: ContextClient) -> dict[str, Any]:
    view = client.view_in_force()
    values = {pointer: value_of(row) for pointer, row in view.inputs_by_pointer.items()}
    return values | {f"constraint:{row.key}": value_of(row) for row in view.constraints}


def source_titles(client: ContextClient) -> list[str]:
    return sorted(source.title for source in client.view_in_force().sources_by_id.values())


# --- Beginning ---


def test_a_draft_begins_as_a_copy_of_the_run_in_force(ada: ContextClient) -> None:
    first = ada.run

    begun = ada.call("context.create_draft", scopeId="atlas")

    assert begun.base == first
    assert list(ada.view(runId=begun.run.id).inputs_by_pointer) == ["/cur", "/lim"]


def test_a_draft_begins_empty_if_nothing_is_in_force_or_the_request_says_so(client: ContextClient) -> None:
    assert client.call("context.create_draft", scopeId="atlas", copyFrom="latest").base is None
    assert client.call("context.create_draft", scopeId="borealis").base is None
    client.write("/lim", 1)
    client.commit()

    begun = client.call("context.create_draft", scopeId="atlas", copyFrom="none")

    assert begun.base is None
    assert client.view(runId=begun.run.id).inputs_by_pointer == {}


def test_a_copy_of_a_draft_has_the_base_of_that_draft(ada: ContextClient) -> None:
    first = ada.run
    draft = ada.draft()
    ada.write("/lim", 2)

    copy = ada.call("context.create_draft", scopeId="atlas", copyFrom=draft)
    ada.ids["run"] = copy.run.id
    ada.commit()

    assert copy.base == first
    assert values_in_force(ada)["/lim"] == 2


# --- Merging ---


def test_two_drafts_that_change_different_facts_are_both_in_force_after_both_commits(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.write("/lim", 2)
    ada.constrain("max", 10)
    ada.write("/new", "a")
    ada.commit()
    ben.write("/cur", 2)
    ben.constrain("min", 1)

    committed = ben.commit()

    assert (committed.merged, committed.dropped) == (["/lim", "/new", "constraint:max"], [])
    assert values_in_force(ada) == {
        "/cur": 2,
        "/lim": 2,
        "/new": "a",
        "constraint:max": 10,
        "constraint:min": 1,
    }


def test_first_drafts_of_a_scope_are_merged_too(client: ContextClient) -> None:
    ben = second_client(client)
    client.write("/lim", 1)
    client.commit()
    ben.write("/cur", 2)

    assert ben.commit().merged == ["/lim"]
    assert values_in_force(client) == {"/cur": 2, "/lim": 1}


def test_three_drafts_from_one_base_are_all_in_force_after_their_commits(ada: ContextClient) -> None:
    others = [second_client(ada, name) for name in ("ben", "cleo", "dora")]
    for number, other in enumerate(others):
        other.write(f"/of/{number}", number)
    for other in others:
        other.commit()

    assert values_in_force(ada) == {"/cur": 1, "/lim": 1, "constraint:max": 9, "/of/0": 0, "/of/1": 1, "/of/2": 2}


def test_what_both_changed_alike_is_no_conflict(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    for client in (ada, ben):
        client.write("/lim", 2)
        client.write("/both", {"a": 1, "b": 2})
    ada.commit()

    assert ben.commit().merged == []
    assert values_in_force(ada)["/lim"] == 2


def test_what_both_changed_differently_is_refused_with_both_values_and_nothing_is_written(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.write("/lim", 2)
    ada.constrain("max", 10)
    ada.write("/cur", 1, label="Current")
    ada.commit()
    ben.write("/lim", 3)
    ben.edit(remove={"constraints": [ben.view().constraints[0].id]})
    ben.write("/cur", 1, label="Currency")
    before = ben.view()

    error = error_of(ben.commit)

    assert (isinstance(error, Conflict), error.code) == (True, "stale_base")
    assert error.details == {
        "conflicts": [
            {"pointer": "/cur", "base": 1, "theirs": 1, "mine": 1, "fields": ["label"]},
            {"pointer": "/lim", "base": 1, "theirs": 2, "mine": 3, "fields": ["value"]},
            {"pointer": "constraint:max", "base": 9, "theirs": 10, "mine": None, "removed": "mine"},
        ]
    }
    assert ben.view() == before
    assert values_in_force(ada) == {"/cur": 1, "/lim": 2, "constraint:max": 10}


@pytest.mark.parametrize(
    ("resolve", "lim", "limit"),
    [
        ({"/lim": "mine", "constraint:max": "mine"}, 3, 11),
        ({"/lim": "theirs", "max": "theirs"}, 2, 10),
        ({"/lim": "mine", "constraint:max": "theirs"}, 3, 10),
    ],
)
def test_a_conflict_is_settled_by_the_request(
    ada: ContextClient, resolve: dict[str, str], lim: int, limit: int
) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.write("/lim", 2)
    ada.constrain("max", 10)
    ada.write("/ours", 1)
    ada.commit()
    ben.write("/lim", 3)
    ben.constrain("max", 11)

    ben.commit(resolve=resolve)

    assert values_in_force(ada) == {"/cur": 1, "/lim": lim, "/ours": 1, "constraint:max": limit}


def test_a_part_of_the_conflicts_settled_leaves_the_others_refused(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.write("/lim", 2)
    ada.write("/cur", 2)
    ada.commit()
    ben.write("/lim", 3)
    ben.write("/cur", 3)

    error = error_of(partial(ben.commit, resolve={"/lim": "theirs"}, allowPartial=True))

    assert [conflict["pointer"] for conflict in error.details["conflicts"]] == ["/cur"]
    (step,) = error.next_steps
    assert ada.call(step.operation, **step.arguments).run.status == "partial_committed"
    assert values_in_force(ada) == {"/cur": 3, "/lim": 2, "constraint:max": 9}


def test_the_next_steps_of_a_commit_settle_any_number_of_conflicts_one_after_the_other(ada: ContextClient) -> None:
    pointers = [f"/f{number:02}" for number in range(25)]  # a sentence names ten
    ben = second_client(ada)
    ada.draft()
    for client, value in ((ada, 2), (ben, 3)):
        client.edit(inputs=[{"pointer": pointer, "value": value} for pointer in pointers])
    ada.commit()

    arguments: Any = {"runId": ben.run}
    for _ in range(3):
        arguments = error_of(partial(ben.call, "context.commit", **arguments)).next_steps[0].arguments
    ben.call("context.commit", **arguments)

    values = values_in_force(ada)
    assert [values[pointer] for pointer in pointers] == [3] * len(pointers)


@pytest.mark.parametrize("name", ["/cur", "/nowhere", "max"])
def test_what_is_no_conflict_cannot_be_settled(ada: ContextClient, name: str) -> None:
    ben = second_client(ada)
    assert error_of(partial(ben.commit, resolve={name: "mine"})).code == "no_conflict"
    ada.draft()
    ada.write("/lim", 2)
    ada.commit()

    error = error_of(partial(ben.commit, resolve={name: "mine"}))

    assert (isinstance(error, Invalid), error.code) == (True, "no_conflict")


def test_a_removal_in_a_copied_draft_is_explicit_and_listed(ada: ContextClient) -> None:
    survey = next(id_ for id_, source in ada.view().sources_by_id.items() if source.title == "survey")
    ada.draft()
    view = ada.view()
    copied = next(id_ for id_, source in view.sources_by_id.items() if source.title == "survey")
    (drawing,) = view.artifacts_by_type["map"]
    ada.edit(
        remove={
            "inputs": ["/lim"],
            "constraints": [view.constraints[0].id],
            "sources": [copied],
            "artifacts": [drawing.id],
        }
    )

    committed = ada.commit()

    assert committed.dropped == ["/lim", f"artifact:{drawing.origin_id}", "constraint:max", f"source:{survey}"]
    assert values_in_force(ada) == {"/cur": 1}


def test_what_one_side_removed_and_the_other_left_alone_is_gone(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.edit(remove={"inputs": ["/lim"]})
    ada.commit()
    ben.write("/cur", 2)

    committed = ben.commit()

    assert (committed.merged, committed.dropped) == (["/lim"], [])
    assert values_in_force(ada) == {"/cur": 2, "constraint:max": 9}


def test_what_one_side_removed_and_the_other_changed_is_a_conflict(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.edit(remove={"inputs": ["/lim"]})
    ada.commit()
    ben.write("/lim", 2)

    error = error_of(ben.commit)

    assert error.details["conflicts"] == [
        {"pointer": "/lim", "base": 1, "theirs": None, "mine": 2, "removed": "theirs"}
    ]
    assert ben.commit(resolve={"/lim": "theirs"}).dropped == []
    assert "/lim" not in values_in_force(ada)


# --- Sources, artifacts and suggestions ---


def test_sources_and_artifacts_of_both_sides_are_kept_once(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.source("map")
    ada.write("/size", 5, sourceIds=["map"])
    ada.edit(artifacts=[{"type": "plan", "title": "Plan"}])
    ada.commit()
    ben.source("deed")
    ben.write("/owner", "x", sourceIds=["deed"])

    ben.commit()

    view = ada.view_in_force()
    assert source_titles(ada) == ["deed", "map", "permit", "survey"]
    (size,) = view.inputs_by_pointer["/size"].source_ids
    assert view.sources_by_id[size].title == "map"
    assert sorted(artifact.title for several in view.artifacts_by_type.values() for artifact in several) == [
        "Map",
        "Plan",
    ]


def test_a_source_that_one_side_removed_stays_if_the_other_cites_it(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    copied = next(id_ for id_, source in ada.view().sources_by_id.items() if source.title == "survey")
    ada.edit(remove={"inputs": ["/lim"], "sources": [copied]})
    ada.commit()
    mine = next(id_ for id_, source in ben.view().sources_by_id.items() if source.title == "survey")
    ben.write("/other", 1, sourceIds=[mine])

    ben.commit()

    view = ada.view_in_force()
    assert [view.sources_by_id[id_].title for id_ in view.inputs_by_pointer["/other"].source_ids] == ["survey"]


def test_a_source_that_the_draft_removed_comes_back_with_a_fact_that_cites_it(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    copied = next(id_ for id_, source in ada.view().sources_by_id.items() if source.title == "survey")
    ada.write("/other", 1, sourceIds=[copied])
    ada.commit()
    mine = next(id_ for id_, source in ben.view().sources_by_id.items() if source.title == "survey")
    ben.edit(remove={"inputs": ["/lim"], "sources": [mine]})

    committed = ben.commit()

    view = ada.view_in_force()
    assert [view.sources_by_id[id_].title for id_ in view.inputs_by_pointer["/other"].source_ids] == ["survey"]
    assert committed.dropped == ["/lim"]


def test_a_source_that_both_changed_is_a_conflict_with_the_name_of_its_origin(ada: ContextClient) -> None:
    survey = ada["survey"]
    ben = second_client(ada)
    ada.draft()
    for client, excerpt in ((ada, "page 1"), (ben, "page 2")):
        copied = next(id_ for id_, source in client.view().sources_by_id.items() if source.title == "survey")
        client.edit(sources=[{"id": copied, "excerpt": excerpt}])
    ada.commit()

    error = error_of(ben.commit)

    (conflict,) = error.details["conflicts"]
    assert (conflict["pointer"], conflict["fields"]) == (f"source:{survey}", ["excerpt"])
    ben.commit(resolve={f"source:{survey}": "theirs"})
    assert {source.excerpt for source in ada.view_in_force().sources_by_id.values()} == {None, "page 1"}


def test_a_suggestion_of_the_run_in_force_waits_on_after_another_commit(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.agent.write("/lim", 7, rationale="measured")
    ada.commit()
    ben.write("/cur", 2)

    ben.commit()

    [waiting] = ada.view_in_force().suggestions or []
    assert (waiting.pointer, waiting.value_number, waiting.created_by) == ("/lim", 7, "claude")


def test_a_suggestion_that_was_rejected_meanwhile_does_not_come_back(ada: ContextClient) -> None:
    ada.draft()
    ada.agent.write("/lim", 7)
    ada.commit()
    ben = second_client(ada)
    ada.draft()
    ada.edit(reject=[ada.suggestions()[0].id])
    ada.commit()
    ben.write("/cur", 2)

    ben.commit()

    assert not ada.view_in_force().suggestions


def test_a_suggestion_that_its_writer_replaced_meanwhile_is_the_new_one(ada: ContextClient, clock: ManualClock) -> None:
    ada.draft()
    ada.agent.write("/lim", 7)
    ada.commit()
    ben = second_client(ada)
    clock.move(minutes=1)
    ada.draft()
    ada.agent.write("/lim", 8)
    ada.commit()
    ben.write("/cur", 2)

    ben.commit()

    assert [waiting.value_number for waiting in ada.view_in_force().suggestions or []] == [8]


# --- Persons and agents ---


def test_an_agent_that_contradicts_a_person_is_refused_for_that_before_anything_else(ada: ContextClient) -> None:
    ada.draft()
    ada.agent.write("/guess", 1)
    ada.agent.write("/other", 1)
    ada.commit()
    agent = second_client(ada).by("claude")
    ada.draft()
    ada.write("/guess", 2)
    ada.agent.write("/other", 2)
    ada.commit()
    agent.write("/guess", 3)
    agent.write("/other", 3)

    error = error_of(agent.commit)

    assert (error.code, error.details) == ("displaces_user_entered", {"pointers": ["/guess"], "constraints": []})
    error = error_of(partial(agent.commit, resolve={"/guess": "theirs"}))
    assert (error.code, [conflict["pointer"] for conflict in error.details["conflicts"]]) == ("stale_base", ["/other"])
    settled = {"/guess": "mine", "/other": "mine"}
    assert error_of(partial(agent.commit, resolve=settled)).code == "displaces_user_entered"
    agent.commit(resolve={**settled, "/guess": "theirs"})
    assert (values_in_force(ada)["/guess"], values_in_force(ada)["/other"]) == (2, 3)


def test_a_merge_takes_a_value_of_lower_provenance_that_a_person_wrote(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.edit(remove={"inputs": ["/lim"]})
    ada.write("/lim", 2, provenance="model-inferred")
    ada.commit()
    ben.write("/cur", 2)

    ben.commit()

    row = ada.view_in_force().inputs_by_pointer["/lim"]
    assert (row.value_number, row.provenance) == (2, "model-inferred")


# --- Drafts that began empty ---


def test_a_draft_that_began_empty_and_lacks_facts_in_force_is_refused_unless_it_may_drop_them(
    ada: ContextClient,
) -> None:
    ada.draft(copyFrom="none")
    ada.write("/cur", 5)

    error = error_of(partial(ada.commit, allowPartial=True))

    dropped = error.details["pointers"]
    assert (isinstance(error, Conflict), error.code) == (True, "drops_facts")
    assert [name.partition(":")[0] for name in dropped] == ["/lim", "artifact", "constraint", "source", "source"]
    assert values_in_force(ada)["/cur"] == 1
    (step,) = error.next_steps
    committed = ada.call(step.operation, **step.arguments)
    assert (committed.run.status, committed.dropped) == ("partial_committed", dropped)
    assert values_in_force(ada) == {"/cur": 5}


def test_an_imported_document_drops_nothing_without_being_told_to(ada: ContextClient) -> None:
    document = {
        "sourcesById": {},
        "inputsByPointer": {"/cur": {"pointer": "/cur", "label": "/cur", "value": 4}},
        "constraints": [],
        "artifactsByType": {},
    }
    ada.ids["run"] = ada.call("context.import", scopeId="atlas", document=document).run.id

    assert error_of(ada.commit).code == "drops_facts"


# --- Bases that are not in force any more ---


def test_a_draft_of_a_deleted_run_keeps_what_that_run_had_brought(ada: ContextClient, clock: ManualClock) -> None:
    second = ada.draft()
    ada.write("/lim", 2)
    ada.write("/brought", 1)
    ada.commit()
    clock.move(minutes=1)
    ben = second_client(ada)
    ben.write("/cur", 2)
    ada.call("context.delete", runId=second)

    committed = ben.commit()

    assert (committed.merged, committed.dropped) == ([], [])
    assert values_in_force(ada) == {"/brought": 1, "/cur": 2, "/lim": 2, "constraint:max": 9}


def test_a_draft_whose_base_was_the_only_run_and_is_deleted_keeps_its_facts(ada: ContextClient) -> None:
    first = ada.run
    ben = second_client(ada)
    ada.call("context.delete", runId=first)

    assert ben.commit().dropped == []
    assert values_in_force(ada) == {"/cur": 1, "/lim": 1, "constraint:max": 9}


def test_a_copy_of_an_older_run_takes_nothing_back(ada: ContextClient, clock: ManualClock) -> None:
    first = ada.run
    ada.draft()
    ada.write("/lim", 2)
    ada.commit()
    clock.move(minutes=1)
    ada.draft(copyFrom=first)
    ada.write("/cur", 2)

    ada.commit()

    assert values_in_force(ada) == {"/cur": 2, "/lim": 2, "constraint:max": 9}


def test_a_commit_is_merged_once_when_it_is_sent_again(ada: ContextClient) -> None:
    ben = second_client(ada)
    ada.draft()
    ada.write("/lim", 2)
    ada.commit()

    answers = [ben.commit(op_id="once") for _ in range(2)]

    assert answers[0] == answers[1]
    assert error_of(partial(ada.call, "context.commit", runId=NOWHERE)).code == "not_found"
