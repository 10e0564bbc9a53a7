"""What slices ask each other without importing each other. The catalog connects the slice that answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from groundplan.kernel.budget import Budget
from groundplan.kernel.ports import Provider

# Resolve a reference to a task: its project and its whole id, or a refusal.
resolve_task: Provider[str, tuple[str, str]] = Provider()


class FilesQuery(NamedTuple):
    """Some files, and the share of an answer that what is known about them may take."""

    paths: list[str]
    budget: Budget


# What one must know about some files of the project entered, as `knowledge.context` says it.
find_knowledge_of_files: Provider[FilesQuery, Any] = Provider()


class ContextInForce(NamedTuple):
    """The run of facts that the project entered stands on, and which of the required ones it lacks."""

    run_id: str
    is_partial: bool
    context_version_id: str
    required_unset: list[str]


# What the gates ask about facts: None where none were ever committed.
context_in_force: Provider[None, ContextInForce | None] = Provider()


# The numbers of the published versions of the purpose that stand on a run of facts.
list_versions_on_run: Provider[str, list[int]] = Provider()

# The work nodes that serve purpose nodes of the project entered: of each key that was asked for, their ids.
find_work_serving: Provider[list[str], dict[str, list[str]]] = Provider()


class AlignedWorkCounts(NamedTuple):
    """How many open work nodes there are, and how many of them trace to one of some goals."""

    open: int
    aligned: int


# How much of the work serves the purpose, by the keys of the goals of its published version.
count_aligned_work: Provider[list[str], AlignedWorkCounts] = Provider()
