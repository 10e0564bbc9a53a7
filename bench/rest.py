"""Measure REST as its client sees it: a read over a kept connection, against a bare route with the same bytes."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import groundplan
from bench.options import Options
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, pin_to_one_core, run_interleaved

READS = 2_000
WARM_UP = 50
NODES = 100
READ_RATIO_MAX = 3.0
PROJECT = "atlas"
TARGETS = {
    "next": f"/v1/projects/{PROJECT}/work/next",
    "members": f"/v1/projects/{PROJECT}/members",
    "50 nodes": f"/v1/projects/{PROJECT}/work/nodes?limit=50",
}
UNBARRED = "50 nodes"  # most of its time is the query, which the bare route does not make
BARE = "bare Starlette route, same bytes"
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def run(options: Options) -> list[Result]:
    """Measure each read and the bare route in turns."""
    db = options.scratch / "http.db"
    token = fill(db)
    sets = []
    for _ in range(options.process_sets):
        with pin_to_one_core(spread=options.spread), _start_server(db, token, options.scratch) as (ours, bare):
            steps = []
            for place, (name, target) in enumerate(TARGETS.items()):
                steps.append(Step(name, lambda target=target: ours.get(target)))  # type: ignore[misc] # a bound default
                steps.append(Step(f"bare {name}", lambda place=place: bare.get(f"/{place}")))  # type: ignore[misc] # as above
            run_interleaved(WARM_UP, steps)
            sets.append(run_interleaved(options.count_rounds_of_a_set(READS), steps))
    taken = compute_medians_ms(sets)
    return [
        Result(
            "http",
            f"GET {name}",
            taken[name],
            "ms",
            taken[f"bare {name}"],
            BARE,
            None if name == UNBARRED else READ_RATIO_MAX,
        )
        for name in TARGETS
    ]


class KeptConnection:
    """A kept connection, with as little of a client as possible."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """Return the head and the body of an answer."""
        self._socket.sendall(request)
        received = b""
        while True:
            received += self._socket.recv(1 << 16)
            head, separator, body = received.partition(b"\r\n\r\n")
            found = _LENGTH.search(head)
            if separator and found and len(body) >= int(found[1]):
                assert head.startswith(b"HTTP/1.1 200"), received
                return head, body

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_given: object) -> None:
        self._socket.close()


class Connection(KeptConnection):
    """A connection for reads over REST."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(port)
        self._head = f"HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n"

    def get(self, target: str) -> bytes:
        """Return the body of an answer."""
        return self.exchange(f"GET {target} {self._head}".encode())[1]


@contextlib.contextmanager
def _start_server(db: Path, token: str, folder: Path) -> Iterator[tuple[Connection, Connection]]:
    """Start our server, and a bare one that answers with the same bytes; yield a connection to each."""
    with contextlib.ExitStack() as stack:
        limit = ("--requests-per-s", "1000000")
        port = stack.enter_context(run_program("-m", "groundplan", "serve", "--port", "0", "--db", str(db), *limit))
        ours = stack.enter_context(Connection(port, token))
        for place, target in enumerate(TARGETS.values()):
            (folder / f"{place}.json").write_bytes(ours.get(target))
        bare_port = stack.enter_context(run_program("-m", "bench.rest", str(folder), str(len(TARGETS))))
        yield ours, stack.enter_context(Connection(bare_port, token))


@contextlib.contextmanager
def run_program(*arguments: str) -> Iterator[int]:
    """Run a server until the end of the block, and yield the port that it prints."""
    with subprocess.Popen([sys.executable, *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = _ADDRESS.search(process.stderr.readline())
            assert found is not None, process.stderr.read()
            # The server logs each request; a full pipe would stop it.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield int(found[1])
        finally:
            process.terminate()


def fill(db: Path) -> str:
    """Create a project, and return a token for it."""
    with groundplan.open(str(db), actor="ada") as plan:
        plan.project.create(name=PROJECT)
        plan.work.plan(
            project=PROJECT, nodes=[{"ref": f"n{n}", "summary": f"Walk mile {n} of the coast"} for n in range(NODES)]
        )
        return str(plan.token.create(kind="person", name="ada", trusted=True).secret)


def serve_bare(folder: Path, count: int) -> None:
    """Serve fixed bytes by the same server and framework."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from groundplan.surfaces.http.server import open_socket, serve

    bodies = [(folder / f"{place}.json").read_bytes() for place in range(count)]

    async def answer(request: Request) -> Response:
        return Response(bodies[int(request.path_params["place"])], media_type="application/json")

    listening = open_socket(0)
    port = listening.getsockname()[1]
    app = Starlette(routes=[Route("/{place}", answer)])
    serve(app, [listening], lambda _stop: print(f"http://127.0.0.1:{port}", file=sys.stderr, flush=True))


if __name__ == "__main__":
    serve_bare(Path(sys.argv[1]), int(sys.argv[2]))
