"""The program, which says when the handlers of its operation are in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundplan import __main__
from groundplan.kernel.cancellation import Cancellation
from groundplan.surfaces import stop_signals


class AnnouncedCancellation(Cancellation):
    """A cancellation that prints a line when it begins to watch."""

    def prepare(self, *given: Any, **options: Any) -> None:
        print("begins", flush=True)
        super().prepare(*given, **options)


def main(arguments: Sequence[str]) -> int:
    """Run a command."""
    vars(stop_signals).update(Cancellation=AnnouncedCancellation)
    return __main__.main(arguments)
