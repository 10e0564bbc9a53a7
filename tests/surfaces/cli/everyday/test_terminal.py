"""On a real terminal: colours, widths, the pager, redrawing and the editor."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundplan.surfaces.cli.screen.text import measure
from tests.standby import Standby
from tests.surfaces.cli.everyday.conftest import ShortWords

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
DEADLINE_S = 60.0


class Terminal:
    """A program on a terminal of a size."""

    def __init__(self, fd: int, process: subprocess.Popen[bytes]) -> None:
        self._fd, self.process, self.text = fd, process, ""

    def read_until(self, wanted: str) -> str:
        """Read until a text was shown, and return everything so far."""
        give_up_at = time.monotonic() + DEADLINE_S
        while wanted not in ESCAPE.sub("", self.text):
            assert time.monotonic() < give_up_at, self.text
            assert self._read(), f"ended without {wanted!r}: {self.text}"
        return self.text

    def read_all(self) -> str:
        """Read until the program ends."""
        while self._read():
            pass
        self.process.wait(DEADLINE_S)
        return self.text

    def _read(self) -> bool:
        assert select.select([self._fd], [], [], DEADLINE_S)[0], f"nothing more was shown: {self.text}"
        try:
            more = os.read(self._fd, 65_536)
        except OSError as error:
            if error.errno != errno.EIO:  # the other side is closed
                raise
            return False
        self.text += more.decode("utf-8", "replace")
        return bool(more)


@contextmanager
def on_terminal(
    program: Standby | tuple[str, ...],
    *arguments: str,
    columns: int = 80,
    lines: int = 24,
    env: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        (*(program if isinstance(program, tuple) else (program.command,)), *arguments),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm-256color", "PAGER": "cat", **(env or {})},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(ours, process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)


def fill(pl: ShortWords) -> None:
    parent = pl.add("Release the version of this spring, with everything that the people who use it asked for")
    for title in ("日本語のとても長いタイトルでターミナルの幅を超えるもの" * 2, "short", "word " * 40):
        pl.add(title, "-u", parent, "-t", "spring", "-p", "3")
    pl.add("Waits", "-a", "short")
    pl("take short")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [20, 80, 120])
def test_lists_board_and_tree_fit_the_terminal_and_have_colours(pl: ShortWords, program: Standby, columns: int) -> None:
    fill(pl)
    for word in ("ls", "board", "tree", "next", "show short", "log", "where"):
        with on_terminal(program, *word.split(), columns=columns) as terminal:
            shown = terminal.read_all()
        assert "\x1b[" in shown
        widths = [measure(ESCAPE.sub("", line)) for line in shown.splitlines()]
        assert max(widths) <= columns, word


@pytest.mark.slow
def test_without_colours_no_escape_sequence_is_sent(pl: ShortWords, program: Standby) -> None:
    fill(pl)
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with on_terminal(program, "ls", env={name: value}) as terminal:
            assert "\x1b" not in terminal.read_all()


@pytest.mark.slow
def test_long_output_goes_through_the_pager_and_short_output_does_not(
    pl: ShortWords, program: Standby, tmp_path: Path
) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGER\ncat\n", encoding="utf-8")
    pager.chmod(0o755)
    for n in range(12):
        pl.add(f"task {n}")

    def show(*arguments: str, lines: int) -> bool:
        with on_terminal(program, "ls", *arguments, lines=lines, env={"PAGER": str(pager)}) as terminal:
            return "PAGER" in terminal.read_all()

    assert show(lines=10)
    assert not show(lines=40)
    assert not show("--no-pager", lines=10)


@pytest.mark.slow
def test_watching_draws_again_after_a_change_and_ends_cleanly(pl: ShortWords) -> None:
    pl.add("First")
    with on_terminal((sys.executable, "-m", "groundplan"), "ls", "--watch") as terminal:
        terminal.read_until("First")
        pl.add("Second")
        terminal.read_until("Second")
        os.killpg(terminal.process.pid, signal.SIGINT)
        shown = terminal.read_all()

    assert terminal.process.returncode == 0
    assert shown.rstrip().endswith("\x1b[?25h")
    assert "Traceback" not in shown


@pytest.mark.slow
def test_the_editor_changes_a_task_and_a_refused_text_is_kept(pl: ShortWords, program: Standby, tmp_path: Path) -> None:
    login = pl.add("Login", "-t", "web")
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\nsed -i -e 's/^title: .*/title: Log in/' -e 's/^tags: .*/tags: web, new/' \"$1\"\n"
        'printf "How it works.\\n" >> "$1"\n',
        encoding="utf-8",
    )
    editor.chmod(0o755)
    with on_terminal(program, "edit", login, env={"EDITOR": str(editor)}) as terminal:
        shown = terminal.read_all()

    assert terminal.process.returncode == 0, shown
    page = pl(f"show {login}").out
    assert "Log in" in page
    assert "new, web" in page
    assert "How it works." in page
    edits = tmp_path / "state" / "groundplan" / "edits"
    assert list(edits.iterdir()) == []

    # While the editor is open, somebody else changes the task.
    racing = tmp_path / "racing"
    racing.write_text(
        f'#!/bin/sh\n{program.command} note {login} meanwhile >/dev/null\nsed -i "s/^title: .*/title: Mine/" "$1"\n',
        encoding="utf-8",
    )
    racing.chmod(0o755)
    with on_terminal(program, "edit", login, env={"EDITOR": str(racing)}) as terminal:
        shown = terminal.read_all()

    assert terminal.process.returncode == 5, shown
    (kept,) = edits.iterdir()
    assert "title: Mine" in kept.read_text(encoding="utf-8")
    assert str(kept) in "".join(ESCAPE.sub("", shown).split("\r\n"))
    assert pl("edit", login, "--file", str(kept)).code == 0
    assert "Mine" in pl(f"show {login}").out


def test_without_a_terminal_nothing_asks_and_the_line_says_what_to_give(pl: ShortWords) -> None:
    login = pl.add("Login")

    for line in (f"edit {login}", f"note {login}"):
        refused = pl(f"{line} --json")
        assert refused.error == (2, "usage")
    assert "--file" in pl(f"edit {login}").err


def test_a_text_that_is_no_document_changes_nothing(pl: ShortWords, tmp_path: Path) -> None:
    login = pl.add("Login")
    for text in ("no fields", "---\ntitle: x\n", "---\nfoo: x\n---\n", "---\ntitle:\n---\n"):
        path = tmp_path / "text.md"
        path.write_text(text, encoding="utf-8")
        assert pl(f"edit {login} --json --file", str(path)).error == (2, "usage")
    assert "Login" in pl("ls").out
