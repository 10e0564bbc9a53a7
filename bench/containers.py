"""Compare the container tools (next task, advance, get) with `graph_next` and a claim, on the graphs of `work`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import groundplan
from bench import graphs
from bench.options import Options
from bench.peers import start_groundplan
from bench.report import Result
from bench.rounds import Step, Times, compute_medians_ms, pin_to_one_core, run_interleaved
from bench.transports import Transport, connect_stdio

ROUNDS = 600  # usual rounds of each kind
CYCLES = 300
WARM_UP = 40
FEATURES = 5  # with tasks of higher priority than all others, so that they are offered
LOOKED_AT = 32  # requested tasks, spread over the graph
SIZE_MIN, SIZE_MAX = 1_000, 100_000

FLAT_RATIO_MAX = 1.5
DIALECT_RATIO_MAX = 2.0

# The graph tool with which each container tool is compared.
GRAPH = {"get_next_task": "graph_next", "query_container get": "graph_next", "advance": "claim"}


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    sizes = [size for size in options.sizes if SIZE_MIN <= size <= SIZE_MAX]
    sets: dict[int, list[Times]] = {}
    with pin_to_one_core(spread=options.spread):
        for _ in range(options.process_sets):
            for size in sizes:
                sets.setdefault(size, []).append(_measure(options, size))
    found = {size: compute_medians_ms(times) for size, times in sets.items()}
    return [*_compare_dialects(found), *_compare_sizes(found)]


def _measure(options: Options, size: int) -> Times:
    cycles = options.count_rounds_of_a_set(CYCLES)
    with graphs.copy_graph(options, size) as copy:
        _fill(copy.graph, WARM_UP + cycles)
        with start_groundplan(copy.graph, "--tools", "work,containers") as server:
            transport = connect_stdio(server.begin())
            asking = list(_make_reads(options, transport, size))
            run_interleaved(WARM_UP, asking)
            times = run_interleaved(options.count_rounds_of_a_set(ROUNDS), asking)
            run_interleaved(WARM_UP, _make_writes(transport))
            return times | run_interleaved(cycles, _make_writes(transport))


def _fill(db: Path, tasks: int) -> None:
    """Create features with this number of tasks in total, of higher priority than the rest of the graph."""
    with groundplan.open(str(db), actor="ada") as plan:
        for feature in range(FEATURES):
            made = plan.call(
                "container.create", containerType="feature", projectId=graphs.PROJECT, name=f"Lane {feature}"
            )
            for task in range(-(-tasks // FEATURES)):
                plan.call(
                    "container.create",
                    containerType="task",
                    featureId=made.feature.id,
                    title=f"Draw part {task} of lane {feature}",
                    description="With its header, and so that it scrolls",
                    priority="HIGH",
                    complexity=task % 10 + 1,
                )


def _make_reads(options: Options, transport: Transport, size: int) -> Iterator[Step]:
    yield _make_step(transport, "graph_next", [transport.prepare("graph_next", {"project": graphs.PROJECT})])
    yield _make_step(transport, "get_next_task", [transport.prepare("get_next_task", {"projectId": graphs.PROJECT})])
    numbers = [(size - 1) * step // LOOKED_AT for step in range(LOOKED_AT)]
    ids = graphs.find_ids(graphs.ensure_graph(options, size), numbers)
    get = [{"operation": "get", "containerType": "task", "id": one} for one in ids]
    yield _make_step(transport, "query_container get", [transport.prepare("query_container", one) for one in get])
    project = {"operation": "get", "containerType": "project", "id": graphs.PROJECT}
    yield _make_step(transport, "get of the project, with counts", [transport.prepare("query_container", project)])


def _make_step(transport: Transport, name: str, lines: Sequence[Any]) -> Step:
    turns = cycle(lines)
    return Step(name, lambda: transport.send(next(turns)), check=transport.read)


def _make_writes(transport: Transport) -> Sequence[Step]:
    """Return the steps that take a node with each tool. The task to advance is found before the timing starts."""
    claim = transport.prepare("graph_next", {"project": graphs.PROJECT, "claim": True})
    lines: list[Any] = []

    def choose() -> None:
        task = transport.read(transport.send(transport.prepare("get_next_task", {"projectId": graphs.PROJECT})))["data"]
        lines.append(
            transport.prepare("advance", {"containerType": "task", "id": task["id"], "version": task["version"]})
        )

    def check(answer: Any) -> None:
        assert transport.read(answer)["data"]["transition"]["to"] == "ACTIVE"

    return (
        Step("claim", lambda: transport.send(claim), check=transport.read),
        Step("advance", lambda: transport.send(lines[-1]), before=choose, check=check),
    )


def _compare_dialects(found: dict[int, dict[str, float]]) -> Iterator[Result]:
    for operation in (*GRAPH, "get of the project, with counts"):
        for size, took in found.items():
            against = GRAPH.get(operation)
            bar = DIALECT_RATIO_MAX if against else None
            base = took[against] if against else None
            yield Result("containers", f"{operation}, {size:,}", took[operation], "ms", base, against or "", bar)


def _compare_sizes(found: dict[int, dict[str, float]]) -> Iterator[Result]:
    least, *_, most = found if len(found) > 1 else (0, 0)
    if not most:
        return
    for operation in (*GRAPH, "get of the project, with counts"):
        took, base = found[most][operation], found[least][operation]
        what = f"{operation}, {most:,} ÷ {least:,}"
        yield Result("containers", what, took, "ms", base, f"{least:,}", FLAT_RATIO_MAX)
