"""A project with features and tasks, on either engine. After every test, what is kept is compared with the facts."""

from __future__ import annotations

import pytest

from tests.work.containers.desk import Containers
from tests.work.desk import Work


@pytest.fixture
def desk(work: Work) -> Containers:
    """Ada, a person, at her empty project atlas; the clock stands until the test moves it."""
    return Containers(work.session, work.project, work.ids)
