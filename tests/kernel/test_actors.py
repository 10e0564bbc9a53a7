"""The kind of a name: stored when it first acts, and nobody changes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from groundplan.kernel.actors import Access, Actor, ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine
from tests.proof import scaled
from tests.races.concurrent_calls import outcome_codes, run_together

ROUNDS = scaled(5, 100)


def act_as(engine: Engine, name: str, kind: ActorKind, *, takes_stored_kind: bool = False) -> Session:
    return engine.session(local_actor(name, kind=kind, takes_stored_kind=takes_stored_kind))


def code_of(call: Callable[[], object]) -> str:
    """Return the error code of a call, or ok."""
    try:
        call()
    except GroundplanError as error:
        return error.code
    return "ok"


def read_kinds(engine: Engine) -> dict[str, str]:
    return dict(engine.as_owner("SELECT id, kind FROM principals"))


@pytest.mark.parametrize("kind", ActorKind)
def test_the_kind_of_a_name_is_stored_when_it_first_changes_something(engine: Engine, kind: ActorKind) -> None:
    engine.session("ada").call("project.create", name="atlas")
    robin = act_as(engine, "robin", kind)

    robin.call("work.next", project="atlas")
    assert "robin" not in read_kinds(engine)
    robin.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}])

    assert read_kinds(engine) == {"ada": "person", "robin": kind.value}


def test_a_write_that_is_refused_or_changes_nothing_stores_no_kind(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    task = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}]).created[0].id
    robin = act_as(engine, "robin", ActorKind.AGENT)

    assert code_of(partial(robin.call, "project.archive", project="atlas")) == "agent_not_allowed"
    robin.call("work.update", updates=[{"node_id": task, "summary": "A"}])

    assert "robin" not in read_kinds(engine)


@pytest.mark.parametrize(
    ("stored", "claimed"), [(ActorKind.PERSON, ActorKind.AGENT), (ActorKind.AGENT, ActorKind.PERSON)]
)
def test_the_name_of_one_kind_is_refused_to_the_other(engine: Engine, stored: ActorKind, claimed: ActorKind) -> None:
    act_as(engine, "robin", stored).call("project.create", name="atlas")
    other = act_as(engine, "robin", claimed)

    with pytest.raises(GroundplanError) as refused:
        other.call("project.create", name="borealis")

    assert (refused.value.code, refused.value.status) == ("actor_kind", 403)
    assert refused.value.details == {"name": "robin", "kind": stored}
    assert code_of(partial(other.call, "project.list")) == "actor_kind"
    assert [project.name for project in act_as(engine, "robin", stored).call("project.list").projects] == ["atlas"]


def test_a_service_is_no_person_whatever_it_says(engine: Engine) -> None:
    act_as(engine, "ci", ActorKind.SERVICE).call("project.create", name="atlas")

    assert code_of(partial(act_as(engine, "ci", ActorKind.PERSON).call, "project.list")) == "actor_kind"
    agent = act_as(engine, "ci", ActorKind.AGENT)
    assert engine.store.read(agent.actor, lambda tx: tx.actor.kind) is ActorKind.SERVICE


@pytest.mark.parametrize(
    ("stored", "claimed"), [(ActorKind.PERSON, ActorKind.AGENT), (ActorKind.AGENT, ActorKind.PERSON)]
)
def test_a_kind_that_is_only_proposed_gives_way_to_the_stored_one_in_every_policy(
    engine: Engine, stored: ActorKind, claimed: ActorKind
) -> None:
    first = act_as(engine, "robin", stored, takes_stored_kind=True)
    first.call("project.create", name="atlas")
    other = act_as(engine, "robin", claimed, takes_stored_kind=True)

    def ask(tx: Transaction) -> ActorKind:
        if isinstance(engine, PostgresEngine):
            assert tx.connection.execute("SELECT gp_actor_is_agent()").fetchone() == (stored is ActorKind.AGENT,)  # type: ignore[attr-defined] # of PostgreSQL
        return tx.actor.kind

    assert engine.store.read(other.actor, ask) is stored
    assert code_of(partial(other.call, "token.create", kind="person")) == code_of(
        partial(first.call, "token.create", kind="person")
    )


def test_names_of_an_older_store_keep_the_kind_that_they_have_and_others_get_one_at_their_next_act(
    engine: Engine,
) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    ada.call("member.add", scopeId="atlas", userId="scout", role="editor", kind="agent")

    assert code_of(partial(act_as(engine, "ben", ActorKind.AGENT).call, "project.list")) == "actor_kind"
    assert code_of(partial(act_as(engine, "scout", ActorKind.PERSON).call, "project.list")) == "actor_kind"
    plan = partial(act_as(engine, "robin", ActorKind.AGENT).call, "work.plan", project="atlas")
    assert code_of(partial(plan, nodes=[{"ref": "a", "summary": "A"}])) == "ok"


def test_an_agent_cannot_make_itself_a_person_with_its_first_act(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    engine.session("ada").call("work.open", project="atlas", policies={"agents": "owner"})
    robin = act_as(engine, "robin", ActorKind.AGENT)

    add = partial(robin.call, "member.add", scopeId="atlas", userId="robin", role="owner")

    assert code_of(add) == "actor_kind"
    assert "robin" not in read_kinds(engine)


@pytest.mark.slow
def test_of_two_first_acts_at_the_same_moment_one_decides(engine: Engine) -> None:
    for name in ("atlas", "borealis"):
        engine.session("ada").call("project.create", name=name)
    for number in range(ROUNDS):
        calls = [
            partial(
                act_as(engine, f"robin {number}", kind).call,
                "work.plan",
                project=project,
                nodes=[{"ref": "a", "summary": "A"}],
            )
            for kind, project in ((ActorKind.PERSON, "atlas"), (ActorKind.AGENT, "borealis"))
        ]
        assert sorted(outcome_codes(run_together(*calls))) == ["actor_kind", "ok"]


def test_a_member_of_another_organization_may_have_the_same_name_and_another_kind(engine: Engine) -> None:
    engine.create_organization("rival", "robin")
    act_as(engine, "robin", ActorKind.AGENT).call("project.create", name="atlas")

    robin = engine.session(Actor("rival", "robin", ActorKind.PERSON, Access.MEMBERS))

    assert robin.call("project.list").projects == []
