"""The manual page can be read by man, and names every command."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from groundplan.surfaces.cli.short.words.table import WORDS
from reference.pages import load_commands

PAGE = (Path(__file__).parents[2] / "packaging" / "groundplan.1").read_text(encoding="utf-8")
REQUESTS = (".TH", ".SH", ".SS", ".TP", ".B", ".I", ".RI", ".RS", ".RE")


def test_every_line_is_plain_text_or_a_known_request() -> None:
    assert PAGE.isascii()
    assert [line for line in PAGE.splitlines() if line.startswith((".", "'")) and line.split()[0] not in REQUESTS] == []
    assert [line for line in PAGE.splitlines() if not line] == []


def test_every_command_has_its_line() -> None:
    everyday, _, others = PAGE.replace("\\-", "-").partition(".SH COMMANDS")
    names = set(re.findall(r"^\.B groundplan (.+)$", others, re.MULTILINE))
    commands = {
        f"{name} {word}" if word else name
        for name, found in load_commands().items()
        for word in getattr(found, "commands", [""])
        if not found.hidden
    }

    assert commands == names
    assert {word.name for word in WORDS} == set(re.findall(r"^\.B groundplan (\S+)", everyday, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff shows pages as man does; not every machine has it")
def test_man_shows_it_without_complaints() -> None:
    ended = subprocess.run(("groff", "-man", "-Tutf8", "-ww"), check=True, capture_output=True, text=True, input=PAGE)

    assert ended.stderr == ""
    assert "Take back what init has written" in " ".join(ended.stdout.split()).replace("\u2010 ", "")
