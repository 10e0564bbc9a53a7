"""The manual page can be read by man, and names every command."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from groundplan.commands import COMMANDS

PAGE = (Path(__file__).parents[2] / "packaging" / "groundplan.1").read_text(encoding="utf-8")
REQUESTS = (".TH", ".SH", ".SS", ".TP", ".B", ".I", ".RI", ".RS", ".RE")


def test_every_line_is_plain_text_or_a_known_request() -> None:
    assert PAGE.isascii()
    assert [line for line in PAGE.splitlines() if line.startswith((".", "'")) and line.split()[0] not in REQUESTS] == []
    assert [line for line in PAGE.splitlines() if not line] == []


def test_every_command_has_its_line() -> None:
    everyday, _, others = PAGE.replace("\\-", "-").partition(".SH COMMANDS")
    # Up to the arguments in capitals, and required options.
    lines = re.findall(r"^\.B groundplan (.+)$", others, re.MULTILINE)
    names = {re.split(r" (?=[A-Z\[]|--)", line)[0] for line in lines}
    shown = [entry for entry in COMMANDS if not entry.is_hidden]

    assert {entry.name for entry in shown if not entry.in_project} == names
    words = set(re.findall(r"^\.B groundplan (\S+)", everyday, re.MULTILINE))
    assert {entry.name for entry in shown if entry.in_project} == words


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff shows pages as man does; not every machine has it")
def test_man_shows_it_without_complaints() -> None:
    ended = subprocess.run(("groff", "-man", "-Tutf8", "-ww"), check=True, capture_output=True, text=True, input=PAGE)

    assert ended.stderr == ""
    assert "Take back what init has written" in " ".join(ended.stdout.split()).replace("\u2010 ", "")
