"""The container dialect on the graphs of the work part: next task, advance and get, beside `graph_next` and a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import groundplan
from bench import graphs
from bench.options import Options
from bench.peers import groundplan as server_at
from bench.report import Result
from bench.rounds import Step, Times, interleaved, medians_ms, one_core
from bench.ways import Way, over_stdio

ROUNDS = 600  # usual rounds of each kind
CYCLES = 300
WARM_UP = 40
FEATURES = 5  # of tasks that are more important than all others, so that they are offered
LOOKED_AT = 32  # tasks that are asked for, from all over the graph
SIZE_MIN, SIZE_MAX = 1_000, 100_000

FLAT_RATIO_MAX = 1.5
DIALECT_RATIO_MAX = 2.0

# What each of ours is compared with.
GRAPH = {"get_next_task": "graph_next", "query_container get": "graph_next", "advance": "claim"}


def part(options: Options) -> list[Result]:
    """The benchmark."""
    sizes = [size for size in options.sizes if SIZE_MIN <= size <= SIZE_MAX]
    sets: dict[int, list[Times]] = {}
    with one_core(spread=options.spread):
        for _ in range(options.process_sets):
            for size in sizes:
                sets.setdefault(size, []).append(_measured(options, size))
    found = {size: medians_ms(times) for size, times in sets.items()}
    return [*_dialects(found), *_flatness(found)]


def _measured(options: Options, size: int) -> Times:
    cycles = options.rounds_of_a_set(CYCLES)
    with graphs.copied(options, size) as copy:
        _fill(copy.graph, WARM_UP + cycles)
        with server_at(copy.graph, "--tools", "work,containers") as server:
            way = over_stdio(server.begin())
            asking = list(_questions(options, way, size))
            interleaved(WARM_UP, asking)
            times = interleaved(options.rounds_of_a_set(ROUNDS), asking)
            interleaved(WARM_UP, _changes(way))
            return times | interleaved(cycles, _changes(way))


def _fill(db: Path, tasks: int) -> None:
    """Features with so many tasks in all, more important than what the graph has."""
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


def _questions(options: Options, way: Way, size: int) -> Iterator[Step]:
    yield _asked(way, "graph_next", [way.line("graph_next", {"project": graphs.PROJECT})])
    yield _asked(way, "get_next_task", [way.line("get_next_task", {"projectId": graphs.PROJECT})])
    numbers = [(size - 1) * step // LOOKED_AT for step in range(LOOKED_AT)]
    ids = graphs.ids(graphs.built(options, size), numbers)
    get = [{"operation": "get", "containerType": "task", "id": one} for one in ids]
    yield _asked(way, "query_container get", [way.line("query_container", one) for one in get])
    project = {"operation": "get", "containerType": "project", "id": graphs.PROJECT}
    yield _asked(way, "get of the project, with counts", [way.line("query_container", project)])


def _asked(way: Way, name: str, lines: Sequence[Any]) -> Step:
    turns = cycle(lines)
    return Step(name, lambda: way.send(next(turns)), check=way.read)


def _changes(way: Way) -> Sequence[Step]:
    """Take a node in each dialect; the container dialect is told before, and not timed, which one."""
    claim = way.line("graph_next", {"project": graphs.PROJECT, "claim": True})
    lines: list[Any] = []

    def choose() -> None:
        task = way.read(way.send(way.line("get_next_task", {"projectId": graphs.PROJECT})))["data"]
        lines.append(way.line("advance", {"containerType": "task", "id": task["id"], "version": task["version"]}))

    def check(answer: Any) -> None:
        assert way.read(answer)["data"]["transition"]["to"] == "ACTIVE"

    return (
        Step("claim", lambda: way.send(claim), check=way.read),
        Step("advance", lambda: way.send(lines[-1]), before=choose, check=check),
    )


def _dialects(found: dict[int, dict[str, float]]) -> Iterator[Result]:
    for operation in (*GRAPH, "get of the project, with counts"):
        for size, took in found.items():
            against = GRAPH.get(operation)
            bar = DIALECT_RATIO_MAX if against else None
            base = took[against] if against else None
            yield Result("containers", f"{operation}, {size:,}", took[operation], "ms", base, against or "", bar)


def _flatness(found: dict[int, dict[str, float]]) -> Iterator[Result]:
    least, *_, most = found if len(found) > 1 else (0, 0)
    if not most:
        return
    for operation in (*GRAPH, "get of the project, with counts"):
        took, base = found[most][operation], found[least][operation]
        what = f"{operation}, {most:,} ÷ {least:,}"
        yield Result("containers", what, took, "ms", base, f"{least:,}", FLAT_RATIO_MAX)
