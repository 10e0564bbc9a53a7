"""Cached patterns answer like those in the database, whoever changed them, and their number is bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.postgres.store import PostgresTransaction
from groundplan.kernel.store.queries import Query, Row
from groundplan.kernel.store.sqlite.store import SqliteTransaction
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge import patterns, write
from groundplan.knowledge.paths.index import PathIndex
from groundplan.knowledge.paths.pattern import parse_pattern
from groundplan.knowledge.patterns import CACHE_KEY, IndexCache, TooCostly, match_atoms
from groundplan.knowledge.write import TooManyPatterns
from groundplan.session import Session
from tests.engines import Engine
from tests.knowledge.client import KnowledgeClient
from tests.knowledge.rows import all_rows, copy_atom
from tests.proof import scaled

PATTERNS = ["src/**", "src/*.ts", "src/{a,b}/**", "**/*.md", "docs/*.md", "lib/[a-c]*.ts", "src/a/x.ts", "*", "**/x.ts"]
FILES = ["src/a/x.ts", "src/b.ts", "lib/b1.ts", "docs/a.md", "docs/deep/a.md", "x.ts", "README", "src/c/x.ts"]
STEPS = scaled(18, 70)


def atoms_by_file(client: KnowledgeClient) -> dict[str, list[str]]:
    """Return the atoms of each file according to `context`."""
    known = client.context(*FILES, includeChangelog=False)
    found: dict[str, list[str]] = {path: [] for path in FILES}
    for atom in (*known.orphan_atoms, *(atom for one in known.molecules for atom in one.atoms)):
        for path in atom.matched_paths:
            found[path].append(atom.id)
    assert known.unmatched_paths == [path for path, ids in found.items() if not ids]
    return {path: sorted(ids) for path, ids in found.items()}


def recompute_atoms_by_file(client: KnowledgeClient) -> dict[str, list[str]]:
    """Return the same from all atoms, one pattern after the other."""
    atoms = [(one.id, [parse_pattern(pattern) for pattern in one.paths]) for one in client.list_atoms().values()]
    return {
        path: sorted(id_ for id_, some in atoms if any(pattern.matches(path) for pattern in some)) for path in FILES
    }


@pytest.fixture
def other_client(engine: Engine, client: KnowledgeClient) -> KnowledgeClient:
    """Ben at his own store on the same database."""
    return client.in_session(Session(engine.another_store(), local_actor("ben")))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of rows that each query returned."""
    counted: Counter[str] = Counter()

    def counting(read: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
        def fetch(tx: Transaction, query: Query, shape: type | None, parameters: dict[str, Any]) -> list[Row]:
            rows = read(tx, query, shape, parameters)
            counted[query.name] += len(rows)
            return rows

        return fetch

    for transaction in (SqliteTransaction, PostgresTransaction):
        monkeypatch.setattr(transaction, "_fetch", counting(transaction._fetch))
    return counted


def change_at_random(client: KnowledgeClient, random: Random) -> None:
    """Make a random change to the knowledge of a project."""
    atoms = sorted(client.list_atoms())
    molecules = [one.name for one in client.search(of="molecule", includeChangelog=False).items]
    some = random.sample(PATTERNS, random.randint(1, 3))
    kind = random.choice(["create", "create", "paths", "paths", "text", "delete", "molecule", "take apart", "log"])
    fresh = f"n{random.randrange(10**9)}"
    if kind == "molecule" or not molecules:
        client.molecule(fresh)
    elif kind == "create" or not atoms:
        client.atom(fresh, *some, moleculeId=random.choice([*molecules, None]))
    elif kind == "paths":
        client.update(random.choice(atoms), paths=some)
    elif kind == "text":
        client.update(random.choice(atoms), knowledge=fresh, moleculeId=random.choice(molecules))
    elif kind == "delete":
        client.delete(random.choice(atoms))
    elif kind == "log":
        client.log(random.choice(atoms), "changed")
    else:
        client.delete(random.choice(molecules), cascade=random.random() < 0.5)


@pytest.mark.proof
@pytest.mark.parametrize("patterns_max", [patterns.CACHED_PATTERNS_MAX, 12])
def test_after_any_changes_by_anybody_the_answer_is_the_one_from_scratch(
    client: KnowledgeClient, other_client: KnowledgeClient, patterns_max: int
) -> None:
    random = Random(patterns_max)  # noqa: S311 - the same changes every time
    for one in (client, other_client):
        one.session.store.cache[CACHE_KEY] = IndexCache(patterns_max)
    for _ in range(STEPS):
        change_at_random(random.choice((client, other_client)), random)
        # Not every client asks each time, so that caches fall behind by several changes.
        for asked in random.sample((client, other_client), random.randint(0, 2)):
            assert atoms_by_file(asked) == recompute_atoms_by_file(asked)


def test_only_what_changed_since_is_read_again(
    engine: Engine, client: KnowledgeClient, other_client: KnowledgeClient, reads: Counter[str]
) -> None:
    client.atom("Base", "base/**")
    client.atom("Moving", "a/**")
    client.atom("Going", "b/**")
    copy_atom(engine, client["Base"], 200)
    client.context("x")
    assert reads["patterns_since"] == 203
    reads.clear()

    client.context("x")
    assert reads["patterns_since"] == reads["atoms_deleted_since"] == 0

    other_client.update("Moving", paths=["c/**"])
    other_client.delete("Going")
    other_client.atom("Coming", "d/**")
    reads.clear()
    assert [client.names_matching(path) for path in ("a/x", "b/x", "c/x", "d/x", "copies/100007/x")] == [
        [],
        [],
        ["Moving"],
        ["Coming"],
        ["Base 100007"],
    ]
    assert (reads["patterns_since"], reads["atoms_deleted_since"]) == (2, 1)


def test_a_change_that_leaves_the_patterns_alone_makes_nobody_read_them(
    client: KnowledgeClient, other_client: KnowledgeClient, reads: Counter[str]
) -> None:
    client.molecule("Shop")
    client.atom("Cart", "src/cart/**")
    client.context("x")
    reads.clear()

    other_client.update("Cart", knowledge="new", name="Basket", moleculeId="Shop", paths=["src/cart/**"])
    other_client.log("Cart", "renamed")
    other_client.delete("Shop")

    assert client.names_matching("src/cart/a") == ["Basket"]
    assert (reads["patterns_since"], reads["atoms_deleted_since"]) == (0, 0)


def test_other_work_in_the_project_moves_nothing(client: KnowledgeClient, reads: Counter[str]) -> None:
    client.atom("Cart", "src/cart/**")
    client.context("x")
    client.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}])
    client.create_project("borealis").atom("Theirs", "src/**")
    reads.clear()

    client.context("x")

    assert "patterns_since" not in reads


def cached_projects(client: KnowledgeClient) -> list[str]:
    kept: IndexCache = client.session.store.cache[CACHE_KEY]
    return [project for _, project in kept.projects]


def test_projects_are_let_go_that_were_not_asked_for_the_longest(client: KnowledgeClient) -> None:
    client.session.store.cache[CACHE_KEY] = IndexCache(patterns_max=5)
    second, third = client.create_project("borealis"), client.create_project("cassini")
    client.atom("A", "src/a", "src/b", "src/c")
    second.atom("B", "src/{a,b}")
    third.atom("C", "src/a", "src/b")

    for one in (client, second, client, third):
        one.context("src/a")
    assert cached_projects(client) == [client.project_id, third.project_id]
    third.context("src/a")
    second.context("src/a")

    assert cached_projects(client) == [third.project_id, second.project_id]
    assert [one.names_matching("src/b") for one in (client, second, third)] == [["A"], ["B"], ["C"]]
    kept: IndexCache = client.session.store.cache[CACHE_KEY]
    assert sum(one.index.size for one in kept.projects.values()) <= 5


def test_a_project_that_is_larger_than_the_bound_is_kept_alone(client: KnowledgeClient) -> None:
    client.session.store.cache[CACHE_KEY] = IndexCache(patterns_max=5)
    second = client.create_project("borealis")
    second.atom("B", "src/a")
    second.context("src/a")
    client.atom("Braces", "src/{a,b,c}/{d,e}")

    assert client.names_matching("src/c/e") == ["Braces"]
    assert cached_projects(client) == [client.project_id]
    assert second.names_matching("src/a") == ["B"]
    assert cached_projects(client) == [second.project_id]


def test_a_project_has_no_more_patterns_than_can_be_kept_braces_written_out(
    engine: Engine, client: KnowledgeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "PROJECT_PATTERNS_MAX", 8)
    client.molecule("Shop")
    client.atom("Braces", "src/{a,b,c}/{d,e}", moleculeId="Shop")
    before = all_rows(engine)

    with pytest.raises(TooManyPatterns) as refused:
        client.atom("More", "src/{f,g,h}")
    assert (refused.value.details["limit"], refused.value.details["field"]) == (8, "paths")
    assert all_rows(engine) == before

    client.atom("Fits", "src/{f,g}")
    with pytest.raises(TooManyPatterns):
        client.update("Fits", paths=["src/{f,g,h}"])
    client.update("Braces", paths=["src/a"])
    client.update("Fits", paths=["src/{f,g,h}", "src/{i,j,k}"])
    assert engine.as_owner("SELECT patterns FROM graph_projects") == [(7,)]
    client.delete("Shop", cascade=True)
    client.delete("Fits")
    assert engine.as_owner("SELECT patterns FROM graph_projects") == [(0,)]


def test_paths_that_would_take_too_long_are_refused(client: KnowledgeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    client.atom("Plain", "src/a/**")
    client.atom("Costly", *(f"**/[{letter}z]*?*[b-d]*" for letter in "abcdefghijklmnopqrst"))
    monkeypatch.setattr(patterns, "STEPS_MAX", 500)

    assert client.names_matching("src/a/x.ts") == ["Plain"]
    with pytest.raises(TooCostly) as refused:
        client.context("lib/" + "a" * 100)
    assert refused.value.details["field"] == "paths"
    with pytest.raises(TooCostly):
        client.context(*(f"lib/{place}" for place in range(10)))


def test_asking_about_one_project_does_not_wait_for_another(client: KnowledgeClient) -> None:
    second = client.create_project("borealis")
    second.atom("B", "src/a")
    client.atom("A", "src/a")
    client.context("src/a")
    kept: IndexCache = client.session.store.cache[CACHE_KEY]

    with kept.get_index(("local", client.project_id)).lock, ThreadPoolExecutor(1) as pool:
        assert pool.submit(second.names_matching, "src/a").result(timeout=60) == ["B"]


def test_an_older_snapshot_is_answered_from_what_it_can_see(client: KnowledgeClient) -> None:
    client.atom("Old", "src/a")
    client.atom("Going", "src/a")
    store, actor = client.session.store, local_actor("ada")

    def later() -> list[str]:
        """Run what another actor does meanwhile at the same store."""
        client.delete("Going")
        client.update("Old", paths=["lib/**"])
        client.atom("New", "src/a")
        return client.names_matching("src/a")

    def run(tx: Transaction) -> tuple[list[str], list[str]]:
        tx.set_project(authorize_project(tx, "atlas", Permission.KNOWLEDGE_READ))
        with ThreadPoolExecutor(1) as pool:
            newer = pool.submit(later).result()
        return newer, match_atoms(tx, {"src/a": False})["src/a"]

    newer, older = store.read(actor, run)

    assert newer == ["New"]
    assert older == sorted([client["Old"], client["Going"]])
    assert client.names_matching("src/a") == ["New"]


def test_a_reading_that_fails_half_way_is_not_kept(client: KnowledgeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        client.atom(f"a{number}", f"src/{number}")
    client.context("x")
    client.update("a1", paths=["lib/1"])
    client.update("a2", paths=["lib/2"])
    put = PathIndex.put

    def failing(index: PathIndex, key: str, some: list[str]) -> None:
        if some == ["lib/2"]:
            raise MemoryError
        put(index, key, some)

    monkeypatch.setattr(PathIndex, "put", failing)
    with pytest.raises(MemoryError):
        client.context("lib/1")
    monkeypatch.undo()

    assert [client.names_matching(path) for path in ("lib/1", "lib/2", "src/0")] == [["a1"], ["a2"], ["a0"]]
