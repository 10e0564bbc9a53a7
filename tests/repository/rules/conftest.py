"""A plan with a project, and a working copy beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.kernel.actors import Kind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.repository.rules.notebook import Notebook


@pytest.fixture
def notebook(engine: Engine, tmp_path: Path) -> Notebook:
    """Ada at her project atlas, with one task and no knowledge yet."""
    return Notebook(Session(engine.store, local_actor("ada", kind=Kind.PERSON)), "atlas", tmp_path / "copy")
