"""A watch notices the commits of every process, and names no project without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from groundplan.kernel.actors import LOCAL_ORGANIZATION
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.postgres import commit_watch as of_postgres
from groundplan.kernel.store.store import CommitWatch, WatchedProject
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine

WAITS_MAX = 200


@pytest.fixture
def ada(engine: Engine) -> Session:
    return engine.session("ada")


@pytest.fixture
def watch(engine: Engine) -> Iterator[CommitWatch]:
    with closing(engine.store.watch_commits()) as made:
        yield made


def create(session: Session, name: str) -> WatchedProject:
    return WatchedProject(LOCAL_ORGANIZATION, session.call("project.create", name=name).project.id)


def write(session: Session, project: str) -> None:
    session.call("work.plan", project=project, nodes=[{"ref": "a", "summary": "a"}])


def wait_for(watch: CommitWatch, *projects: WatchedProject) -> frozenset[WatchedProject]:
    """Wait until something changed."""
    for _ in range(WAITS_MAX):
        if found := watch.wait(projects).projects:
            return found
    raise AssertionError("no commit was noticed")


def settle(watch: CommitWatch, *projects: WatchedProject) -> None:
    """Wait until nothing changes any more."""
    while watch.wait(projects).projects:
        pass


def test_a_commit_of_another_store_wakes_its_project_and_no_other(
    engine: Engine, ada: Session, watch: CommitWatch
) -> None:
    atlas, borealis = create(ada, "atlas"), create(ada, "borealis")
    assert wait_for(watch, atlas, borealis) == {atlas, borealis}  # what came before is not known
    settle(watch, atlas, borealis)
    assert not watch.wait([atlas, borealis]).projects

    write(Session(engine.another_store(), ada.actor), "atlas")
    assert wait_for(watch, atlas, borealis) == {atlas}


def test_a_commit_to_the_organization_wakes_all_its_projects(engine: Engine, ada: Session, watch: CommitWatch) -> None:
    atlas = create(ada, "atlas")
    settle(watch, atlas)
    ada.call("token.create", name="scout")
    assert wait_for(watch, atlas) == {atlas}


def test_a_watch_of_a_closed_store_ends(engine: Engine) -> None:
    store = engine.another_store()
    with closing(store.watch_commits()) as watch:
        watch.wait([])
        store.close()
        with pytest.raises(Unavailable):
            watch.wait([])


def test_a_lost_connection_loses_no_wake_up(team: PostgresEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_postgres, "RECONNECT_S", 0.0)
    ada = team.session("ada")
    atlas = create(ada, "atlas")
    with closing(team.store.watch_commits()) as watch:
        settle(watch, atlas)
        listening = f"query = 'LISTEN {of_postgres.CHANNEL}' AND datname = current_database()"
        ended = team.as_owner(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {listening}")
        assert ended == [(True,)]
        write(ada, "atlas")
        assert wait_for(watch, atlas) == {atlas}
        settle(watch, atlas)
        write(ada, "atlas")
        assert wait_for(watch, atlas) == {atlas}
