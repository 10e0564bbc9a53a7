"""The files of the last check: which patterns match them, and which of them no atom covers."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.knowledge.checked import KEPT_MAX, build_folders
from tests.answers import to_json
from tests.knowledge.client import COMMIT, KnowledgeClient, outcome_of

FILES = ["README.md", "docs/a.md", "src/alone.ts", "src/cart/a.ts", "src/cart/deep/b.ts", "src/pay/c.ts"]
OTHER = "fedcba9876543210fedcba9876543210fedcba98"


def check_files(client: KnowledgeClient, *files: str, commit: str = COMMIT, **given: Any) -> Any:
    return client.check(commit=commit, files=list(files), **given)


def match(client: KnowledgeClient, *paths: str) -> Any:
    return client.call("knowledge.match", projectId=client.project, paths=list(paths))


def cover(client: KnowledgeClient, folder: str = "") -> Any:
    return client.call("knowledge.coverage", projectId=client.project, folder=folder)


def test_without_a_check_there_is_nothing_to_match_or_cover(crowded_project: KnowledgeClient) -> None:
    assert to_json(match(crowded_project, "src/**")) == {
        "kept": 0,
        "count": 0,
        "patterns": [{"pattern": "src/**", "files": 0}],
        "files": [],
    }
    assert to_json(cover(crowded_project)) == {
        "folder": "",
        "files": 0,
        "covered": 0,
        "overlapping": 0,
        "entries": [],
        "uncovered": [],
    }


def test_patterns_are_matched_with_the_files_of_the_last_check(crowded_project: KnowledgeClient) -> None:
    check_files(crowded_project, *FILES)
    found = match(crowded_project, "src/cart/**", "**/*.md", "lib/**")

    assert (found.commit, found.kept, found.count) == (COMMIT, 6, 4)
    assert [(one.pattern, one.files) for one in found.patterns] == [("src/cart/**", 2), ("**/*.md", 2), ("lib/**", 0)]
    assert found.files == ["README.md", "docs/a.md", "src/cart/a.ts", "src/cart/deep/b.ts"]


def test_files_of_one_commit_add_up_and_another_commit_replaces_them(crowded_project: KnowledgeClient) -> None:
    check_files(crowded_project, *FILES[:3], filesTotal=60)
    check_files(crowded_project, *FILES[2:], filesTotal=60)
    both = cover(crowded_project)
    check_files(crowded_project, "new.ts", commit=OTHER)
    after = cover(crowded_project)

    assert (both.commit, both.kept, both.total) == (COMMIT, 6, 60)
    assert (after.commit, after.kept, after.total) == (OTHER, 1, 1)


def test_coverage_counts_covered_overlapping_and_uncovered_files_of_each_folder(
    crowded_project: KnowledgeClient,
) -> None:
    crowded_project.atom("Deep", "src/cart/deep/**")
    check_files(crowded_project, *FILES)
    root, source = cover(crowded_project), cover(crowded_project, "src/")

    assert (root.files, root.covered, root.overlapping) == (6, 3, 1)
    assert [(one.path, one.files, one.covered, one.is_folder) for one in root.entries] == [
        ("src", 4, 3, True),
        ("README.md", 1, 0, False),
        ("docs", 1, 0, True),
    ]
    assert [one.path for one in root.entries[0].entries] == ["src/cart", "src/alone.ts", "src/pay"]
    assert [(one.path, one.files) for one in root.uncovered] == [("", 1), ("docs", 1), ("src/pay", 1)]
    assert next((one.path, one.overlapping) for one in source.entries) == ("src/cart", 1)
    assert outcome_of(lambda: cover(crowded_project, "src/nothing"))[1] == "not_found"


def test_more_files_than_are_kept_are_refused(crowded_project: KnowledgeClient) -> None:
    check_files(crowded_project, *(f"a/{n}" for n in range(KEPT_MAX)))

    assert outcome_of(lambda: check_files(crowded_project, "one/more"))[1:] == ("too_many", "files")
    assert cover(crowded_project).kept == KEPT_MAX


@pytest.mark.parametrize("pattern", ["src/[a", "../x", "a" * 3_000])
def test_a_malformed_pattern_is_refused_at_its_place(crowded_project: KnowledgeClient, pattern: str) -> None:
    assert outcome_of(lambda: match(crowded_project, "src/**", pattern))[::2] == ("Invalid", "paths[1]")


def test_patterns_that_cost_too_much_are_refused(crowded_project: KnowledgeClient) -> None:
    check_files(crowded_project, *(f"{'b' * 40}/{n}" for n in range(KEPT_MAX)))
    letters = "{a,b,c,d,e,f,g,h}"

    assert outcome_of(lambda: match(crowded_project, f"**/*{letters}*{letters}*"))[1] == "too_costly"


def test_the_reason_of_a_deletion_is_in_the_history(crowded_project: KnowledgeClient) -> None:
    crowded_project.delete("Alone", decision="it moved")
    (event,) = crowded_project.call("event.list", project=crowded_project.project, limit=1).events

    assert (event.op, event.decision) == ("knowledge.deleted", "it moved")


def test_the_counts_of_a_folder_are_those_of_its_entries() -> None:
    root = build_folders([("a/b/c", 0), ("a/b/d", 2), ("a/e", 1), ("f", 0)])
    below = root.find("a/b")

    assert (root.files, root.covered, root.overlapping, root.own_uncovered) == (4, 2, 1, 1)
    assert below is not None
    assert (below.files, below.covered, below.own_uncovered) == (2, 1, 1)
    assert [one.path for one in root.list_entries()] == ["a", "f"]
    assert root.find("a/x/y") is None
    assert sorted(one.path for one in root.walk()) == ["", "a", "a/b"]
