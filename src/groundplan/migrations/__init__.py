"""The schema: a baseline, and the steps since; `NNNN_name.sql`, one file for both engines."""

from __future__ import annotations

import os


def get_latest_version() -> int:
    """Return the number of the last step, without reading one."""
    return max(int(name.partition("_")[0]) for name in os.listdir(__path__[0]) if name.endswith(".sql"))
