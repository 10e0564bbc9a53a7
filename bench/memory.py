"""How much memory a process has taken at most."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_mb() -> float:
    """Of this process, in MB (10^6 bytes)."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024 / 1e6
    except OSError:  # not Linux; there, what the parent had before it started us would count as ours
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
