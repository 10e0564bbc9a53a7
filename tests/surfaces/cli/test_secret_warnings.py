"""Secrets on the command line: warnings on stderr, and in the JSON of an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kernel.secrets.made_up import make_one
from tests.surfaces.cli.conftest import Run

TOKEN = make_one("GitHub personal access token")
KIND = "GitHub personal access token"


@pytest.fixture
def task(run: Run) -> str:
    run("project", "create", "atlas")
    nodes = json.dumps([{"ref": "a", "summary": "Describe it"}])
    made = run("work", "plan", "--project", "atlas", "--nodes", nodes, "--json").answer
    return str(made["created"][0]["id"])


def test_a_command_warns_people_on_stderr_and_programs_in_the_answer(run: Run) -> None:
    drawn = run("project", "create", "atlas", "--goal", TOKEN)
    answer = run("project", "create", "borealis", "--goal", TOKEN, "--json")

    assert drawn.code == 0
    assert f"warning: looks like a secret: goal ({KIND})" in drawn.err
    assert answer.answer["warnings"][0].startswith(f"looks like a secret: goal ({KIND})")
    assert TOKEN not in drawn.err + answer.err


def test_an_answer_that_has_warnings_of_its_own_shows_them_once(run: Run, task: str) -> None:
    drawn = run("work", "update", "--updates", json.dumps([{"node_id": task, "state": TOKEN}]))

    assert (drawn.out + drawn.err).count("looks like a secret") == 1


def test_an_import_of_rules_names_the_file_with_a_secret(run: Run, task: str) -> None:
    for name, text in (("a.md", "Never round twice."), ("b.md", f"Log in with {TOKEN}.")):
        Path(name).write_text(f"---\npaths: src/**\n---\n{text}\n")
    rules = ("--format", "claude", "--project", "atlas", "--task", task, "a.md", "b.md", "--json")

    imported = run("knowledge", "import-rules", *rules)

    assert len(imported.answer["created"]) == 2
    assert imported.err.count("warning: ") == 1
    assert f"b.md: looks like a secret: knowledge ({KIND})" in imported.err


def test_where_secrets_are_refused_an_import_skips_the_file(run: Run, task: str) -> None:
    run("work", "open", "atlas", "--policies", json.dumps({"secrets": "refuse"}))
    Path("b.md").write_text(f"---\npaths: src/**\n---\nLog in with {TOKEN}.\n")

    imported = run(
        *("knowledge", "import-rules", "--format", "claude", "--project", "atlas", "--task", task, "b.md", "--json")
    )

    assert imported.code == 6
    assert "looks like a secret" in json.loads(imported.out)["skipped"][0]["reason"]
    assert TOKEN not in imported.out


def test_an_import_of_facts_and_of_a_theory_warns(run: Run, task: str) -> None:
    Path("theory.json").write_text(json.dumps({"nodes": [{"key": "G1", "node_type": "GOAL", "title": TOKEN}]}))

    imported = run("purpose", "import", "theory.json", "--project", "atlas", "--format", "json")

    assert imported.code == 0, imported.err
    assert f"warning: looks like a secret: document.nodes[0].title ({KIND})" in imported.err
