"""Claims and clocks that jump: a live claim is not freed, and a claim of a clock that is ahead ends in time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from groundplan import providers
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.projects import check_clocks
from groundplan.session import Session
from groundplan.work.checks import check_leases
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient

ADA = local_actor("ada", kind=ActorKind.PERSON)
YEARS = 365.0
ON_FILE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # PostgreSQL has one clock


class Machine:
    """One machine with programs whose clocks differ, on one database."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.clock = ManualClock()
        self.ids: dict[str, str] = {}

    def start(self, who: str, *, knows_uptime: bool = True, **ahead: float) -> WorkClient:
        """Start a program with a clock that is ahead of the machine's."""
        lead = timedelta(**ahead)
        uptime = self.clock.uptime if knows_uptime else None
        store = self.engine.another_store(clock=lambda: self.clock.now + lead, uptime=uptime)
        kind = ActorKind.PERSON if who == "ada" else ActorKind.AGENT
        return WorkClient(Session(store, local_actor(who, kind=kind)), ids=self.ids)


@pytest.fixture
def machine(engine: Engine) -> Machine:
    machine = Machine(engine)
    ada = machine.start("ada")
    ada.open(goal="a map")
    ada.plan("a")
    return machine


@pytest.mark.parametrize("ahead", [{"days": 20 * YEARS}, {"hours": 2}, {"minutes": 61}])
@pytest.mark.parametrize("knows_uptime", [True, False])
def test_a_claim_of_a_clock_that_is_ahead_ends_one_duration_after_the_next_write(
    machine: Machine, ahead: dict[str, Any], knows_uptime: bool
) -> None:
    dave = machine.start("dave", knows_uptime=knows_uptime, **ahead)
    ben, cleo = (machine.start(who, knows_uptime=knows_uptime) for who in ("ben", "cleo"))
    assert dave.claim() == ["a"]

    assert ben.claim() == []  # a write of its own, which gives the claim an end
    machine.clock.move(minutes=60, milliseconds=-1)
    assert cleo.claim() == []
    machine.clock.move(milliseconds=1)

    assert cleo.claim() == ["a"]
    assert cleo.node("a").properties["_claimed_at"].startswith("2026-03-01T10:00")


def test_a_refused_claim_is_enough_to_give_the_lease_its_end(machine: Machine) -> None:
    machine.start("dave", days=20 * YEARS).claim()
    ben = machine.start("ben")

    refused = error_of(lambda: ben.call("work.next", node_id=ben["a"], claim=True))

    assert (refused.code, refused.details["claimed_until"]) == ("already_claimed", "2026-03-01T10:00:00.000Z")
    machine.clock.move(minutes=60)
    assert ben.claim() == ["a"]


def test_who_only_reads_is_told_an_end_that_can_come(machine: Machine) -> None:
    machine.start("dave", days=20 * YEARS).claim()
    ben = machine.start("ben")

    refused = error_of(lambda: ben.call("work.next", node_id=ben["a"]))

    assert refused.details["claimed_until"] == "2026-03-01T10:00:00.000Z"


def test_the_end_of_a_lease_is_in_the_history_and_in_the_revision(machine: Machine) -> None:
    machine.start("dave", days=20 * YEARS).claim()
    ben = machine.start("ben")
    ben.claim()

    assert ben.actions("a") == ["created", "claimed", "lease_moved"]
    assert ben.node("a").rev == 3
    (change,) = ben.history("a")[-1].changes
    assert (change.field, change.after) == ("claimed_until", "2026-03-01T10:00:00.000Z")


def test_without_the_adjustment_a_claim_of_a_clock_that_is_ahead_lasts_for_years(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "move_leases", lambda *_: None)
    machine.start("dave", days=20 * YEARS).claim()
    ben = machine.start("ben")
    ben.claim()

    machine.clock.move(days=1000)

    assert ben.claim() == []


@ON_FILE
@pytest.mark.parametrize("ahead", [{"minutes": 61}, {"days": 8}, {"days": 20 * YEARS}])
def test_a_clock_that_is_ahead_frees_no_live_claim(machine: Machine, ahead: dict[str, Any]) -> None:
    machine.start("ben").claim()
    dave = machine.start("dave", **ahead)

    assert dave.next() == []
    assert dave.claim() == []
    assert error_of(lambda: dave.call("work.next", node_id=dave["a"], claim=True)).code == "already_claimed"
    assert dave.node("a").properties["_claimed_by"] == "ben"


@ON_FILE
def test_without_the_uptime_a_clock_that_is_ahead_frees_a_live_claim(machine: Machine) -> None:
    machine.start("ben").claim()

    assert machine.start("dave", minutes=61, knows_uptime=False).claim() == ["a"]


@ON_FILE
def test_clocks_that_take_turns_neither_shorten_a_lease_nor_make_it_longer(machine: Machine) -> None:
    ben, dave = machine.start("ben"), machine.start("dave", minutes=61)
    ben.claim()
    for _ in range(5):
        machine.clock.move(minutes=10)
        dave.plan("more")
        ben.plan("more")

    machine.clock.move(minutes=10, milliseconds=-1)
    assert "a" not in dave.next(count=50)
    assert "a" not in machine.start("cleo").next(count=50)
    machine.clock.move(milliseconds=1)
    assert "a" in dave.next(count=50)
    assert "a" in machine.start("cleo").next(count=50)


@ON_FILE
def test_a_claim_expires_in_a_project_where_nobody_wrote_for_an_hour(machine: Machine) -> None:
    machine.start("ben").claim()
    machine.clock.move(minutes=60)

    assert machine.start("cleo").claim() == ["a"]


def test_a_claim_that_is_held_stays_so_whatever_the_clock_does(machine: Machine) -> None:
    ada = WorkClient(Session(machine.start("ada").session.store, ADA), ids=machine.ids)
    ada.claim()
    ada.update("a", hold=True)

    for ahead in (20 * YEARS, -20 * YEARS, 0.1):
        assert machine.start("dave", days=ahead).claim() == []


def test_numbers_of_claims_only_grow_whatever_the_clock_does(machine: Machine) -> None:
    given = []
    for days in (0, 20 * YEARS, -20 * YEARS, 8, 0):
        taker = machine.start("dave", days=days, knows_uptime=False)
        given += [offer.claim for offer in taker.offers(claim=True)]

    assert given == list(range(1, 6))


@ON_FILE
def test_an_answer_warns_of_a_clock_that_is_ahead(machine: Machine) -> None:
    dave = machine.start("dave", minutes=61)

    (warning,) = dave.call("work.next", project="atlas", claim=True).warnings

    assert "1:01:00 ahead" in warning


def test_doctor_says_when_clocks_disagree_and_which_claims_end_too_late(machine: Machine) -> None:
    ben = machine.start("ben")

    def find(who: WorkClient) -> dict[str, str]:
        return who.session.store.read(
            who.session.actor, lambda tx: {one.name: one.status for one in (*check_clocks(tx), *check_leases(tx))}
        )

    assert find(ben) == {"clocks": "ok", "leases": "ok"}
    machine.start("dave", days=20 * YEARS).claim()
    assert find(ben) == {"clocks": "warn", "leases": "warn"}
    ben.claim()
    assert find(ben) == {"clocks": "ok", "leases": "ok"}
