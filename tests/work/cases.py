"""A decorator that runs many read-only cases on one database, because making a database takes longer than a case."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def try_each(names: str | tuple[str, ...], cases: Collection[Any]) -> Callable[[Test], Test]:
    """Run the test for each case as a subtest; the arguments are those of `parametrize`."""
    given = (names,) if isinstance(names, str) else names
    assert cases, "nothing would be tried"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def try_all(subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case in cases:
                values = dict(zip(given, (case,) if isinstance(names, str) else case, strict=True))
                with subtests.test(**values):
                    test(**fixtures, **values)

        asked = inspect.signature(test).parameters
        own = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        left = [parameter for name, parameter in asked.items() if name not in given]
        vars(try_all)["__signature__"] = inspect.Signature([own, *left])
        return try_all

    return decorate
