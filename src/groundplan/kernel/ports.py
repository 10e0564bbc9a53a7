"""Hooks and providers: the kernel calls slices without importing them.

A hook runs its callbacks in the transaction of the write. A provider is implemented by one slice. `connections.py`
connects them by the names of functions, whose modules are imported by the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from groundplan.kernel.store.transaction import Transaction

Given = ParamSpec("Given")
Request = TypeVar("Request")
Answer = TypeVar("Answer")


def load_by_name(name: str) -> Any:
    """Return what a name such as `groundplan.work.kinds:TASK` stands for; its module is imported."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


REFUSALS: set[str] = set()  # the names of the errors that triggers of slices raise; `guards` collects them


class Hook(Generic[Given]):
    """A list of callbacks that slices register."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[Concatenate[Transaction, Given], None]] = []
        self._names: list[str] = []

    def connect(self, callback: Callable[Concatenate[Transaction, Given], None]) -> None:
        """Add a callback, which runs after those added before."""
        if callback not in self._callbacks:
            self._callbacks.append(callback)

    def connect_by_name(self, name: str) -> None:
        """Add a callback, which is loaded when the hook first runs."""
        if name not in self._names:
            self._names.append(name)

    def __call__(self, tx: Transaction, *given: Given.args, **named: Given.kwargs) -> None:
        for name in self._names:
            self.connect(load_by_name(name))
        for callback in self._callbacks:
            callback(tx, *given, **named)


class Provider(Generic[Request, Answer]):
    """A function that one slice implements and others call."""

    def __init__(self) -> None:
        self._implementation: Callable[[Transaction, Request], Answer] | None = None
        self._name: str | None = None

    def connect(self, implementation: Callable[[Transaction, Request], Answer]) -> None:
        """Set the implementation."""
        self._implementation = implementation

    def connect_by_name(self, name: str) -> None:
        """Set the implementation, which is loaded by the first call."""
        self._name = name

    @property
    def is_connected(self) -> bool:
        """Whether a slice implements it."""
        return self._implementation is not None or self._name is not None

    def __call__(self, tx: Transaction, request: Request) -> Answer:
        if self._implementation is None:
            if self._name is None:
                raise LookupError("no slice implements this provider")
            self._implementation = load_by_name(self._name)
        return self._implementation(tx, request)


# Called after a project is created, with its id and a one-sentence summary.
on_project_created: Hook[[str, str]] = Hook()

# Called before a write, when the clock jumped since the last write of the project, with the jump if it is known.
on_clock_jump: Hook[[timedelta]] = Hook()

# Returns a random id that nothing else has. A project whose id something else had would show that there is such an id.
generate_project_id: Provider[None, str] = Provider()
