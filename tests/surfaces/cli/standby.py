"""The program on standby: started once, and forked for each command of a script.

A guide has twenty commands, and a program that is only just started needs most of its time to read its modules. Here
`groundplan` on the PATH is a small client; the standby process gets its arguments, its folder, its environment and its
three files, and answers with the exit status. What runs is the same `main`, in a process of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

CLIENT = """#!{python} -SE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(line, [len(said).to_bytes(4)], [0, 1, 2])
    line.sendall(said)
    status = line.recv(1)
sys.exit(status[0] if status else 1)
"""
# What any command needs sooner or later.
MODULES = ("groundplan.surfaces.cli.program", "groundplan.surfaces.cli.drawing", "typer._adapters", "rich.table")


@contextlib.contextmanager
def standby() -> Iterator[Path]:
    """A folder for the PATH with the program in it."""
    # Not below pytest's folder: the name of a socket may have a hundred letters, and no more.
    with tempfile.TemporaryDirectory(prefix="gp-") as folder:
        address = Path(folder, "line")
        client = Path(folder, "groundplan")
        client.write_text(CLIENT.format(python=sys.executable, address=str(address)), encoding="utf-8")
        client.chmod(0o755)
        serving = subprocess.Popen((sys.executable, "-m", __name__, str(address)), stdout=subprocess.PIPE)
        try:
            assert serving.stdout is not None
            assert serving.stdout.readline() == b"ready\n"
            yield Path(folder)
        finally:
            serving.terminate()
            serving.communicate()


def serve(address: str) -> None:
    """Fork for whoever connects, until the process is ended."""
    for name in MODULES:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children but their clients
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        print("ready", flush=True)
        while True:
            line, _ = door.accept()
            if os.fork() == 0:
                os._exit(_run(line))
            line.close()


def _run(line: socket.socket) -> int:
    """Be the program that somebody called, and tell them how it ended."""
    from groundplan.__main__ import main

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, files, _, _ = socket.recv_fds(line, 4, 3)
    said = b""
    while len(said) < int.from_bytes(head):
        said += line.recv(65_536)
    arguments, folder, environment = json.loads(said)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["groundplan", *arguments]
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
