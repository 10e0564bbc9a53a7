"""Measure `graph_plan` in batches of 100, compared with a raw insert of the same rows.

The batch is planned first; then its rows are read back and inserted into plain tables of the same size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import groundplan
from bench import graphs, raw, shapes
from bench.options import Options
from bench.peers import start_echo, start_groundplan
from bench.report import Result
from bench.rounds import Step, Times, compute_medians_ms, pin_to_one_core, run_interleaved
from bench.transports import IN_PROCESS, STDIO, Transport, connect_in_process, connect_stdio

BATCH = 100
ROUNDS = 40
WARM_UP = 3

PLAN_RATIO_MAX = 4.0


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    sets: dict[tuple[str, int], list[Times]] = {}
    with pin_to_one_core(spread=options.spread):
        for _ in range(options.process_sets):
            for size in options.sizes:
                for transport, times in _measure(options, size):
                    sets.setdefault((transport, size), []).append(times)
    found = {key: compute_medians_ms(times) for key, times in sets.items()}
    return list(_build_results(options, found))


def _measure(options: Options, size: int) -> Iterator[tuple[str, Times]]:
    rounds = options.count_rounds_of_a_set(ROUNDS)
    with graphs.copy_graph(options, size) as copy, raw.RawTables(copy.raw) as plain:
        with start_echo() as bare, start_groundplan(copy.graph) as server:
            line = bare.format_request("ping")
            steps = _make_steps(copy, connect_stdio(server.begin()), plain)
            yield STDIO, run_interleaved(rounds, (Step("echo", lambda: bare.send(line)), *steps))
        with groundplan.open(str(copy.graph), actor="agent", kind="agent") as plan:
            yield IN_PROCESS, run_interleaved(rounds, _make_steps(copy, connect_in_process(plan), plain))


def _make_steps(copy: graphs.GraphCopy, transport: Transport, plain: raw.RawTables) -> Sequence[Step]:
    batch = _PlanBatch(copy, transport)
    for first in range(WARM_UP):
        nodes = [
            {"ref": f"n{n}", "summary": shapes.format_summary(n)} for n in range(first * BATCH, (first + 1) * BATCH)
        ]
        transport.read(transport.send(transport.prepare("graph_plan", {"project": graphs.WARM_UP, "nodes": nodes})))
    return (
        Step("plan", lambda: transport.send(batch.line), before=batch.prepare, check=transport.read),
        Step("raw insert", lambda: plain.insert(batch.rows), before=batch.read_rows),
    )


class _PlanBatch:
    """The next nodes of the graph, as a request and as rows."""

    def __init__(self, copy: graphs.GraphCopy, transport: Transport) -> None:
        self._copy = copy
        self._transport = transport
        self.line: Any = None
        self.rows: raw.GraphRows = raw.GraphRows([], [], [], [])

    def prepare(self) -> None:
        self._first = graphs.count_nodes(self._copy.graph)
        named = _list_referenced(self._first)
        ids = dict(zip(named, graphs.find_ids(self._copy.graph, named), strict=True))
        nodes = list(shapes.generate_nodes(self._first, BATCH, ids.__getitem__))
        self.line = self._transport.prepare("graph_plan", {"project": graphs.PROJECT, "nodes": nodes})

    def read_rows(self) -> None:
        self.rows = raw.read_rows_after(self._copy.graph, graphs.PROJECT, after_n=self._first + 1)
        assert len(self.rows.nodes) == len(self.rows.events) == BATCH


def _list_referenced(first: int) -> list[int]:
    """Return the existing nodes that the nodes of a batch refer to."""
    numbers = range(first, first + BATCH)
    named = {shapes.get_parent(n) for n in numbers} | {target for n in numbers for target in shapes.choose_targets(n)}
    return sorted(n for n in named if 0 <= n < first)


def _build_results(options: Options, found: dict[tuple[str, int], dict[str, float]]) -> Iterator[Result]:
    result: Callable[..., Result] = partial(Result, "plan")
    for size in options.sizes:
        yield result(f"floor: raw insert of the same rows, {size:,}", found[STDIO, size]["raw insert"], "ms")
    for transport in (STDIO, IN_PROCESS):
        for size in options.sizes:
            took = found[transport, size]
            base, against = took["raw insert"], "raw insert"
            if transport == STDIO:
                base, against = base + took["echo"], "echo + raw insert"
            yield result(f"plan of 100, {transport}, {size:,}", took["plan"], "ms", base, against, PLAN_RATIO_MAX)
    if len(options.sizes) > 1:
        least, most = options.sizes[0], options.sizes[-1]
        for name in ("plan", "raw insert"):
            yield result(
                f"{name}, {most:,} ÷ {least:,}", found[STDIO, most][name], "ms", found[STDIO, least][name], f"{least:,}"
            )
