"""Completion knows ids, projects, keys and tags; it only reads, prints nothing if anything is wrong, and quotes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from groundplan.commands import EVERY_DAY
from groundplan.surfaces.cli import completion
from groundplan.surfaces.cli.completion.install import SCRIPTS, ForeignFile, list_files
from groundplan.surfaces.cli.failures import UsageError
from tests.surfaces.cli.conftest import Run


@pytest.fixture
def plan(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the program beside a plan with a project, a task with a tag, and a goal."""
    run("project", "create", "atlas")
    run("add", "Walk the coast", "--tag", "out doors")
    run("purpose", "add", "goal", "A map that every walker trusts")
    return run


def complete(run: Run, *words: str) -> list[str]:
    """Return the values for the last word of a line."""
    ended = run("__complete", "bash", str(len(words)), *words)
    assert (ended.code, ended.err) == (0, "")
    return [line.partition("\t")[0] for line in ended.out.splitlines()]


def test_the_first_word_is_a_command(run: Run) -> None:
    assert set(EVERY_DAY) <= set(complete(run, ""))
    assert complete(run, "boa") == ["board"]
    assert "--project" in complete(run, "--")


def test_ids_tags_projects_keys_states_and_options_are_known(plan: Run) -> None:
    (node,) = complete(plan, "done", "")

    assert complete(plan, "show", node[:2]) == [node]
    assert complete(plan, "block", node, "--on", "") == [node]
    assert complete(plan, "ls", "--tag", "") == ["out doors"]
    assert complete(plan, "next", "--project", "") == ["atlas"]
    assert complete(plan, "add", "--serves", "") == ["G1"]
    assert complete(plan, "ls", "bl") == ["blocked"]
    assert complete(plan, "done", node, "--ev") == ["--evidence"]
    assert complete(plan, "purpose", "measure", "") == ["G1"]
    assert "plan" in complete(plan, "work", "")


def test_a_title_is_a_description_on_one_line_without_control_characters(plan: Run) -> None:
    plan("add", "evil\ttitle $(touch pwned) \u202e `id`")
    lines = plan("__complete", "bash", "2", "show", "").out.splitlines()

    assert all(line.count("\t") == 1 for line in lines)
    assert "\u202e" not in "".join(lines)


@pytest.mark.parametrize("words", [("zz", "1"), (), ("bash",), ("bash", "x", "show"), ("bash", "99", "show")])
def test_whatever_is_asked_completion_prints_no_error(run: Run, words: tuple[str, ...]) -> None:
    ended = run("__complete", *words)

    assert (ended.code, ended.err) == (0, "")


def test_completion_creates_no_plan(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDPLAN_DB")
    assert complete(run, "show", "") == []
    assert list(Path().iterdir()) == []


@pytest.mark.slow
def test_bash_gets_values_that_are_quoted_and_never_run(plan: Run, tmp_path: Path) -> None:
    plan("add", "Evil", "--tag", "$(touch pwned)")
    script = (
        f"source {SCRIPTS / 'groundplan.bash'}\n"
        'COMP_WORDS=(pl ls --tag ""); COMP_CWORD=3; _groundplan; printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ended = subprocess.run(("bash", "-c", script), check=False, capture_output=True, text=True, env=environment)

    assert sorted(ended.stdout.splitlines()) == ["\\$\\(touch\\ pwned\\)", "out\\ doors"]
    assert not Path("pwned").exists()


def test_installing_writes_the_files_of_a_shell_and_undoing_removes_exactly_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SHELL", "/usr/bin/fish")

    written = [*completion.install("bash"), *completion.install("zsh"), *completion.install(None)]

    assert all(path.read_text(encoding="utf-8") for path in written)
    assert {path.name for path in written} == {"groundplan", "pl", "_groundplan", "groundplan.fish", "pl.fish"}
    assert sorted(completion.uninstall()) == sorted(written)
    assert completion.uninstall() == []
    with pytest.raises(UsageError):
        completion.install("tcsh")


def test_a_completion_of_somebody_else_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ours, theirs = list_files("bash")
    theirs.parent.mkdir(parents=True)
    theirs.write_text("# pl of another tool", encoding="utf-8")

    with pytest.raises(ForeignFile):
        completion.install("bash")

    assert not ours.exists()
    assert theirs.read_text(encoding="utf-8") == "# pl of another tool"
    assert completion.uninstall() == []


def ask_shell(shell: str, script: str) -> list[str]:
    """Run a script in a shell without anybody's configuration, and return its lines."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    options = {"zsh": ("-f",), "fish": ("--no-config",)}[shell]
    command = (shell, *options, "-c", script)
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert ended.stderr == ""
    return ended.stdout.splitlines()


QUOTED_WORDS = ("ou", "out\\ d", '"out d')  # beginnings of the tag `out doors`, as people type them


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("zsh") is None, reason="completion is tried in zsh; not every machine has it")
def test_zsh_gets_values_for_plain_and_quoted_words_and_runs_none(plan: Run) -> None:
    plan("add", "Evil", "--tag", "$(touch pwned)")
    # Completion calls the function with these parameters, and compadd takes the values.
    script = (
        f"fpath=({SCRIPTS} $fpath); autoload -Uz _groundplan; compadd() {{ print -rl -- $values }}\n"
        "complete() { PREFIX=$1; words=(pl ls --tag $1); CURRENT=4; _groundplan; print -- - }\n"
    )
    asked = [word.lstrip('"') for word in QUOTED_WORDS]  # zsh leaves an open quotation mark out of PREFIX
    lines = ask_shell("zsh", script + "\n".join(f"complete '{word}'" for word in ("", *asked)))

    assert lines == ["$(touch pwned)", "out doors", "-", *["out doors", "-"] * len(asked)]
    assert not Path("pwned").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fish") is None, reason="completion is tried in fish; not every machine has it")
def test_fish_gets_values_for_plain_and_quoted_words_and_runs_none(plan: Run) -> None:
    plan("add", "Evil", "--tag", "$(touch pwned)")
    lines = [f"complete -C 'pl ls --tag {word}'; echo -" for word in ("", *QUOTED_WORDS)]

    found = ask_shell("fish", "\n".join((f"source {SCRIPTS / 'groundplan.fish'}", *lines)).replace("\\ ", "\\\\ "))

    assert found == ["$(touch pwned)", "out doors", "-", *["out doors", "-"] * len(QUOTED_WORDS)]
    assert not Path("pwned").exists()
