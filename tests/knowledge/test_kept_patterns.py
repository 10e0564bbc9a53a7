"""Patterns that are kept in memory answer like those in the database, whoever changed them, and never grow too many."""

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
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.row_types import Row
from groundplan.kernel.store.sqlite.store import SqliteTransaction
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge import patterns, revision
from groundplan.knowledge.paths.index import PathIndex
from groundplan.knowledge.paths.pattern import parse_pattern
from groundplan.knowledge.patterns import MEMORY_KEY, IndexCache, TooCostly, match_atoms
from groundplan.knowledge.revision import TooManyPatterns
from groundplan.session import Session
from tests.engines import Engine
from tests.knowledge.desk import Knowledge
from tests.knowledge.rows import copy_atom, everything
from tests.proof import scaled

PATTERNS = ["src/**", "src/*.ts", "src/{a,b}/**", "**/*.md", "docs/*.md", "lib/[a-c]*.ts", "src/a/x.ts", "*", "**/x.ts"]
FILES = ["src/a/x.ts", "src/b.ts", "lib/b1.ts", "docs/a.md", "docs/deep/a.md", "x.ts", "README", "src/c/x.ts"]
STEPS = scaled(18, 70)


def answered(desk: Knowledge) -> dict[str, list[str]]:
    """Which atoms each file is of, by what context says."""
    known = desk.context(*FILES, includeChangelog=False)
    found: dict[str, list[str]] = {path: [] for path in FILES}
    for atom in (*known.orphan_atoms, *(atom for one in known.molecules for atom in one.atoms)):
        for path in atom.matched_paths:
            found[path].append(atom.id)
    assert known.unmatched_paths == sorted(path for path, ids in found.items() if not ids)
    return {path: sorted(ids) for path, ids in found.items()}


def from_scratch(desk: Knowledge) -> dict[str, list[str]]:
    """The same from every atom there is, one pattern after the other."""
    atoms = [(one.id, [parse_pattern(pattern) for pattern in one.paths]) for one in desk.listed().values()]
    return {
        path: sorted(id_ for id_, some in atoms if any(pattern.matches(path) for pattern in some)) for path in FILES
    }


@pytest.fixture
def other(engine: Engine, desk: Knowledge) -> Knowledge:
    """Somebody else, at a store of their own on the same database."""
    return desk.at(Session(engine.another_store(), local_actor("ben")))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many rows each query gave."""
    counted: Counter[str] = Counter()

    def counting(read: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
        def all_rows(tx: Transaction, query: Query, /, *shape: type, **parameters: Any) -> list[Row]:
            rows = read(tx, query, *shape, **parameters)
            counted[query.name] += len(rows)
            return rows

        return all_rows

    for transaction in (SqliteTransaction, PostgresTransaction):
        monkeypatch.setattr(transaction, "all", counting(transaction.all))
    return counted


def a_change(desk: Knowledge, random: Random) -> None:
    """Something that happens to the knowledge of a project."""
    atoms = sorted(desk.listed())
    molecules = [one.name for one in desk.search(of="molecule", includeChangelog=False).items]
    some = random.sample(PATTERNS, random.randint(1, 3))
    kind = random.choice(["create", "create", "paths", "paths", "text", "delete", "molecule", "take apart", "log"])
    fresh = f"n{random.randrange(10**9)}"
    if kind == "molecule" or not molecules:
        desk.molecule(fresh)
    elif kind == "create" or not atoms:
        desk.atom(fresh, *some, moleculeId=random.choice([*molecules, None]))
    elif kind == "paths":
        desk.update(random.choice(atoms), paths=some)
    elif kind == "text":
        desk.update(random.choice(atoms), knowledge=fresh, moleculeId=random.choice(molecules))
    elif kind == "delete":
        desk.delete(random.choice(atoms))
    elif kind == "log":
        desk.log(random.choice(atoms), "changed")
    else:
        desk.delete(random.choice(molecules), cascade=random.random() < 0.5)


@pytest.mark.proof
@pytest.mark.parametrize("patterns_max", [patterns.CACHED_PATTERNS_MAX, 12])
def test_after_any_changes_by_anybody_the_answer_is_the_one_from_scratch(
    desk: Knowledge, other: Knowledge, patterns_max: int
) -> None:
    random = Random(patterns_max)  # noqa: S311 - the same changes every time
    for one in (desk, other):
        one.session.store.memory[MEMORY_KEY] = IndexCache(patterns_max)
    for _ in range(STEPS):
        a_change(random.choice((desk, other)), random)
        # Not everybody asks each time, so that what is kept falls behind by more than one change.
        for asked in random.sample((desk, other), random.randint(0, 2)):
            assert answered(asked) == from_scratch(asked)


def test_only_what_changed_since_is_read_again(
    engine: Engine, desk: Knowledge, other: Knowledge, reads: Counter[str]
) -> None:
    desk.atom("Base", "base/**")
    desk.atom("Moving", "a/**")
    desk.atom("Going", "b/**")
    copy_atom(engine, desk["Base"], 200)
    desk.context("x")
    assert reads["patterns_since"] == 203
    reads.clear()

    desk.context("x")
    assert reads["patterns_since"] == reads["atoms_deleted_since"] == 0

    other.update("Moving", paths=["c/**"])
    other.delete("Going")
    other.atom("Coming", "d/**")
    reads.clear()
    assert [desk.matching(path) for path in ("a/x", "b/x", "c/x", "d/x", "copies/100007/x")] == [
        [],
        [],
        ["Moving"],
        ["Coming"],
        ["Base 100007"],
    ]
    assert (reads["patterns_since"], reads["atoms_deleted_since"]) == (2, 1)


def test_a_change_that_leaves_the_patterns_alone_makes_nobody_read_them(
    desk: Knowledge, other: Knowledge, reads: Counter[str]
) -> None:
    desk.molecule("Shop")
    desk.atom("Cart", "src/cart/**")
    desk.context("x")
    reads.clear()

    other.update("Cart", knowledge="new", name="Basket", moleculeId="Shop", paths=["src/cart/**"])
    other.log("Cart", "renamed")
    other.delete("Shop")

    assert desk.matching("src/cart/a") == ["Basket"]
    assert (reads["patterns_since"], reads["atoms_deleted_since"]) == (0, 0)


def test_other_work_in_the_project_moves_nothing(desk: Knowledge, reads: Counter[str]) -> None:
    desk.atom("Cart", "src/cart/**")
    desk.context("x")
    desk.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}])
    desk.beside("borealis").atom("Theirs", "src/**")
    reads.clear()

    desk.context("x")

    assert "patterns_since" not in reads


def projects_kept(desk: Knowledge) -> list[str]:
    kept: IndexCache = desk.session.store.memory[MEMORY_KEY]
    return [project for _, project in kept.projects]


def test_projects_are_let_go_that_were_not_asked_for_the_longest(desk: Knowledge) -> None:
    desk.session.store.memory[MEMORY_KEY] = IndexCache(patterns_max=5)
    second, third = desk.beside("borealis"), desk.beside("cassini")
    desk.atom("A", "src/a", "src/b", "src/c")
    second.atom("B", "src/{a,b}")
    third.atom("C", "src/a", "src/b")

    for one in (desk, second, desk, third):
        one.context("src/a")
    assert projects_kept(desk) == [desk.project_id, third.project_id]
    third.context("src/a")
    second.context("src/a")

    assert projects_kept(desk) == [third.project_id, second.project_id]
    assert [one.matching("src/b") for one in (desk, second, third)] == [["A"], ["B"], ["C"]]
    kept: IndexCache = desk.session.store.memory[MEMORY_KEY]
    assert sum(one.index.size for one in kept.projects.values()) <= 5


def test_a_project_that_is_larger_than_the_bound_is_kept_alone(desk: Knowledge) -> None:
    desk.session.store.memory[MEMORY_KEY] = IndexCache(patterns_max=5)
    second = desk.beside("borealis")
    second.atom("B", "src/a")
    second.context("src/a")
    desk.atom("Braces", "src/{a,b,c}/{d,e}")

    assert desk.matching("src/c/e") == ["Braces"]
    assert projects_kept(desk) == [desk.project_id]
    assert second.matching("src/a") == ["B"]
    assert projects_kept(desk) == [second.project_id]


def test_a_project_has_no_more_patterns_than_can_be_kept_braces_written_out(
    engine: Engine, desk: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revision, "PROJECT_PATTERNS_MAX", 8)
    desk.molecule("Shop")
    desk.atom("Braces", "src/{a,b,c}/{d,e}", moleculeId="Shop")
    before = everything(engine)

    with pytest.raises(TooManyPatterns) as refused:
        desk.atom("More", "src/{f,g,h}")
    assert (refused.value.details["limit"], refused.value.details["field"]) == (8, "paths")
    assert everything(engine) == before

    desk.atom("Fits", "src/{f,g}")
    with pytest.raises(TooManyPatterns):
        desk.update("Fits", paths=["src/{f,g,h}"])
    desk.update("Braces", paths=["src/a"])
    desk.update("Fits", paths=["src/{f,g,h}", "src/{i,j,k}"])
    assert engine.as_owner("SELECT patterns FROM graph_projects") == [(7,)]
    desk.delete("Shop", cascade=True)
    desk.delete("Fits")
    assert engine.as_owner("SELECT patterns FROM graph_projects") == [(0,)]


def test_paths_that_would_take_too_long_are_refused(desk: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.atom("Plain", "src/a/**")
    desk.atom("Costly", *(f"**/[{letter}z]*?*[b-d]*" for letter in "abcdefghijklmnopqrst"))
    monkeypatch.setattr(patterns, "STEPS_MAX", 500)

    assert desk.matching("src/a/x.ts") == ["Plain"]
    with pytest.raises(TooCostly) as refused:
        desk.context("lib/" + "a" * 100)
    assert refused.value.details["field"] == "paths"
    with pytest.raises(TooCostly):
        desk.context(*(f"lib/{place}" for place in range(10)))


def test_asking_about_one_project_does_not_wait_for_another(desk: Knowledge) -> None:
    second = desk.beside("borealis")
    second.atom("B", "src/a")
    desk.atom("A", "src/a")
    desk.context("src/a")
    kept: IndexCache = desk.session.store.memory[MEMORY_KEY]

    with kept.of(("local", desk.project_id)).lock, ThreadPoolExecutor(1) as pool:
        assert pool.submit(second.matching, "src/a").result(timeout=60) == ["B"]


def test_an_older_snapshot_is_answered_from_what_it_can_see(desk: Knowledge) -> None:
    desk.atom("Old", "src/a")
    desk.atom("Going", "src/a")
    store, actor = desk.session.store, local_actor("ada")

    def later() -> list[str]:
        """What somebody does meanwhile, at the same store."""
        desk.delete("Going")
        desk.update("Old", paths=["lib/**"])
        desk.atom("New", "src/a")
        return desk.matching("src/a")

    def run(tx: Transaction) -> tuple[list[str], list[str]]:
        tx.enter(authorize_project(tx, "atlas", Permission.KNOWLEDGE_READ))
        with ThreadPoolExecutor(1) as pool:
            newer = pool.submit(later).result()
        return newer, match_atoms(tx, {"src/a": False})["src/a"]

    newer, older = store.read(actor, run)

    assert newer == ["New"]
    assert older == sorted([desk["Old"], desk["Going"]])
    assert desk.matching("src/a") == ["New"]


def test_a_reading_that_fails_half_way_is_not_kept(desk: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        desk.atom(f"a{number}", f"src/{number}")
    desk.context("x")
    desk.update("a1", paths=["lib/1"])
    desk.update("a2", paths=["lib/2"])
    put = PathIndex.put

    def failing(index: PathIndex, key: str, some: list[str]) -> None:
        if some == ["lib/2"]:
            raise MemoryError
        put(index, key, some)

    monkeypatch.setattr(PathIndex, "put", failing)
    with pytest.raises(MemoryError):
        desk.context("lib/1")
    monkeypatch.undo()

    assert [desk.matching(path) for path in ("lib/1", "lib/2", "src/0")] == [["a1"], ["a2"], ["a0"]]
