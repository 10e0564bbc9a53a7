"""Run all benchmarks and print one table: `python -m bench`. Run some of them: `python -m bench start ping`."""

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
from bench.report import Result, format_table

# The module and function of each part. They are imported on demand, because some need more dependencies than others.
PARTS = {
    "start": "stdio:measure_start",
    "memory": "stdio:measure_memory",
    "ping": "stdio:measure_ping",
    "calls": "stdio:measure_calls",
    "fairness": "fairness:run",
    "groups": "group_commit:run",
    "tokens": "tokens:run",
    "words": "words:run",
    "build": "building:run",
    "work": "work:run",
    "plan": "planning:run",
    "claims": "claims:run",
    "large": "large_operations:run",
    "briefing": "briefing:run",
    "containers": "containers:run",
    "patterns": "patterns:run",
    "knowledge": "knowledge:run",
    "context": "context:run",
    "purpose": "purpose:run",
    "pictures": "pictures:run",
    "freshness": "freshness:run",
    "http": "rest:run",
    "mcp-http": "mcp_http:run",
    "events": "events:run",
    "load": "mixed_load:run",
    "page": "page:run",
    "page-load": "page_load:run",
    "canvas": "canvas:run",
    "path": "call_path:run",
    "postgres": "postgres:run",
}


def main() -> int:
    """Run the selected parts one after the other, because parts that run at once would slow down each other."""
    given = _parse_arguments()
    _compile_programs()
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
            results += _load_part(name)(options)
            print(f"{time.monotonic() - begin:.0f} s", file=sys.stderr)
    if given.json:
        print(
            json.dumps({"machine": _describe_machine(), "results": [result.to_data() for result in results]}, indent=2)
        )
    else:
        print(format_table(results))
        print("\n" + ", ".join(f"{name} {value}" for name, value in _describe_machine().items()))
    return 0


def _compile_programs() -> None:
    """Let all programs that are started keep their compiled modules, as an installed program does."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / "build" / "pycache"))


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"any of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds, small graphs")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the races run")
    parser.add_argument("--processes", type=int, default=8, help="number of processes in the races")
    parser.add_argument(
        "--sizes",
        type=_parse_sizes,
        help=f"nodes of the graphs; {_format_sizes(SIZES)} by default, {_format_sizes(QUICK_SIZES)} if quick",
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the graphs here, and reuse existing ones")
    parser.add_argument(
        "--spread",
        action="store_true",
        help="let the system choose the cores for round trips: more realistic, more noise",
    )
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"unknown part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    return given


def _parse_sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(sorted({int(word) for word in text.split(",")}))
    if sizes[0] < SIZES[0]:
        raise argparse.ArgumentTypeError(f"the smallest graph has {SIZES[0]} nodes")
    return sizes


def _format_sizes(sizes: tuple[int, ...]) -> str:
    return ",".join(map(str, sizes))


def _load_part(name: str) -> Callable[[Options], list[Result]]:
    module, function = PARTS[name].split(":")
    part: Callable[[Options], list[Result]] = getattr(import_module(f"bench.{module}"), function)
    return part


def _describe_machine() -> dict[str, str | int | None]:
    return {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    sys.exit(main())
