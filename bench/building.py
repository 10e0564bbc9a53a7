"""Measure the time, the memory and the file size of planning whole projects in batches of 1,000."""

from __future__ import annotations

from bench import graphs
from bench.options import Options
from bench.report import Result

JUDGED_SIZE = 1_000_000
SECONDS_MAX = 600.0  # minutes, not hours
MEMORY_MB_MAX = 300.0


def run(options: Options) -> list[Result]:
    """Return the results of this part. Graphs that were kept from an earlier run keep their figures."""
    results = []
    for size in options.sizes:
        path = graphs.ensure_graph(options, size)
        build = graphs.read_build(options, size)
        is_judged = size == JUDGED_SIZE
        seconds, memory = (SECONDS_MAX, MEMORY_MB_MAX) if is_judged else (None, None)
        results += [
            Result("build", f"planned in batches of 1,000, {size:,}", build.seconds, "s", bar=seconds),
            Result(
                "build", f"… a node of the last tenth, {size:,}", build.last_us, "µs", build.first_us, "first tenth"
            ),
            Result("build", f"… peak memory, {size:,}", build.peak_mb, "MB", bar=memory),
            Result("build", f"… size of the file, {size:,}", path.stat().st_size / 1e6, "MB"),
        ]
    return results
