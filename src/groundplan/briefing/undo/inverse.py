"""The inverse of a write: one call of an operation, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from groundplan.kernel.errors import NextStep, RuleViolated
from groundplan.kernel.events import StoredEvent
from groundplan.kernel.operations.registry import Operation
from groundplan.kernel.store.transaction import Transaction


class NoInverse(NamedTuple):
    """The reason why an event has no inverse, and an operation that helps instead, if there is one."""

    reason: str
    step: NextStep | None = None


class CannotUndo(RuleViolated):
    """The change has no inverse, or the inverse would not restore the earlier state."""

    code = "cannot_undo"

    def __init__(
        self, subject: str, why: NoInverse, *, event: str | None = None, earlier: NextStep | None = None
    ) -> None:
        which = f" at {event}" if event else ""
        steps = [step for step in (why.step, earlier) if step is not None]
        message = f"cannot undo the change of {subject}{which}: {why.reason}"
        super().__init__(message, next_steps=steps, subject=subject, **({"event": event} if event else {}))
        self.subject, self.why = subject, why


class InverseCall(Struct, frozen=True):
    """The call that undoes a write."""

    operation: Operation[Any, Any]
    arguments: dict[str, Any]
    warnings: list[str] = field(default_factory=list)  # what stays as it is
    # Raises an error if the answer of the call says that it did not do everything.
    verify: Callable[[Any], None] | None = None


# Returns the call that undoes all events of a write.
Builder = Callable[[Transaction, Sequence[StoredEvent]], InverseCall]


# Returns the subjects that the inverse of a write, given with its revision, would remove or leave without a base.
DependentsFinder = Callable[[Transaction, Sequence[StoredEvent], int], Iterable[str]]


def _find_no_dependents(_tx: Transaction, _events: Sequence[StoredEvent], _rev: int) -> Iterable[str]:
    return ()


class Inverses(NamedTuple):
    """The inverses of one slice: the reasons for events without an inverse, and a builder of calls for all others."""

    ops: Mapping[str, NoInverse | None]  # None: has an inverse
    build: Builder
    find_dependents: DependentsFinder = _find_no_dependents


def restore(event: StoredEvent, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the values before an event, by the names of arguments."""
    restored = {}
    for change in event.changes:
        if change.field not in names:
            raise CannotUndo(event.subject, NoInverse(f"its {change.field} cannot be set back; change it yourself"))
        restored[names[change.field]] = change.before
    return restored
