"""Many actors at the same facts at once: commits are final, and a person's value is not replaced.

GROUNDPLAN_PROOF_STEPS gives more rounds.
"""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from tests.engines import Engine, person
from tests.proof import rounds
from tests.races.concurrent_calls import outcome_codes, run_together

pytestmark = [pytest.mark.proof, pytest.mark.slow]

ROUNDS = rounds(3)
BELOW = ("sources", "inputs", "input_sources", "constraints", "artifacts", "suggestions")


class ContextActors:
    """Persons and agents at one scope, each with its own store."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.ada, self.ben, self.cleo = (self.session(name, ActorKind.PERSON) for name in ("ada", "ben", "cleo"))
        self.scout, self.guide = (self.session(name, ActorKind.AGENT) for name in ("scout", "guide"))

    def session(self, name: str, kind: ActorKind) -> Session:
        return Session(self.engine.another_store(), local_actor(name, kind=kind))

    def draft(self, *inputs: dict[str, Any], scope: str = "atlas") -> str:
        """Create a draft with these inputs."""
        run_id: str = self.ada.call("context.create_draft", scopeId=scope).run.id
        if inputs:
            edit(self.ada, run_id, *inputs)
        return run_id

    def view(self, run_id: str, scope: str = "atlas") -> Any:
        return self.ada.call("context.view", scopeId=scope, runId=run_id)

    def events(self, op: str) -> int:
        ((found,),) = self.engine.as_owner(f"SELECT count(*) FROM events WHERE op = 'context.{op}'")
        return int(found)


@pytest.fixture
def people(engine: Engine) -> ContextActors:
    return ContextActors(engine)


def field(pointer: str, value: Any = None, **given: Any) -> dict[str, Any]:
    return {"pointer": pointer, "label": pointer, "valueKind": "number", "value": value, **given}


def edit(session: Session, run_id: str, *inputs: dict[str, Any], **given: Any) -> Any:
    return session.call("context.edit", runId=run_id, **({"inputs": list(inputs)} if inputs else {}), **given)


# --- Commits ---


def test_a_commit_holds_every_edit_that_was_answered_and_none_that_was_refused(people: ContextActors) -> None:
    editors = (people.ben, people.scout, people.guide)
    ended: Counter[str] = Counter()
    for number in range(ROUNDS):
        scope = f"scope {number}"
        run_id = people.draft(field("/first", 1), scope=scope)

        *edits, committed = run_together(
            *(partial(edit, one, run_id, field(f"/{n}", n)) for n, one in enumerate(editors)),
            partial(people.ada.call, "context.commit", runId=run_id),
        )

        how = outcome_codes(edits)
        ended.update(how)
        assert outcome_codes([committed]) == ["ok"]
        frozen = people.view(run_id, scope)
        kept = [f"/{n}" for n, code in enumerate(how) if code == "ok"]
        assert list(frozen.inputs_by_pointer) == [*kept, "/first"]
        assert frozen.rev == 3 + len(kept)
        assert (
            outcome_codes([*run_together(*(partial(edit, one, run_id, field("/late", 1)) for one in editors))])
            == ["frozen"] * 3
        )
        assert encode(people.view(run_id, scope)) == encode(frozen)
    assert ended.keys() <= {"ok", "frozen"}


def test_a_run_is_committed_once(people: ContextActors) -> None:
    for partly in [True, False] * ROUNDS:
        run_id = people.draft(field("/a", 1))

        answers = run_together(
            partial(people.ada.call, "context.commit", runId=run_id),
            partial(people.ben.call, "context.commit", runId=run_id, allowPartial=partly),
            partial(people.scout.call, "context.commit", runId=run_id, allowPartial=True),
        )

        assert sorted(outcome_codes(answers)) == ["frozen", "frozen", "ok"]
        (won,) = (one for one in answers if not isinstance(one, GroundplanError))
        assert people.view(run_id).run == won.run
    assert people.events("committed") == 2 * ROUNDS


def test_a_required_input_that_comes_while_a_run_is_committed_is_set_or_not_in_it(people: ContextActors) -> None:
    for _ in range(ROUNDS):
        run_id = people.draft(field("/a", 1))

        came, committed = run_together(
            partial(edit, people.ben, run_id, field("/b", required=True)),
            partial(people.ada.call, "context.commit", runId=run_id),
        )

        assert outcome_codes([came, committed]) in (["ok", "required_inputs_unset"], ["frozen", "ok"])
        assert people.view(run_id).missing == (["/b"] if outcome_codes([came]) == ["ok"] else [])


def test_of_edits_from_one_revision_one_wins(people: ContextActors) -> None:
    run_id = people.draft()
    for rev in range(1, ROUNDS + 1):
        answers = run_together(
            *(
                partial(edit, one, run_id, field(f"/{rev}", n), expected_rev=rev)
                for n, one in enumerate((people.ben, people.scout, people.guide))
            )
        )

        assert sorted(outcome_codes(answers)) == ["ok", "stale_rev", "stale_rev"]
        assert {one.details["current"] for one in answers if isinstance(one, GroundplanError)} == {rev + 1}
    assert len(people.view(run_id).inputs_by_pointer) == ROUNDS


def test_of_eight_commits_at_once_every_fact_is_in_force(people: ContextActors) -> None:
    """Each changes a fact of their own, adds another with a source, and removes those that the round before added."""
    committers = [people.session(f"person {n}", ActorKind.PERSON) for n in range(8)]
    people.ada.call("context.commit", runId=people.draft(*(field(f"/own/{n}", 0) for n in range(8))))
    for number in range(1, ROUNDS + 1):
        runs = [one.call("context.create_draft", scopeId="atlas").run.id for one in committers]
        for n, (one, run_id) in enumerate(zip(committers, runs, strict=True)):
            (source,) = edit(one, run_id, sources=[{"kind": "url", "title": f"{number}.{n}", "uri": "x"}]).sources
            edit(one, run_id, field(f"/own/{n}", number), field(f"/round/{number}/{n}", n, sourceIds=[source.id]))
            edit(one, run_id, constraints=[{"key": f"{n}", "label": "k", "valueKind": "number", "value": number}])
            if number > 1:
                former = f"/round/{number - 1}/{n}"
                view = one.call("context.view", scopeId="atlas", runId=run_id)
                edit(one, run_id, remove={"inputs": [former], "sources": view.inputs_by_pointer[former].source_ids})

        answers = run_together(
            *(partial(one.call, "context.commit", runId=run_id) for one, run_id in zip(committers, runs, strict=True))
        )

        assert outcome_codes(answers) == ["ok"] * 8
        view = people.ada.call("context.view", scopeId="atlas")
        values = {pointer: one.value_number for pointer, one in view.inputs_by_pointer.items()}
        assert values == {
            **{f"/own/{n}": number for n in range(8)},
            **{f"/round/{number}/{n}": n for n in range(8)},
        }
        assert {one.key: one.value_number for one in view.constraints} == {f"{n}": number for n in range(8)}
        for n in range(8):
            (source_id,) = view.inputs_by_pointer[f"/round/{number}/{n}"].source_ids
            assert view.sources_by_id[source_id].title == f"{number}.{n}"
        assert len(view.sources_by_id) == 8


def test_of_eight_commits_that_contradict_each_other_one_is_in_force_and_the_others_are_told(
    people: ContextActors,
) -> None:
    committers = [people.session(f"person {n}", ActorKind.PERSON) for n in range(8)]
    people.ada.call("context.commit", runId=people.draft(field("/shared", -1)))
    for _ in range(ROUNDS):
        before = people.ada.call("context.view", scopeId="atlas").inputs_by_pointer["/shared"].value_number
        runs = [one.call("context.create_draft", scopeId="atlas").run.id for one in committers]
        for n, (one, run_id) in enumerate(zip(committers, runs, strict=True)):
            edit(one, run_id, field("/shared", before + 1 + n))

        answers = run_together(
            *(partial(one.call, "context.commit", runId=run_id) for one, run_id in zip(committers, runs, strict=True))
        )

        codes = outcome_codes(answers)
        assert sorted(codes) == ["ok", *["stale_base"] * 7]
        won = before + 1 + codes.index("ok")
        for n, error in enumerate(answers):
            if isinstance(error, GroundplanError):
                (conflict,) = error.details["conflicts"]
                assert (conflict["base"], conflict["theirs"], conflict["mine"]) == (before, won, before + 1 + n)
        view = people.ada.call("context.view", scopeId="atlas")
        assert view.inputs_by_pointer["/shared"].value_number == won


# --- Beginning and ending ---


def test_of_two_who_begin_one_scope_one_makes_it_and_both_have_a_draft_in_it(people: ContextActors) -> None:
    for number in range(ROUNDS):
        scope = f"scope {number}"
        calls = [partial(one.call, "context.create_draft", scopeId=scope) for one in (people.ada, people.ben)]

        answers = run_together(*calls)

        assert outcome_codes(answers) == ["ok", "ok"]
        listed = people.cleo.call("context.list", scopeId=scope).runs
        assert {run.id for run in listed} == {one.run.id for one in answers}
        assert {run.user_id for run in listed} == {"ada", "ben"}
        assert len(people.cleo.call("member.list", scopeId=scope).members) == 1


def test_a_scope_that_strangers_begin_at_once_is_one_ones_and_hidden_from_the_other(
    engine: Engine, people: ContextActors
) -> None:
    """The second cannot see the scope of the first and must not become its owner."""
    names = ("ada", "ben")
    for name in names:
        engine.session("cleo").call("context.create_draft", scopeId=f"where {name} is known")
        engine.session("cleo").call("member.add", scopeId=f"where {name} is known", userId=name, role="viewer")
    strangers = [Session(engine.another_store(), person(name)) for name in names]
    for number in range(ROUNDS):
        scope = f"scope {number}"

        answers = run_together(*(partial(one.call, "context.create_draft", scopeId=scope) for one in strangers))

        assert sorted(outcome_codes(answers)) == ["not_found", "ok"]
        (owner,) = people.cleo.call("member.list", scopeId=scope).members
        assert (owner.user_id, owner.role) == (names[outcome_codes(answers).index("ok")], "owner")
        assert len(people.cleo.call("context.list", scopeId=scope).runs) == 1


def test_of_all_who_bootstrap_a_scope_with_a_draft_one_owns_it_and_its_draft(people: ContextActors) -> None:
    everybody = (people.ada, people.ben, people.scout)
    for number in range(ROUNDS):
        scope = f"scope {number}"

        answers = run_together(
            *(partial(one.call, "member.bootstrap", scopeId=scope, createDraftRun=True) for one in everybody)
        )

        assert sorted(outcome_codes(answers)) == ["ok", *["pciv_scope_already_initialized"] * 2]
        (won,) = (one for one in answers if not isinstance(one, GroundplanError))
        assert [run.id for run in people.cleo.call("context.list", scopeId=scope).runs] == [won.run_id]
        assert len(people.cleo.call("member.list", scopeId=scope).members) == 1


def test_one_draft_is_made_however_often_it_is_asked_for_under_one_op_id(people: ContextActors) -> None:
    adas = [people.session("ada", ActorKind.PERSON) for _ in range(3)]
    for number in range(ROUNDS):
        given = {"scopeId": f"scope {number // 2}", "op_id": f"draft {number}"}  # every second scope exists already

        answers = run_together(*(partial(one.call, "context.create_draft", **given) for one in adas))

        assert outcome_codes(answers) == ["ok"] * 3
        assert len({encode(one) for one in answers}) == 1
    assert people.events("draft_created") == ROUNDS


def test_a_draft_that_is_taken_away_takes_with_it_what_came_at_the_same_moment(
    engine: Engine, people: ContextActors
) -> None:
    for verb in ["discard", "delete"] * ROUNDS:
        run_id = people.draft(field("/a", 1))

        changed, suggested, ended = run_together(
            partial(edit, people.ben, run_id, sources=[{"kind": "url", "title": "x", "uri": "x"}]),
            partial(edit, people.scout, run_id, field("/a", 2)),
            partial(people.ada.call, f"context.{verb}", runId=run_id),
        )

        assert outcome_codes([ended]) == ["ok"]
        assert set(outcome_codes([changed, suggested])) <= {"ok", "not_found"}
        counted = " + ".join(f"(SELECT count(*) FROM pciv_{one} WHERE run_id = '{run_id}')" for one in BELOW)
        assert engine.as_owner(f"SELECT {counted}") == [(0,)]
        assert outcome_codes(run_together(partial(people.view, run_id))) == ["not_found"]


# --- Provenance ---


def test_what_a_person_says_is_never_replaced_by_what_an_agent_infers(people: ContextActors) -> None:
    for number in range(ROUNDS):
        run_id = people.draft(field("/a"))
        if number % 2:  # there is a value that either can replace
            edit(people.guide, run_id, field("/a", 0))

        said, inferred, guessed = run_together(
            partial(edit, people.ben, run_id, field("/a", 1)),
            partial(edit, people.scout, run_id, field("/a", 2)),
            partial(edit, people.guide, run_id, field("/a", 3)),
        )

        assert outcome_codes([said, inferred, guessed]) == ["ok"] * 3
        assert said.suggested == []
        view = people.view(run_id)
        kept = view.inputs_by_pointer["/a"]
        assert (kept.value_number, kept.provenance, kept.updated_by) == (1, "user-entered", "user")
        late = [one.suggested[0].id for one in (inferred, guessed) if one.suggested]
        assert sorted(one.id for one in view.suggestions or ()) == sorted(late)


def test_a_suggestion_is_decided_once(people: ContextActors) -> None:
    for number in range(ROUNDS):
        run_id = people.draft(field("/a", 1))
        (suggestion,) = edit(people.scout, run_id, field("/a", 2)).suggested

        accepted, rejected, again = run_together(
            partial(edit, people.ada, run_id, accept=[suggestion.id]),
            partial(edit, people.ben, run_id, reject=[suggestion.id]),
            partial(edit, people.cleo, run_id, accept=[suggestion.id]),
        )

        assert sorted(outcome_codes([accepted, rejected, again])) == ["already_decided", "already_decided", "ok"]
        won = outcome_codes([rejected]) != ["ok"]
        assert people.view(run_id).inputs_by_pointer["/a"].value_number == (2 if won else 1)
        assert people.events("accepted") + people.events("rejected") == number + 1


def test_of_the_last_two_sources_of_a_value_one_stays(people: ContextActors) -> None:
    for _ in range(ROUNDS):
        run_id = people.draft()
        sources = [{"kind": "url", "title": "x", "uri": "x"}] * 2
        first, second = (one.id for one in edit(people.ada, run_id, sources=sources).sources)
        edit(people.ada, run_id, field("/a", 1, provenance="source-backed", sourceIds=[first, second]))

        one, other, committed = run_together(
            partial(edit, people.ben, run_id, unlinks=[{"pointer": "/a", "sourceId": first}]),
            partial(edit, people.cleo, run_id, unlinks=[{"pointer": "/a", "sourceId": second}]),
            partial(people.ada.call, "context.commit", runId=run_id),
        )

        assert outcome_codes([committed]) == ["ok"]
        assert set(outcome_codes([one, other])) <= {"ok", "last_source", "frozen"}
        kept = people.view(run_id).inputs_by_pointer["/a"].source_ids
        assert len(kept) == 2 - outcome_codes([one, other]).count("ok") >= 1


# --- Concurrent reads ---


def test_a_view_is_of_one_moment_while_others_write(people: ContextActors) -> None:
    """Two inputs and a constraint always change together to the same number; no reader sees them apart."""
    run_id = people.draft(field("/a", 0), field("/b", 0))
    limit = {"key": "limit", "label": "x", "valueKind": "number", "value": 0}
    (made,) = edit(people.ada, run_id, constraints=[limit]).constraints
    done = threading.Event()

    def write() -> None:
        try:
            for n in range(1, 4 * ROUNDS + 1):
                moved = {**limit, "id": made.id, "value": n}
                edit(people.ada, run_id, field("/a", n), field("/b", n), constraints=[moved])
        finally:
            done.set()

    def read(one: Session) -> set[tuple[Any, ...]]:
        pictures = set()
        while not done.is_set():
            view = one.call("context.view", scopeId="atlas", runId=run_id)
            inputs = view.inputs_by_pointer
            numbers = (inputs["/a"], inputs["/b"], view.constraints[0])
            pictures.add((*(one.value_number for one in numbers), view.rev))
        return pictures

    written, *seen = run_together(write, *(partial(read, one) for one in (people.ben, people.scout)))

    outcome_codes([written, *seen])
    assert set().union(*seen) <= {(n, n, n, 3 + n) for n in range(4 * ROUNDS + 1)}


def test_whichever_run_is_in_force_is_shown_whole(people: ContextActors) -> None:
    """Runs are committed and deleted while readers ask for the latest: they get one of them, complete."""
    committed: dict[str, bytes] = {}
    people.ada.call("context.commit", runId=people.draft(field("/a", 0)))
    done = threading.Event()

    def write() -> None:
        try:
            for n in range(1, 2 * ROUNDS + 1):
                run_id = people.draft(field("/a", n), field("/b", n))
                people.ada.call("context.commit", runId=run_id)
                committed[run_id] = encode(people.view(run_id))
                if n % 2:
                    people.ada.call("context.delete", runId=run_id)
        finally:
            done.set()

    def read(one: Session) -> dict[str, bytes]:
        seen = {}
        while not done.is_set():
            view = one.call("context.view", scopeId="atlas")
            seen[view.run.id] = encode(view)
        return seen

    written, *seen = run_together(write, *(partial(read, one) for one in (people.ben, people.scout)))

    outcome_codes([written, *seen])
    for one in seen:
        assert all(committed.get(run_id, shown) == shown for run_id, shown in one.items())
        assert all(b'"committedAt":"' in shown for shown in one.values())
