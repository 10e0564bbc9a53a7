"""Items that are kept in memory are those that would be read, at every moment and for everybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan.briefing.inbox import CACHE_KEY, InboxItem, KeptItems, ProjectState
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.surfaces.vocabularies import CliVocabulary, McpVocabulary
from tests.briefing.inbox.test_inbox import WAIVER, draw, read, suggest
from tests.engines import Engine
from tests.manual_clock import ManualClock
from tests.purpose.client import op


def draw_and_block(ada: Session) -> None:
    """Draft a theory whose gates block it."""
    ada.call("work.open", project="atlas", policies={"publish_gates": "AB"})
    draw(ada)


def read_fresh(session: Session) -> list[InboxItem]:
    """Return the items of a store that remembers nothing."""
    kept = session.store.cache.pop(CACHE_KEY, None)
    items = read(session, project="atlas")
    session.store.cache[CACHE_KEY] = kept or KeptItems()
    return items


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ada(engine: Engine, clock: ManualClock) -> Session:
    session = Session(engine.store_with_clock(clock), local_actor("ada", kind=ActorKind.PERSON))
    session.call("project.create", name="atlas")
    return session


def test_after_every_write_and_every_day_the_items_are_those_that_are_read(ada: Session, clock: ManualClock) -> None:
    ben = Session(ada.store, local_actor("ben", kind=ActorKind.AGENT))

    def claim() -> None:
        ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "dig"}])
        ada.call("work.next", project="atlas", claim=True)

    purpose = draw(ada)
    steps: list[Callable[[], Any]] = [
        lambda: ada.call("work.open", project="atlas", policies={"publish_gates": "AB"}),
        lambda: purpose.record(waivers=[WAIVER]),
        lambda: purpose.edit(op("add_assumption", node="OP1", assumption_text="The soil is soft")),
        lambda: purpose.record(reviews=[{"assumption": "AS2", "status": "at_risk", "reason": "stones"}]),
        lambda: purpose.record(requests=[{"question": "Do we dig by hand?", "to": "ada"}]),
        lambda: clock.move(days=10),
        lambda: suggest(ada, "atlas", "/size"),
        claim,
        lambda: clock.move(minutes=50),
        lambda: clock.move(minutes=20),
        lambda: clock.move(days=12),
    ]
    seen = []
    for step in steps:
        step()
        for session in (ada, ben):
            assert read(session, project="atlas") == read_fresh(session)
        seen.append(len(read(ada, project="atlas")))

    assert len(set(seen)) > 4


def test_what_is_kept_is_not_read_again_until_the_project_changes(ada: Session) -> None:
    draw_and_block(ada)
    items = read(ada, project="atlas")
    again = read(ada, project="atlas")
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "dig"}])
    later = read(ada, project="atlas")

    assert items
    assert items == again == later
    assert [one is other for one, other in zip(items, again, strict=True)] == [True] * len(items)
    assert not any(one is other for one, other in zip(items, later, strict=True))


def test_each_surface_keeps_its_own_words(ada: Session) -> None:
    draw_and_block(ada)
    spoken = [
        Session(ada.store, ada.actor, preferences=Preferences(vocabulary=vocabulary(ada.operations)))
        for vocabulary in (CliVocabulary, McpVocabulary)
    ]
    cli, mcp = ([item.action.call for item in read(session, project="atlas")] for session in spoken)

    assert cli != mcp


def test_only_the_projects_read_last_are_kept() -> None:
    kept = KeptItems(projects_max=2)
    state = ProjectState(1, "", "")
    first = kept.get(("o", "a"), state)
    for name in ("b", "a", "c"):
        kept.get(("o", name), state)

    assert len(kept) == 2
    assert kept.get(("o", "a"), state) is first
    assert kept.get(("o", "a"), ProjectState(2, "", "")) is not first
