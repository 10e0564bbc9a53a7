"""A repository has its plan in `.groundplan/`, which every command finds; nothing is created by looking for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Run


@pytest.fixture(autouse=True)
def _nothing_named(_empty_configuration: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDPLAN_DB")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository; the current folder is two levels below its root."""
    root = tmp_path / "water plan"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(root / "src" / "deep")
    return root


def test_init_in_a_repository_makes_a_plan_that_every_folder_finds(run: Run, repository: Path) -> None:
    made = run("init", "--json").answer

    assert made["project"] == "water plan"
    assert {path.name for path in (repository / ".groundplan").iterdir()} >= {
        "groundplan.yaml",
        ".gitignore",
        "plan.db",
    }
    assert "plan.db*" in (repository / ".groundplan" / ".gitignore").read_text(encoding="utf-8")
    assert run("work", "plan", "--nodes", '[{"ref": "a", "summary": "Dig"}]', "--json").code == 0
    assert run("work", "next", "--json").answer["nodes"][0]["node"]["summary"] == "Dig"
    assert list(Path().iterdir()) == []


def test_init_again_keeps_the_configuration_and_the_project(run: Run, repository: Path) -> None:
    run("init")
    config = repository / ".groundplan" / "groundplan.yaml"
    config.write_text("db_path: plan.db\nproject: other\n", encoding="utf-8")

    assert run("init", "--json").answer["created"] is False
    assert config.read_text(encoding="utf-8") == "db_path: plan.db\nproject: other\n"
    assert [one["name"] for one in run("project", "list", "--json").answer["projects"]] == ["water plan"]


@pytest.mark.parametrize(
    "command",
    [
        ("work", "next"),
        ("project", "create", "atlas"),
        ("work", "open", "atlas", "--goal", "A map"),
        ("purpose", "draft"),
        ("serve", "--once"),
        ("mcp",),
    ],
    ids=" ".join,
)
def test_looking_for_a_plan_never_creates_one(run: Run, command: tuple[str, ...]) -> None:
    ended = run(*command)

    assert (ended.code, ended.out) == (7, "")
    assert "groundplan init" in ended.err
    assert list(Path().iterdir()) == []


def test_a_named_database_is_created_by_the_first_write(run: Run) -> None:
    assert run("--db", "mine.db", "project", "create", "atlas").code == 0

    assert Path("mine.db").exists()


def test_with_one_project_no_command_needs_its_name_and_with_two_they_are_listed(run: Run, repository: Path) -> None:
    run("init")
    (repository / ".groundplan" / "groundplan.yaml").write_text("db_path: plan.db\n", encoding="utf-8")
    assert run("purpose", "draft").code == 0

    run("project", "create", "atlas")
    refused = run("purpose", "open")

    assert refused.code == 2
    assert "atlas" in refused.err
    assert "water plan" in refused.err
    assert run("purpose", "open", "--project", "water plan").code == 0


def test_where_says_what_is_in_force_and_why(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    config = str(repository / ".groundplan" / "groundplan.yaml")
    outer = repository.parent / "groundplan.yaml"
    outer.write_text("agent_identity: outer\n", encoding="utf-8")

    said = run("where", "--json").answer

    assert said["project"] == {"value": "water plan", "source": config}
    assert said["database"]["source"] == config
    assert said["actor"] == {"value": "ada", "source": "your user name"}
    assert said["not_used"] == [str(outer)]
    monkeypatch.setenv("GROUNDPLAN_PROJECT", "atlas")
    assert run("where", "--json").answer["project"] == {"value": "atlas", "source": "GROUNDPLAN_PROJECT"}
    assert "GROUNDPLAN_PROJECT" in run("where").out


def test_a_repository_that_cannot_be_written_to_gets_no_half_plan(run: Run, repository: Path) -> None:
    (repository / ".groundplan").write_text("a file, not a folder", encoding="utf-8")

    refused = run("init", "--json")

    assert refused.error == (7, "not_writable")
    assert (repository / ".groundplan").read_text(encoding="utf-8") == "a file, not a folder"


@pytest.mark.parametrize("command", ["archive", "restore"])
def test_a_project_that_a_command_is_about_is_never_implied(run: Run, repository: Path, command: str) -> None:
    run("init")

    assert run("project", command).code == 2
    assert [one["name"] for one in run("project", "list", "--json").answer["projects"]] == ["water plan"]
