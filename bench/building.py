"""How long it takes to plan whole projects in batches of 1,000, how much memory, and how large the file gets."""

from __future__ import annotations

from bench import graphs
from bench.options import Options
from bench.report import Result

JUDGED_SIZE = 1_000_000
SECONDS_MAX = 600.0  # minutes, not hours
MEMORY_MB_MAX = 300.0


def part(options: Options) -> list[Result]:
    """The benchmark. The other parts use the graphs; those that were kept from an earlier run keep their figures."""
    results = []
    for size in options.sizes:
        path = graphs.built(options, size)
        build = graphs.how_built(options, size)
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
