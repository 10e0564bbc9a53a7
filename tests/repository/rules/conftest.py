"""A plan with a project, and a working copy beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.repository.rules.notebook import Notebook, begin_project


@pytest.fixture
def notebook(engine: Engine, tmp_path: Path) -> Notebook:
    """Ada at her project atlas, with one task and no knowledge yet."""
    task = fill_once(engine, begin)
    return Notebook(ada_at(engine), "atlas", tmp_path / "copy", task=task)


def begin(engine: Engine) -> str:
    """Make the project with its task, whose id is returned."""
    return begin_project(ada_at(engine), "atlas")


def ada_at(engine: Engine) -> Session:
    return Session(engine.store, local_actor("ada", kind=ActorKind.PERSON))
