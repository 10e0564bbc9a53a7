"""Owners who remove or demote each other at the same moment."""

from __future__ import annotations

import threading
import time
from functools import partial
from itertools import combinations_with_replacement

import psycopg
import pytest
from psycopg import errors

from groundplan.context.refusals import LastOwner
from groundplan.context.runs.create_draft import AlreadyInitialized
from groundplan.kernel.errors import Forbidden, GroundplanError, NotFound
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.schema import SCHEMA_NAME
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine, person
from tests.proof import scaled
from tests.races.concurrent_calls import run_at_once

pytestmark = [pytest.mark.proof, pytest.mark.slow]

ROUNDS = scaled(3, 50)  # of every pair of moves


def make_owners(engine: Engine, project: str) -> list[str]:
    return [
        user
        for (user,) in engine.as_owner(
            "SELECT m.user_id FROM project_members AS m JOIN projects AS p ON p.id = m.project_id "
            f"WHERE p.name = '{project}' AND m.role = 'owner' ORDER BY m.user_id"
        )
    ]


# What an owner can do to the other one, or to themselves.
TO_THE_OTHER = ("remove", "downgrade")
TO_ONESELF = ("leave", "step down")
PAIRS = list(combinations_with_replacement((*TO_THE_OTHER, *TO_ONESELF), 2))


def act(owner: Session, how: str, project: str, other: str) -> None:
    assert owner.actor is not None
    user = other if how in TO_THE_OTHER else owner.actor.id
    if how in ("remove", "leave"):
        owner.call("member.remove", scopeId=project, userId=user)
    else:
        owner.call("member.add", scopeId=project, userId=user, role="viewer")


def test_whatever_two_owners_do_to_each_other_or_themselves_at_once_one_of_them_is_left(engine: Engine) -> None:
    ada, ben = (Session(engine.another_store(), person(name)) for name in ("ada", "ben"))
    founder = engine.session("ada")
    for number, (hers, his) in enumerate(PAIRS * ROUNDS):
        project = f"atlas {number}"
        founder.call("project.create", name=project)
        founder.call("member.add", scopeId=project, userId="ben", role="owner")

        answers = run_at_once([partial(act, ada, hers, project, "ben"), partial(act, ben, his, project, "ada")])

        assert len(make_owners(engine, project)) == 1, (hers, his)
        refused = [type(answer) for answer in answers if isinstance(answer, Exception)]
        if hers in TO_ONESELF and his in TO_ONESELF:
            assert refused == [LastOwner], (hers, his)
        else:
            assert len(refused) <= 1, (hers, his)
            assert set(refused) <= {LastOwner, Forbidden, NotFound}, (hers, his)


def test_of_all_who_begin_a_scope_together_one_owns_it(engine: Engine) -> None:
    names = ("ada", "ben", "cleo", "dora")
    people = [Session(engine.another_store(), engine.session(name).actor) for name in names]
    for number in range(5):
        scope = f"scope {number}"

        answers = run_at_once([partial(one.call, "member.bootstrap", scopeId=scope) for one in people])

        refused = [answer for answer in answers if isinstance(answer, Exception)]
        assert [type(answer) for answer in refused] == [AlreadyInitialized] * 3
        assert len(make_owners(engine, scope)) == 1


def race_by_raw_sql(engine: PostgresEngine) -> str:
    """Let Ada and Ben each delete the other's row, interleaved past the store; return the results."""
    founder = engine.session("ada")
    founder.call("project.create", name="atlas")
    founder.call("member.add", scopeId="atlas", userId="ben", role="owner")
    connections = {}
    for name in ("ada", "ben"):
        connection = psycopg.connect(engine.app_url, options=f"-c search_path={SCHEMA_NAME} -c lock_timeout=200")
        connection.execute(
            "SELECT set_config('groundplan.tenant', 'local', true), set_config('groundplan.actor', %s, true), "
            "set_config('groundplan.access', 'members', true)",
            (name,),
        )
        connections[name] = connection
    delete = "DELETE FROM project_members WHERE user_id = %s"
    try:
        assert connections["ada"].execute(delete, ("ben",)).rowcount == 1
        try:
            connections["ben"].execute(delete, ("ada",))
        except errors.LockNotAvailable:
            return "waits"
        connections["ada"].commit()
        connections["ben"].commit()
        return "both went through"
    finally:
        for connection in connections.values():
            connection.close()


def test_the_last_owner_is_kept_by_a_lock_and_not_by_luck(team: PostgresEngine) -> None:
    assert race_by_raw_sql(team) == "waits"
    team.reset()

    # The same trigger without its lock: each still sees the other.
    (definition,) = team.as_owner("SELECT pg_get_functiondef('gp_keep_an_owner'::regproc)")[0]
    lock = "PERFORM 1 FROM projects WHERE tenant_id = OLD.tenant_id AND id = OLD.project_id FOR UPDATE;"
    assert lock in definition
    team.as_owner(definition.replace(lock, ""))
    assert race_by_raw_sql(team) == "both went through"
    assert make_owners(team, "atlas") == []


def write_while_being_removed(engine: Engine, bens_store_rechecks: bool = True) -> Exception | None:
    """Let Ben's write wait for Ada's lock while she removes him; return what Ben got."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    bens = engine.another_store()
    if isinstance(bens, PostgresStore) and not bens_store_rechecks:
        bens.must_recheck_after_lock = False
    ada_holds, ben_is_in = threading.Event(), threading.Event()
    got: list[Exception | None] = []

    def bens_write(tx: Transaction) -> None:
        tx.record("test.happened", "x")

    def locate(tx: Transaction) -> str:
        ben_is_in.set()  # authorized; the lock comes next
        return "atlas"

    def ben_writes() -> None:
        ada_holds.wait()
        try:
            got.append(bens.write(person("ben"), locate, bens_write))
        except GroundplanError as refused:
            got.append(refused)

    def ada_removes(tx: Transaction) -> None:
        from groundplan.kernel.members import RemoveMember, remove_member

        remove_member(tx, RemoveMember("atlas", "ben"))
        ada_holds.set()
        if engine.dialect == "postgres":
            ben_is_in.wait()
            # Ben's own statements are done when he waits for our lock.
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            patience = time.monotonic() + 20
            while not engine.as_owner(waiting)[0][0]:
                assert time.monotonic() < patience, "Ben never came to the lock"

    thread = threading.Thread(target=ben_writes)
    thread.start()
    engine.store.write(person("ada"), "atlas", ada_removes)
    thread.join()
    return got[0]


def test_a_write_that_waited_while_its_author_was_removed_is_refused(engine: Engine) -> None:
    assert isinstance(write_while_being_removed(engine), NotFound)


def test_without_the_second_look_only_the_database_itself_would_refuse(team: PostgresEngine) -> None:
    refused = write_while_being_removed(team, bens_store_rechecks=False)

    assert isinstance(refused, Forbidden)
    assert "database" in str(refused)
