"""A browser for each engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines import Engine
from tests.surfaces.web.browser import Browser


@pytest.fixture
def browser(engine: Engine) -> Iterator[Browser]:
    """A browser on a server of Ada's, who is not logged in yet."""
    with Browser(engine.store) as one:
        yield one
