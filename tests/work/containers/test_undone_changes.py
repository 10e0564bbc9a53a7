"""An undo of a change in the container dialect sets all rows back, and a redo does it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engines import Engine
from tests.errors import error_of
from tests.work.containers.client import ContainersClient
from tests.work.stored_work import dump

CHANGES: dict[str, Callable[[ContainersClient], Any]] = {
    "started": lambda client: client.advance("walk"),
    "tested": lambda client: client.advance("draw"),
    "resolved": lambda client: client.resolve("draw"),
    "closed as the last of its feature": lambda client: client.advance("print"),
    "started as the first of its feature": lambda client: client.advance("bind"),
    "taken back": lambda client: client.revert("print"),
    "reopened": lambda client: client.revert("paint"),
    "terminated": lambda client: client.terminate("coast"),
    "blocked": lambda client: client.block("walk", "draw", blockedReason="not yet"),
    "held": lambda client: client.hold("draw"),
    "freed": lambda client: client.unblock("wait", "walk", "NO_OP"),
    "retitled and tagged": lambda client: client.change("draw", title="Draw", tags="wet", priority="LOW", complexity=3),
    "related": lambda client: client.change("draw", relatedTo=[client["walk"], client["print"]]),
    "related from the other side": lambda client: client.change("walk", relatedTo=[]),
    "moved into a feature": lambda client: client.change("draw", featureId=client["books"]),
    "connected": lambda client: client.depend("walk", "print"),
    "claimed in a new feature": lambda client: client.offers(node_id=client["bind"], claim=True),
    "released": lambda client: client.update("draw", release=True),
    "held by a person": lambda client: client.update("draw", hold=True),
}


def dump_all_but_evidence(engine: Engine) -> dict[str, Any]:
    return {name: rows for name, rows in dump(engine).items() if name != "evidence"}


@pytest.fixture
def filled(client: ContainersClient) -> ContainersClient:
    """Features and tasks in all states."""
    client.call("work.open", project="atlas", policies={"claim_minutes_people": 60})
    client.feature("coast", tags="sea")
    client.feature("books")
    client.feature("prints")
    client.tasks("walk", "draw", "paint", "wait", of="coast")
    client.task("bind", of="books")
    client.task("print", of="prints")
    client.change("walk", relatedTo=[client["paint"]])
    client.change("paint", relatedTo=[client["walk"], client["draw"]])
    client.advance("draw")
    client.close("paint")
    client.block("wait", "walk", blockedReason="after it")
    client.hold("wait")
    for _ in range(2):
        client.advance("print")
    return client


@pytest.mark.parametrize("name", CHANGES)
def test_undo_and_redo_of_a_change_set_all_rows(engine: Engine, filled: ContainersClient, name: str) -> None:
    before = dump_all_but_evidence(engine)
    CHANGES[name](filled)
    after = dump_all_but_evidence(engine)
    assert after != before

    for expected, redo in ((before, False), (after, True), (before, False)):
        filled.call("briefing.undo", project="atlas", redo=redo)
        assert dump_all_but_evidence(engine) == expected


def test_a_feature_below_which_others_began_since_stays_active(filled: ContainersClient) -> None:
    filled.task("fold", of="books")
    filled.advance("bind")
    filled.by("ben").advance("fold")

    filled.call("briefing.undo", project="atlas")

    assert filled.statuses("bind", "fold", "books") == ["NEW", "ACTIVE", "ACTIVE"]


def test_an_undo_of_a_resolve_gives_the_claim_of_another_back(engine: Engine, filled: ContainersClient) -> None:
    ben = filled.by("ben")
    (offer,) = ben.offers(node_id=filled["bind"], claim=True)
    filled.resolve("bind")

    filled.call("briefing.undo", project="atlas")

    assert filled.node("bind").properties["_claimed_by"] == "ben"
    ben.update("bind", claim=offer.claim, state="still mine")  # with the number that it had


def test_a_resolve_is_not_repeated_over_what_is_open_below_it_by_now(filled: ContainersClient) -> None:
    filled.resolve("bind")
    filled.call("briefing.undo", project="atlas")
    filled.by("ben").plan("stitch", under="bind")

    refusal = error_of(lambda: filled.call("briefing.undo", project="atlas", redo=True))

    assert refusal.code == "unresolved_children"
