"""The rate limit of a principal."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.surfaces.http.authentication import RateLimiter


class Seconds:
    """A clock in seconds that a test moves."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_burst_is_admitted_and_the_next_request_learns_when_to_retry() -> None:
    clock = Seconds()
    limiter = RateLimiter(per_s=2, burst=3, clock=clock)

    assert [limiter.admit("ada") for _ in range(3)] == [0, 0, 0]
    retry_after_s = limiter.admit("ada")
    assert retry_after_s == pytest.approx(0.5)
    clock.now_s += retry_after_s
    assert limiter.admit("ada") == 0


def test_one_principal_does_not_use_up_the_rate_of_another() -> None:
    limiter = RateLimiter(per_s=1, burst=1, clock=Seconds())

    assert limiter.admit("ada") == 0
    assert limiter.admit("ada") > 0
    assert limiter.admit("ben") == 0


def test_a_refused_request_does_not_postpone_the_next_one() -> None:
    clock = Seconds()
    limiter = RateLimiter(per_s=1, burst=1, clock=clock)
    limiter.admit("ada")
    for _ in range(10):
        clock.now_s += 0.09
        assert limiter.admit("ada") > 0

    clock.now_s += 0.11
    assert limiter.admit("ada") == 0


def test_the_number_of_principals_in_memory_is_bounded() -> None:
    limiter = RateLimiter(per_s=1, burst=1, principals_max=3, clock=Seconds())
    for number in range(100):
        limiter.admit(number)

    assert len(limiter) == 3
    assert limiter.admit(99) > 0


def test_a_clock_that_runs_backwards_takes_nothing_away() -> None:
    clock = Seconds()
    limiter = RateLimiter(per_s=1, burst=2, clock=clock)
    limiter.admit("ada")
    clock.now_s -= 500

    assert limiter.admit("ada") == 0


@given(
    per_s=st.floats(0.1, 50),
    burst=st.integers(1, 20),
    pauses_s=st.lists(st.floats(0, 3), min_size=1, max_size=60),
)
def test_in_any_time_no_more_is_admitted_than_the_burst_and_the_rate(
    per_s: float, burst: int, pauses_s: list[float]
) -> None:
    clock = Seconds()
    limiter = RateLimiter(per_s=per_s, burst=burst, clock=clock)
    admitted = 0
    for pause_s in pauses_s:
        clock.now_s += pause_s
        admitted += limiter.admit("ada") == 0
        assert admitted <= burst + per_s * (clock.now_s - 1000) + 1e-6


def test_threads_share_one_bucket() -> None:
    limiter = RateLimiter(per_s=0.001, burst=100, clock=Seconds())
    admitted: list[bool] = []

    def run() -> None:
        for _ in range(50):
            admitted.append(limiter.admit("ada") == 0)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(admitted) == 100


@pytest.mark.parametrize("wrong", [{"per_s": 0, "burst": 1}, {"per_s": 1, "burst": 0}])
def test_a_limit_that_admits_nothing_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="positive"):
        RateLimiter(per_s=wrong["per_s"], burst=wrong["burst"])
