"""What was asked for: how long to measure, on which sizes, and where the graphs lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = SIZES[:3]
PROCESS_SETS = 4
ROUNDS_MIN = 5  # a median of fewer means nothing


@dataclass(frozen=True, slots=True)
class Options:
    """The choices of one run."""

    quick: bool
    seconds: float  # how long the races run
    processes: int  # how many take part in them
    sizes: tuple[int, ...]  # ascending, in nodes below the root
    graphs: Path  # graphs that were built, which nobody writes to
    scratch: Path  # everything else, gone with the run
    spread: bool = False  # let the system choose the cores for round trips

    @property
    def process_sets(self) -> int:
        """How often processes are started anew: where they and their pages come to lie differs from start to start."""
        return PROCESS_SETS // 2 if self.quick else PROCESS_SETS

    def rounds_of_a_set(self, usual: int) -> int:
        """How many rounds each set of processes makes."""
        return -(-self.rounds(usual) // self.process_sets)

    def rounds(self, usual: int) -> int:
        """A tenth of the usual number in a hurry."""
        return max(ROUNDS_MIN, usual // 10) if self.quick else usual
