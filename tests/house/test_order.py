"""The order of the tests of a run."""

from __future__ import annotations

import pytest

from tests.conftest import is_long


def test_modules_of_long_tests_begin_first(request: pytest.FixtureRequest) -> None:
    are_long = [is_long(item) for item in request.session.items]

    assert are_long == sorted(are_long, reverse=True)
