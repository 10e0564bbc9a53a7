"""A repository with a plan, in which the short words run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Run, RunResult


class ShortWords:
    """Runs short words as a person in a repository does."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __call__(self, line: str, *more: str) -> RunResult:
        """Run a line without quotation marks, and more words that may have spaces."""
        return self._run(*line.split(), *more)

    def add(self, title: str, *options: str) -> str:
        """Add a task and return its id."""
        id_: str = self._run("add", title, *options, "--json").answer["created"][0]["id"]
        return id_

    def lines(self, line: str) -> list[str]:
        """Return what a line prints."""
        ended = self(line)
        assert ended.code == 0, ended.err
        return ended.out.splitlines()


@pytest.fixture
def pl(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ShortWords:
    """Return the short words in a repository with a plan. What they remember stays in a folder of the test."""
    monkeypatch.delenv("GROUNDPLAN_DB")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    assert run("init").code == 0
    return ShortWords(run)
