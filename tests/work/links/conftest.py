"""A project with a purpose, facts and work, on each engine.

The purpose is published: AC1 → OP1 → OC1 → G1, with the assumption AS1 on OC1. Its draft has OC2 besides. The facts
/site/size and /site/owner are in force, /site/slope is in a draft.
"""

from __future__ import annotations

import pytest

from groundplan.session import Session
from tests.context.client import ContextClient
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_node, op
from tests.work.client import WorkClient
from tests.work.conftest import ADA

SIZE, OWNER, SLOPE = "/site/size", "/site/owner", "/site/slope"


def open_linked_atlas(engine: Engine) -> dict[str, str]:
    """Create the project with its purpose, facts and nodes, and return the ids by name."""
    session = Session(engine.store_with_clock(ManualClock()), ADA)
    work, facts, purpose = WorkClient(session), ContextClient(session), PurposeClient(session)
    work.open(goal="a map of everything")
    facts.draft()
    facts.write(SIZE, 5000)
    facts.write(OWNER, "the town")
    facts.commit()
    facts.draft()
    facts.write(SLOPE, 3)
    purpose.draft()
    purpose.draw("dig -> well -> water -> health")
    purpose.edit(op("add_assumption", node="OC1", assumption_text="the water is clean"))
    purpose.publish()
    purpose.draft()
    purpose.edit(add_node("OUTCOME", "less time spent"))
    work.plan("phase\n  a\n  b\nc")
    return work.ids


@pytest.fixture
def purpose(work: WorkClient) -> PurposeClient:
    """The purpose of the same project."""
    return PurposeClient(work.session)


@pytest.fixture
def facts(work: WorkClient) -> ContextClient:
    """The facts of the same project."""
    return ContextClient(work.session)


@pytest.fixture
def work(engine: Engine, clock: ManualClock) -> WorkClient:
    """Ada at the linked project."""
    ids = fill_once(engine, open_linked_atlas)
    return WorkClient(Session(engine.store_with_clock(clock), ADA), ids={**ids})
