"""Measure a server under the load of many agents: 70 % reads, 20 % claim and resolve, 10 % planning.

Another process sends the requests over kept connections, one agent each, and writes down what was acknowledged. The
same mix is then run in this process, in one thread and without a server. Both begin with a copy of the same project.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

import groundplan
from bench.graphs import PROJECT, copy_graph
from bench.options import Options
from bench.report import Result
from bench.rest import run_program

CONNECTIONS = 50
SECONDS = 60.0
QUICK_SECONDS = 5.0
SIZE_MAX = 100_000
THROUGHPUT_RATIO_MIN = 0.3
LATENCY_MS_MAX = 100.0
SEED = 20  # both sides draw the same steps
MIX = {"next": 35, "context": 35, "claim and resolve": 20, "plan": 10}  # in percent

Send = Callable[[str, str, Any], Awaitable[Any]]


class Ledger(Struct):
    """What the server acknowledged, and how long each step took."""

    seconds: float = 0.0
    steps: int = 0
    latencies_ms: list[float] = []
    claimed: list[str] = []
    resolved: list[str] = []
    planned: list[str] = []
    errors: list[str] = []


class Load(NamedTuple):
    """How much to send: as fast as possible, or this many steps per second."""

    seconds: float
    per_s: float | None = None


def run(options: Options) -> list[Result]:
    """Measure on a copy of one SQLite file, and on PostgreSQL."""
    from bench.postgres import load_graph
    from tests.engines import PostgresEngine
    from tests.postgres import start_server

    size = max((size for size in options.sizes if size <= SIZE_MAX), default=options.sizes[0])
    seconds = QUICK_SECONDS if options.quick else SECONDS
    results: list[Result] = []
    with copy_graph(options, size) as copy:
        results += _measure(f"sqlite, {size:,} nodes", str(copy.graph), PROJECT, seconds, options.scratch)
    server = start_server()
    try:
        with PostgresEngine.on(server, "bench") as engine, copy_graph(options, size) as copy:
            load_graph(engine, PROJECT, copy.graph, mark="a")
            engine.as_owner("ANALYZE")
            results += _measure(f"postgres, {size:,} nodes", engine.db, PROJECT, seconds, options.scratch)
    finally:
        server.stop()
    return results


def _measure(name: str, db: str, project: str, seconds: float, scratch: Path) -> Iterator[Result]:
    alone = _run_in_process(db, project, seconds / 4)
    tokens = _create_tokens(db, scratch)
    with _start_server(db) as port:
        full = _send_load(port, tokens, project, Load(seconds))
        half = _send_load(port, tokens, project, Load(seconds / 2, full.steps / full.seconds / 2))
    ledgers = (full, half)
    rate, rate_alone = full.steps / full.seconds, alone.steps / alone.seconds
    twice = sum(times > 1 for times in Counter(node for one in ledgers for node in one.claimed).values())
    yield Result("load", f"{name}: {CONNECTIONS} connections", rate, "steps/s", rate_alone, "in process",
                 bar=THROUGHPUT_RATIO_MIN, at_least=True)  # fmt: skip
    yield Result("load", f"{name}: p99 at full load", _percentile(full.latencies_ms, 99), "ms")
    yield Result("load", f"{name}: p99 at half of it", _percentile(half.latencies_ms, 99), "ms", bar=LATENCY_MS_MAX)
    yield Result("load", f"{name}: errors", sum(len(one.errors) for one in ledgers), "", bar=0)
    yield Result("load", f"{name}: nodes claimed twice", twice, "", bar=0)
    yield Result("load", f"{name}: acknowledged but lost", _count_lost(db, ledgers), "", bar=0)
    for error in {error for one in ledgers for error in one.errors[:3]}:
        print(f"  {name}: {error}", file=sys.stderr)


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def _run_in_process(db: str, project: str, seconds: float) -> Ledger:
    """Run the mix by calls of the Python API, in one thread."""
    with groundplan.open(db, actor="alone") as plan:

        async def send(method: str, path: str, body: Any) -> Any:
            return msgspec.to_builtins(_call(plan, project, method, path, body))

        return asyncio.run(_send_until(send, Load(seconds), [send]))


def _call(plan: Any, project: str, method: str, path: str, body: Any) -> Any:
    match method, path:
        case "GET", "next":
            return plan.work.next(project=project)
        case "GET", _:
            return plan.work.context(node_id=path.removeprefix("nodes/"))
        case "POST", "claims":
            return plan.work.claim(project=project)
        case "PATCH", _:
            return plan.work.update(updates=[{"node_id": path.removeprefix("nodes/"), **body}])
    return plan.work.plan(project=project, **body)


def _create_tokens(db: str, scratch: Path) -> Path:
    """Create a token for each agent, and return the file with them."""
    with groundplan.open(db, actor="ada") as plan:
        made = [
            plan.token.create(kind="agent", name=f"agent-{number}", role="editor", trusted=True).secret
            for number in range(CONNECTIONS)
        ]
    path = scratch / "tokens.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


@contextmanager
def _start_server(db: str) -> Iterator[int]:
    limit = ("--requests-per-s", "1000000")
    with ExitStack() as stack:
        yield stack.enter_context(run_program("-m", "groundplan", "serve", "--port", "0", "--db", db, *limit))


def _send_load(port: int, tokens: Path, project: str, load: Load) -> Ledger:
    arguments = [str(port), str(tokens), project, str(load.seconds), str(load.per_s or 0)]
    sent = subprocess.run([sys.executable, "-m", __name__, *arguments], stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(sent.stdout, type=Ledger)


def _count_lost(db: str, ledgers: Iterable[Ledger]) -> int:
    lost = 0
    with groundplan.open(db, actor="ada") as plan:
        for ledger in ledgers:
            for node_id in ledger.resolved:
                lost += not plan.work.context(node_id=node_id).node.resolved
            for node_id in ledger.planned:
                lost += plan.work.context(node_id=node_id).node.id != node_id
    return lost


# --- The process that sends the load ---


class AgentConnection:
    """One agent on a kept connection."""

    def __init__(self, port: int, token: str, project: str) -> None:
        self._port, self._token, self._project = port, token, project
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: Any) -> Any:
        """Send a request and return its answer. Raises RuntimeError for a refusal."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        content = b"" if body is None else msgspec.json.encode(body)
        head = (
            f"{method} /v1/projects/{self._project}/work/{path} HTTP/1.1\r\nhost: localhost\r\n"
            f"authorization: Bearer {self._token}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        answer_head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.partition(b":")[2])
            for line in answer_head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        answer = await reader.readexactly(length)
        if not answer_head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            raise RuntimeError(f"{method} {path}: {answer_head[:40]!r} {answer[:200]!r}")
        return msgspec.json.decode(answer)


async def _send_until(first: Send, load: Load, senders: list[Send]) -> Ledger:
    """Let every agent take steps until the time is over; each then finishes the step that it takes."""
    ledger = Ledger()
    offered = await first("GET", "next", None)
    node_ids = [offered["nodes"][0]["node"]["id"]]
    begin = time.perf_counter()
    pace_s = len(senders) / load.per_s if load.per_s else 0.0
    await asyncio.gather(
        *(
            _take_steps(send, ledger, node_ids, random.Random(SEED + place), begin, load.seconds, pace_s)  # noqa: S311 - draws steps
            for place, send in enumerate(senders)
        )
    )
    ledger.seconds = time.perf_counter() - begin
    return ledger


async def _take_steps(
    send: Send, ledger: Ledger, node_ids: list[str], chance: random.Random, begin: float, seconds: float, pace_s: float
) -> None:
    due = begin + chance.random() * pace_s
    while time.perf_counter() < begin + seconds:
        if pace_s:  # from when it was due: a step that waits for the one before it is late, too
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        started = due if pace_s else time.perf_counter()
        try:
            await _take_step(chance.choices([*MIX], [*MIX.values()])[0], send, ledger, node_ids, chance)
        except (RuntimeError, OSError, asyncio.IncompleteReadError) as error:
            ledger.errors.append(f"{type(error).__name__}: {error}")
        ledger.steps += 1
        ledger.latencies_ms.append(1000 * (time.perf_counter() - started))
        due += pace_s


async def _take_step(name: str, send: Send, ledger: Ledger, node_ids: list[str], chance: random.Random) -> None:
    match name:
        case "next":
            offered = await send("GET", "next", None)
            node_ids.append(offered["nodes"][0]["node"]["id"])
        case "context":
            await send("GET", f"nodes/{chance.choice(node_ids)}", None)
        case "plan":
            nodes = [{"ref": f"n{k}", "summary": f"Check the path at mile {chance.random():.6f}"} for k in range(3)]
            planned = await send("POST", "nodes", {"nodes": nodes})
            ledger.planned += [node["id"] for node in planned["created"]]
        case _:
            taken = (await send("POST", "claims", {}))["nodes"][0]
            node_id = taken["node"]["id"]
            ledger.claimed.append(node_id)
            evidence = [{"type": "note", "ref": "walked"}]
            body = {"resolved": True, "claim": taken["claim"], "add_evidence": evidence}
            await send("PATCH", f"nodes/{node_id}", body)
            ledger.resolved.append(node_id)


def main() -> None:
    """Send a load and print the ledger."""
    port, tokens, project, seconds, per_s = sys.argv[1:]
    secrets = json.loads(Path(tokens).read_text(encoding="utf-8"))
    agents = [AgentConnection(int(port), token, project) for token in secrets]
    load = Load(float(seconds), float(per_s) or None)
    ledger = asyncio.run(_send_until(agents[0].send, load, [agent.send for agent in agents]))
    sys.stdout.buffer.write(msgspec.json.encode(ledger))


if __name__ == "__main__":
    main()
