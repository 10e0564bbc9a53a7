"""Patterns that are typed start at the current folder, as paths do, and after `:/` at the root of the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundplan.repository.git import WorkingCopy
from groundplan.surfaces.cli.knowledge.typed_patterns import anchor_pattern
from tests.surfaces.cli.conftest import Run, RunResult
from tests.surfaces.cli.test_knowledge_check import KnowledgeCommands

ABOUT = ("--type", "atom", "--project", "atlas")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A working copy around the folder where the program runs."""
    for folder in (".git", "src/pay/gw", "docs", "app/[id]"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.fixture
def atlas(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeCommands:
    """Project atlas, whose plan is at the root; the program runs in src/pay."""
    monkeypatch.setenv("GROUNDPLAN_DB", str(root / "groundplan.db"))
    commands = KnowledgeCommands(run)
    monkeypatch.chdir(root / "src" / "pay")
    return commands


def create(atlas: KnowledgeCommands, pattern: str, *options: str) -> RunResult:
    return atlas.run("knowledge", "create", "New", *ABOUT, "--task", atlas.task, "--path", pattern, *options)


def test_a_pattern_starts_where_the_path_of_a_question_starts(atlas: KnowledgeCommands) -> None:
    made = create(atlas, "gw/**")

    assert "src/pay/gw/**" in made.out, "the answer shows what is stored"
    known = atlas.run("knowledge", "context", "gw", "--project", "atlas", "--json").answer["data"]
    assert [atom["name"] for atom in known["orphanAtoms"]] == ["New"]


def test_an_update_and_a_trial_take_patterns_in_the_same_way(atlas: KnowledgeCommands) -> None:
    made = create(atlas, ":/docs/**", "--json").answer["data"]["atom"]
    changed = atlas.run(
        "knowledge", "update", made["id"], "--type", "atom", "--version", "1", "--path", "../**", "--json"
    ).answer["data"]["atom"]
    tried = atlas.run("knowledge", "match", "gw/**", ":/docs/**", "--project", "atlas", "--json").answer

    assert (made["paths"], changed["paths"]) == (["docs/**"], ["src/**"])
    assert [one["pattern"] for one in tried["patterns"]] == ["src/pay/gw/**", "docs/**"]


@pytest.mark.parametrize(
    ("folder", "typed", "stored"),
    [
        ("src/pay", "**", "src/pay/**"),
        ("src/pay", "./gw/*.py", "src/pay/gw/*.py"),
        ("src/pay", "../{a,b}.py", "src/{a,b}.py"),
        ("src/pay", "../../docs/**", "docs/**"),
        ("src/pay", " gw/** ", "src/pay/gw/**"),
        ("src/pay", ":/docs/**", "docs/**"),
        ("src/pay", ":/", "**"),
        ("app/[id]", "*.tsx", r"app/\[id\]/*.tsx"),
        (".", "docs/**", "docs/**"),
        (".", ":/docs/**", "docs/**"),
    ],
)
def test_a_typed_pattern_is_stored_from_the_root(root: Path, folder: str, typed: str, stored: str) -> None:
    assert anchor_pattern(typed, WorkingCopy(str(root / folder))) == (stored, None)


@pytest.mark.parametrize("typed", ["", "gw/", "!gw/**", "/gw/**", "gw//a", "gw/[a", "../../../docs/**", "C:/gw/**"])
def test_a_malformed_pattern_is_refused_in_the_words_that_were_typed(atlas: KnowledgeCommands, typed: str) -> None:
    refused = create(atlas, typed, "--json")

    assert refused.error == (2, "malformed_pattern")
    assert json.loads(refused.err)["error"]["details"]["pattern"] == typed


def test_the_hint_for_a_malformed_pattern_can_be_typed_where_it_is_read(atlas: KnowledgeCommands, root: Path) -> None:
    for typed, stored in (("gw/", "src/pay/gw/**"), (f"{root}/docs/**", "docs/**"), (str(root / "src"), "src/**")):
        hint = json.loads(create(atlas, typed, "--json").err)["error"]["details"]["hint"]
        instead = hint.removeprefix("write ").split(",")[0].split(" ")[0]
        assert create(atlas, instead, "--json").answer["data"]["atom"]["paths"] == [stored]


def test_the_warning_about_a_folder_can_be_typed_where_it_is_read(atlas: KnowledgeCommands) -> None:
    (warning,) = create(atlas, "gw", "--json").answer["data"]["warnings"]

    assert warning.endswith("write :/src/pay/gw/**")


def test_a_pattern_that_only_the_root_has_is_stored_with_a_warning(atlas: KnowledgeCommands) -> None:
    made = create(atlas, "docs/**", "--json")

    assert made.answer["data"]["atom"]["paths"] == ["src/pay/docs/**"]
    assert "write :/docs/** if" in made.err
    assert create(atlas, "gw/**", "--json").err == create(atlas, "new/**", "--json").err == ""


def test_outside_of_a_repository_patterns_stay_and_no_option_is_advised_that_is_not_there(
    run: Run, tmp_path: Path
) -> None:
    commands = KnowledgeCommands(run)

    assert create(commands, "gw/**", "--json").answer["data"]["atom"]["paths"] == ["gw/**"]
    known = run("knowledge", "context", str(tmp_path / "a.py"), "--project", "atlas", "--json").answer["data"]
    (warning,) = known["warnings"]
    assert "--repo" not in warning
