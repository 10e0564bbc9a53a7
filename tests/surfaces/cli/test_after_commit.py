"""The git hook links commits to tasks and says which knowledge may be out of date; it never stops a commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from groundplan.surfaces.cli.purpose import compliance
from tests.repository.working_copy import NOBODY_S_SETTINGS, WorkingCopy, git_environment
from tests.standby import Standby
from tests.surfaces.cli.conftest import Run

pytestmark = pytest.mark.slow  # every test starts git


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _empty_configuration: None, run: Run) -> WorkingCopy:
    """Return a repository with a plan and no commits, which is the current folder."""
    monkeypatch.delenv("GROUNDPLAN_DB")
    for name, value in NOBODY_S_SETTINGS.items():
        monkeypatch.setenv(name, value)
    made = WorkingCopy(tmp_path / "wells")
    monkeypatch.chdir(made.folder)
    run("init", "--client", "none", "--no-instructions")
    return made


def plan_task(run: Run, summary: str) -> str:
    answer = run("work", "plan", "--nodes", json.dumps([{"ref": "a", "summary": summary}]), "--json").answer
    task: str = answer["created"][0]["id"]
    return task


def test_a_commit_is_linked_and_knowledge_of_its_files_is_doubted(run: Run, copy: WorkingCopy) -> None:
    task = plan_task(run, "Dig")
    copy.commit({"src/pump.py": "1"})
    run("knowledge", "create", "Pumps", "--type", "atom", "--path", "src/**", "--task", task, "--project", "wells")
    run("knowledge", "confirm", "Pumps", "--project", "wells")
    commit = copy.commit({"src/pump.py": "2"}, message=f"Pump faster (wells-{task}, pl-zzzzzz)")

    shown = run("after-commit").out
    answer = run("after-commit", "--json").answer

    assert f"{commit[:12]} is evidence of {task}  Dig" in shown
    assert "names zzzzzz, but there is no such task" in shown
    assert "1 of 1 atoms may be out of date: Pumps" in shown
    assert (answer["commit"], answer["stale"]) == (commit, ["Pumps"])
    assert [one["is_new"] for one in answer["linked"]] == [False]


def test_the_commit_of_a_coding_agent_is_linked_under_its_name(
    run: Run, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = plan_task(run, "Dig")
    copy.commit({"src/pump.py": "1"}, message=f"Pump (pl-{task})")
    monkeypatch.setenv("CLAUDECODE", "1")  # which git hands on to its hooks

    run("after-commit")

    (evidence,) = run("show", task, "--json").answer["node"]["evidence"]
    assert evidence["agent"] == "claude"


def test_a_commit_that_names_nothing_is_answered_with_silence(run: Run, copy: WorkingCopy) -> None:
    copy.commit({"a": "1"})

    assert run("after-commit") == (0, "", "")


def test_code_of_the_commit_that_breaks_a_rule_is_reported_and_other_code_is_not(run: Run, copy: WorkingCopy) -> None:
    parent = "parent_id"
    copy.commit({"old.sql": f"ALTER TABLE toc_nodes ADD {parent} int;\n"})
    changed = "SELECT id FROM toc_nodes;\nDROP TRIGGER frozen" + " ON toc_nodes;\n"
    large = f"-- {'x' * compliance.COMMITTED_BYTES_MAX}\n{changed}"
    copy.commit({"db/0.sql": large, "db/1.sql": changed, "a.py": "rows = 1\n", "notes.txt": f"toc_nodes {parent}"})

    ended = run("after-commit")
    findings = run("after-commit", "--json").answer["code"]

    assert ended.code == 0
    assert "groundplan: db/1.sql:2: BLOCKED: Build Rule 3: " in ended.out
    assert [(one["path"], one["line"], one["verdict"], one["rule"]) for one in findings] == [
        ("db/1.sql", 2, "BLOCKED", "published_edited"),
        ("db/1.sql", 1, "LOOK", "no_tenant"),
    ]


def test_without_a_commit_it_says_so(run: Run, copy: WorkingCopy) -> None:
    assert run("after-commit", "--json").error == (2, "no_commit")


def test_the_hook_runs_in_every_worktree_and_a_commit_succeeds_whatever_it_does(
    run: Run, copy: WorkingCopy, program: Standby, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.pathsep.join((str(program.folder), str(Path(sys.executable).parent), os.environ["PATH"]))
    monkeypatch.setenv("PATH", path)
    task = plan_task(run, "Dig")
    run("init", "--client", "none", "--no-instructions", "--hook")

    def commit(folder: Path, message: str) -> str:
        words = ("git", "commit", "--quiet", "--allow-empty", "--message", message)
        ended = subprocess.run(
            words, check=True, capture_output=True, text=True, env=git_environment() | {"PATH": path}, cwd=folder
        )
        return ended.stderr

    assert f"is evidence of {task}" in commit(copy.folder, f"The first commit, plan-{task}")
    copy.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    assert f"is evidence of {task}" in commit(tmp_path / "other", f"In a worktree, plan-{task}")
    assert len(run("work", "context", task, "--json").answer["node"]["evidence"]) == 2

    (copy.folder / ".groundplan" / "groundplan.yaml").write_text("broken: [", encoding="utf-8")
    assert "error: " in commit(copy.folder, f"With a broken plan, plan-{task}")
    assert copy.git("rev-list", "--count", "HEAD") == "2"
