"""Measure the context of files and the search for words, in a project of 5,000 atoms."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from typing import Any

import groundplan
from bench.options import Options
from bench.peers import Peer, start_echo, start_groundplan
from bench.report import Result
from bench.rounds import Step, Times, compute_medians_ms, pin_to_one_core, run_interleaved

PROJECT = "atlas"
ATOMS = 5_000
ATOM_BYTES = 4_096
ATOMS_OF_A_MOLECULE = 25
VOCABULARY = 4_000
ROUNDS = 200
WARM_UP = 5

CONTEXT_MS_MAX = 5.0
SEARCH_MS_MAX = 20.0

EVERYWHERE, COMMON, RARE = "handler", "webhook", "idempotent"  # in every text, in one of eight, in one of 500


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        db = Path(folder) / "plan.db"
        begin = time.perf_counter()
        atoms = fill(db, ATOMS // 10 if options.quick else ATOMS)
        made_ms = (time.perf_counter() - begin) * 1000 / len(atoms)
        sets, cold = [], []
        with pin_to_one_core(spread=options.spread):
            for _ in range(options.process_sets):
                times, first_ms = _measure(options, db, atoms)
                sets.append(times)
                cold.append(first_ms)
    took = compute_medians_ms(sets)
    size = f"{len(atoms):,} atoms"
    return [
        Result("knowledge", f"create an atom of 4 KB, in-process, {size}", made_ms, "ms"),
        Result("knowledge", f"context, first call of a process, {size}", min(cold), "ms"),
        *(
            Result("knowledge", f"{name}, stdio, {size}", took[name], "ms", bar=bar)
            for name, bar in (
                ("context of 3 paths", CONTEXT_MS_MAX),
                ("context after a change of patterns", None),
                *((name, SEARCH_MS_MAX) for name in _build_queries()),
            )
        ),
        Result("knowledge", "floor: echo", took["echo"], "ms"),
    ]


def _build_queries() -> dict[str, str]:
    return {
        "search, a word in 1 of 500": RARE,
        "search, a word in 1 of 8": COMMON,
        "search, a word in all": EVERYWHERE,
        "search, three words": f"{RARE} {EVERYWHERE} {COMMON[:4]}",
        "search, the inside of a word in 1 of 8": COMMON[1:-1],
    }


def _measure(options: Options, db: Path, atoms: list[str]) -> tuple[Times, float]:
    with start_echo() as bare, start_groundplan(db) as server:
        server.begin()
        server.call("graph_open", {"project": PROJECT})
        begin = time.perf_counter()
        server.call("query_graph", _build_request(0))
        first_ms = (time.perf_counter() - begin) * 1000
        steps = list(_make_steps(bare, server, atoms))
        run_interleaved(WARM_UP, steps)
        return run_interleaved(options.count_rounds_of_a_set(ROUNDS), steps), first_ms


def _make_steps(bare: Peer, server: Peer, atoms: list[str]) -> Iterator[Step]:
    line = bare.format_request("ping")
    yield Step("echo", lambda: bare.send(line))
    asked = cycle([server.format_call("query_graph", _build_request(place)) for place in range(32)])
    yield Step("context of 3 paths", lambda: server.send(next(asked)))
    turns = count()

    def change() -> None:
        atom_id = atoms[next(turns) % len(atoms)]
        got = server.call("query_graph", {"operation": "get", "entityType": "atom", "id": atom_id})
        atom = json.loads(got)["data"]["atom"]
        update = {"operation": "update", "entityType": "atom", "id": atom_id, "version": atom["version"]}
        server.call("manage_graph", {**update, "paths": list(reversed(atom["paths"]))})

    after = server.format_call("query_graph", _build_request(7))
    yield Step("context after a change of patterns", lambda: server.send(after), before=change)
    for name, query in _build_queries().items():
        search = {"operation": "search", "entityType": "atom", "projectId": PROJECT, "query": query}
        yield _make_step(name, server, server.format_call("query_graph", search))


def _make_step(name: str, server: Peer, line: bytes) -> Step:
    return Step(name, lambda: server.send(line))


def _build_request(place: int) -> dict[str, Any]:
    paths = [f"src/area{place}/form.ts", f"lib/deep/part{place + 1}/list-view.tsx", f"docs/none{place}.md"]
    return {"operation": "context", "projectId": PROJECT, "paths": ",".join(paths)}


def fill(db: Path, size: int) -> list[str]:
    """Create a project with atoms of four patterns and 4 KB of text, and return the ids of the atoms."""
    chance = random.Random(5)  # noqa: S311 - the same texts in every run, no secret
    vocabulary = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 10))) for _ in range(VOCABULARY)
    ]
    atoms: list[str] = []
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name=PROJECT)
        task = plan.call("work.plan", project=PROJECT, nodes=[{"ref": "a", "summary": "Write it down"}]).created[0].id
        common = {"projectId": PROJECT, "createdByTaskId": task}
        for number in range(size):
            if number % ATOMS_OF_A_MOLECULE == 0:
                named = {"entityType": "molecule", "name": f"Domain {number // ATOMS_OF_A_MOLECULE}"}
                molecule = plan.call("knowledge.create", **common, **named).molecule.id
            words = [EVERYWHERE, *([COMMON] if number % 8 == 0 else []), *([RARE] if number % 500 == 0 else [])]
            while sum(map(len, words)) + len(words) < ATOM_BYTES:
                words.append(chance.choice(vocabulary))
            made = plan.call(
                "knowledge.create",
                **common,
                entityType="atom",
                name=f"Area {number}",
                moleculeId=molecule,
                knowledge=" ".join(words)[:ATOM_BYTES],
                paths=[
                    f"src/area{number}/**",
                    f"lib/**/part{number}/*.tsx",
                    f"packages/p{number}/{{src,test}}/**",
                    f"app/[a-z]*/screen-{number}.ts",
                ],
            )
            atoms.append(made.atom.id)
    return atoms
