"""What a caller can do next, as data: an operation of the registry and arguments for it.

The slices know operations and no surface. Each surface has a `Vocabulary` that spells a step in its own words:

    Python, and where nothing else is said   purpose.draft
    MCP                                      toc_version draft
    command line                             groundplan purpose draft --project atlas
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol


class NextStep(NamedTuple):
    """An operation that helps, and what it does, as the end of a sentence: `lists the keys`."""

    operation: str
    effect: str
    arguments: Mapping[str, Any] = {}  # by wire name; only what is known


class Vocabulary(Protocol):
    """How a surface names an operation."""

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Name a call in a sentence."""

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the call as data, ready to be made."""


class OperationNames:
    """The vocabulary of the Python API: operations by their own names."""

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the name of the operation."""
        return operation

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return operation and arguments."""
        return {"operation": operation, "arguments": dict(arguments)}


OPERATION_NAMES = OperationNames()


def describe(steps: Iterable[NextStep], vocabulary: Vocabulary) -> str:
    """Say in one sentence what each step does: `toc_open shows the keys; toc_version draft begins a draft`."""
    return "; ".join(f"{vocabulary.spell(step.operation, step.arguments)} {step.effect}" for step in steps)
