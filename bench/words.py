"""The command line: how much a person types, and how long a start takes.

The bar of a start is that of a bare Python: 17 times for a word of every day, 22 times for everything else.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.options import Options
from bench.report import Result

ROUNDS, QUICK_ROUNDS = 25, 5
CPU_MS_MAX = 150.0
PYTHON_TIMES_MAX = 17.0
OTHERS_TIMES_MAX = 22.0
# What a person types in a configured repository, and the most characters that it may have.
TYPED = (
    ("add", 'pl add "Fix the login"', 22),
    ("next", "pl next", 8),
    ("take a named task", "pl t a1b", 10),
    ("done with evidence", "pl done - -e commit:9f2ab1", 27),
    ("block", "pl block - --on c2d", 20),
    ("list", "pl ls", 6),
    ("show", "pl show a1b", 12),
    ("search", "pl find login", 15),
)
WORDS = (
    *(("next",), ("ls",), ("add", "One more"), ("take",), ("show", "-"), ("done", "-")),
    *(("undo",), ("find", "task"), ("inbox",)),
)
OTHERS = (
    *(
        ("work", "next"),
        ("project", "list"),
        ("purpose", "open"),
        ("search", "task"),
        ("where",),
        ("op", "project.list"),
    ),
    *((), ("help",), ("work", "--help"), ("purpose", "measure", "--help"), ("__complete", "bash", "2", "show", "a")),
)


class Start(NamedTuple):
    """How long a program took."""

    wall_ms: float
    cpu_ms: float


def run(options: Options) -> list[Result]:
    """Count the characters, and start the words and their baselines in turns."""
    folder = options.scratch / "words"
    environment = _set_up(folder)
    program = str(Path(sys.executable).with_name("pl"))
    commands: dict[str, Sequence[str]] = {
        "python": (sys.executable, "-c", "pass"),
        **{word: (program, word, *rest) for word, *rest in WORDS},
        **{" ".join(words): (program, *words) for words in OTHERS},
    }
    starts: dict[str, list[Start]] = {name: [] for name in commands}
    for _ in range(QUICK_ROUNDS if options.quick else ROUNDS):
        for name, command in commands.items():
            starts[name].append(_start(command, folder, environment))
    wall = {name: median(one.wall_ms for one in starts[name]) for name in starts}
    cpu = {name: median(one.cpu_ms for one in starts[name]) for name in starts}
    typed = [Result("words", f"typed: {what}", len(line), "characters", bar=most) for what, line, most in TYPED]
    return [
        *typed,
        Result("words", "start of python", wall["python"], "ms"),
        *(
            Result("words", f"pl {word}", wall[word], "ms", wall["python"], "python", bar=PYTHON_TIMES_MAX)
            for word, *_ in WORDS
        ),
        *(
            Result("words", f"pl {name}", wall[name], "ms", wall["python"], "python", bar=OTHERS_TIMES_MAX)
            for name in map(" ".join, OTHERS)
        ),
        *(Result("words", f"CPU of pl {word}", cpu[word], "ms", bar=CPU_MS_MAX) for word, *_ in WORDS),
    ]


def _set_up(folder: Path) -> dict[str, str]:
    """Make a repository with a plan, and return the environment of the programs."""
    (folder / ".git").mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDPLAN_")}
    environment |= {"LOGNAME": "ada", "XDG_STATE_HOME": str(folder / "state")}
    for words in (("init",), *(("add", f"task {n}") for n in range(5))):
        command = (sys.executable, "-m", "groundplan", *words)
        subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    return environment


def _start(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Start:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(
        command, check=False, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wall_s = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Start(wall_s * 1_000, cpu_s * 1_000)
