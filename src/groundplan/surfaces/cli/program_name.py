"""The name that the program was started by, for hints: `groundplan`, `pl`, or a link to them."""

from __future__ import annotations

import sys

PROGRAM = "groundplan"
NAMES = (PROGRAM, "pl")
_EXTENSION = ".exe"


def get_program_name() -> str:
    """Return the name of the program as the person typed it; `groundplan` if it was started otherwise."""
    from pathlib import Path  # here, because only hints need it

    started = Path(sys.argv[0] if sys.argv else "")
    name = started.name.removesuffix(_EXTENSION)
    target = started.resolve().name.removesuffix(_EXTENSION)  # a short name is a link
    return name if name in NAMES or target in NAMES else PROGRAM
