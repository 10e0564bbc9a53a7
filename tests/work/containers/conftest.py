"""A client of features and tasks on each engine."""

from __future__ import annotations

import pytest

from tests.work.client import WorkClient
from tests.work.containers.client import ContainersClient


@pytest.fixture
def client(work: WorkClient) -> ContainersClient:
    """Ada, a person, at her empty project atlas. The clock stands still until the test moves it."""
    return ContainersClient(work.session, work.project, work.ids)
