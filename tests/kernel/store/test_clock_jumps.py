"""The time of a write: never before the last one, unless that was written by a clock that is far ahead."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from groundplan.kernel.access import Role
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.clock import JUMP_MIN, UptimeCounter, find_jump, format_timestamp
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import TimeRunsBack
from groundplan.kernel.store.transaction import Project
from groundplan.session import Session
from tests.engines import Engine
from tests.kernel.store.attacks import drop_guards
from tests.manual_clock import ManualClock, ManualUptime

ADA = local_actor("ada", kind=ActorKind.PERSON)
TIMES = "SELECT rev, at FROM events ORDER BY rev, n"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ada(engine: Engine, clock: ManualClock) -> Session:
    session = Session(engine.another_store(clock=clock, uptime=clock.uptime), ADA)
    session.call("work.open", project="atlas", goal="a map")
    return session


def plan(session: Session) -> Any:
    return session.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "a"}])


def read_times(engine: Engine) -> list[str]:
    """Return the times of all events of the project, in the order of their revisions."""
    return [at for _, at in engine.as_owner(TIMES)]


def test_a_clock_that_is_a_little_behind_has_the_time_of_the_last_write(
    engine: Engine, ada: Session, clock: ManualClock
) -> None:
    plan(ada)
    last = read_times(engine)[-1]

    clock.set_ahead(minutes=-5)
    warned = plan(ada).warnings

    assert read_times(engine)[-1] == last
    assert not warned
    clock.set_ahead(minutes=5, milliseconds=1)
    plan(ada)
    assert read_times(engine)[-1] == "2026-03-01T09:00:00.001Z"


def test_a_clock_that_is_far_behind_has_its_own_time_and_the_answer_warns(
    engine: Engine, ada: Session, clock: ManualClock
) -> None:
    plan(ada)

    clock.set_ahead(minutes=-5, milliseconds=-1)
    (warning,) = plan(ada).warnings

    assert read_times(engine)[-1] == "2026-03-01T08:54:59.999Z"
    assert "2026-03-01T09:00:00.000Z" in warning
    assert not plan(ada).warnings


def test_a_write_of_the_organization_is_not_before_the_last_one_either(
    engine: Engine, ada: Session, clock: ManualClock
) -> None:
    for number, minutes in enumerate((0, -4, -6)):
        clock.set_ahead(minutes=minutes)
        ada.call("project.create", name=f"project {number}")

    times = engine.as_owner("SELECT at FROM organization_events ORDER BY rev DESC LIMIT 3")
    assert [at for (at,) in times] == [f"2026-03-01T{at}:00.000Z" for at in ("08:50", "09:00", "09:00")]


def test_a_read_is_not_before_the_last_write(engine: Engine, ada: Session, clock: ManualClock) -> None:
    """A claim that a writer sees as over is over for a reader."""
    plan(ada)
    scout = Session(ada.store, local_actor("scout", kind=ActorKind.AGENT))
    scout.call("work.claim", project="atlas")
    clock.move(minutes=60)
    ben = Session(ada.store, local_actor("ben"))
    plan(ben)

    clock.set_ahead(minutes=-4)

    assert len(ben.call("work.next", project="atlas", count=5).nodes) == 2


def test_revisions_go_on_whatever_the_clock_does(engine: Engine, ada: Session, clock: ManualClock) -> None:
    for minutes in (61, -300, 0, 20 * 365 * 24 * 60, -8 * 24 * 60, 4, -4):
        clock.set_ahead(minutes=minutes)
        plan(ada)

    revs = [rev for rev, _ in engine.as_owner("SELECT DISTINCT rev, tenant_id FROM events ORDER BY rev")]
    assert revs == list(range(1, len(revs) + 1))


@pytest.mark.parametrize("table", ["projects", "organizations"])
def test_no_statement_sets_the_time_of_a_write_a_little_back(engine: Engine, ada: Session, table: str) -> None:
    ada.call("project.create", name="other")

    def set_back(by: timedelta) -> str:
        then = format_timestamp(datetime.fromisoformat("2026-03-01T09:00:00.000Z") - by)
        return f"UPDATE {table} SET updated_at = '{then}'"

    engine.as_app(ADA, set_back(JUMP_MIN + timedelta(milliseconds=1)), keep=False)
    with pytest.raises(engine.refusals, match=f"time_step: {table}"):
        engine.as_app(ADA, set_back(JUMP_MIN))
    with pytest.raises(TimeRunsBack):
        ada.store.write(ADA, "atlas", lambda tx: tx.run(Query("back", set_back(JUMP_MIN))))

    drop_guards(engine, [table])
    engine.as_app(ADA, set_back(JUMP_MIN))


# --- What the uptime tells ---

HOUR = timedelta(hours=1)


def jump_between(
    gap: timedelta, ran: timedelta, *, uptime: UptimeCounter | None = None, boot_id: str = "first-start"
) -> timedelta | None:
    """Return the jump that is found when the clock moved by `gap` while the machine ran for `ran`."""
    clock = ManualClock()
    start = f"{boot_id} {format_timestamp(clock.now - clock.uptime())}"
    last = format_timestamp(clock.now)
    clock.now += gap
    clock.uptime.elapsed += ran
    project = Project("p", "p", 1, Role.OWNER, None, "{}", last, start)
    jump = find_jump(format_timestamp(clock.now), project, uptime or clock.uptime)
    return None if jump is None else jump.by


@pytest.mark.parametrize(
    ("gap", "ran", "found"),
    [
        (61 * HOUR / 60, timedelta(), 61 * HOUR / 60),
        (2 * HOUR, HOUR, HOUR),
        (HOUR, HOUR, None),
        (HOUR, HOUR - JUMP_MIN, None),
        (JUMP_MIN, timedelta(), None),
        (-HOUR, timedelta(), -HOUR),
        (-HOUR, HOUR, -2 * HOUR),
    ],
)
def test_a_jump_is_what_the_clock_moved_while_the_machine_did_not_run(
    gap: timedelta, ran: timedelta, found: timedelta | None
) -> None:
    assert jump_between(gap, ran) == found


def test_without_a_counter_of_the_same_start_only_a_clock_that_is_behind_is_noticed() -> None:
    other = ManualUptime("second-start")
    assert jump_between(HOUR, timedelta(), uptime=other) is None
    assert jump_between(-HOUR, timedelta(), uptime=other) == timedelta()


def test_a_counter_that_would_have_run_backwards_proves_nothing() -> None:
    assert jump_between(HOUR, -2 * HOUR) is None
