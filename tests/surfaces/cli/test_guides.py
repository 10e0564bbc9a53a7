"""The commands of the guides work from top to bottom and print what the guides show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.standby import Standby

ROOT = Path(__file__).parents[3]
# Tried by test_guide.py, test_live_events.py, test_serve.py, the journeys of the surfaces, and tests/deploy.
OVER_HTTP = (
    "rest.md",
    "live-events.md",
    "server.md",
    "page.md",
    "theory-of-change.md",
    "mcp-over-http.md",
    "operators.md",
    "scale.md",
    "single-sign-on.md",
)
GUIDES = sorted(path for path in (ROOT / "docs" / "guides").glob("*.md") if path.name not in OVER_HTTP)
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLANNED = re.compile(r"^(\w+) +([0-9a-z]{6,}) *$", re.MULTILINE)  # a ref, or the word id, and the id
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d\.\d+Z)?")
CURSOR = re.compile(r"--cursor \S+")
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
WORD = re.compile(rf"{UUID.pattern}|\w+")  # the parts of two random ids may be equal
COMMIT = re.compile(r"\b[0-9a-f]{12}\b")


def run_script(script: str, folder: Path, program: Standby) -> str:
    """Return the output of a script with the program on the PATH, as in the README."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDPLAN_")}
    environment["PATH"] = os.pathsep.join((str(program.folder), str(Path(sys.executable).parent), environment["PATH"]))
    environment["LOGNAME"] = "ada"
    ended = subprocess.run(
        ("sh", "-ec", script), check=False, capture_output=True, text=True, env=environment, cwd=folder
    )
    assert ended.returncode == 0, f"{script}\n{ended.stderr}"
    return ended.stdout


def rename_ids(text: str, names: Mapping[str, str]) -> str:
    return WORD.sub(lambda word: names.get(word[0], word[0]), text)


def without_times(text: str) -> list[str]:
    """Return the lines without values that differ between runs and without trailing blanks."""
    text = COMMIT.sub("…", CURSOR.sub("--cursor …", MOMENT.sub("…", text)))
    return [" ".join(line.split()) for line in text.replace("─", "").splitlines() if line.strip("─ ")]


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_works_as_it_stands(guide: Path, program: Standby, tmp_path: Path) -> None:
    blocks = BLOCK.findall(guide.read_text(encoding="utf-8"))
    real: dict[str, str] = {}  # by the id in the guide
    for (language, text), (following, promised) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "sh":
            printed = run_script(rename_ids(text, real), tmp_path, program)
            if following == "text":
                made = dict(PLANNED.findall(printed))
                real |= {id_: made[ref] for ref, id_ in PLANNED.findall(promised) if ref in made}
                real |= dict(zip(UUID.findall(promised), UUID.findall(printed), strict=False))
                in_the_guide = {id_: name for name, id_ in real.items()}
                assert without_times(rename_ids(printed, in_the_guide)) == without_times(promised)


def test_there_is_a_guide_and_it_has_commands() -> None:
    assert GUIDES
    for guide in GUIDES:
        assert len(BLOCK.findall(guide.read_text(encoding="utf-8"))) > 3
