"""Every drawing of its own that the answer of an operation has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundplan.surfaces.cli.context import answers as context_answers
from groundplan.surfaces.cli.knowledge import answers as knowledge_answers
from groundplan.surfaces.cli.purpose import answers as purpose_answers
from groundplan.surfaces.cli.work import containers, graph, sections, workflow

DRAWINGS: Mapping[str, Callable[[Any], None]] = {
    **graph.DRAWINGS,
    **context_answers.DRAWINGS,
    **knowledge_answers.DRAWINGS,
    **purpose_answers.DRAWINGS,
    **containers.DRAWINGS,
    **workflow.DRAWINGS,
    **sections.DRAWINGS,
}
