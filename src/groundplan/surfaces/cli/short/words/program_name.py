"""The name that the program was started by, for hints: `groundplan`, `pl`, or the one that `init --short` made."""

from __future__ import annotations

import os
import sys

from groundplan.surfaces.cli.short.words.table import PROGRAM

NAMES = (PROGRAM, "pl")
_EXTENSION = ".exe"


def get_program_name() -> str:
    """Return the name of the program as the person typed it; `groundplan` if it was started otherwise."""
    started = sys.argv[0] if sys.argv else ""
    name = os.path.basename(started).removesuffix(_EXTENSION)
    target = os.path.basename(os.path.realpath(started)).removesuffix(_EXTENSION)  # a short name is a link
    return name if name in NAMES or target in NAMES else PROGRAM
