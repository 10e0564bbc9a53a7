"""The example is filled step by step: with a history of weeks in a new database, and behind where it was cut short."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.demo import HISTORY_DAYS, PROJECT, fill, fill_database, load_example
from groundplan.kernel.clock import compute_difference, format_timestamp, system_clock
from groundplan.kernel.operations.registry import Effect
from groundplan.session import Session
from tests.engines import Engine


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


def read_counts(session: Session) -> list[Any]:
    """Return the size of everything in the example."""
    observed = session.call("purpose.observations", project=PROJECT)
    decisions = [(decision.text, bool(decision.supersedes)) for decision in observed.decisions]
    versions = [session.call("purpose.open", project=PROJECT, version=number) for number in (1, 2, 3)]
    return [
        [(project.name, project.rev) for project in session.call("project.list", archived=True).projects],
        session.call("work.open", project=PROJECT).summary,
        [len(getattr(observed, name)) for name in ("measurements", "reviews", "waivers", "requests")],
        decisions,
        [(version.version.status, version.counts) for version in versions],
        [run.status for run in session.call("context.list", scopeId=PROJECT).runs],
    ]


def test_a_fill_that_was_cut_short_anywhere_is_completed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, complete = engine.session("ada"), engine.another_store()
    fill(Session(complete, ada.actor))
    writes_left = 0

    def call(session: Session, operation: str, /, **arguments: Any) -> Any:
        nonlocal writes_left
        if OPERATIONS[operation].effect is not Effect.READ or "policies" in arguments:
            if writes_left == 0:
                raise KeyboardInterrupt
            writes_left -= 1
        return session.run(OPERATIONS[operation], arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Session, "call", call)
        for _ in range(sum(map(len, load_example().values()))):  # each fill gets one step further than the one before
            writes_left = 1
            with contextlib.suppress(KeyboardInterrupt):
                fill(ada)

    assert fill(ada) == []
    assert read_counts(ada) == read_counts(Session(complete, ada.actor))


def test_a_second_fill_changes_nothing_that_somebody_wrote(engine: Engine) -> None:
    ada = engine.session("ada")
    fill(ada)
    ada.call("purpose.edit", project=PROJECT, operations=[{"op": "update_node", "node": "G2", "owner": "ben"}])
    before = read_counts(ada)

    assert (fill(ada), read_counts(ada)) == ([], before)


@pytest.mark.parametrize("steps", range(1, 4))
def test_a_project_that_was_cut_short_and_then_changed_by_somebody_else_stays_as_it_is(
    engine: Engine, steps: int
) -> None:
    ada, ben = engine.session("ada"), engine.session("ben")
    for step in load_example()[PROJECT][:steps]:
        ada.call(step.operation, **step.arguments)
    ben.call("work.plan", project=PROJECT, nodes=[{"ref": "a", "summary": "Ask the council"}])

    assert PROJECT not in fill(ada)
    assert ada.call("work.open", project=PROJECT).summary.total == 2
