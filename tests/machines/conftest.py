"""What the tests of machines share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engines import Engine
from tests.machines.budget import ASKED_EVERY, BoundedRun, SteppingMachine, is_proof


@pytest.fixture
def run_to_bound(
    engine: Engine, record_property: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch
) -> BoundedRun:
    """Runs a machine as far as this run of the tests asks for."""
    if is_proof():
        monkeypatch.setattr(SteppingMachine, "asks_every", ASKED_EVERY)
    return BoundedRun(engine, record_property)
