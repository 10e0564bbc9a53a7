"""Import msgspec without typing_extensions, which it prefers to typing where it is installed.

Python has all those names itself since 3.11. typing_extensions would import inspect, ast and tokenize for them, which
costs a server or a short word 6 ms and 1 MB.
"""

from __future__ import annotations

import sys
from importlib import import_module


def import_msgspec() -> None:
    """Import msgspec, unless it or typing_extensions is imported already."""
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment] # the import fails, and msgspec takes typing
    try:
        import_module("msgspec")
    finally:
        del sys.modules["typing_extensions"]
