"""A plan with a project, and a working copy beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.repository.rules.rules_project import RulesProject, begin_project


@pytest.fixture
def project(engine: Engine, tmp_path: Path) -> RulesProject:
    """Ada at her project atlas, with one task and no knowledge."""
    task = fill_once(engine, create_project)
    return RulesProject(ada_session(engine), "atlas", tmp_path / "copy", task=task)


def create_project(engine: Engine) -> str:
    """Create the project with its task and return the id of the task."""
    return begin_project(ada_session(engine), "atlas")


def ada_session(engine: Engine) -> Session:
    return Session(engine.store, local_actor("ada", kind=ActorKind.PERSON))
