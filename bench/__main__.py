"""Measure and print one table: `python -m bench`, or only some parts: `python -m bench start ping`."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from bench.options import QUICK_SIZES, SIZES, Options
from bench.report import Result, table

# Where each part is; loaded when it is wanted, for some need more than others.
PARTS = {
    "start": "stdio:start",
    "memory": "stdio:memory",
    "ping": "stdio:ping",
    "calls": "stdio:calls",
    "fairness": "fairness:part",
    "tokens": "tokens:part",
    "build": "building:part",
    "work": "work:part",
    "plan": "planning:part",
    "claims": "claims:part",
    "containers": "containers:part",
    "patterns": "patterns:part",
    "knowledge": "knowledge:part",
    "context": "context:part",
    "purpose": "purpose:part",
    "pictures": "pictures:part",
    "freshness": "freshness:part",
    "postgres": "postgres:part",
}


def main() -> int:
    """Run the parts that were asked for, one after the other: two at once would measure each other."""
    given = _arguments()
    results: list[Result] = []
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="groundplan-bench-")))
        kept = given.keep or scratch / "graphs"
        kept.mkdir(parents=True, exist_ok=True)
        sizes = given.sizes or (QUICK_SIZES if given.quick else SIZES)
        options = Options(given.quick, given.seconds, given.processes, sizes, kept, scratch, given.spread)
        for name in given.parts or PARTS:
            begin = time.monotonic()
            print(f"measuring {name} …", end=" ", file=sys.stderr, flush=True)
            results += _part(name)(options)
            print(f"{time.monotonic() - begin:.0f} s", file=sys.stderr)
    if given.json:
        print(json.dumps({"machine": _machine(), "results": [result.as_data() for result in results]}, indent=2))
    else:
        print(table(results))
        print("\n" + ", ".join(f"{name} {value}" for name, value in _machine().items()))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"any of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds, small graphs: a first impression")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the races run")
    parser.add_argument("--processes", type=int, default=8, help="how many take part in them")
    parser.add_argument(
        "--sizes", type=_sizes, help=f"nodes of the graphs; {_shown(SIZES)} by default, {_shown(QUICK_SIZES)} if quick"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the graphs here, and use those that are here")
    parser.add_argument(
        "--spread", action="store_true", help="let the system choose the cores for round trips: closer to life, noisier"
    )
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return given


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(sorted({int(word) for word in text.split(",")}))
    if sizes[0] < SIZES[0]:
        raise argparse.ArgumentTypeError(f"the smallest graph has {SIZES[0]} nodes")
    return sizes


def _shown(sizes: tuple[int, ...]) -> str:
    return ",".join(map(str, sizes))


def _part(name: str) -> Callable[[Options], list[Result]]:
    module, function = PARTS[name].split(":")
    part: Callable[[Options], list[Result]] = getattr(import_module(f"bench.{module}"), function)
    return part


def _machine() -> dict[str, str | int | None]:
    return {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    sys.exit(main())
