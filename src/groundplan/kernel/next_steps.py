"""Next steps that an error or answer suggests, as data: an operation of the registry and its arguments.

Slices name operations and know no surface. Each surface has a `Vocabulary` that turns a step into its own syntax:

    Python (the default)   project.restore
    command line           groundplan project restore --project atlas
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol


class NextStep(NamedTuple):
    """A suggested operation, and its effect as the end of a sentence: `lists the keys`."""

    operation: str
    effect: str
    arguments: Mapping[str, Any] = {}  # by wire name; only those that are known


class Vocabulary(Protocol):
    """The names of operations on one surface."""

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return a call as text for a sentence."""

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call as data that a client can send."""

    def tell(self, steps: Iterable[NextStep]) -> str:
        """Return one sentence with the effect of each step: `member.list lists them; member.add adds one`."""
        return "; ".join(f"{self.spell(step.operation, step.arguments)} {step.effect}" for step in steps)


class OperationNames(Vocabulary):
    """The vocabulary of the Python API: operations by their own names."""

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the name of the operation."""
        return operation

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the operation and its arguments."""
        return {"operation": operation, "arguments": dict(arguments)}


OPERATION_NAMES = OperationNames()
