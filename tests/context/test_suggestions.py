"""A value of lower provenance never takes the place of a higher one by itself: it waits beside it for a person."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

from groundplan.context.schemas import Provenance
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Conflict, NotFound, RuleViolated
from tests.context.desk import NOWHERE, Facts, value_of
from tests.errors import error_of
from tests.manual_clock import ManualClock

PROVENANCES = [provenance.value for provenance in Provenance]


def test_only_a_write_of_the_same_or_a_higher_provenance_replaces_a_value(desk: Facts) -> None:
    claims = [one for one in PROVENANCES if one != "unknown"]
    for place, (stands, comes) in enumerate(product(claims, claims)):
        pointer, key = f"/{place}", f"k{place}"
        desk.write(pointer, "old", provenance=stands)
        id_ = desk.constrain(key, "old", provenance=stands)

        written = desk.write(pointer, "new", provenance=comes)
        constrained = desk.edit(constraints=[{"id": id_, "value": "new", "provenance": comes}])

        waits = PROVENANCES.index(comes) < PROVENANCES.index(stands)
        (constraint,) = [one for one in desk.view().constraints if one.key == key]
        for one, suggested in ((desk.input(pointer), written.suggested), (constraint, constrained.suggested)):
            assert (value_of(one), one.provenance) == (("old", stands) if waits else ("new", comes))
            assert len(suggested) == waits
    by_pointer = {one.pointer: one for one in desk.waiting()}
    assert all(one.value_string == "new" for one in by_pointer.values())


def test_a_suggestion_names_its_author_its_reason_and_its_sources(desk: Facts, clock: ManualClock) -> None:
    survey = desk.source("survey")
    desk.write("/size", 5000)
    clock.move(minutes=1)

    (suggested,) = desk.agent.write(
        "/size", 4800, sourceIds=["survey"], evidenceSnippet="4,800 ha", rationale="measured anew"
    ).suggested
    (waiting,) = desk.waiting()

    assert (suggested.id, suggested.pointer) == (waiting.id, "/size")
    assert suggested.reason == "user-entered ranks above source-backed; a person accepts or rejects it"
    assert (waiting.pointer, waiting.value_number, waiting.provenance) == ("/size", 4800, "source-backed")
    assert (waiting.created_by, waiting.updated_by, waiting.rationale) == ("claude", "model", "measured anew")
    assert (waiting.source_ids, waiting.snippet) == ([survey], "4,800 ha")
    assert waiting.created_at == "2026-03-01T09:01:00.000Z"
    assert (desk.input("/size").value_number, desk.input("/size").source_ids) == (5000, [])


def test_an_explicit_empty_text_is_a_value_that_no_model_fills_in(desk: Facts) -> None:
    desk.write("/notes", "")
    desk.agent.write("/notes", "near the river")

    assert (desk.input("/notes").value_string, len(desk.waiting())) == ("", 1)


def test_what_is_unset_is_filled_in_whatever_its_provenance(desk: Facts) -> None:
    for place, provenance in enumerate(PROVENANCES):
        desk.write(f"/{place}", valueKind="number", provenance=provenance)
        desk.agent.write(f"/{place}", 1)
        assert (desk.input(f"/{place}").value_number, desk.input(f"/{place}").provenance) == (1, "model-inferred")
    assert desk.waiting() == []


def test_a_model_that_would_clear_a_persons_value_only_suggests_it(desk: Facts) -> None:
    desk.write("/size", 5000)
    desk.agent.write("/size", None)
    (waiting,) = desk.waiting()

    assert (waiting.provenance, waiting.value_number, desk.input("/size").value_number) == ("unknown", None, 5000)
    desk.edit(accept=[waiting.id])
    assert (desk.input("/size").value_number, desk.input("/size").provenance) == (None, "user-entered")


def test_nothing_else_of_a_row_changes_by_a_write_that_must_wait(desk: Facts) -> None:
    desk.write("/size", 5000, label="Size", required=True)
    before = desk.input("/size")

    desk.agent.write("/size", 1, label="Weight", required=False, domain="x", options=["a"], fieldType="y")

    assert desk.input("/size") == before


def test_an_author_has_one_suggestion_on_a_fact_and_others_have_theirs(desk: Facts) -> None:
    desk.write("/size", 5000)
    first = desk.agent.write("/size", 1).suggested[0].id
    again = desk.agent.write("/size", 2, rationale="better").suggested[0].id
    other = desk.by("gemma").write("/size", 3).suggested[0].id

    assert len({first, again, other}) == 3  # who accepts one accepts what they read under its id
    assert sorted((one.created_by, one.value_number) for one in desk.waiting()) == [("claude", 2), ("gemma", 3)]


def test_saying_the_same_with_less_is_no_suggestion(desk: Facts) -> None:
    desk.write("/size", 5000)

    assert desk.agent.write("/size", 5000.0).suggested == []
    assert desk.agent.write("/size", provenance="model-inferred").suggested == []
    assert (desk.waiting(), desk.input("/size").provenance) == ([], "user-entered")


def test_what_a_person_accepts_is_theirs_with_the_sources_it_came_with(desk: Facts, clock: ManualClock) -> None:
    desk.source("survey")
    map_ = desk.source("map")
    desk.write("/size", 5000, provenance="user-entered", sourceIds=["survey"], evidenceSnippet="old")
    desk.agent.write("/size", 4800, sourceIds=["map"], evidenceSnippet="new")
    clock.move(minutes=1)

    desk.edit(accept=[desk.waiting()[0].id])

    one = desk.input("/size")
    assert (one.value_number, one.provenance, one.updated_by) == (4800, "user-entered", "user")
    assert (one.source_ids, one.evidence_snippet) == ([map_], "new")
    assert one.updated_at == "2026-03-01T09:01:00.000Z"
    assert desk.waiting() == []
    assert desk.agent.write("/size", 1).suggested != []  # and no model replaces it again


def test_a_constraint_takes_what_was_accepted_and_its_source(desk: Facts) -> None:
    survey = desk.source("survey")
    id_ = desk.constrain("max", 9)
    desk.agent.edit(constraints=[{"id": id_, "value": 8, "sourceId": survey, "snippet": "eight", "rationale": "see"}])
    (waiting,) = desk.waiting()
    assert (waiting.key, waiting.constraint_id, waiting.pointer, waiting.rationale) == ("max", id_, None, "see")

    desk.edit(accept=[waiting.id])

    (one,) = desk.view().constraints
    assert (one.value_number, one.provenance, one.source_id, one.snippet) == (8, "user-entered", survey, "eight")


def test_what_is_rejected_leaves_the_value_as_it_was(desk: Facts) -> None:
    desk.write("/size", 5000)
    desk.agent.write("/size", 1)
    before = desk.input("/size")

    desk.edit(reject=[desk.waiting()[0].id])

    assert (desk.input("/size"), desk.waiting()) == (before, [])


def test_a_suggestion_is_decided_once_and_in_its_own_run(desk: Facts) -> None:
    desk.write("/size", 5000)
    id_ = desk.agent.write("/size", 1).suggested[0].id
    desk.edit(reject=[id_])

    for verb in ("accept", "reject"):
        error = error_of(partial(desk.edit, **{verb: [id_]}))
        assert (isinstance(error, Conflict), error.code) == (True, "already_decided")
        assert isinstance(error_of(partial(desk.edit, **{verb: [NOWHERE]})), NotFound)
    desk.draft()
    assert isinstance(error_of(partial(desk.edit, accept=[id_])), NotFound)


def test_only_a_person_enters_values_as_one_and_decides(desk: Facts) -> None:
    desk.write("/size", 5000)
    id_ = desk.agent.write("/size", 1).suggested[0].id
    before = desk.view()

    calls: list[dict[str, Any]] = [
        {"inputs": [{"pointer": "/size", "value": 2, "provenance": "user-entered"}]},
        {"inputs": [{"pointer": "/new", "label": "n", "valueKind": "number", "provenance": "user-entered"}]},
        {"constraints": [{"key": "k", "label": "k", "value": 2, "provenance": "user-entered"}]},
        {"accept": [id_]},
        {"reject": [id_]},
    ]
    for kind in (ActorKind.AGENT, ActorKind.SERVICE):
        for call in calls:
            error = error_of(partial(desk.by("claude", kind).edit, **call))
            assert (isinstance(error, RuleViolated), error.code) == (True, "provenance_not_allowed")
    assert desk.view() == before


def test_a_choice_that_is_no_option_any_more_cannot_be_accepted(desk: Facts) -> None:
    desk.write("/kind", "a", valueKind="enum", options=["a", "b"])
    assert error_of(partial(desk.agent.write, "/kind", "c")).code == "not_an_option"
    id_ = desk.agent.write("/kind", "b").suggested[0].id
    desk.write("/kind", options=["a"])

    assert error_of(partial(desk.edit, accept=[id_])).code == "not_an_option"
    assert [one.id for one in desk.waiting()] == [id_]
