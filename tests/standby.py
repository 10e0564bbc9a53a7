"""The program on standby: a process loads the modules once and forks for every start of the program.

    a test: `Standby.start`          ─┐  module, arguments, folder, environment and three files
    a shell: `groundplan` or `pl`     ┴────────────► standby process ── fork ──► main
                                       ◄─────────────────── its process id, then its exit status

A fresh process spends most of its time on imports. A fork runs the same `main` in its own process. The tests of the
program itself also start it from scratch.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

# Only built-in modules: each further import would cost as much as all the rest.
CLIENT = """#!{python} -IS
import _socket, os, sys
line = _socket.socket(_socket.AF_UNIX)
line.connect({address!r})
arguments = [{module!r}, *(os.fsencode(word) for word in sys.argv[1:])]
environment = [name + b"=" + value for name, value in os.environb.items()]
said = b"\\0".join([b"%d" % len(arguments), *arguments, os.getcwdb(), *environment])
files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
line.sendmsg([len(said).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
line.sendall(said)
line.recv(4)
status = line.recv(1)
sys.exit(status[0] if status else 1)
"""
PROGRAM = "groundplan.__main__"
# A third-party module that commands need, besides our own.
DRIVER = "psycopg"
START_TIMEOUT_S = 30.0
GIT_LIMIT_S = 30.0


class Forked:
    """A forked program."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self.pid = int.from_bytes(line.recv(4))

    def end(self, told: signal.Signals) -> int:
        """Send a signal, and return the exit status."""
        os.kill(self.pid, told)
        with self._line:
            status = self._line.recv(1)
            assert status, "the program was killed"
            return status[0]

    def stop(self) -> None:
        """Kill the program unless it has ended, and wait for it."""
        if self._line.fileno() < 0:  # `end` has waited
            return
        with self._line:
            has_ended, _, _ = select.select([self._line], [], [], 0)
            if not has_ended:
                os.kill(self.pid, signal.SIGKILL)
            while self._line.recv(1):  # closed with the process
                pass


class Standby:
    """A client of the standby process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # a folder for the PATH
        self.command = folder / "groundplan"
        self.address = folder / "line"
        self._write(self.command, PROGRAM)
        (folder / "pl").symlink_to(self.command)  # its short name

    def command_of(self, module: str) -> Path:
        """Return a command that runs the `main` of another module."""
        made = self.folder / module.rpartition(".")[2]
        if not made.exists():
            self._write(made, module)
        return made

    def _write(self, command: Path, module: str) -> None:
        text = CLIENT.format(python=sys.executable, address=str(self.address), module=module.encode())
        command.write_text(text, encoding="utf-8")
        command.chmod(0o755)

    def start(self, *arguments: str, files: Sequence[int], module: str = PROGRAM) -> Forked:
        """Start the program with these files as its standard input, output and error."""
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(START_TIMEOUT_S)
        line.connect(str(self.address))
        environment = [name + b"=" + value for name, value in os.environb.items()]
        words = [b"%d" % (1 + len(arguments)), *map(os.fsencode, (module, *arguments)), bytes(Path.cwd()), *environment]
        said = b"\0".join(words)
        socket.send_fds(line, [len(said).to_bytes(4)], list(files))
        line.sendall(said)
        return Forked(line)


@contextlib.contextmanager
def standby() -> Iterator[Standby]:
    """Run a standby process for the duration of the context."""
    # Not below pytest's folder: the path of a socket has at most about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="gp-") as folder:
        made = Standby(Path(folder))
        command = (sys.executable, "-m", __name__, str(made.address))
        serving = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert serving.stdout is not None
            assert serving.stdout.readline() == b"ready\n"
            yield made
        finally:
            serving.communicate()  # it ends with its standard input, and so with this process


def serve(address: str) -> None:
    """Fork for each connection until the standard input ends."""
    import groundplan

    ours = [one.name for one in pkgutil.walk_packages(groundplan.__path__, "groundplan.")]
    for name in (*ours, DRIVER):
        importlib.import_module(name)
    # On a busy machine git may take longer than an answer waits for it.
    vars(importlib.import_module("groundplan.repository.git"))["ANSWER_LIMIT_S"] = GIT_LIMIT_S
    gc.collect()
    gc.freeze()  # so that forks do not scan the shared objects
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen(128)
        print("ready", flush=True)
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            line, _ = door.accept()
            if os.fork() == 0:
                door.close()
                os._exit(_run(line))
            line.close()
            _reap()
    _reap()


def _reap() -> None:
    """Reap ended children; their clients have been told."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _run(line: socket.socket) -> int:
    """Run the requested program in this process and send its exit status."""
    head, files, _, _ = socket.recv_fds(line, 4, 3)
    said = b""
    while len(said) < int.from_bytes(head):
        said += line.recv(65_536)
    count, *words = said.split(b"\0")
    module, *arguments = (os.fsdecode(word) for word in words[: int(count)])
    folder, *environment = words[int(count) :]
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environb.clear()
    os.environb.update((name, value) for name, _, value in (one.partition(b"=") for one in environment))
    sys.argv = ["groundplan", *arguments]
    main: Callable[[Sequence[str]], int] = importlib.import_module(module).main
    line.sendall(os.getpid().to_bytes(4))
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    line.sendall(bytes([status]))
    return status


if __name__ == "__main__":
    serve(sys.argv[1])
