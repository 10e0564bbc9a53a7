"""Measure the work graph at every size, over stdio and in-process: next, claim, resolve, query, context, history.

Each set of processes measures all sizes, so that other load affects them alike. At each size, the compared calls and
their floor take turns in a process that has the file to itself, because another writer would make it reread its pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any, TypeAlias

import groundplan
from bench import graphs, shapes
from bench.options import Options
from bench.peers import start_echo, start_groundplan
from bench.raw import RawTables
from bench.report import Result
from bench.rounds import Step, Times, compute_medians_ms, pin_to_one_core, run_interleaved
from bench.transports import IN_PROCESS, STDIO, Transport, connect_in_process, connect_stdio

SEEKS = 1_000  # usual rounds of each kind
CYCLES = 400
SEARCHES = 40
WARM_UP = 50
READY_SHARE = 8  # each transport takes at most one node in eight of a graph, where seven in sixteen can be started
LOOKED_AT = 32  # requested nodes, spread over the graph

NEXT_RATIO_MAX = 4.0
WRITE_RATIO_MAX = {"claim": 2.5, "resolve": 2.5}
MEMORY_RATIO_MAX = {"claim": 4.0, "resolve": 5.0}  # on a memory file system, where a commit waits for no disk
FLAT_RATIO_MAX = 1.5
TEXT_SIZE = 100_000

RARE_TEXT, COMMON_TEXT = "query, text in 1 of 2,048", "query, text in 1 of 32"
EVERY_TEXT, AMONG_EVERY_TEXT = "query, text in every node", "query, such a text and 1 of 32"
TEXT_MS_MAX = {RARE_TEXT: 10.0, COMMON_TEXT: 10.0, EVERY_TEXT: 20.0, AMONG_EVERY_TEXT: 20.0}
SEARCHED = (*TEXT_MS_MAX, "query, plain", "context", "history")

# An echo takes longer beside writes than beside reads: more of what its process needs has left the caches of the
# processor. So each loop has its own.
READ_ECHO, WRITE_ECHO = "echo beside reads", "echo beside writes"

Medians: TypeAlias = dict[tuple[str, int], dict[str, float]]  # medians in ms, by transport and size


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    sets: dict[tuple[str, int], list[Times]] = {}
    with pin_to_one_core(spread=options.spread):
        for _ in range(options.process_sets):
            for size in options.sizes:
                for transport, times in _measure(options, size):
                    sets.setdefault((transport, size), []).append(times)
    found = {key: compute_medians_ms(times) for key, times in sets.items()}
    return [*_list_floors(options, found), *_build_results(options, found), *_compare_sizes(options, found)]


def _measure(options: Options, size: int) -> Iterator[tuple[str, Times]]:
    with graphs.copy_graph(options, size) as copy, RawTables(copy.raw) as raw:
        with start_echo() as bare, start_groundplan(copy.graph) as server:
            line = bare.format_request("ping")
            yield STDIO, _measure_set(options, size, connect_stdio(server.begin()), raw, lambda: bare.send(line))
        with groundplan.open(str(copy.graph), actor="agent", kind="agent") as plan:
            yield IN_PROCESS, _measure_set(options, size, connect_in_process(plan), raw, None)


def _measure_set(
    options: Options, size: int, transport: Transport, raw: RawTables, ask_echo: Callable[[], Any] | None
) -> Times:
    """Return the durations of one set of processes at one size."""
    read_floor = [*_make_echo(READ_ECHO, ask_echo), Step("raw read", raw.read_top)]
    write_floor = [*_make_echo(WRITE_ECHO, ask_echo), Step("raw commit", raw.commit)]
    run_interleaved(WARM_UP, (*read_floor, _make_next_step(transport, graphs.WARM_UP)))
    run_interleaved(WARM_UP, (*write_floor, *make_claim_and_resolve(transport, graphs.WARM_UP)))
    times = run_interleaved(
        options.count_rounds_of_a_set(SEEKS), (*read_floor, _make_next_step(transport, graphs.PROJECT))
    )
    cycles = min(options.count_rounds_of_a_set(CYCLES), size // READY_SHARE)
    times |= run_interleaved(cycles, (*write_floor, *make_claim_and_resolve(transport, graphs.PROJECT)))
    searching = list(_make_searches(options, transport, size))
    run_interleaved(1, searching)
    return times | run_interleaved(options.count_rounds_of_a_set(SEARCHES), searching)


def _make_echo(name: str, ask_echo: Callable[[], Any] | None) -> list[Step]:
    return [Step(name, ask_echo)] if ask_echo else []


def _make_next_step(transport: Transport, project: str) -> Step:
    line = transport.prepare("graph_next", {"project": project})

    def check(answer: Any) -> None:
        assert transport.read(answer)["nodes"], "no node is ready"

    return Step("next", lambda: transport.send(line), check=check)


def make_claim_and_resolve(transport: Transport, project: str) -> Sequence[Step]:
    """Return the steps that claim a node and resolve it."""
    claim = transport.prepare("graph_next", {"project": project, "claim": True})
    lines: list[Any] = []

    def remember(answer: Any) -> None:
        (offer,) = transport.read(answer)["nodes"]
        evidence = [{"type": "git", "ref": "3f2c1ab Let the lane scroll with its header"}]
        change = {"node_id": offer["node"]["id"], "resolved": True, "claim": offer["claim"], "add_evidence": evidence}
        lines.append(transport.prepare("graph_update", {"updates": [change]}))

    return (
        Step("claim", lambda: transport.send(claim), check=remember),
        Step("resolve", lambda: transport.send(lines[-1]), check=transport.read),
    )


def _make_searches(options: Options, transport: Transport, size: int) -> Iterator[Step]:
    _, thing, place = shapes.choose_words(size // 2)
    parents = [(size // shapes.FAN_OUT - 2) * step // LOOKED_AT for step in range(1, LOOKED_AT + 1)]
    nodes = graphs.find_ids(graphs.ensure_graph(options, size), parents)
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
        yield _make_step(transport, name, [transport.prepare(tool, one) for one in arguments])


def _make_step(transport: Transport, name: str, lines: Sequence[Any]) -> Step:
    turns = cycle(lines)
    return Step(name, lambda: transport.send(next(turns)), check=transport.read)


def _list_floors(options: Options, found: Medians) -> Iterator[Result]:
    for size in options.sizes:
        took = found[STDIO, size]
        for name in (READ_ECHO, "raw read", WRITE_ECHO, "raw commit"):
            yield Result("work", f"floor: {name}, {size:,}", took[name], "ms")


def _build_results(options: Options, found: Medians) -> Iterator[Result]:
    for operation in ("next", "claim", "resolve", *SEARCHED):
        for transport in (STDIO, IN_PROCESS):
            for size in options.sizes:
                yield _build_result(options, operation, transport, size, found[transport, size])


def _build_result(options: Options, operation: str, transport: str, size: int, took: dict[str, float]) -> Result:
    what = f"{operation}, {transport}, {size:,}"
    if operation in SEARCHED:
        bar = TEXT_MS_MAX.get(operation) if size == TEXT_SIZE else None
        return Result("work", what, took[operation], "ms", bar=bar)
    floor = "raw read" if operation == "next" else "raw commit"
    base, against = took[floor], floor
    if transport != STDIO:
        return Result("work", what, took[operation], "ms", base, against)
    base, against = base + took[READ_ECHO if operation == "next" else WRITE_ECHO], f"echo + {floor}"
    write_ratio_max = MEMORY_RATIO_MAX if options.is_in_memory else WRITE_RATIO_MAX
    ratio_max = NEXT_RATIO_MAX if operation == "next" else write_ratio_max[operation]
    return Result("work", what, took[operation], "ms", base, against, ratio_max)


def _compare_sizes(options: Options, found: Medians) -> Iterator[Result]:
    least, *_, most = options.sizes if len(options.sizes) > 1 else (0, 0)
    if not most:
        return
    for operation in ("next", "claim", "resolve", *SEARCHED):
        took, base = found[STDIO, most][operation], found[STDIO, least][operation]
        bar = None if operation in SEARCHED else FLAT_RATIO_MAX
        yield Result("work", f"{operation}, stdio, {most:,} ÷ {least:,}", took, "ms", base, f"{least:,}", bar)
