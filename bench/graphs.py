"""Graphs for benchmarks: built once with `work.plan` in batches of 1,000, and copied for parts that write to them."""

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
from bench.memory import measure_peak_mb
from bench.options import Options
from groundplan.kernel.store.migrations import Dialect, load_migrations

PROJECT = "atlas"
WARM_UP = "warm-up"  # a small project in the same file, to load code and statements without changing the measured one
WARM_UP_SIZE = 2_000  # large enough that every set of processes uses other nodes
BATCH = 1_000
ID_BYTES = 8  # room for the id of a node in a project of a million
COPIED_ONCE_FROM = 100_000  # a copy takes seconds, and a part writes few nodes compared with so many


@dataclass(frozen=True, slots=True)
class BuildFigures:
    """The figures of building a graph."""

    of: str  # a digest of the schema and of the shape of the graph
    seconds: float
    first_us: float  # per node of the first tenth; `last_us` per node of the last tenth
    last_us: float
    peak_mb: float  # of the process that built it


class GraphCopy(NamedTuple):
    """Copies that a part may write to."""

    graph: Path
    raw: Path


def ensure_graph(options: Options, size: int) -> Path:
    """Return the file with a graph of this size. Another process builds it if it does not exist."""
    path, note = options.graphs / f"graph-{size}.db", _get_note_path(options, size)
    if not note.exists() or read_build(options, size).of != _compute_digest():
        note.unlink(missing_ok=True)  # removed first and written last, so a graph without it is unfinished
        _remove(path)
        _remove(_get_raw_path(options, size))
        spawning = multiprocessing.get_context("spawn")
        builder = spawning.Process(target=_build, args=(path, size, note))
        builder.start()
        builder.join()
        if builder.exitcode:
            raise RuntimeError(f"building the graph of {size} nodes failed")
    return path


def read_build(options: Options, size: int) -> BuildFigures:
    """Return the figures of building the graph of this size."""
    return BuildFigures(**json.loads(_get_note_path(options, size).read_text(encoding="utf-8")))


@contextlib.contextmanager
def copy_graph(options: Options, size: int) -> Iterator[GraphCopy]:
    """Yield a copy of the graph, and the same rows in plain tables.

    Small graphs are copied each time; a large graph is copied once per run.
    """
    graph, rows = ensure_graph(options, size), _get_raw_path(options, size)
    if not rows.exists():
        raw.fill(rows, graph, PROJECT)
    if size >= COPIED_ONCE_FROM:
        yield GraphCopy(_copy_file(graph, options.scratch), _copy_file(rows, options.scratch))
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        yield GraphCopy(_copy_file(graph, Path(folder)), _copy_file(rows, Path(folder)))


def find_ids(path: Path, numbers: list[int]) -> list[str]:
    """Return the ids of nodes by their numbers in `shapes`."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = dict(
            connection.execute(
                "SELECT c.n - 2, c.id FROM projects AS p CROSS JOIN json_each(?) AS wanted CROSS JOIN work_nodes AS c "
                "WHERE p.name = ? AND c.tenant_id = p.tenant_id AND c.project_id = p.id AND c.n = wanted.value + 2",
                (json.dumps(numbers), PROJECT),
            )
        )
    return [found[number] for number in numbers]


def count_nodes(path: Path) -> int:
    """Return the number of nodes below the root."""
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
        peak = measure_peak_mb()
    tenth = -(-len(taken) // 10)
    first, last = (sum(some) / tenth / min(BATCH, size) * 1e6 for some in (taken[:tenth], taken[-tenth:]))
    build = BuildFigures(_compute_digest(), seconds, first, last, peak)
    note.write_text(json.dumps(asdict(build)), encoding="utf-8")


def grow(plan: groundplan.Session, project: str, size: int) -> list[float]:
    """Plan a graph and return the duration of each batch in s."""
    plan.call("work.open", project=project, goal=f"A graph of {size} nodes")
    known = bytearray(size * ID_BYTES)  # a list of strings would dominate the measured memory
    taken = []
    for first in range(0, size, BATCH):
        nodes = list(shapes.generate_nodes(first, min(BATCH, size - first), lambda number: _read_id(known, number)))
        begin = time.perf_counter()
        created = plan.call("work.plan", project=project, nodes=nodes).created
        taken.append(time.perf_counter() - begin)
        for number, one in enumerate(created, first):
            known[number * ID_BYTES : (number + 1) * ID_BYTES] = one.id.encode().ljust(ID_BYTES)
    return taken


def _read_id(known: bytearray, number: int) -> str:
    return known[number * ID_BYTES : (number + 1) * ID_BYTES].decode().rstrip()


def _compute_digest() -> str:
    written = "".join(one.text for one in load_migrations(Dialect.SQLITE))
    shape = [node for first in (0, 1_000_000) for node in shapes.generate_nodes(first, 100, str)]
    return sha256((written + json.dumps([WARM_UP_SIZE, shape])).encode()).hexdigest()


def _get_note_path(options: Options, size: int) -> Path:
    return options.graphs / f"graph-{size}.json"


def _get_raw_path(options: Options, size: int) -> Path:
    return options.graphs / f"raw-{size}-{raw.EDITION}.db"


def _copy_file(path: Path, folder: Path) -> Path:
    copy = folder / path.name
    if not copy.exists():
        shutil.copyfile(path, copy)
        with copy.open("rb+") as file:
            os.fsync(file.fileno())  # otherwise the disk is still busy when the first commits are timed
    return copy


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
