"""Every drawing of its own that the answer of an operation has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundplan.surfaces.cli import (
    containers_drawing,
    context_drawing,
    knowledge_drawing,
    purpose_drawing,
    sections_drawing,
    steps_drawing,
    work_drawing,
)

DRAWINGS: Mapping[str, Callable[[Any], None]] = {
    **work_drawing.DRAWINGS,
    **knowledge_drawing.DRAWINGS,
    **context_drawing.DRAWINGS,
    **purpose_drawing.DRAWINGS,
    **containers_drawing.DRAWINGS,
    **steps_drawing.DRAWINGS,
    **sections_drawing.DRAWINGS,
}
