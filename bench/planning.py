"""`graph_plan` in batches of 100, against a raw insert of the very rows that it wrote.

The batch goes first, then its rows are read back and inserted into plain tables that hold as many rows already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import groundplan
from bench import graphs, raw, shapes
from bench.options import Options
from bench.peers import echo
from bench.peers import groundplan as server_at
from bench.report import Result
from bench.rounds import Step, Times, interleaved, medians_ms, one_core
from bench.ways import IN_PROCESS, STDIO, Way, in_process, over_stdio

BATCH = 100
ROUNDS = 40
WARM_UP = 3

PLAN_RATIO_MAX = 4.0


def part(options: Options) -> list[Result]:
    """The benchmark."""
    sets: dict[tuple[str, int], list[Times]] = {}
    with one_core(spread=options.spread):
        for _ in range(options.process_sets):
            for size in options.sizes:
                for way, times in _measured(options, size):
                    sets.setdefault((way, size), []).append(times)
    found = {key: medians_ms(times) for key, times in sets.items()}
    return list(_results(options, found))


def _measured(options: Options, size: int) -> Iterator[tuple[str, Times]]:
    rounds = options.rounds_of_a_set(ROUNDS)
    with graphs.copied(options, size) as copy, raw.Raw(copy.raw) as plain:
        with echo() as bare, server_at(copy.graph) as server:
            line = bare.line("ping")
            steps = _steps(copy, over_stdio(server.begin()), plain)
            yield STDIO, interleaved(rounds, (Step("echo", lambda: bare.ask_line(line)), *steps))
        with groundplan.open(str(copy.graph), actor="agent", kind="agent") as plan:
            yield IN_PROCESS, interleaved(rounds, _steps(copy, in_process(plan), plain))


def _steps(copy: graphs.Copy, way: Way, plain: raw.Raw) -> Sequence[Step]:
    batch = _Batch(copy, way)
    for first in range(WARM_UP):
        nodes = [{"ref": f"n{n}", "summary": shapes.summary_of(n)} for n in range(first * BATCH, (first + 1) * BATCH)]
        way.read(way.send(way.line("graph_plan", {"project": graphs.WARM_UP, "nodes": nodes})))
    return (
        Step("plan", lambda: way.send(batch.line), before=batch.prepare, check=way.read),
        Step("raw insert", lambda: plain.insert(batch.rows), before=batch.look),
    )


class _Batch:
    """The next nodes of the graph, as they are planned and as they lie in the file."""

    def __init__(self, copy: graphs.Copy, way: Way) -> None:
        self._copy = copy
        self._way = way
        self.line: Any = None
        self.rows: raw.Rows = raw.Rows([], [], [], [])

    def prepare(self) -> None:
        self._first = graphs.count(self._copy.graph)
        named = _named(self._first)
        ids = dict(zip(named, graphs.ids(self._copy.graph, named), strict=True))
        nodes = list(shapes.planned(self._first, BATCH, ids.__getitem__))
        self.line = self._way.line("graph_plan", {"project": graphs.PROJECT, "nodes": nodes})

    def look(self) -> None:
        self.rows = raw.written(self._copy.graph, graphs.PROJECT, after_n=self._first + 1)
        assert len(self.rows.nodes) == len(self.rows.events) == BATCH


def _named(first: int) -> list[int]:
    """Whom the nodes of a batch name that are there before it."""
    numbers = range(first, first + BATCH)
    named = {shapes.parent_of(n) for n in numbers} | {target for n in numbers for target in shapes.targets_of(n)}
    return sorted(n for n in named if 0 <= n < first)


def _results(options: Options, found: dict[tuple[str, int], dict[str, float]]) -> Iterator[Result]:
    result: Callable[..., Result] = partial(Result, "plan")
    for size in options.sizes:
        yield result(f"floor: raw insert of the same rows, {size:,}", found[STDIO, size]["raw insert"], "ms")
    for way in (STDIO, IN_PROCESS):
        for size in options.sizes:
            took = found[way, size]
            base, against = took["raw insert"], "raw insert"
            if way == STDIO:
                base, against = base + took["echo"], "echo + raw insert"
            yield result(f"plan of 100, {way}, {size:,}", took["plan"], "ms", base, against, PLAN_RATIO_MAX)
    if len(options.sizes) > 1:
        least, most = options.sizes[0], options.sizes[-1]
        for name in ("plan", "raw insert"):
            yield result(
                f"{name}, {most:,} ÷ {least:,}", found[STDIO, most][name], "ms", found[STDIO, least][name], f"{least:,}"
            )
