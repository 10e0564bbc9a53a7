"""Claims: one holder at a time, expiry by the store's clock, and a fencing number that exposes late writers."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Conflict, Forbidden
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.work.kinds import WorkPreferences
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient


@pytest.fixture
def ben(work: WorkClient) -> WorkClient:
    """An agent."""
    return work.by("ben")


@pytest.fixture
def cleo(work: WorkClient) -> WorkClient:
    """Another agent."""
    return work.by("cleo")


def claim_number(work: WorkClient, **given: Any) -> int:
    """Claim the best node and return the number of the claim."""
    claim: int = work.offers(claim=True, **given)[0].claim
    return claim


def holder(work: WorkClient, name: str) -> tuple[Any, Any, Any]:
    """Return who holds a node, since when, and whether without expiry."""
    properties = work.node(name).properties
    return properties.get("_claimed_by"), properties.get("_claimed_at"), properties.get("_held")


def test_a_claimed_node_shows_who_took_it_and_when(work: WorkClient, ben: WorkClient, clock: ManualClock) -> None:
    work.plan("a", each={"a": {"properties": {"area": "ui"}}})
    clock.move(minutes=5)

    (offer,) = ben.offers(claim=True)

    shown = {"area": "ui", "_claimed_by": "ben", "_claimed_at": "2026-03-01T09:05:00.000Z"}
    assert offer.node.properties == work.node("a").properties == shown
    assert offer.claim == 1


def test_nobody_else_is_offered_a_claimed_node(work: WorkClient, ben: WorkClient, cleo: WorkClient) -> None:
    work.plan("a\nb")

    assert ben.claim() == ["a"]
    assert cleo.next() == ["b"]
    assert cleo.claim(count=5) == ["b"]
    assert cleo.claim(scope="root", filter={"area": None}, count=5) == ["b"]


def test_who_claimed_a_node_is_still_offered_it(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a\nb")
    ben.claim()

    assert ben.next() == ["b", "a"]


def test_claiming_a_node_again_gives_a_higher_number(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a")

    assert [claim_number(ben), claim_number(ben)] == [1, 2]
    assert error_of(lambda: ben.update("a", claim=1, state="late")).code == "stale_claim"
    ben.update("a", claim=2, state="in time")


def test_several_nodes_are_claimed_at_once(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a\nb\nc")

    assert ben.claim(count=2) == ["a", "b"]
    assert ben.query(claimed_by="ben") == ["a", "b"]


# --- Expiry ---


def test_a_claim_holds_for_an_hour_and_not_a_moment_longer(
    work: WorkClient, ben: WorkClient, cleo: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    ben.claim()

    clock.move(minutes=60, milliseconds=-1)
    assert cleo.next() == []
    assert cleo.claim() == []
    clock.move(milliseconds=1)
    assert cleo.next() == ["a"]
    assert cleo.claim() == ["a"]


def test_an_expired_claim_is_not_shown_and_counts_as_none(
    work: WorkClient, ben: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    ben.claim()
    clock.move(minutes=60)

    assert work.node("a").properties == {}
    assert work.query(claimed_by=None, ancestor=work["root"]) == ["a"]
    assert work.query(claimed_by="ben") == []
    assert ben.call("work.onboard", project="atlas").my_claims in ([], UNSET)


def test_whose_agent_died_the_node_is_offered_to_others_again(
    work: WorkClient, ben: WorkClient, cleo: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    ben.claim()
    clock.move(hours=2)

    assert claim_number(cleo) == 2
    assert holder(work, "a")[0] == "cleo"
    assert work.actions("a") == ["created", "claimed", "claimed"]


def test_a_claim_that_was_taken_over_is_refused_by_its_number(
    work: WorkClient, ben: WorkClient, cleo: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    late = claim_number(ben)
    clock.move(hours=1)
    claim_number(cleo)

    refusal = error_of(lambda: ben.update("a", resolved=True, claim=late))

    assert isinstance(refusal, Conflict)
    assert (refusal.code, refusal.details["claimed_by"], refusal.details["current"]) == ("stale_claim", "cleo", 2)
    assert not work.node("a").resolved


def test_an_expired_claim_that_nobody_took_over_can_still_be_finished(
    work: WorkClient, ben: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    mine = claim_number(ben)
    clock.move(hours=5)

    ben.update("a", resolved=True, claim=mine)

    assert work.node("a").resolved


def test_a_number_that_was_never_given_is_refused(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a")
    assert error_of(lambda: ben.update("a", claim=0, state=1)).code == "stale_claim"
    ben.claim()

    assert error_of(lambda: ben.update("a", claim=7, state=1)).code == "stale_claim"


def test_the_number_of_a_claim_that_ended_is_refused(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a\nb")
    first = claim_number(ben)
    ben.update("a", release=True)
    assert error_of(lambda: ben.update("a", claim=first, state=1)).code == "stale_claim"

    second = claim_number(ben)
    ben.resolve("a")
    assert error_of(lambda: ben.update("a", claim=second, state=1)).code == "stale_claim"


def test_numbers_of_a_node_never_come_back(
    work: WorkClient, ben: WorkClient, cleo: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    given = [claim_number(ben)]
    ben.update("a", release=True)
    given.append(claim_number(cleo))
    cleo.resolve("a")
    work.reopen("a")
    given.append(claim_number(ben))
    clock.move(hours=3)
    given.append(claim_number(cleo))

    assert given == [1, 2, 3, 4]


# --- Renew, release, hold ---


def test_renewing_begins_the_lease_again_under_the_same_number(
    work: WorkClient, ben: WorkClient, cleo: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    mine = claim_number(ben)
    clock.move(minutes=59)

    ben.update("a", renew=True, claim=mine)
    clock.move(minutes=59)

    assert cleo.next() == []
    assert holder(work, "a")[:2] == ("ben", "2026-03-01T09:00:00.000Z")
    ben.update("a", claim=mine, state="still mine")
    clock.move(minutes=1)
    assert cleo.next() == ["a"]
    assert work.actions("a") == ["created", "claimed", "renewed", "updated"]


def test_a_released_node_is_free_at_once(work: WorkClient, ben: WorkClient, cleo: WorkClient) -> None:
    work.plan("a")
    ben.claim()

    ben.update("a", release=True)

    assert holder(work, "a") == (None, None, None)
    assert cleo.next() == ["a"]
    assert work.actions("a") == ["created", "claimed", "released"]


def test_whoever_gives_back_what_is_resolved_is_told_how_to_reopen_it(work: WorkClient) -> None:
    work.plan("a")
    work.resolve("a")

    refusal = error_of(lambda: work.updates({"node_id": "a", "release": True}))

    assert refusal.code == "stale_claim"
    assert [step.operation for step in refusal.next_steps] == ["work.history", "work.update"]


@pytest.mark.parametrize("wish", ["renew", "release", "hold"])
def test_only_the_holder_has_a_say_over_a_claim(work: WorkClient, ben: WorkClient, wish: str) -> None:
    work.plan("a")
    wished = {"node_id": "a", wish: True}
    assert error_of(lambda: work.updates(wished)).code == "stale_claim"
    ben.claim()

    refusal = error_of(lambda: work.updates(wished))

    assert isinstance(refusal, Conflict)
    assert refusal.code == "stale_claim"
    assert holder(work, "a")[0] == "ben"


def test_a_person_can_hold_a_claim_without_end(work: WorkClient, ben: WorkClient, clock: ManualClock) -> None:
    work.plan("a")
    mine = claim_number(work)

    work.update("a", hold=True, claim=mine)
    clock.move(days=1000)

    assert holder(work, "a") == ("ada", "2026-03-01T09:00:00.000Z", True)
    assert ben.next() == []
    assert work.query(claimed_by="ada") == ["a"]


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.SERVICE])
def test_only_a_person_can_hold_a_claim(work: WorkClient, kind: ActorKind) -> None:
    work.plan("a")
    robot = work.by("robot", kind=kind)
    robot.claim()

    refusal = error_of(lambda: robot.update("a", hold=True))

    assert isinstance(refusal, Forbidden)
    assert refusal.code == "hold_needs_person"
    assert holder(work, "a")[2] is None


def test_a_held_claim_can_be_released(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a")
    work.claim()
    work.update("a", hold=True)

    work.update("a", release=True)

    assert ben.next() == ["a"]


def test_a_held_claim_that_is_renewed_expires_again(work: WorkClient, ben: WorkClient, clock: ManualClock) -> None:
    work.open(policies={"claim_minutes_people": 60})
    work.plan("a")
    work.claim()
    work.update("a", hold=True)

    work.update("a", renew=True)
    clock.move(hours=1)

    assert ben.next() == ["a"]


# --- End of a claim ---


def test_resolving_ends_the_claim(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a")
    ben.claim()

    ben.resolve("a")

    assert holder(work, "a") == (None, None, None)
    assert work.query(claimed_by="ben") == []
    work.reopen("a")
    assert holder(work, "a") == (None, None, None)


def test_dropping_ends_the_claims_of_everything_below(work: WorkClient, ben: WorkClient) -> None:
    work.plan("phase\n  a\n  b")
    ben.claim(count=2)

    work.drop("phase")

    assert work.query(claimed_by="ben") == []


def test_a_claim_survives_a_change_of_the_node_and_of_its_place(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a\nb")
    mine = claim_number(ben)
    work.update("a", summary="renamed")
    work.move("a", "b")
    work.connect("b: a", type="relates_to")

    ben.update("a", claim=mine, state="still mine")

    assert holder(work, "a")[0] == "ben"


def test_a_claim_in_the_history_names_only_who_had_and_who_has_the_node(
    work: WorkClient, ben: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    ben.offers(claim=True, decision="closest to what I know")
    clock.move(hours=2)
    work.claim()

    created, first, second = work.history("a")

    assert (first.action, first.agent, first.decision) == ("claimed", "ben", "closest to what I know")
    assert [(one.field, one.before, one.after) for one in first.changes] == [("claimed_by", None, "ben")]
    assert [(one.field, one.before, one.after) for one in second.changes] == [("claimed_by", "ben", "ada")]
    assert created.action == "created"


def test_a_claim_raises_the_revision_of_the_node(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a")
    ben.claim()

    assert work.node("a").rev == 2
    assert error_of(lambda: work.update("a", expected_rev=1, state=1)).code == "stale_rev"


def test_callers_cannot_set_a_claim_as_a_property(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a")
    ben.claim()

    for key in ("_claimed_by", "_claimed_at", "_held", "_", "_anything"):
        assert error_of(lambda key=key: work.update("a", properties={key: "ada"})).code == "reserved_property"  # type: ignore[misc]  # mypy does not infer it
    assert holder(work, "a")[0] == "ben"


# --- Duration and policies ---


def test_how_long_a_claim_holds_is_configured(engine: Engine, work: WorkClient, clock: ManualClock) -> None:
    work.plan("a")
    preferences = Preferences(of_slices=(WorkPreferences(claim_ttl_minutes=0.5),))
    short = Session(work.session.store, work.by("ben").session.actor, preferences=preferences)
    WorkClient(short, ids=work.ids).claim()

    clock.move(seconds=30, milliseconds=-1)
    assert work.next() == []
    clock.move(milliseconds=1)
    assert work.next() == ["a"]


def test_the_project_has_the_last_word_on_how_long_a_claim_holds(
    work: WorkClient, ben: WorkClient, clock: ManualClock
) -> None:
    work.open(policies={"claim_ttl_minutes": 0.01})
    work.plan("a")
    ben.claim()

    clock.move(milliseconds=599)
    assert work.next() == []
    clock.move(milliseconds=1)
    assert work.next() == ["a"]


def test_by_default_anybody_may_resolve_what_somebody_claimed(
    work: WorkClient, ben: WorkClient, cleo: WorkClient
) -> None:
    work.plan("a")
    ben.claim()

    cleo.resolve("a")

    assert work.node("a").resolved


def test_where_claims_are_enforced_only_the_holder_may_resolve(
    work: WorkClient, ben: WorkClient, cleo: WorkClient
) -> None:
    work.open(policies={"claims": "enforced"})
    work.plan("a")
    ben.claim()

    refusal = error_of(lambda: cleo.resolve("a"))

    assert isinstance(refusal, Conflict)
    assert (refusal.code, refusal.details["claimed_by"]) == ("claimed_by_another", "ben")
    ben.resolve("a")


def test_where_claims_are_enforced_an_expired_one_stops_nobody(
    work: WorkClient, ben: WorkClient, cleo: WorkClient, clock: ManualClock
) -> None:
    work.open(policies={"claims": "enforced"})
    work.plan("a\nb")
    ben.claim()
    cleo.resolve("b")
    clock.move(hours=1)

    cleo.resolve("a")

    assert work.filter_open(["a", "b"]) == []


def test_where_claims_are_enforced_a_hint_can_still_be_left(
    work: WorkClient, ben: WorkClient, cleo: WorkClient
) -> None:
    work.open(policies={"claims": "enforced"})
    work.plan("a")
    ben.claim()

    cleo.update("a", add_evidence=[{"type": "hint", "ref": "look at b"}])

    assert work.node("a").evidence[0].agent == "cleo"


def test_a_clock_that_is_put_back_neither_frees_a_claim_nor_keeps_it_for_ever(
    work: WorkClient, ben: WorkClient, cleo: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    ben.claim()

    clock.move(hours=-1)
    assert cleo.claim() == []
    clock.move(hours=3)
    assert cleo.claim() == ["a"]


def test_null_as_the_claimant_releases_what_the_caller_holds_and_nothing_else(
    work: WorkClient, ben: WorkClient
) -> None:
    work.plan("a\nb")
    ben.claim(node_id=work["a"])

    assert error_of(lambda: work.update("a", properties={"_claimed_by": None})).code == "stale_claim"
    assert error_of(lambda: ben.update("b", properties={"_claimed_by": None})).code == "stale_claim"
    assert error_of(lambda: ben.update("a", properties={"_claimed_by": "ada"})).code == "reserved_property"
    ben.update("a", properties={"_claimed_by": None, "size": 2})

    assert work.node("a").properties == {"size": 2}
    assert ben.history("a")[-1].action == "updated"
    ben.claim(node_id=work["a"])
    ben.update("a", properties={"_claimed_by": None})
    assert ben.history("a")[-1].action == "released"


# --- Claims of people -------------------------------------------------------------------------------------------------


def test_the_claim_of_a_person_does_not_end_by_itself_and_the_answer_says_so(
    work: WorkClient, ben: WorkClient, clock: ManualClock
) -> None:
    work.plan("a\nb")
    (mine,) = work.offers(node_id=work["a"], claim=True)
    (bens,) = ben.offers(node_id=work["b"], claim=True)

    assert (mine.until, bens.until) == (None, "2026-03-01T10:00:00.000Z")
    clock.move(hours=1_000)
    assert ben.next(count=5) == ["b"]
    assert sorted(work.next(count=5)) == ["a", "b"]
    work.update("a", renew=True)
    clock.move(hours=1_000)
    assert ben.next(count=5) == ["b"]


def test_a_policy_gives_the_claims_of_people_an_end(work: WorkClient, ben: WorkClient, clock: ManualClock) -> None:
    work.open(policies={"claim_minutes_people": 90, "claim_ttl_minutes": 30})
    work.plan("a\nb")
    (mine,) = work.offers(node_id=work["a"], claim=True)
    (bens,) = ben.offers(node_id=work["b"], claim=True)

    assert (mine.until, bens.until) == ("2026-03-01T10:30:00.000Z", "2026-03-01T09:30:00.000Z")
    clock.move(minutes=89)
    assert work.by("cleo").next() == ["b"]
    clock.move(minutes=1)
    assert work.by("cleo").next() == ["a", "b"]


def test_changing_what_another_holds_warns_and_names_them(work: WorkClient, ben: WorkClient) -> None:
    work.plan("a")
    ben.claim()
    warning = [f"{work['a']}: changed while 'ben' holds its claim"]

    assert work.update("a", summary="b").warnings == warning
    assert work.update("a", state="doing").warnings == warning
    assert work.update("a", properties={"size": 2}).warnings == warning
    assert work.update("a", properties={"size": 2}).warnings is UNSET  # nothing changed
    assert work.update("a", add_evidence=[{"type": "hint", "ref": "look at b"}]).warnings is UNSET
    assert ben.update("a", state="done soon").warnings is UNSET
    task = {"containerType": "task", "id": work["a"], "version": work.node("a").rev}
    result = work.session.execute(OPERATIONS["container.update"], {**task, "description": "of both"})
    assert list(result.warnings) == warning


def test_where_claims_are_enforced_others_change_nothing(work: WorkClient, ben: WorkClient) -> None:
    work.open(policies={"claims": "enforced"})
    work.plan("a")
    ben.claim()
    before = work.node("a")
    task = {"containerType": "task", "id": work["a"], "version": before.rev}

    for change in (
        lambda: work.update("a", summary="b"),
        lambda: work.update("a", serves=[], add_context_links=["src/a.py"]),
        lambda: work.call("container.update", **task, title="b"),
        lambda: work.resolve("a"),
    ):
        refusal = error_of(change)
        assert (refusal.code, refusal.details["claimed_by"]) == ("claimed_by_another", "ben")
    assert work.node("a") == before
