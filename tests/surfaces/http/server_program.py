"""`groundplan serve` as a program of its own, with a token for it."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import groundplan

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
END_S = 20.0


@dataclass(frozen=True, slots=True)
class ServerProgram:
    """A server that answers."""

    process: subprocess.Popen[str]
    port: int
    token: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def create_trusted_token(db: str) -> str:
    """Return a token of Ada's, whom the store trusts."""
    with groundplan.open(db, actor="ada") as plan:
        return str(plan.token.create(kind="person", name="ada", trusted=True).secret)


@contextmanager
def run_server(db: str, token: str | None = None, *options: str) -> Iterator[ServerProgram]:
    """Run a server until the end of the block; `token` is one that the store has already."""
    token = token or create_trusted_token(db)
    command = [sys.executable, "-m", "groundplan", "--db", db, "serve", "--port", "0", *options]
    limits = ["--requests-per-s", "1000000"]
    with subprocess.Popen([*command, *limits], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = _ADDRESS.search(process.stderr.readline())
            assert found is not None, process.stderr.read()
            # The server logs each request; a full pipe would stop it.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield ServerProgram(process, int(found[1]), token)
        finally:
            process.terminate()
            process.wait(END_S)
