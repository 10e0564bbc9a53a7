"""Where the kernel lets slices in without knowing them, and where slices ask each other without importing each other.

A port is called at its moment, in the write's transaction; a question is answered by the one slice that can. The
catalog connects the slices to both, so what is connected can be read there in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from groundplan.kernel.budget import Budget
from groundplan.kernel.store.transaction import Transaction

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Port:
    """A moment at which slices may act."""

    def __init__(self) -> None:
        self._connected: list[Callable[[Transaction, str, str], None]] = []

    def connect(self, act: Callable[[Transaction, str, str], None]) -> None:
        """Let a slice act at this moment, after those connected before it."""
        if act not in self._connected:
            self._connected.append(act)

    def __call__(self, tx: Transaction, project_id: str, summary: str) -> None:
        for act in self._connected:
            act(tx, project_id, summary)


class Question(Generic[Asked, Answer]):
    """Something that one slice knows, or alone can do, and others may ask for."""

    def __init__(self) -> None:
        self._answer: Callable[[Transaction, Asked], Answer] | None = None

    def connect(self, answer: Callable[[Transaction, Asked], Answer]) -> None:
        """Let a slice answer."""
        self._answer = answer

    @property
    def can_be_answered(self) -> bool:
        """Whether there is a slice that knows."""
        return self._answer is not None

    def __call__(self, tx: Transaction, asked: Asked) -> Answer:
        if self._answer is None:
            raise LookupError("no slice is connected that could answer this")
        return self._answer(tx, asked)


# A project was made; with its id, and what it is for in a sentence.
on_project_created = Port()

# Which task is meant: its project and its whole id, or a refusal.
task_meant: Question[str, tuple[str, str]] = Question()


class FilesAsked(NamedTuple):
    """Some files, and the share of an answer that what is known about them may take."""

    paths: list[str]
    budget: Budget


# What one must know about some files of the project entered, as `knowledge.context` says it.
knowledge_of_files: Question[FilesAsked, Any] = Question()


# Begin a run of facts in a project that is being made, of which the id is given; the answer is the id of the run.
draft_begun: Question[str, str] = Question()


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
