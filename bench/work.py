"""The work graph at every size, over stdio and in-process: next, claim, resolve, query, context, history.

Each set of processes goes through all sizes, so what the machine does otherwise hits them alike. At a size the calls
that are compared take turns with their floor, in a process that has the file to itself: another writer would make it
read its pages anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any, TypeAlias

import groundplan
from bench import graphs, shapes
from bench.options import Options
from bench.peers import echo
from bench.peers import groundplan as server_at
from bench.raw import Raw
from bench.report import Result
from bench.rounds import Step, Times, interleaved, medians_ms, one_core
from bench.ways import IN_PROCESS, STDIO, Way, in_process, over_stdio

SEEKS = 1_000  # usual rounds of each kind
CYCLES = 400
SEARCHES = 40
WARM_UP = 50
READY_SHARE = 8  # each way in takes at most one node in eight of a graph, where seven in sixteen can be started
LOOKED_AT = 32  # nodes that context and history are asked for, from all over the graph

NEXT_RATIO_MAX = 4.0
WRITE_RATIO_MAX = 2.5
FLAT_RATIO_MAX = 1.5
TEXT_SIZE = 100_000

RARE_TEXT, COMMON_TEXT = "query, text in 1 of 2,048", "query, text in 1 of 32"
EVERY_TEXT, AMONG_EVERY_TEXT = "query, text in every node", "query, such a text and 1 of 32"
TEXT_MS_MAX = {RARE_TEXT: 10.0, COMMON_TEXT: 10.0, EVERY_TEXT: 20.0, AMONG_EVERY_TEXT: 20.0}
SEARCHED = (*TEXT_MS_MAX, "query, plain", "context", "history")

Found: TypeAlias = dict[tuple[str, int], dict[str, float]]  # medians in ms, by the way in and the size


def part(options: Options) -> list[Result]:
    """The benchmark."""
    sets: dict[tuple[str, int], list[Times]] = {}
    with one_core(spread=options.spread):
        for _ in range(options.process_sets):
            for size in options.sizes:
                for way, times in _measured(options, size):
                    sets.setdefault((way, size), []).append(times)
    found = {key: medians_ms(times) for key, times in sets.items()}
    return [*_floors(options, found), *_operations(options, found), *_flatness(options, found)]


def _measured(options: Options, size: int) -> Iterator[tuple[str, Times]]:
    with graphs.copied(options, size) as copy, Raw(copy.raw) as raw:
        with echo() as bare, server_at(copy.graph) as server:
            line = bare.line("ping")
            yield STDIO, _timed(options, size, over_stdio(server.begin()), raw, lambda: bare.ask_line(line))
        with groundplan.open(str(copy.graph), actor="agent", kind="agent") as plan:
            yield IN_PROCESS, _timed(options, size, in_process(plan), raw, None)


def _timed(options: Options, size: int, way: Way, raw: Raw, ask_echo: Callable[[], Any] | None) -> Times:
    """One set of processes at one size."""
    floor = [Step("echo", ask_echo)] if ask_echo else []
    seeking = (*floor, Step("raw read", raw.top), _next(way, graphs.PROJECT))
    interleaved(WARM_UP, (*floor, Step("raw read", raw.top), _next(way, graphs.WARM_UP)))
    interleaved(WARM_UP, (Step("raw commit", raw.commit), *_claim_and_resolve(way, graphs.WARM_UP)))
    times = interleaved(options.rounds_of_a_set(SEEKS), seeking)
    cycles = min(options.rounds_of_a_set(CYCLES), size // READY_SHARE)
    claiming = interleaved(cycles, (*floor, Step("raw commit", raw.commit), *_claim_and_resolve(way, graphs.PROJECT)))
    times |= {name: taken for name, taken in claiming.items() if name != "echo"}
    searching = list(_searches(options, way, size))
    interleaved(1, searching)
    return times | interleaved(options.rounds_of_a_set(SEARCHES), searching)


def _next(way: Way, project: str) -> Step:
    line = way.line("graph_next", {"project": project})

    def check(answer: Any) -> None:
        assert way.read(answer)["nodes"], "nothing to do is left"

    return Step("next", lambda: way.send(line), check=check)


def _claim_and_resolve(way: Way, project: str) -> Sequence[Step]:
    """Take a node and finish it; the next turn takes another one."""
    claim = way.line("graph_next", {"project": project, "claim": True})
    lines: list[Any] = []

    def remember(answer: Any) -> None:
        (offer,) = way.read(answer)["nodes"]
        evidence = [{"type": "git", "ref": "3f2c1ab Let the lane scroll with its header"}]
        change = {"node_id": offer["node"]["id"], "resolved": True, "claim": offer["claim"], "add_evidence": evidence}
        lines.append(way.line("graph_update", {"updates": [change]}))

    return (
        Step("claim", lambda: way.send(claim), check=remember),
        Step("resolve", lambda: way.send(lines[-1]), check=way.read),
    )


def _searches(options: Options, way: Way, size: int) -> Iterator[Step]:
    _, thing, place = shapes.words_of(size // 2)
    parents = [(size // shapes.FAN_OUT - 2) * step // LOOKED_AT for step in range(1, LOOKED_AT + 1)]
    nodes = graphs.ids(graphs.built(options, size), parents)
    query = {"project": graphs.PROJECT}
    asked: dict[str, tuple[str, list[dict[str, Any]]]] = {
        RARE_TEXT: ("graph_query", [{**query, "filter": {"text": f"{thing} of the {place}"}}]),
        COMMON_TEXT: ("graph_query", [{**query, "filter": {"text": thing}}]),
        EVERY_TEXT: ("graph_query", [{**query, "filter": {"text": "lane, step"}}]),
        AMONG_EVERY_TEXT: ("graph_query", [{**query, "filter": {"text": f" the {thing} of the "}}]),
        "query, plain": ("graph_query", [query]),
        "context": ("graph_context", [{"node_id": node_id} for node_id in nodes]),
        "history": ("graph_history", [{"node_id": node_id} for node_id in nodes]),
    }
    for name, (tool, arguments) in asked.items():
        yield _asked(way, name, [way.line(tool, one) for one in arguments])


def _asked(way: Way, name: str, lines: Sequence[Any]) -> Step:
    turns = cycle(lines)
    return Step(name, lambda: way.send(next(turns)), check=way.read)


def _floors(options: Options, found: Found) -> Iterator[Result]:
    for size in options.sizes:
        took = found[STDIO, size]
        for name in ("echo", "raw read", "raw commit"):
            yield Result("work", f"floor: {name}, {size:,}", took[name], "ms")


def _operations(options: Options, found: Found) -> Iterator[Result]:
    for operation in ("next", "claim", "resolve", *SEARCHED):
        for way in (STDIO, IN_PROCESS):
            for size in options.sizes:
                yield _operation(operation, way, size, found[way, size])


def _operation(operation: str, way: str, size: int, took: dict[str, float]) -> Result:
    what = f"{operation}, {way}, {size:,}"
    if operation in SEARCHED:
        bar = TEXT_MS_MAX.get(operation) if size == TEXT_SIZE else None
        return Result("work", what, took[operation], "ms", bar=bar)
    floor = "raw read" if operation == "next" else "raw commit"
    base, against = took[floor], floor
    if way == STDIO:
        base, against = base + took["echo"], f"echo + {floor}"
    ratio_max = NEXT_RATIO_MAX if operation == "next" else WRITE_RATIO_MAX
    return Result("work", what, took[operation], "ms", base, against, ratio_max if way == STDIO else None)


def _flatness(options: Options, found: Found) -> Iterator[Result]:
    least, *_, most = options.sizes if len(options.sizes) > 1 else (0, 0)
    if not most:
        return
    for operation in ("next", "claim", "resolve", *SEARCHED):
        took, base = found[STDIO, most][operation], found[STDIO, least][operation]
        bar = None if operation in SEARCHED else FLAT_RATIO_MAX
        yield Result("work", f"{operation}, stdio, {most:,} ÷ {least:,}", took, "ms", base, f"{least:,}", bar)
