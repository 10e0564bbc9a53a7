"""Where the kernel calls slices without importing them.

A port is called at its moment, in the write's transaction. A question is answered by one slice. The catalog connects
the slices to both, so everything that is connected stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from groundplan.kernel.store.transaction import Transaction

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Hook:
    """A moment at which slices may act."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Transaction, str, str], None]] = []

    def connect(self, act: Callable[[Transaction, str, str], None]) -> None:
        """Let a slice act at this moment, after those connected before it."""
        if act not in self._callbacks:
            self._callbacks.append(act)

    def __call__(self, tx: Transaction, project_id: str, summary: str) -> None:
        for act in self._callbacks:
            act(tx, project_id, summary)


class Provider(Generic[Request, Answer]):
    """Something that one slice knows, or alone can do, and others may ask for."""

    def __init__(self) -> None:
        self._answer: Callable[[Transaction, Request], Answer] | None = None

    def connect(self, answer: Callable[[Transaction, Request], Answer]) -> None:
        """Let a slice answer."""
        self._answer = answer

    @property
    def is_connected(self) -> bool:
        """Whether there is a slice that knows."""
        return self._answer is not None

    def __call__(self, tx: Transaction, asked: Request) -> Answer:
        if self._answer is None:
            raise LookupError("no slice is connected that could answer this")
        return self._answer(tx, asked)


# A project was made; with its id, and what it is for in a sentence.
on_project_created = Hook()

# Begin the first draft of a project that is being bootstrapped. Takes the project's id, returns the draft's.
begin_first_draft: Provider[str, str] = Provider()
