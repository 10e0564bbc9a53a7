"""The commands in the README work as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.standby import Standby

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_SCREEN_LINES_MAX = 24
SETTING_UP = ("make ", "export ")  # already done by the caller of this test


def block(language: str, heading: str) -> str:
    """Return the first block in a language under a heading."""
    found = re.search(rf"^```{language}\n(.*?)^```", README.partition(f"\n## {heading}\n")[2], re.MULTILINE | re.DOTALL)
    assert found, f"no {language} under {heading}"
    return found[1]


def run_command(*command: str, before: Sequence[Path] = ()) -> str:
    """Return the output of a command. Its program is found where the README's own `export` finds it."""
    path = os.pathsep.join((*map(str, before), str(Path(sys.executable).parent), os.environ["PATH"]))
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
def test_the_first_minute_and_the_lines_of_python_work_as_they_are_written(program: Standby) -> None:
    lines = block("console", "A first result in 60 seconds").splitlines()
    first, *others = commands = [line for line in lines if not line.startswith(SETTING_UP)]

    # The first command is the installed program. The others are forks of it, which start sooner.
    printed = [
        run_command("sh", "-c", first),
        *(run_command("sh", "-c", line, before=[program.folder]) for line in others),
    ]

    assert len(commands) == 5
    assert "Time each step" in printed[2]
    assert "Shorten the slowest" in printed[3]
    assert "No checks failed." in printed[4]
    assert run_command("python", "-c", block("python", "A first result in 60 seconds")) == "atlas owner\n"


def test_every_command_of_the_readme_is_found_by_its_first_word() -> None:
    consoles = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)

    words = {line.split()[0] for console in consoles for line in console.splitlines()}

    assert words == {"make", "export", "groundplan", "pl", "uv"}
    assert 'export PATH="$PWD/.venv/bin:$PATH"' in README


@pytest.mark.parametrize("target", re.findall(r"^make (\w+)", README, re.MULTILINE))
def test_every_target_of_the_readme_is_in_the_makefile(target: str) -> None:
    assert f"\n{target}: " in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("home", "given", "expected"),
    [
        (".", None, ""),
        ("missing", None, str(ROOT / "build" / "uv-cache")),
        (None, None, str(ROOT / "build" / "uv-cache")),
        ("missing", "theirs", "theirs"),
    ],
)
def test_uv_keeps_its_cache_in_build_where_there_is_no_home(
    tmp_path: Path, home: str | None, given: str | None, expected: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "UV_CACHE_DIR")}
    if home:
        environment["HOME"] = str(tmp_path / home)
    if given:
        environment["UV_CACHE_DIR"] = given
    show = ("make", "-s", "-C", str(ROOT), "--eval", "show: ; @echo $$UV_CACHE_DIR", "show")

    assert subprocess.run(show, check=True, capture_output=True, text=True, env=environment).stdout.strip() == expected


def test_the_first_screen_has_a_picture_three_commands_and_a_way_for_everybody() -> None:
    first = README.partition("\n## ")[0]
    (commands,) = re.findall(r"^```console\n(.*?)^```", first, re.MULTILINE | re.DOTALL)

    assert len(first.splitlines()) <= FIRST_SCREEN_LINES_MAX
    assert first.count("![") == 1
    assert [line.partition("#")[0].strip() for line in commands.splitlines()] == [
        "uv tool install .",
        "groundplan init",
        "pl next",
    ]
    assert "docs/guides/theory-of-change.md" in first
    assert "docs/guides/server.md" in first
