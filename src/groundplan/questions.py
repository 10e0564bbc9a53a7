"""What slices ask each other without importing each other. The catalog connects the slice that answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from groundplan.kernel.budget import Budget
from groundplan.kernel.ports import Question

# Resolve a reference to a task: its project and its whole id, or a refusal.
resolve_task: Question[str, tuple[str, str]] = Question()


class FilesAsked(NamedTuple):
    """Some files, and the share of an answer that what is known about them may take."""

    paths: list[str]
    budget: Budget


# What one must know about some files of the project entered, as `knowledge.context` says it.
knowledge_of_files: Question[FilesAsked, Any] = Question()


class ContextInForce(NamedTuple):
    """The run of facts that the project entered stands on, and which of the required ones it lacks."""

    run_id: str
    is_partial: bool
    context_version_id: str
    required_unset: list[str]


# What the gates ask about facts: None where none were ever committed.
context_in_force: Question[None, ContextInForce | None] = Question()


# The numbers of the published versions of the purpose that stand on a run of facts.
versions_on_run: Question[str, list[int]] = Question()

# The work nodes that serve purpose nodes of the project entered: of each key that was asked for, their ids.
work_serving: Question[list[str], dict[str, list[str]]] = Question()


class WorkAligned(NamedTuple):
    """How many open work nodes there are, and how many of them trace to one of some goals."""

    open: int
    aligned: int


# How much of the work serves the purpose, by the keys of the goals of its published version.
work_aligned: Question[list[str], WorkAligned] = Question()
