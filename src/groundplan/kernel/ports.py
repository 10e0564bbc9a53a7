"""Where the kernel lets slices in without knowing them: each port is called at its moment, in the write's transaction.

The catalog connects the slices to the ports, so what is connected can be read there in one place.
"""

from __future__ import annotations

from collections.abc import Callable

from groundplan.kernel.store.transaction import Transaction


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


# A project was made; with its id, and what it is for in a sentence.
on_project_created = Port()
