"""Many agents at the same knowledge at once: no text is lost, and no reference dangles."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from tests.engines import Engine
from tests.knowledge.client import COMMIT, KnowledgeClient
from tests.knowledge.rows import assert_index_matches_rows
from tests.manual_clock import ManualClock
from tests.proof import scaled
from tests.races.concurrent_calls import run_at_once

pytestmark = [pytest.mark.proof, pytest.mark.slow]

THREADS = 6
ROUNDS = scaled(4, 50)


@pytest.fixture
def clients(engine: Engine) -> Iterator[list[KnowledgeClient]]:
    """Agents at one project, each with its own store."""
    clock = ManualClock()
    first = KnowledgeClient(Session(engine.another_store(clock=clock), local_actor("ada"))).open()
    others = [
        first.in_session(Session(engine.another_store(clock=clock), local_actor(f"agent {n}", kind=ActorKind.AGENT)))
        for n in range(1, THREADS)
    ]
    yield [first, *others]
    assert_index_matches_rows(engine)
    assert find_dangling(engine) == []


def find_dangling(engine: Engine) -> list[Any]:
    """Return atoms of missing molecules; everything created exists or is recorded as deleted."""
    known = {id_ for (id_,) in engine.as_owner("SELECT subject FROM events WHERE op = 'knowledge.created'")}
    lost = engine.as_owner(
        "SELECT a.id FROM graph_atoms AS a LEFT JOIN graph_molecules AS m ON m.id = a.molecule_id "
        "AND m.project_id = a.project_id WHERE a.molecule_id IS NOT NULL AND m.id IS NULL"
    )
    gone = engine.as_owner("SELECT id FROM graph_deleted")
    there = engine.as_owner("SELECT id FROM graph_atoms UNION ALL SELECT id FROM graph_molecules")
    assert sorted([*gone, *there]) == sorted((id_,) for id_ in known)
    return lost


def outcome_codes(answers: list[Any]) -> list[str]:
    """Return the code of each error, or `ok`; other exceptions are raised."""
    for one in answers:
        if isinstance(one, Exception) and not isinstance(one, GroundplanError):
            raise one
    return [one.code if isinstance(one, GroundplanError) else "ok" for one in answers]


def run_together(calls: list[Callable[[], Any]]) -> list[Any]:
    return run_at_once(calls)


# --- Versions ---


@pytest.mark.parametrize("name", ["Cart", "Shop"])
def test_one_version_is_won_by_one_writer_and_every_other_is_told_the_current_one(
    engine: Engine, clients: list[KnowledgeClient], name: str
) -> None:
    clients[0].molecule("Shop")
    clients[0].atom("Cart")
    for version in range(1, ROUNDS + 1):
        answers = run_together(
            [
                partial(desk.update, name, knowledge=f"{version} by {place}", version=version)
                if place % 2
                else partial(desk.append, name, f"{version} by {place}", version=version)
                for place, desk in enumerate(clients)
            ]
        )

        assert sorted(outcome_codes(answers)) == ["ok", *["stale_version"] * (THREADS - 1)]
        losers = [one for one in answers if isinstance(one, GroundplanError)]
        assert {one.details["currentVersion"] for one in losers} == {version + 1}
        (winner,) = (one for one in answers if not isinstance(one, GroundplanError))
        assert clients[0].read(name) == winner
    assert clients[0].read(name).version == ROUNDS + 1
    updates = f"SELECT count(*) FROM events WHERE op = 'knowledge.updated' AND subject = '{clients[0][name]}'"
    assert engine.as_owner(updates) == [(ROUNDS,)]


def test_of_two_appends_from_one_version_one_conflicts_and_after_its_retry_both_texts_are_there(
    clients: list[KnowledgeClient],
) -> None:
    clients[0].atom("Cart")
    for number in range(ROUNDS):
        version = 1 + 2 * number
        texts = [f"{number} first", f"{number} second"]

        answers = run_together(
            [partial(desk.append, "Cart", text, version=version) for desk, text in zip(clients, texts, strict=False)]
        )

        assert sorted(outcome_codes(answers)) == ["ok", "stale_version"]
        ((desk, text, error),) = (
            (desk, text, answer)
            for desk, text, answer in zip(clients, texts, answers, strict=False)
            if isinstance(answer, GroundplanError)
        )
        changed = desk.append("Cart", text, version=error.details["currentVersion"])
        assert all(changed.knowledge.count(f"\n{one}") == 1 for one in texts)
        assert changed.version == version + 2
    assert clients[0].read("Cart").knowledge.count("]---\n") == 2 * ROUNDS


def test_everybody_who_appends_until_it_works_is_heard_once(clients: list[KnowledgeClient]) -> None:
    clients[0].atom("Cart")

    def insist(desk: KnowledgeClient, text: str) -> int:
        version, tries = 1, 0
        while True:
            tries += 1
            try:
                return desk.append("Cart", text, version=version) and tries
            except GroundplanError as error:
                version = error.details["currentVersion"]

    tries = run_together([partial(insist, desk, f"by {place}") for place, desk in enumerate(clients)])

    cart = clients[0].read("Cart")
    heard = [line for line in cart.knowledge.splitlines() if line.startswith("by ")]
    assert sorted(heard) == [f"by {place}" for place in range(THREADS)]
    assert cart.version == 1 + THREADS
    assert sum(tries) >= THREADS


def test_of_an_update_and_a_deletion_of_one_version_one_wins(clients: list[KnowledgeClient]) -> None:
    ended: Counter[tuple[str, ...]] = Counter()
    for number in range(ROUNDS):
        name = f"a{number}"
        clients[0].atom(name)

        answers = run_together(
            [partial(clients[1].update, name, knowledge="x", version=1), partial(clients[2].delete, name, version=1)]
        )
        how = tuple(outcome_codes(answers))

        ended[how] += 1
        assert (how == ("ok", "stale_version")) == (name in clients[0].find_names(limit=100, includeChangelog=False))
    assert ended.keys() <= {("ok", "stale_version"), ("not_found", "ok")}


# --- Molecules and relations ---


@pytest.mark.parametrize("cascade", [False, True])
def test_an_atom_made_or_moved_while_its_molecule_is_deleted_is_never_left_in_it(
    engine: Engine, clients: list[KnowledgeClient], cascade: bool
) -> None:
    for number in range(ROUNDS):
        shop = f"Shop {number}"
        clients[0].molecule(shop)
        clients[0].atom(f"moved {number}")

        made, moved, deleted = run_together(
            [
                partial(clients[1].atom, f"made {number}", moleculeId=shop),
                partial(clients[2].update, f"moved {number}", moleculeId=shop, version=1),
                partial(clients[3].delete, shop, version=1, cascade=cascade),
            ]
        )

        came = [name for name, answer in (("made", made), ("moved", moved)) if outcome_codes([answer]) == ["ok"]]
        assert outcome_codes([deleted]) == ["ok"]
        assert {*outcome_codes([made, moved])} <= {"ok", "not_found"}
        assert (deleted.deleted_atoms if cascade else deleted.orphaned_atoms) == len(came)
        there = clients[0].find_names(str(number), includeChangelog=False)
        left = [f"{name} {number}" for name in ("made", "moved") if name in came]
        expected = [f"moved {number}"] if "moved" not in came else []
        assert there == sorted([*expected, *([] if cascade else left)])
        assert find_dangling(engine) == []


def test_a_relation_added_while_its_target_is_deleted_is_refused_or_says_that_it_is_missing(
    clients: list[KnowledgeClient],
) -> None:
    clients[0].atom("Cart")
    for number in range(ROUNDS):
        target = f"target {number}"
        clients[0].atom(target)
        version = clients[0].read("Cart").version

        related, deleted = run_together(
            [
                partial(clients[1].update, "Cart", relatedAtoms={target: "x"}, version=version),
                partial(clients[2].delete, target, version=1),
            ]
        )

        assert outcome_codes([deleted]) == ["ok"]
        relations = clients[0].read("Cart").related_atoms
        if outcome_codes([related]) == ["ok"]:
            assert [(one.atom_id, one.name, one.missing) for one in relations] == [(clients[0][target], None, True)]
        else:
            assert outcome_codes([related]) == ["not_found"]
            assert related.details["field"] == "relatedAtoms[0].atomId"
            assert clients[0][target] not in [one.atom_id for one in relations]


# --- Changelogs, checks and idempotency ---


def test_entries_that_are_added_at_once_are_all_kept(engine: Engine, clients: list[KnowledgeClient]) -> None:
    clients[0].atom("Cart")

    def write(desk: KnowledgeClient, place: int) -> None:
        for number in range(8):
            desk.log("Cart", f"{place}.{number}")

    run_together([partial(write, desk, place) for place, desk in enumerate(clients)])

    entries = clients[0].entries("Cart", limit=100)
    assert sorted(entries) == sorted(f"{place}.{number}" for place in range(THREADS) for number in range(8))
    for place in range(THREADS):
        own = [one for one in entries if one.startswith(f"{place}.")]
        assert own == [f"{place}.{number}" for number in reversed(range(8))]
    assert engine.as_owner("SELECT count(DISTINCT rev) FROM graph_changelog") == [(8 * THREADS,)]


def test_an_entry_added_while_its_parent_is_deleted_is_kept_or_refused(
    engine: Engine, clients: list[KnowledgeClient]
) -> None:
    for number in range(ROUNDS):
        name = f"a{number}"
        clients[0].atom(name)

        logged, deleted = run_together(
            [partial(clients[1].log, name, "x"), partial(clients[2].delete, name, version=1)]
        )

        assert outcome_codes([deleted]) == ["ok"]
        kept = engine.as_owner(f"SELECT count(*) FROM graph_changelog WHERE parent_id = '{clients[0][name]}'")
        assert kept == [(1 if outcome_codes([logged]) == ["ok"] else 0,)]


def test_what_was_seen_of_an_atom_that_changes_at_the_same_moment_is_never_of_other_files(
    clients: list[KnowledgeClient],
) -> None:
    clients[0].atom("Cart", "src/0/**")
    for version in range(1, ROUNDS + 1):
        seen = [{"id": clients[0]["Cart"], "version": version, "freshness": "changed", "commit": COMMIT}]

        checked, changed = run_together(
            [
                partial(clients[1].call, "knowledge.record_check", projectId="atlas", commit=COMMIT, atoms=seen),
                partial(clients[2].update, "Cart", paths=[f"src/{version}/**"], version=version),
            ]
        )

        assert outcome_codes([checked, changed]) == ["ok", "ok"]
        assert not clients[0].read("Cart").freshness  # the check came first and was forgotten, or late and was skipped


def test_the_same_creation_sent_many_times_at_once_is_made_once(clients: list[KnowledgeClient]) -> None:
    senders = [desk.in_session(Session(desk.session.store, clients[0].session.actor)) for desk in clients]
    for number in range(5):
        answers = run_together([partial(one.atom, f"a{number}", op_id=f"make {number}") for one in senders])

        assert outcome_codes(answers) == ["ok"] * THREADS
        assert all(answer == answers[0] for answer in answers)
    assert clients[0].find_names() == [f"a{number}" for number in range(5)]


def test_the_first_knowledge_of_a_project_may_come_from_many_at_once(
    engine: Engine, clients: list[KnowledgeClient]
) -> None:
    answers = run_together([partial(desk.atom, f"a{place}") for place, desk in enumerate(clients)])

    assert outcome_codes(answers) == ["ok"] * THREADS
    assert engine.as_owner("SELECT rev, last_n FROM graph_projects") == [(THREADS, THREADS)]
    assert engine.as_owner("SELECT n FROM graph_atoms ORDER BY n") == [(n,) for n in range(1, THREADS + 1)]


# --- Concurrent reads ---


def test_whoever_asks_while_patterns_change_is_told_of_a_moment_that_there_was(clients: list[KnowledgeClient]) -> None:
    """An atom moves between two directories; another is deleted in one and created in the other."""
    clients[0].atom("Cart", "a/**")
    clients[0].atom("next", "a/**")
    done = threading.Event()
    readers = [clients[1], clients[1].by("ben"), clients[1].by("cleo"), clients[2]]  # three of them share a cache

    def write() -> None:
        try:
            for version in range(1, 2 * ROUNDS + 1):
                clients[0].update("Cart", paths=["ab"[version % 2] + "/**"], version=version)
                clients[0].delete("next", version=1)
                clients[0].atom("next", "ab"[version % 2] + "/**")
        finally:
            done.set()

    def read(desk: KnowledgeClient) -> set[tuple[str, ...]]:
        pictures = set()
        while not done.is_set():
            known = desk.context("a/x", "b/x", includeChangelog=False)
            pictures.add(tuple(f"{one.name} {one.matched_paths}" for one in known.orphan_atoms))
        return pictures

    answers = run_together([write, *(partial(read, desk) for desk in readers)])

    outcome_codes(answers)
    a, b = "['a/x']", "['b/x']"
    cart_and_next = {(f"Cart {one}", f"next {other}") for one in (a, b) for other in (a, b)}
    assert set().union(*answers[1:]) <= cart_and_next | {(f"Cart {a}",), (f"Cart {b}",)}
    assert [desk.names_matching("a/x") for desk in readers] == [clients[0].names_matching("a/x")] * len(readers)
