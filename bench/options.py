"""The options of a run: how long to measure, on which sizes, and where to keep the graphs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = SIZES[:3]
PROCESS_SETS = 4
ROUNDS_MIN = 5  # the minimum for a useful median


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one run."""

    quick: bool
    seconds: float  # how long the races run
    processes: int  # in the races
    sizes: tuple[int, ...]  # ascending, in nodes below the root
    graphs: Path  # the folder of built graphs, which no part writes to
    scratch: Path  # the folder for everything else, deleted after the run
    spread: bool = False  # let the system choose the cores for round trips

    @property
    def process_sets(self) -> int:
        """How often processes are restarted, because their placement in memory differs from start to start."""
        return PROCESS_SETS // 2 if self.quick else PROCESS_SETS

    @property
    def is_in_memory(self) -> bool:
        """Whether the scratch folder is on a memory file system, as far as the system tells."""
        with contextlib.suppress(OSError):
            mounts = [line.split()[1:3] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
            above = [mount for mount in mounts if self.scratch.resolve().is_relative_to(mount[0])]
            return max(above, key=lambda mount: len(mount[0]))[1] in ("tmpfs", "ramfs")
        return False

    def count_rounds_of_a_set(self, usual: int) -> int:
        """Return the number of rounds for each set of processes."""
        return -(-self.count_rounds(usual) // self.process_sets)

    def count_rounds(self, usual: int) -> int:
        """Return the number of rounds: the usual number, or a tenth of it if quick."""
        return max(ROUNDS_MIN, usual // 10) if self.quick else usual
