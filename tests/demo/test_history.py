"""An example in a new database has a history of weeks; in one that exists, its projects begin now."""

from __future__ import annotations

from datetime import timedelta

from groundplan.demo import fill_database
from groundplan.demo.history import HISTORY_DAYS
from groundplan.kernel.clock import compute_difference, format_timestamp, system_clock
from groundplan.session import Session
from tests.engines import Engine

PROJECT = "clean-water"


def list_times(session: Session) -> list[str]:
    """Return the times of the first events of each write, the oldest first."""
    page = session.call("event.list", project=PROJECT, since="1.0", limit=100)
    times = [event.at for event in page.events]
    while page.next_cursor:
        page = session.call("event.list", project=PROJECT, since="1.0", limit=100, cursor=page.next_cursor)
        times += [event.at for event in page.events]
    return times


def test_a_new_example_has_a_history_of_weeks_that_ends_before_now(engine: Engine) -> None:
    made = fill_database(engine.db)

    times = list_times(engine.session("ada"))

    assert len(made) == 3
    assert times == sorted(times)
    now = format_timestamp(system_clock())
    assert timedelta(days=HISTORY_DAYS) <= compute_difference(now, times[0]) < timedelta(days=HISTORY_DAYS + 1)
    assert times[-1] < now
    assert len({time[:10] for time in times}) > 12


def test_one_claim_of_a_new_example_lapses_soon_and_the_other_does_not(engine: Engine) -> None:
    fill_database(engine.db)

    waiting = engine.session("ada").call("briefing.inbox", project=PROJECT).items

    assert [item.text.split()[3] for item in waiting if item.kind == "claim_lapsing"] == ["claude"]


def test_an_example_that_exists_is_completed_by_the_clock_of_now(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name=PROJECT)

    fill_database(engine.db)

    now = format_timestamp(system_clock())
    assert compute_difference(now, list_times(ada)[0]) < timedelta(hours=1)
    assert fill_database(engine.db) == []
