"""Graphs to measure on, built once through `work.plan` in batches of 1,000, and copied for whoever writes to them."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import groundplan
from bench import raw, shapes
from bench.memory import peak_mb
from bench.options import Options
from groundplan.kernel.store.migrations import Dialect, load_migrations

PROJECT = "atlas"
WARM_UP = "warm-up"  # a small project in the same file: to load code and statements without touching the other one
WARM_UP_SIZE = 2_000  # every set of processes warms up on other nodes of it
BATCH = 1_000
ID_BYTES = 8  # room for the id of a node in a project of a million
COPIED_ONCE_FROM = 100_000  # a copy takes seconds, and what a part writes is nothing beside so many nodes


@dataclass(frozen=True, slots=True)
class Build:
    """How a graph was built."""

    of: str  # a digest of what decides how it looks
    seconds: float
    first_us: float  # for a node among the first tenth, and among the last
    last_us: float
    peak_mb: float  # of the process that built it


class Copy(NamedTuple):
    """Files that may be written to."""

    graph: Path
    raw: Path


def built(options: Options, size: int) -> Path:
    """The file with a graph of this size, built by another process unless it is there already."""
    path, note = options.graphs / f"graph-{size}.db", _note(options, size)
    if not note.exists() or how_built(options, size).of != _digest():
        note.unlink(missing_ok=True)  # first, and written last: a graph without it was not finished
        _remove(path)
        _remove(_raw_path(options, size))
        spawning = multiprocessing.get_context("spawn")
        builder = spawning.Process(target=_build, args=(path, size, note))
        builder.start()
        builder.join()
        if builder.exitcode:
            raise RuntimeError(f"building {size} nodes failed")
    return path


def how_built(options: Options, size: int) -> Build:
    """How the graph of this size was built."""
    return Build(**json.loads(_note(options, size).read_text(encoding="utf-8")))


@contextlib.contextmanager
def copied(options: Options, size: int) -> Iterator[Copy]:
    """A copy of the graph, and the same rows in plain tables.

    Small ones are fresh each time, as they were built; of large ones there is one for the whole run.
    """
    graph, rows = built(options, size), _raw_path(options, size)
    if not rows.exists():
        raw.fill(rows, graph, PROJECT)
    if size >= COPIED_ONCE_FROM:
        yield Copy(_copy(graph, options.scratch), _copy(rows, options.scratch))
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        yield Copy(_copy(graph, Path(folder)), _copy(rows, Path(folder)))


def ids(path: Path, numbers: list[int]) -> list[str]:
    """The ids of nodes by the numbers that `shapes` gives them."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = dict(
            connection.execute(
                "SELECT c.n - 2, c.id FROM projects AS p CROSS JOIN json_each(?) AS wanted CROSS JOIN work_nodes AS c "
                "WHERE p.name = ? AND c.tenant_id = p.tenant_id AND c.project_id = p.id AND c.n = wanted.value + 2",
                (json.dumps(numbers), PROJECT),
            )
        )
    return [found[number] for number in numbers]


def count(path: Path) -> int:
    """How many nodes there are below the root."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        asked = "SELECT w.last_n - 1 FROM projects AS p, work_projects AS w WHERE p.name = ? AND w.project_id = p.id"
        number: int = connection.execute(asked, (PROJECT,)).fetchone()[0]
        return number


def _build(path: Path, size: int, note: Path) -> None:
    with groundplan.open(str(path), actor="ada") as plan:
        grow(plan, WARM_UP, WARM_UP_SIZE)
        begin = time.perf_counter()
        taken = grow(plan, PROJECT, size)
        seconds = time.perf_counter() - begin
        peak = peak_mb()
    tenth = -(-len(taken) // 10)
    first, last = (sum(some) / tenth / min(BATCH, size) * 1e6 for some in (taken[:tenth], taken[-tenth:]))
    build = Build(_digest(), seconds, first, last, peak)
    note.write_text(json.dumps(asdict(build)), encoding="utf-8")


def grow(plan: groundplan.Session, project: str, size: int) -> list[float]:
    """Plan a graph; how long each batch took, in s."""
    plan.call("work.open", project=project, goal=f"A graph of {size} nodes")
    known = bytearray(size * ID_BYTES)  # a list of strings would be most of the memory that is measured
    taken = []
    for first in range(0, size, BATCH):
        nodes = list(shapes.planned(first, min(BATCH, size - first), lambda number: _id_at(known, number)))
        begin = time.perf_counter()
        created = plan.call("work.plan", project=project, nodes=nodes).created
        taken.append(time.perf_counter() - begin)
        for number, one in enumerate(created, first):
            known[number * ID_BYTES : (number + 1) * ID_BYTES] = one.id.encode().ljust(ID_BYTES)
    return taken


def _id_at(known: bytearray, number: int) -> str:
    return known[number * ID_BYTES : (number + 1) * ID_BYTES].decode().rstrip()


def _digest() -> str:
    written = "".join(one.text for one in load_migrations(Dialect.SQLITE))
    shape = [node for first in (0, 1_000_000) for node in shapes.planned(first, 100, str)]
    return sha256((written + json.dumps([WARM_UP_SIZE, shape])).encode()).hexdigest()


def _note(options: Options, size: int) -> Path:
    return options.graphs / f"graph-{size}.json"


def _raw_path(options: Options, size: int) -> Path:
    return options.graphs / f"raw-{size}-{raw.EDITION}.db"


def _copy(path: Path, folder: Path) -> Path:
    copy = folder / path.name
    if not copy.exists():
        shutil.copyfile(path, copy)
        with copy.open("rb+") as file:
            os.fsync(file.fileno())  # else the disk is still busy with it when the first commits are timed
    return copy


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
