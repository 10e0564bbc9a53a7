"""Answers for an op_id are kept for a week and for 1,000 later ones, so that no clock alone forgets them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from groundplan.kernel.store import idempotency
from groundplan.kernel.store.idempotency import ANSWER_TTL, LATER_ANSWERS_MIN, SWEEP_ROWS_MAX, OpIdReused
from groundplan.session import Session
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock

A_MOMENT = timedelta(milliseconds=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ada(engine: Engine, clock: ManualClock) -> Session:
    session = Session(engine.another_store(clock=clock), engine.session("ada").actor)
    session.call("project.create", name="atlas", op_id="once")
    return session


def add_answers(engine: Engine, number: int, *, at: str = "2026-03-01T09:00:00.000Z") -> None:
    """Store later answers of another actor."""
    (first,) = engine.as_owner("SELECT max(n) + 1 FROM answers")[0]
    rows = ", ".join(f"('local', 'ben', 'later {n}', '', '', '{at}', {n})" for n in range(first, first + number))
    engine.as_owner(f"INSERT INTO answers (tenant_id, actor_id, op_id, body_digest, answer, at, n) VALUES {rows}")


def is_kept(ada: Session) -> bool:
    """Return whether the first answer is still known: another request with its op_id is refused."""
    try:
        ada.call("project.create", name="other", op_id="once")
    except OpIdReused:
        return True
    return False


def test_an_answer_is_kept_for_a_week(engine: Engine, ada: Session, clock: ManualClock) -> None:
    add_answers(engine, LATER_ANSWERS_MIN)

    clock.now += ANSWER_TTL
    assert is_kept(ada)
    clock.now += A_MOMENT
    assert not is_kept(ada)


def test_a_clock_that_is_ahead_forgets_nothing(engine: Engine, ada: Session, clock: ManualClock) -> None:
    add_answers(engine, LATER_ANSWERS_MIN - 1)

    clock.now += timedelta(days=8)
    assert is_kept(ada)
    clock.now += timedelta(days=20 * 365)
    assert is_kept(ada)


def test_by_age_alone_a_clock_that_is_ahead_would_forget(
    ada: Session, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "LATER_ANSWERS_MIN", 0)

    clock.now += timedelta(days=8)

    assert not is_kept(ada)


def test_old_answers_are_swept_whoever_got_them(engine: Engine, ada: Session, clock: ManualClock) -> None:
    add_answers(engine, LATER_ANSWERS_MIN)
    clock.now += timedelta(days=8)

    ada.call("project.create", name="third", op_id="another")

    swept = engine.as_owner("SELECT count(*) FROM answers WHERE op_id = 'once' OR n < 3")
    assert swept == [(0,)]
    assert engine.as_owner("SELECT count(*) FROM answers") == [(LATER_ANSWERS_MIN,)]


def test_an_answer_of_a_clock_that_was_ahead_does_not_stop_the_sweep(
    engine: Engine, ada: Session, clock: ManualClock
) -> None:
    add_answers(engine, SWEEP_ROWS_MAX, at="2046-03-01T09:00:00.000Z")
    add_answers(engine, LATER_ANSWERS_MIN)

    ada.call("project.create", name="third", op_id="another")

    assert engine.as_owner("SELECT count(*) FROM answers WHERE at > '2040'") == [(1,)]
    assert error_of(lambda: ada.call("project.create", name="other", op_id="once")).code == "op_id_reused"


def test_a_sweep_looks_at_a_few_answers_whatever_there_is(engine: Engine, ada: Session, clock: ManualClock) -> None:
    clock.now += timedelta(days=30)
    add_answers(engine, 3 * LATER_ANSWERS_MIN, at="2026-03-31T08:00:00.000Z")

    ada.call("project.create", name="third", op_id="another")

    assert engine.as_owner("SELECT count(*) FROM answers") == [(3 * LATER_ANSWERS_MIN + 1,)]  # one swept, one added
