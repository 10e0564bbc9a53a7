"""Run `groundplan next` quickly and by its operation, and compare what each prints, returns and leaves behind."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from groundplan.surfaces.cli.short import quick_next
from groundplan.surfaces.cli.short.dispatch import run_word


class Stream(io.TextIOWrapper):
    """A standard output that keeps its bytes, and says whether it is a terminal."""

    def __init__(self, *, is_terminal: bool, encoding: str) -> None:
        self.kept = io.BytesIO()
        self._is_terminal = is_terminal
        super().__init__(self.kept, encoding=encoding, newline="\n")

    def isatty(self) -> bool:
        return self._is_terminal


class Ended(NamedTuple):
    """What a run did."""

    code: int | None
    out: bytes
    err: bytes
    remembered: Mapping[str, bytes]
    files: Mapping[str, bytes]


class Screen(NamedTuple):
    """Where the program prints."""

    is_terminal: bool = False
    columns: int = 80
    lines: int = 500
    colours: bool = True
    encoding: str = "utf-8"


PIPE = Screen()


def answers_quickly(*argv: str, folder: Path, state: Path, screen: Screen = PIPE) -> bool:
    """Return whether the quick reading answers. If it does, the operation must answer the same; else it did nothing."""
    remembered, files = read_files(state), read_files(folder)
    quick = _run(quick_next.run, argv, folder, state, screen)
    if quick.code is None:
        assert (quick.out, quick.err, quick.remembered, quick.files) == (b"", b"", remembered, files)
        return False
    if "plan.db-wal" not in files:  # else closing the file may write the log to it
        assert quick.files == files
    for path in state.rglob("last/*"):
        path.unlink()
    for name, content in remembered.items():
        (state / name).write_bytes(content)
    general = _run(lambda rest: run_word("next", rest), argv, folder, state, screen)
    assert quick[:4] == general[:4]
    assert quick.files.keys() == general.files.keys()
    return True


def _run(
    run: Callable[[Sequence[str]], int | None], argv: Sequence[str], folder: Path, state: Path, screen: Screen
) -> Ended:
    with _printing_to(screen) as (out, err):
        code = run(argv)
        out.flush()
        err.flush()
    return Ended(code, out.kept.getvalue(), err.kept.getvalue(), read_files(state), read_files(folder))


@contextmanager
def _printing_to(screen: Screen) -> Iterator[tuple[Stream, Stream]]:
    streams = sys.stdout, sys.stderr
    size = {"COLUMNS": str(screen.columns), "LINES": str(screen.lines)}
    variables = {**size, "NO_COLOR": "" if screen.colours else "1", "TERM": "xterm"}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    out = Stream(is_terminal=screen.is_terminal, encoding=screen.encoding)
    err = Stream(is_terminal=screen.is_terminal, encoding=screen.encoding)
    sys.stdout, sys.stderr = out, err
    try:
        yield out, err
    finally:
        sys.stdout, sys.stderr = streams
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder; the index of a log is only named."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.exists() else []
    return {str(path.relative_to(folder)): b"" if path.name.endswith("-shm") else path.read_bytes() for path in paths}
