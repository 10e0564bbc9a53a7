"""The peak memory of a process."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def measure_peak_mb() -> float:
    """Return the peak memory of this process in MB (10^6 bytes)."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024 / 1e6
    except OSError:  # not Linux. On Linux, ru_maxrss would include the memory of the parent process.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
