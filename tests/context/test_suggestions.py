"""A value of lower provenance never replaces a higher one by itself: it waits as a suggestion for a person."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

from groundplan.context.schemas import Provenance
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Conflict, NotFound, RuleViolated
from tests.context.client import NOWHERE, ContextClient, value_of
from tests.errors import error_of
from tests.manual_clock import ManualClock

PROVENANCES = [provenance.value for provenance in Provenance]


def test_only_a_write_of_the_same_or_a_higher_provenance_replaces_a_value(client: ContextClient) -> None:
    claims = [one for one in PROVENANCES if one != "unknown"]
    for place, (stands, comes) in enumerate(product(claims, claims)):
        pointer, key = f"/{place}", f"k{place}"
        client.write(pointer, "old", provenance=stands)
        id_ = client.constrain(key, "old", provenance=stands)

        written = client.write(pointer, "new", provenance=comes)
        constrained = client.edit(constraints=[{"id": id_, "value": "new", "provenance": comes}])

        waits = PROVENANCES.index(comes) < PROVENANCES.index(stands)
        (constraint,) = [one for one in client.view().constraints if one.key == key]
        for one, suggested in ((client.input(pointer), written.suggested), (constraint, constrained.suggested)):
            assert (value_of(one), one.provenance) == (("old", stands) if waits else ("new", comes))
            assert len(suggested) == waits
    by_pointer = {one.pointer: one for one in client.suggestions()}
    assert all(one.value_string == "new" for one in by_pointer.values())


def test_a_suggestion_names_its_author_its_reason_and_its_sources(client: ContextClient, clock: ManualClock) -> None:
    survey = client.source("survey")
    client.write("/size", 5000)
    clock.move(minutes=1)

    (suggested,) = client.agent.write(
        "/size", 4800, sourceIds=["survey"], evidenceSnippet="4,800 ha", rationale="measured anew"
    ).suggested
    (waiting,) = client.suggestions()

    assert (suggested.id, suggested.pointer) == (waiting.id, "/size")
    assert suggested.reason == "user-entered ranks above source-backed; a person accepts or rejects it"
    assert (waiting.pointer, waiting.value_number, waiting.provenance) == ("/size", 4800, "source-backed")
    assert (waiting.created_by, waiting.updated_by, waiting.rationale) == ("claude", "model", "measured anew")
    assert (waiting.source_ids, waiting.snippet) == ([survey], "4,800 ha")
    assert waiting.created_at == "2026-03-01T09:01:00.000Z"
    assert (client.input("/size").value_number, client.input("/size").source_ids) == (5000, [])


def test_an_explicit_empty_text_is_a_value_that_no_model_fills_in(client: ContextClient) -> None:
    client.write("/notes", "")
    client.agent.write("/notes", "near the river")

    assert (client.input("/notes").value_string, len(client.suggestions())) == ("", 1)


def test_what_is_unset_is_filled_in_whatever_its_provenance(client: ContextClient) -> None:
    for place, provenance in enumerate(PROVENANCES):
        client.write(f"/{place}", valueKind="number", provenance=provenance)
        client.agent.write(f"/{place}", 1)
        assert (client.input(f"/{place}").value_number, client.input(f"/{place}").provenance) == (1, "model-inferred")
    assert client.suggestions() == []


def test_a_model_that_would_clear_a_persons_value_only_suggests_it(client: ContextClient) -> None:
    client.write("/size", 5000)
    client.agent.write("/size", None)
    (waiting,) = client.suggestions()

    assert (waiting.provenance, waiting.value_number, client.input("/size").value_number) == ("unknown", None, 5000)
    client.edit(accept=[waiting.id])
    assert (client.input("/size").value_number, client.input("/size").provenance) == (None, "user-entered")


def test_nothing_else_of_a_row_changes_by_a_write_that_must_wait(client: ContextClient) -> None:
    client.write("/size", 5000, label="Size", required=True)
    before = client.input("/size")

    client.agent.write("/size", 1, label="Weight", required=False, domain="x", options=["a"], fieldType="y")

    assert client.input("/size") == before


def test_an_author_has_one_suggestion_on_a_fact_and_others_have_theirs(client: ContextClient) -> None:
    client.write("/size", 5000)
    first = client.agent.write("/size", 1).suggested[0].id
    again = client.agent.write("/size", 2, rationale="better").suggested[0].id
    other = client.by("gemma").write("/size", 3).suggested[0].id

    assert len({first, again, other}) == 3  # accepting a suggestion accepts the value that was read under its id
    assert sorted((one.created_by, one.value_number) for one in client.suggestions()) == [("claude", 2), ("gemma", 3)]


def test_saying_the_same_with_less_is_no_suggestion(client: ContextClient) -> None:
    client.write("/size", 5000)

    assert client.agent.write("/size", 5000.0).suggested == []
    assert client.agent.write("/size", provenance="model-inferred").suggested == []
    assert (client.suggestions(), client.input("/size").provenance) == ([], "user-entered")


def test_what_a_person_accepts_is_theirs_with_the_sources_it_came_with(
    client: ContextClient, clock: ManualClock
) -> None:
    client.source("survey")
    map_ = client.source("map")
    client.write("/size", 5000, provenance="user-entered", sourceIds=["survey"], evidenceSnippet="old")
    client.agent.write("/size", 4800, sourceIds=["map"], evidenceSnippet="new")
    clock.move(minutes=1)

    client.edit(accept=[client.suggestions()[0].id])

    one = client.input("/size")
    assert (one.value_number, one.provenance, one.updated_by) == (4800, "user-entered", "user")
    assert (one.source_ids, one.evidence_snippet) == ([map_], "new")
    assert one.updated_at == "2026-03-01T09:01:00.000Z"
    assert client.suggestions() == []
    assert client.agent.write("/size", 1).suggested != []  # and no model replaces it afterwards


def test_a_constraint_takes_what_was_accepted_and_its_source(client: ContextClient) -> None:
    survey = client.source("survey")
    id_ = client.constrain("max", 9)
    client.agent.edit(constraints=[{"id": id_, "value": 8, "sourceId": survey, "snippet": "eight", "rationale": "see"}])
    (waiting,) = client.suggestions()
    assert (waiting.key, waiting.constraint_id, waiting.pointer, waiting.rationale) == ("max", id_, None, "see")

    client.edit(accept=[waiting.id])

    (one,) = client.view().constraints
    assert (one.value_number, one.provenance, one.source_id, one.snippet) == (8, "user-entered", survey, "eight")


def test_what_is_rejected_leaves_the_value_as_it_was(client: ContextClient) -> None:
    client.write("/size", 5000)
    client.agent.write("/size", 1)
    before = client.input("/size")

    client.edit(reject=[client.suggestions()[0].id])

    assert (client.input("/size"), client.suggestions()) == (before, [])


def test_a_suggestion_is_decided_once_and_in_its_own_run(client: ContextClient) -> None:
    client.write("/size", 5000)
    id_ = client.agent.write("/size", 1).suggested[0].id
    client.edit(reject=[id_])

    for verb in ("accept", "reject"):
        error = error_of(partial(client.edit, **{verb: [id_]}))
        assert (isinstance(error, Conflict), error.code) == (True, "already_decided")
        assert isinstance(error_of(partial(client.edit, **{verb: [NOWHERE]})), NotFound)
    client.draft()
    assert isinstance(error_of(partial(client.edit, accept=[id_])), NotFound)


def test_only_a_person_enters_values_as_one_and_decides(client: ContextClient) -> None:
    client.write("/size", 5000)
    id_ = client.agent.write("/size", 1).suggested[0].id
    before = client.view()

    calls: list[dict[str, Any]] = [
        {"inputs": [{"pointer": "/size", "value": 2, "provenance": "user-entered"}]},
        {"inputs": [{"pointer": "/new", "label": "n", "valueKind": "number", "provenance": "user-entered"}]},
        {"constraints": [{"key": "k", "label": "k", "value": 2, "provenance": "user-entered"}]},
        {"accept": [id_]},
        {"reject": [id_]},
    ]
    for kind in (ActorKind.AGENT, ActorKind.SERVICE):
        for call in calls:
            error = error_of(partial(client.by("claude", kind).edit, **call))
            assert (isinstance(error, RuleViolated), error.code) == (True, "provenance_not_allowed")
    assert client.view() == before


def test_a_choice_that_is_no_option_any_more_cannot_be_accepted(client: ContextClient) -> None:
    client.write("/kind", "a", valueKind="enum", options=["a", "b"])
    assert error_of(partial(client.agent.write, "/kind", "c")).code == "not_an_option"
    id_ = client.agent.write("/kind", "b").suggested[0].id
    client.write("/kind", options=["a"])

    assert error_of(partial(client.edit, accept=[id_])).code == "not_an_option"
    assert [one.id for one in client.suggestions()] == [id_]
