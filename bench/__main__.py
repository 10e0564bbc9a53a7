"""Measure and print one table: `python -m bench`, or only some parts: `python -m bench start ping`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
from collections.abc import Callable

from bench import fairness, stdio
from bench.report import Options, Result, table

PARTS: dict[str, Callable[[Options], list[Result]]] = {
    "start": stdio.start,
    "memory": stdio.memory,
    "ping": stdio.ping,
    "calls": stdio.calls,
    "fairness": fairness.part,
    "tokens": stdio.tokens,
}


def main() -> int:
    """Run the parts that were asked for, one after the other: two at once would measure each other."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"any of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds: a first impression")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the fairness race runs")
    parser.add_argument("--processes", type=int, default=8, help="how many take part in it")
    parser.add_argument(
        "--spread", action="store_true", help="let the system choose the cores for round trips: closer to life, noisier"
    )
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    options = Options(given.quick, given.seconds, given.processes, given.spread)
    results: list[Result] = []
    for name in given.parts or PARTS:
        print(f"measuring {name} …", file=sys.stderr)
        results += PARTS[name](options)
    if given.json:
        print(json.dumps({"machine": _machine(), "results": [result.as_data() for result in results]}, indent=2))
    else:
        print(table(results))
        print("\n" + ", ".join(f"{name} {value}" for name, value in _machine().items()))
    return 0


def _machine() -> dict[str, str | int | None]:
    return {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    sys.exit(main())
