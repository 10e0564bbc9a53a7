"""The freshness of atoms from plain values: the plan, the files at HEAD, and the changes since a commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from groundplan.knowledge.freshness import FreshnessState
from groundplan.repository.freshness import (
    Assessment,
    AtomAssessment,
    NarrowPattern,
    WatchedAtom,
    assess,
    find_narrow_patterns,
)
from groundplan.repository.git import TreeDiff

FILES = ["docs/a.md", "src/app.ts", "src/pages/home.ts", "src/pages/shop/cart.ts"]


def assess_atoms(
    *atoms: WatchedAtom,
    changes: Mapping[str, Sequence[str]] | None = None,
    files: Sequence[str] = FILES,
    since: Sequence[str] | None = None,
) -> Assessment:
    return assess(atoms, files, commit_steps(changes or {}), since)


def commit_steps(changes: Mapping[str, Sequence[str]]) -> Iterator[TreeDiff]:
    """Return the commits in order, with the files that differ from HEAD."""
    before: set[str] = set()
    for tree, names in changes.items():
        yield TreeDiff(tree, sorted({*names} - before), sorted(before - {*names}))
        before = {*names}


def state(
    *patterns: str, anchor: str | None = "c1", changed: Sequence[str] = (), since: Sequence[str] | None = None
) -> AtomAssessment:
    """Return the state of an atom that was confirmed at c1, with these changed files."""
    found = assess_atoms(WatchedAtom("a", patterns, anchor), changes={"c1": changed}, since=since)
    return found.atoms["a"]


class TestStates:
    def test_an_atom_whose_files_did_not_change_is_fresh(self) -> None:
        assert state("src/**", changed=["docs/a.md"]) == AtomAssessment(FreshnessState.FRESH)

    def test_an_atom_whose_files_changed_is_changed_and_they_are_listed_in_order(self) -> None:
        changed = ["src/pages/shop/cart.ts", "docs/a.md", "src/app.ts"]

        assert state("src/**", changed=changed) == AtomAssessment(
            FreshnessState.CHANGED, ["src/app.ts", "src/pages/shop/cart.ts"]
        )

    def test_a_deleted_file_of_its_area_is_a_change(self) -> None:
        assert state("src/**", changed=["src/gone.ts"]) == AtomAssessment(FreshnessState.CHANGED, ["src/gone.ts"])

    def test_an_atom_that_nobody_confirmed_is_unanchored(self) -> None:
        assert state("src/**", anchor=None, changed=["src/app.ts"]) == AtomAssessment(FreshnessState.UNANCHORED)

    def test_an_atom_without_any_file_is_orphaned_before_it_is_anything_else(self) -> None:
        assert state("old/**", changed=["old/a.ts"]) == AtomAssessment(FreshnessState.ORPHANED)
        assert state("old/**", anchor=None) == AtomAssessment(FreshnessState.ORPHANED)

    def test_one_file_under_one_of_its_patterns_is_enough(self) -> None:
        assert state("old/**", "docs/*.md") == AtomAssessment(FreshnessState.FRESH)

    def test_a_file_under_two_patterns_of_an_atom_is_listed_once(self) -> None:
        assert state("src/**", "src/app.ts", changed=["src/app.ts"]) == AtomAssessment(
            FreshnessState.CHANGED, ["src/app.ts"]
        )

    def test_each_atom_is_compared_with_its_own_commit(self) -> None:
        found = assess_atoms(
            WatchedAtom("early", ["src/**"], "c1"),
            WatchedAtom("late", ["src/**"], "c2"),
            changes={"c1": ["src/app.ts"], "c2": []},
        )

        assert found.atoms == {
            "early": AtomAssessment(FreshnessState.CHANGED, ["src/app.ts"]),
            "late": AtomAssessment(FreshnessState.FRESH),
        }

    def test_what_was_changed_and_changed_back_counts_only_in_between(self) -> None:
        found = assess_atoms(
            *(WatchedAtom(f"at {tree}", ["src/**"], tree) for tree in ("c1", "c2", "c3")),
            changes={"c3": ["src/app.ts"], "c2": ["docs/a.md"], "c1": ["src/app.ts", "src/pages/home.ts"]},
        )

        assert found.atoms == {
            "at c1": AtomAssessment(FreshnessState.CHANGED, ["src/app.ts", "src/pages/home.ts"]),
            "at c2": AtomAssessment(FreshnessState.FRESH),
            "at c3": AtomAssessment(FreshnessState.CHANGED, ["src/app.ts"]),
        }


class TestSince:
    def test_only_what_changed_since_then_counts(self) -> None:
        changed = ["src/app.ts", "src/pages/home.ts"]

        assert state("src/**", changed=changed, since=["src/app.ts"]) == AtomAssessment(
            FreshnessState.CHANGED, ["src/app.ts"]
        )
        assert state("src/**", changed=changed, since=["docs/a.md"]) == AtomAssessment(FreshnessState.FRESH)

    def test_what_was_confirmed_after_it_changed_is_fresh(self) -> None:
        assert state("src/**", changed=[], since=["src/app.ts"]) == AtomAssessment(FreshnessState.FRESH)

    def test_an_unanchored_atom_lists_what_changed_in_its_area(self) -> None:
        since = ["src/pages/home.ts", "docs/a.md", "src/app.ts"]

        assert state("src/**", anchor=None, since=since) == AtomAssessment(
            FreshnessState.UNANCHORED, ["src/app.ts", "src/pages/home.ts"]
        )

    def test_nothing_changed_is_not_the_same_as_not_asked(self) -> None:
        assert state("src/**", changed=["src/app.ts"], since=[]) == AtomAssessment(FreshnessState.FRESH)


class TestFiles:
    def test_files_that_an_atom_speaks_of_are_counted(self) -> None:
        found = assess_atoms(WatchedAtom("a", ["src/pages/**"]), WatchedAtom("b", ["src/**", "old/**"]))

        assert (found.tracked, found.covered) == (4, 3)

    def test_changed_files_that_no_atom_speaks_of_are_uncovered_if_they_are_still_there(self) -> None:
        found = assess_atoms(
            WatchedAtom("a", ["docs/**"], "c1"),
            WatchedAtom("b", ["docs/**"], "c2"),
            changes={"c1": ["src/gone.ts", "src/app.ts", "docs/a.md"], "c2": ["src/app.ts", "src/pages/home.ts"]},
        )

        assert found.uncovered == ["src/app.ts", "src/pages/home.ts"]

    def test_since_a_revision_only_what_changed_since_then_is_uncovered(self) -> None:
        found = assess_atoms(
            WatchedAtom("a", ["docs/**"], "c1"),
            changes={"c1": ["src/app.ts"]},
            since=["src/pages/home.ts", "docs/a.md"],
        )

        assert found.uncovered == ["src/pages/home.ts"]

    def test_where_nothing_was_compared_nothing_is_uncovered(self) -> None:
        assert assess_atoms(WatchedAtom("a", ["docs/**"])).uncovered == []
        assert assess_atoms() == Assessment({}, [], 4, 0)

    def test_a_repository_without_files_orphans_everything(self) -> None:
        assert assess_atoms(WatchedAtom("a", ["**"]), files=[]) == Assessment(
            {"a": AtomAssessment(FreshnessState.ORPHANED)}, [], 0, 0
        )


class TestNarrowPatterns:
    def test_a_pattern_that_names_a_folder_gets_the_one_that_was_meant(self) -> None:
        atoms = [WatchedAtom("a", ["src/pages", "src/p*", "src/nothing", "src/app.ts"]), WatchedAtom("b", ["docs/*"])]

        assert list(find_narrow_patterns(atoms, FILES)) == [
            NarrowPattern("a", "src/pages", "src/pages/**"),
            NarrowPattern("a", "src/p*", "src/p*/**"),
        ]


segment = st.sampled_from(["a", "b", "c"])
path = st.lists(segment, min_size=1, max_size=3).map("/".join)
pattern = st.one_of(path, path.map(lambda folder: f"{folder}/**"))
tree = st.sampled_from(["c1", "c2", "c3"])
paths = st.lists(path, unique=True, max_size=12)


def mentions(atom: WatchedAtom, name: str) -> bool:
    return any(name.startswith(one.removesuffix("**")) if one.endswith("/**") else name == one for one in atom.patterns)


@given(
    specs=st.lists(st.tuples(st.lists(pattern, min_size=1, max_size=3), st.none() | tree), max_size=6),
    files=paths,
    changes=st.fixed_dictionaries({"c1": paths, "c2": paths, "c3": paths}),
    since=st.none() | paths,
)
def test_every_state_is_what_its_definition_says(
    specs: list[tuple[list[str], str | None]],
    files: list[str],
    changes: dict[str, list[str]],
    since: list[str] | None,
) -> None:
    atoms = [WatchedAtom(f"a{place}", patterns, anchor) for place, (patterns, anchor) in enumerate(specs)]

    found = assess(atoms, files, commit_steps(changes), since)

    for atom in atoms:
        if not any(mentions(atom, name) for name in files):
            expected = AtomAssessment(FreshnessState.ORPHANED)
        elif atom.anchor is None:
            expected = AtomAssessment(
                FreshnessState.UNANCHORED, sorted(name for name in since or () if mentions(atom, name))
            )
        else:
            changed = [name for name in changes[atom.anchor] if since is None or name in since]
            mine = sorted(name for name in changed if mentions(atom, name))
            expected = AtomAssessment(FreshnessState.CHANGED if mine else FreshnessState.FRESH, mine)
        assert found.atoms[atom.id] == expected
    moved = {name for names in changes.values() for name in names} if since is None else set(since)
    bare = [name for name in files if not any(mentions(atom, name) for atom in atoms)]
    assert found.uncovered == sorted(moved & set(bare))
    assert (found.tracked, found.covered) == (len(files), len(files) - len(bare))
