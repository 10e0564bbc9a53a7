"""The doctor lists the edges that lead the other way since the meaning of DEPENDS_ON changed, and what that closes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.checkup import CheckStatus
from groundplan.purpose.turned_edges import check_turned_edges
from groundplan.session import Session
from tests.engines import Engine
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_edge, add_node, op

DEPENDS_ON = "DEPENDS_ON"


@pytest.fixture
def clock(engine: Engine) -> ManualClock:
    """A clock that stands a day before the step that changed the meaning."""
    ((at,),) = engine.as_owner("SELECT applied_at FROM schema_migrations WHERE name = 'cause_of_depends_on'")
    return ManualClock(datetime.fromisoformat(at) - timedelta(days=1))


@pytest.fixture
def before(engine: Engine, clock: ManualClock) -> PurposeClient:
    """Ada with a theory that is older: a permit is needed by the drill, and a well by a pump of the same level."""
    client = PurposeClient(Session(engine.store_with_clock(clock), local_actor("ada")))
    client.session.call("project.create", name="atlas")
    client.allow("light")
    client.draft(profile="light")
    client.draw("drill -> well -> water -> health")
    client.edit(
        add_node("ACTIVITY", "permit", ref="permit"),
        add_edge("permit", "AC1", edge_type=DEPENDS_ON),
        add_edge("OP1", "OC1", edge_type=DEPENDS_ON),
    )
    return client


def examine(client: PurposeClient) -> list[tuple[CheckStatus, str]]:
    found = client.session.store.read(client.session.actor, lambda tx: [*check_turned_edges(tx)])
    return [(finding.status, finding.message.partition(": ")[2]) for finding in found]


READ_SO = "read the other way since the meaning of DEPENDS_ON changed: "


def test_edges_of_one_level_that_were_stored_before_are_listed_until_somebody_looks_at_them(
    before: PurposeClient, clock: ManualClock
) -> None:
    before.publish()
    before.draft()
    listed = [(CheckStatus.WARN, f"{READ_SO}AC2 depends on AC1")]
    assert examine(before) == listed * 2  # of the published version, and of its copy

    clock.move(days=2)
    before.edit(op("update_edge", source="AC2", target="AC1", mechanism="The permit follows the drill"))
    before.edit(add_node("ACTIVITY", "pump"), add_edge("AC3", "AC1", edge_type=DEPENDS_ON))

    assert examine(before) == [(CheckStatus.OK, "")]


def test_a_cycle_that_the_reading_closes_is_listed(before: PurposeClient) -> None:
    before.edit(add_edge("AC2", "AC1", edge_type="CAUSES"))

    assert examine(before) == [
        (CheckStatus.WARN, f"{READ_SO}AC2 depends on AC1"),
        (CheckStatus.WARN, "this makes a cycle: AC1 -> AC2 -> AC1"),
    ]


def test_what_was_drawn_since_is_not_listed(before: PurposeClient, clock: ManualClock) -> None:
    before.edit(op("remove_edge", source="AC2", target="AC1"))
    clock.move(days=2)
    before.edit(add_edge("AC1", "AC2", edge_type=DEPENDS_ON))

    assert examine(before) == [(CheckStatus.OK, "")]
