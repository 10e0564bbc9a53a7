"""Several processes write one file: each gets its turn, and none gets "database is locked"."""

from __future__ import annotations

import pytest

from bench.fairness import RATIO_MIN, Fairness, measure_rounds
from tests.proof import scaled

PROCESSES = 5
ROUNDS = scaled(80, 150)

pytestmark = [pytest.mark.proof, pytest.mark.slow]


@pytest.fixture(scope="module")
def race() -> Fairness:
    """Five processes that write as fast as they can, each equally often."""
    return measure_rounds(PROCESSES, ROUNDS)


def test_no_writer_ever_meets_an_error(race: Fairness) -> None:
    assert race.errors == ()
    assert race.acknowledged == PROCESSES * ROUNDS


def test_every_write_that_was_acknowledged_is_there(race: Fairness) -> None:
    assert race.recorded == race.acknowledged


def test_the_slowest_writer_gets_at_least_half_of_what_the_fastest_gets(race: Fairness) -> None:
    assert min(race.writes) > ROUNDS // 4, "the writers hardly met, so this says nothing"
    assert race.ratio >= RATIO_MIN
