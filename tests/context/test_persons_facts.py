"""What a person entered stays: nobody else's commit displaces it, and a person's commit says what it displaces."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Conflict, Invalid, RuleViolated
from tests.context.client import ContextClient
from tests.errors import error_of
from tests.manual_clock import ManualClock


@pytest.fixture
def entered(client: ContextClient, clock: ManualClock) -> ContextClient:
    """What Ada entered is in force, and an hour has passed."""
    client.write("/site/size", 5000, required=True)
    client.write("/site/notes", "")
    client.constrain("max_cost", 9)
    client.agent.write("/guess", "x")
    client.commit()
    clock.move(minutes=60)
    return client


def displaced(client: ContextClient) -> Any:
    return msgspec.to_builtins(client.view_in_force().displaced)


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.SERVICE])
def test_a_commit_that_leaves_out_what_a_person_entered_is_refused_to_all_but_persons(
    entered: ContextClient, kind: ActorKind
) -> None:
    other = entered.by("claude", kind)
    other.draft(copyFrom="none")
    other.write("/other", 1)

    error = error_of(partial(other.commit, allowPartial=True))

    assert (isinstance(error, RuleViolated), error.code) == (True, "displaces_user_entered")
    assert error.details == {"pointers": ["/site/notes", "/site/size"], "constraints": ["max_cost"]}
    assert [(step.operation, step.arguments) for step in error.next_steps] == [
        ("context.create_draft", {"scopeId": "atlas", "copyFrom": "latest"}),
        ("context.commit", {"runId": other.run, "allowPartial": True}),
    ]
    assert entered.view().run.status == "draft"


def test_another_value_and_one_that_is_no_longer_required_displace_a_persons(entered: ContextClient) -> None:
    agent = entered.agent
    agent.draft(copyFrom="none")
    agent.write("/site/size", 5000, required=False)
    agent.write("/site/notes", None, valueKind="string")
    agent.constrain("max_cost", 8)

    error = error_of(agent.commit)

    assert error.details == {"pointers": ["/site/notes", "/site/size"], "constraints": ["max_cost"]}


def test_what_a_person_requires_and_has_not_set_stays_required(client: ContextClient, clock: ManualClock) -> None:
    client.write("/asked", valueKind="string", required=True)
    client.commit(allowPartial=True)
    clock.move(minutes=1)
    client.agent.draft(copyFrom="none")
    assert error_of(client.agent.commit).details["pointers"] == ["/asked"]
    client.agent.write("/asked", "answered", required=True)
    client.agent.commit(allowDrop=True)
    assert client.view_in_force().inputs_by_pointer["/asked"].value_string == "answered"


def test_an_agent_that_edits_a_cleared_entry_does_not_write_as_a_person(
    client: ContextClient, clock: ManualClock
) -> None:
    client.write("/x", "1")
    client.write("/x", None)
    cleared = client.run
    client.commit(allowPartial=True)
    clock.move(minutes=1)
    client.draft(copyFrom="latest")
    client.write("/x", "2")
    client.commit()
    clock.move(minutes=1)
    client.agent.draft(copyFrom=cleared)
    client.agent.edit(inputs=[{"pointer": "/x", "label": "Renamed"}])

    assert error_of(partial(client.agent.commit, allowPartial=True)).code == "displaces_user_entered"


def test_an_equal_value_of_lower_provenance_displaces_nothing_and_stays_the_persons(entered: ContextClient) -> None:
    before = entered.view_in_force()
    agent = entered.agent
    agent.draft(copyFrom="none")
    agent.source("survey")
    agent.write("/site/size", 5000, required=True, sourceIds=["survey"])
    agent.write("/site/notes", "")
    agent.constrain("max_cost", 9)
    agent.commit(allowDrop=True)

    after = entered.view_in_force()
    for pointer in ("/site/size", "/site/notes"):
        old, new = before.inputs_by_pointer[pointer], after.inputs_by_pointer[pointer]
        assert (new.provenance, new.updated_by, new.updated_at) == ("user-entered", "user", old.updated_at)
    assert [one.provenance for one in after.constraints] == ["user-entered"]
    assert after.inputs_by_pointer["/site/size"].source_ids == [entered["survey"]]
    assert after.displaced is msgspec.UNSET


def test_who_repeats_a_persons_value_cannot_describe_it_anew(entered: ContextClient) -> None:
    before = entered.view_in_force()
    agent = entered.agent
    agent.draft(copyFrom="none")
    anew = {"label": "Square metres", "domain": "elsewhere", "fieldType": "slider", "evidenceSnippet": "made up"}
    agent.write("/site/size", 5000, required=True, **anew)
    agent.write("/site/notes", "")
    agent.constrain("max_cost", 9, label="At least, in euros", domain="elsewhere", snippet="made up")

    warnings = agent.commit(allowDrop=True).warnings

    assert warnings == [
        "kept as a person described them, because their values are the ones they entered: /site/size, max_cost"
    ]
    after = entered.view_in_force()
    old, new = before.inputs_by_pointer["/site/size"], after.inputs_by_pointer["/site/size"]
    same = ("label", "domain", "field_type", "options", "evidence_snippet", "updated_by", "updated_at")
    assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same]
    assert [(one.label, one.domain, one.snippet) for one in after.constraints] == [
        (one.label, one.domain, one.snippet) for one in before.constraints
    ]


def test_evidence_stays_with_its_sources_when_a_persons_value_is_repeated(
    client: ContextClient, clock: ManualClock
) -> None:
    client.source("deed")
    client.write("/size", 5, sourceIds=["deed"], evidenceSnippet="5 ha", provenance="user-entered")
    client.constrain("cost", 9, sourceId=client["deed"], snippet="at most 9", provenance="user-entered")
    client.commit()
    clock.move(minutes=1)
    agent = client.agent
    agent.draft(copyFrom="none")
    agent.source("blog")
    agent.write("/size", 5, sourceIds=["blog"], evidenceSnippet="some five hectares")
    agent.constrain("cost", 9, sourceId=client["blog"], snippet="around nine")
    agent.commit(allowDrop=True)

    view = client.view_in_force()
    size, [cost] = view.inputs_by_pointer["/size"], view.constraints
    assert (size.provenance, size.evidence_snippet, size.source_ids) == (
        "user-entered",
        "some five hectares",
        [client["blog"]],
    )
    assert (cost.provenance, cost.snippet, cost.source_id) == ("user-entered", "around nine", client["blog"])


def test_the_words_of_an_agent_never_become_those_of_a_person(entered: ContextClient, clock: ManualClock) -> None:
    agent = entered.agent
    for sources, words in ((["survey"], "as surveyed"), ([], "made up")):
        agent.draft(copyFrom="none")
        agent.source("survey")
        agent.write("/site/size", 5000, required=True, sourceIds=sources, evidenceSnippet=words)
        agent.write("/site/notes", "", required=True)
        agent.constrain("max_cost", 9)
        agent.commit(allowDrop=True)
        clock.move(minutes=1)

    view = entered.view_in_force()
    size = view.inputs_by_pointer["/site/size"]
    assert (size.evidence_snippet, size.source_ids) == (None, [])  # the quotation went with its source
    assert view.inputs_by_pointer["/site/notes"].required is False


def test_who_commits_another_description_is_its_writer(entered: ContextClient, clock: ManualClock) -> None:
    entered.agent.draft(copyFrom="none")
    entered.agent.write("/site/size", 5000, required=True, label="Acres")
    entered.agent.write("/site/notes", "")
    entered.agent.constrain("max_cost", 9)
    clock.move(minutes=1)

    entered.by("ben", ActorKind.PERSON).commit(allowDrop=True)

    size = entered.view_in_force().inputs_by_pointer["/site/size"]
    assert (size.label, size.updated_by, size.updated_at) == ("Acres", "user", "2026-03-01T10:01:00.000Z")


def test_a_person_describes_anew_what_a_person_entered(entered: ContextClient) -> None:
    entered.draft(copyFrom="none")
    entered.source("survey")
    entered.write(
        "/site/size", 5000, required=True, sourceIds=["survey"], label="Size in acres", evidenceSnippet="p. 3"
    )
    entered.write("/site/notes", "")
    entered.constrain("max_cost", 9, label="In thousands")

    assert entered.commit(allowDrop=True).warnings == []

    view = entered.view_in_force()
    size = view.inputs_by_pointer["/site/size"]
    assert (size.label, size.evidence_snippet, size.provenance) == ("Size in acres", "p. 3", "user-entered")
    assert [one.label for one in view.constraints] == ["In thousands"]


def test_a_person_who_commits_that_a_fact_is_no_longer_required_sees_it_as_displaced(entered: ContextClient) -> None:
    entered.agent.draft(copyFrom="latest")
    entered.edit(remove={"inputs": ["/site/size"]})
    entered.agent.write("/site/size", 5000, required=False)

    entered.commit()

    [shown] = displaced(entered)
    assert (shown["pointer"], shown["change"]) == ("/site/size", "optional")
    assert entered.view_in_force().inputs_by_pointer["/site/size"].provenance == "user-entered"


def test_a_draft_that_begins_with_what_is_in_force_can_be_committed_by_an_agent(
    entered: ContextClient, clock: ManualClock
) -> None:
    agent = entered.agent
    agent.draft(copyFrom="latest")
    agent.write("/guess", "y")
    assert agent.write("/site/size", 4800).suggested[0].pointer == "/site/size"
    agent.commit(allowDrop=True)
    clock.move(minutes=1)
    agent.draft(copyFrom="latest")
    entered.edit(accept=[entered.suggestions()[0].id])

    agent.commit(allowDrop=True)  # a person decided, so nothing of theirs is displaced

    assert entered.view_in_force().inputs_by_pointer["/site/size"].value_number == 4800
    assert entered.view_in_force().displaced is msgspec.UNSET


def test_a_copy_of_an_older_run_does_not_take_an_older_entry_of_a_person_back_into_force(
    entered: ContextClient, clock: ManualClock
) -> None:
    first = entered.run
    entered.draft(copyFrom="latest")
    entered.write("/site/size", 6000)
    entered.edit(constraints=[{"key": "max_cost", "value": 10}])
    entered.commit()
    clock.move(minutes=1)
    entered.agent.draft(copyFrom=first)
    assert entered.agent.commit().merged == ["/site/size", "constraint:max_cost"]
    view = entered.view_in_force()
    assert (view.inputs_by_pointer["/site/size"].value_number, view.constraints[0].value_number) == (6000, 10)


def test_a_persons_commit_shows_what_it_displaces_until_the_next_commit(
    entered: ContextClient, clock: ManualClock
) -> None:
    agent = entered.agent
    agent.draft(copyFrom="none")
    agent.write("/site/size", 4800)
    run = entered.run
    ben = entered.by("ben", ActorKind.PERSON)
    done = ben.commit(allowDrop=True)

    assert done.warnings == [
        "displaces what a person entered in the previous commit: /site/notes, /site/size, max_cost"
    ]
    by = {"by": "ben", "at": "2026-03-01T10:00:00.000Z"}
    expected = [
        {"pointer": "/site/notes", "change": "removed", "before": "", **by},
        {"pointer": "/site/size", "change": "changed", "before": 5000, **by},
        {"constraint": "max_cost", "change": "removed", "before": 9, **by},
    ]
    assert displaced(entered) == expected
    assert msgspec.to_builtins(entered.view().displaced) == expected
    assert msgspec.to_builtins(entered.view_in_force(pointers=["/site/size"]).displaced) == expected[1:]
    clock.move(minutes=1)
    entered.draft(copyFrom="latest")
    assert entered.view().displaced is msgspec.UNSET
    entered.commit()
    assert entered.view_in_force().displaced is msgspec.UNSET
    assert entered.view(runId=run).displaced is msgspec.UNSET


def test_what_a_person_changes_themselves_is_not_displaced(entered: ContextClient) -> None:
    entered.draft(copyFrom="latest")
    entered.write("/site/size", 6000, required=False)
    entered.write("/site/notes", None)
    entered.edit(constraints=[{"key": "max_cost", "value": 10}])
    assert entered.commit().warnings == []
    assert entered.view_in_force().displaced is msgspec.UNSET


def test_a_committed_run_is_deleted_by_a_person_only(entered: ContextClient) -> None:
    entered.call("work.open", project="atlas", policies={"agents": "owner"})
    for kind in (ActorKind.AGENT, ActorKind.SERVICE):
        error = error_of(partial(entered.by("claude", kind).call, "context.delete", runId=entered.run))
        assert (isinstance(error, RuleViolated), error.code) == (True, "person_required")
        assert [step.operation for step in error.next_steps] == ["context.delete"]
    committed = entered.run
    entered.agent.draft(copyFrom="none")
    entered.agent.call("context.delete", runId=entered.run)
    entered.by("ben", ActorKind.PERSON).call("context.delete", runId=committed)
    assert error_of(entered.view_in_force).code == "no_context"


# --- Whatever its provenance ---

SET_BY_PERSONS = ["model-inferred", "source-backed", "user-entered"]


def set_facts(client: ContextClient, provenance: str, **of: Any) -> None:
    """Write an input and a constraint with a source."""
    client.source("register")
    client.write("/h", 96, provenance=provenance, sourceIds=["register"], **of)
    client.constrain("max", 9, provenance=provenance, sourceId=client["register"], **of)


def guess(client: ContextClient) -> Any:
    """Write other values with a source, as an agent does who found something else."""
    client.source("guess", kind="manual", title="my guess")
    source = {"sourceIds": [client["guess"]]}
    constraint = {"key": "max", "label": "max", "value": 5, "sourceId": client["guess"]}
    return client.edit(
        inputs=[{"pointer": "/h", "label": "/h", "value": 5, **source}],
        constraints=[constraint],
    )


def values(view: Any) -> list[Any]:
    return [view.inputs_by_pointer["/h"].value_number, *(row.value_number for row in view.constraints)]


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.SERVICE])
@pytest.mark.parametrize("provenance", SET_BY_PERSONS)
def test_a_value_that_a_person_set_gives_way_to_persons_alone_whatever_its_provenance(
    client: ContextClient, provenance: str, kind: ActorKind
) -> None:
    set_facts(client, provenance)

    suggested = guess(client.by("claude", kind)).suggested

    assert [row.pointer or row.constraint for row in suggested] == ["/h", "max"]
    assert values(client.view()) == [96, 9]
    assert {row.updated_by for row in client.view().constraints} == {"user"}
    client.edit(accept=[row.id for row in suggested])
    assert values(client.view()) == [5, 5]


@pytest.mark.parametrize("provenance", SET_BY_PERSONS)
def test_an_agent_neither_describes_nor_clears_nor_removes_nor_unfounds_what_a_person_set(
    client: ContextClient, provenance: str
) -> None:
    set_facts(client, provenance)
    agent = client.agent
    (limit,) = client.view().constraints
    register = client["register"]

    refused: list[dict[str, Any]] = [
        {"inputs": [{"pointer": "/h", "label": "Depth"}]},
        {"constraints": [{"key": "max", "label": "At least"}]},
        {"remove": {"inputs": ["/h"]}},
        {"remove": {"constraints": [limit.id]}},
        {"sources": [{"id": register, "title": "Another"}]},
        {"links": [{"pointer": "/h", "sourceId": agent.source("blog")}]},
        {"unlinks": [{"pointer": "/h", "sourceId": register}]},
        {"unlinks": [{"constraint": "max", "sourceId": register}]},
    ]
    for given in refused:
        assert error_of(partial(agent.edit, **given)).code == "provenance_not_allowed", given
    cleared = agent.edit(inputs=[{"pointer": "/h", "value": None}], constraints=[{"key": "max", "value": None}])
    assert len(cleared.suggested) == 2
    assert values(client.view()) == [96, 9]


def test_what_an_agent_set_gives_way_to_a_better_source_of_another(client: ContextClient) -> None:
    agent = client.agent
    set_facts(agent, "source-backed")

    assert guess(client.by("gemini")).suggested == []
    assert values(client.view()) == [5, 5]
    assert {row.updated_by for row in client.view().constraints} == {"model"}


@pytest.mark.parametrize("provenance", SET_BY_PERSONS)
def test_an_agents_commit_displaces_nothing_that_a_person_set(
    client: ContextClient, clock: ManualClock, provenance: str
) -> None:
    set_facts(client, provenance)
    client.commit()
    clock.move(minutes=1)
    agent = client.agent
    agent.draft(copyFrom="none")
    guess(agent)

    error = error_of(partial(agent.commit, allowDrop=True))

    assert (error.code, error.details) == ("displaces_user_entered", {"pointers": ["/h"], "constraints": ["max"]})
    client.commit(allowDrop=True)
    assert [row["change"] for row in displaced(client)] == ["changed", "changed"]


@pytest.mark.parametrize("provenance", ["model-inferred", "source-backed"])
def test_what_a_person_set_later_displaces_nothing_of_the_same_provenance(
    client: ContextClient, clock: ManualClock, provenance: str
) -> None:
    set_facts(client, provenance)
    client.commit()
    clock.move(minutes=1)
    client.draft(copyFrom="none")
    client.source("map")
    client.write("/h", 97, provenance=provenance, sourceIds=["map"])
    client.constrain("max", 10, provenance=provenance, sourceId=client["map"])

    client.agent.commit(allowDrop=True)

    assert values(client.view_in_force()) == [97, 10]
    assert client.view_in_force().displaced is msgspec.UNSET


def test_a_persons_value_that_an_agent_repeats_stays_theirs_with_its_provenance_and_source(
    client: ContextClient, clock: ManualClock
) -> None:
    set_facts(client, "source-backed", label="Height")
    client.edit(inputs=[{"pointer": "/h", "evidenceSnippet": "p. 3"}])
    client.commit()
    before = client.view_in_force()
    clock.move(minutes=1)
    agent = client.agent
    agent.draft(copyFrom="none")
    agent.write("/h", 96, label="Depth")
    agent.constrain("max", 9, label="Depth")

    committed = agent.commit(allowDrop=True)

    after = client.view_in_force()
    assert committed.dropped == []
    same = ("label", "provenance", "updated_by", "updated_at", "evidence_snippet")
    old, new = before.inputs_by_pointer["/h"], after.inputs_by_pointer["/h"]
    assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same]
    assert new.updated_by == "user"
    titles = [after.sources_by_id[id_].title for id_ in (*new.source_ids, str(after.constraints[0].source_id))]
    assert titles == ["register", "register"]
    assert [(row.label, row.updated_by) for row in after.constraints] == [("Height", "user")]
    agent.draft()
    assert len(guess(agent).suggested) == 2


def test_a_value_that_a_person_confirmed_stays_theirs_in_the_drafts_of_others(
    client: ContextClient, clock: ManualClock
) -> None:
    client.agent.write("/h", 96)
    client.agent.write("/other", 1)
    client.commit()
    clock.move(minutes=1)
    agent = client.agent
    agent.ids = {}
    agent.draft()
    client.draft()
    client.write("/h", 97, provenance="model-inferred")
    client.write("/h", 96, provenance="model-inferred")
    client.commit()
    agent.write("/other", 2)

    assert agent.commit().merged == ["/h"]

    agent.draft()
    assert len(agent.write("/h", 5).suggested) == 1


# --- Constraints by their keys ---


def test_a_constraint_without_an_id_is_the_one_with_its_key(client: ContextClient) -> None:
    first = client.constrain("max_cost", 9)
    client.edit(constraints=[{"key": "max_cost", "label": "Cost at most"}])
    assert client.constrain("max_cost", 10, label="Cost at most") == first
    again = client.edit(constraints=[{"id": "00000000-0000-4000-8000-0000000000aa", "key": "max_cost", "value": 11}])

    (one,) = client.view().constraints
    assert (one.id, one.label, one.value_number, one.provenance) == (first, "Cost at most", 11, "user-entered")
    assert [(row.id, row.key) for row in again.constraints] == [(first, "max_cost")]


def test_a_value_without_a_kind_is_of_the_kind_of_the_constraint_with_its_key(client: ContextClient) -> None:
    client.constrain("max", "3")
    client.constrain("Max", True)
    client.commit()
    client.draft(copyFrom="latest")
    nulls = dict.fromkeys(("valueNumber", "valueBoolean", "valueEnum", "valueJson"))

    client.edit(constraints=[{"key": "max", "valueString": ""}])
    client.edit(constraints=[{"id": "00000000-0000-4000-8000-0000000000aa", "key": "Max", "valueBoolean": False}])
    error = error_of(partial(client.edit, constraints=[{"key": "Max", "valueString": ""}]))
    client.edit(constraints=[{"key": "max", "valueString": "4", **nulls}])

    assert error.code == "pciv_v1_runtime_invariant_failed"
    found = [(one.key, one.value_kind, one.value_string, one.value_boolean) for one in client.view().constraints]
    assert found == [("Max", "boolean", None, False), ("max", "string", "4", None)]


def test_a_lower_provenance_on_a_constraint_becomes_a_suggestion(client: ContextClient) -> None:
    client.constrain("max_cost", 9)

    done = client.agent.edit(constraints=[{"key": "max_cost", "label": "other", "value": 8}])

    assert [one.constraint for one in done.suggested] == ["max_cost"]
    assert [(one.key, one.value_number) for one in client.view().constraints] == [("max_cost", 9)]
    client.edit(accept=[done.suggested[0].id])
    assert [(one.value_number, one.provenance) for one in client.view().constraints] == [(8, "user-entered")]


def test_a_key_stands_once_in_a_run(client: ContextClient) -> None:
    client.constrain("a", 1)
    b = client.constrain("b", 2)

    error = error_of(partial(client.edit, constraints=[{"id": b, "key": "a"}]))
    assert (isinstance(error, Conflict), error.code, error.details["key"]) == (True, "key_taken", "a")
    twice = [{"key": "c", "label": "c", "value": n} for n in (1, 2)]
    assert error_of(partial(client.edit, constraints=twice)).code == "invalid_argument"
    document = {"sourcesById": {}, "inputsByPointer": {}, "constraints": twice, "artifactsByType": {}}
    error = error_of(partial(client.call, "context.import", scopeId="atlas", document=document))
    assert (isinstance(error, Invalid), error.details["field"]) == (True, "document.constraints[1].key")


def test_sources_of_constraints_are_linked_by_key(client: ContextClient) -> None:
    survey, permit = client.source("survey"), client.source("permit")
    client.constrain("max_cost", 9, provenance="source-backed")
    link = partial(client.edit)

    link(links=[{"constraint": "max_cost", "sourceId": survey}])
    assert client.view().constraints[0].source_id == survey
    before = client.view().rev
    link(links=[{"constraint": "max_cost", "sourceId": survey}])
    assert client.view().rev == before
    link(links=[{"constraint": "max_cost", "sourceId": permit, "pointer": None}])
    assert client.view().constraints[0].source_id == permit
    wrong: dict[str, list[dict[str, Any]]] = {
        "not_found": [{"constraint": "other", "sourceId": permit}, {"constraint": "max_cost", "sourceId": survey}],
        "last_source": [{"constraint": "max_cost", "sourceId": permit}],
        "missing_argument": [{"sourceId": permit}],
        "invalid_argument": [{"constraint": "max_cost", "pointer": "/a", "sourceId": permit}],
    }
    for code, links in wrong.items():
        for one in links:
            assert error_of(partial(link, unlinks=[one])).code == code
    client.edit(constraints=[{"key": "max_cost", "value": 10, "provenance": "user-entered", "sourceId": permit}])
    assert error_of(partial(client.agent.edit, unlinks=wrong["last_source"])).code == "provenance_not_allowed"
    assert error_of(partial(client.agent.edit, links=wrong["not_found"][1:])).code == "provenance_not_allowed"
    link(unlinks=wrong["last_source"])
    assert client.view().constraints[0].source_id is None


# --- Unknown over a value ---


@pytest.mark.parametrize("more", [{}, {"valueKind": "string"}])
def test_unknown_over_a_value_means_null_and_waits_for_a_person(client: ContextClient, more: dict[str, str]) -> None:
    client.write("/size", 5)
    client.constrain("max_cost", 9)

    done = client.agent.edit(
        inputs=[{"pointer": "/size", "provenance": "unknown", **more}, {"pointer": "/new", "label": "n", "value": 1}],
        constraints=[{"key": "max_cost", "provenance": "unknown", **more}],
    )

    assert [one.pointer or one.constraint for one in done.suggested] == ["/size", "max_cost"]
    assert (client.input("/size").value_number, client.input("/new").value_number) == (5, 1)
    client.edit(accept=[one.id for one in done.suggested])
    assert client.input("/size").value_number is None
    assert client.view().constraints[0].value_number is None


def test_unknown_with_a_value_is_still_refused(client: ContextClient) -> None:
    client.write("/size", 5)
    call = partial(client.edit, inputs=[{"pointer": "/size", "value": 6, "provenance": "unknown"}])
    assert error_of(call).code == "unknown_has_no_value"
