"""A browser for each engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import Engine
from tests.proof import VARIABLE
from tests.surfaces.web.browser import Browser


@pytest.fixture
def browser(engine: Engine) -> Iterator[Browser]:
    """A browser on a server of Ada's, who is not logged in yet."""
    with Browser(engine.store) as one:
        yield one


# The pages read and write by operations, whose own tests run on both stores. These modules try the pages on both too.
ON_BOTH_STORES = ("test_pages.py", "test_forms.py", "test_plan_pages.py", "test_knowledge_pages.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the other modules on PostgreSQL to `make proof`."""
    if VARIABLE in os.environ:
        return
    here = Path(__file__).parent
    items[:] = [
        item
        for item in items
        if item.path.parent != here or item.path.name in ON_BOTH_STORES or "[postgres" not in item.name
    ]
