"""Retries are limited."""

from __future__ import annotations

import pytest

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.store import TRIES_MAX, TryAgain, retry


def test_an_attempt_that_never_succeeds_is_given_up() -> None:
    tries = []

    def attempt() -> None:
        tries.append(1)
        if len(tries) > 2 * TRIES_MAX:
            raise AssertionError("it would have gone on for ever")
        raise TryAgain

    with pytest.raises(Unavailable) as refused:
        retry(attempt)

    assert refused.value.code == "store_busy"
    assert len(tries) == TRIES_MAX


def test_the_first_attempt_that_succeeds_is_the_answer() -> None:
    tries = []

    def attempt() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise TryAgain
        return "done"

    assert retry(attempt) == "done"


def test_any_other_error_is_not_repeated() -> None:
    tries = []

    def attempt() -> None:
        tries.append(1)
        raise KeyError("a defect")

    with pytest.raises(KeyError):
        retry(attempt)
    assert len(tries) == 1
