"""The renderers of all operations that have their own terminal output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundplan.surfaces.cli.context import answers as context_answers
from groundplan.surfaces.cli.knowledge import answers as knowledge_answers
from groundplan.surfaces.cli.purpose import answers as purpose_answers
from groundplan.surfaces.cli.work import containers, graph, sections, workflow

RENDERERS: Mapping[str, Callable[[Any], None]] = {
    **graph.RENDERERS,
    **context_answers.RENDERERS,
    **knowledge_answers.RENDERERS,
    **purpose_answers.RENDERERS,
    **containers.RENDERERS,
    **workflow.RENDERERS,
    **sections.RENDERERS,
}
