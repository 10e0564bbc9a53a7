"""Which of the sabotage tests run: all of them in a proof, and in turn a fifth of them in `make test`.

They switch a guard off and let a machine look for it, so they test the tests. The part of the day is by the date, the
same for everybody; `--teeth 3/5` runs the third part again.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

PARTS = 5
ALL = "all"
TODAY = "today"
MARK = "teeth"


def part(said: str) -> str:
    """The part that is meant, as `3/5`, or all of them.

    Raises:
        UsageError: there is no such part.
    """
    if said == TODAY:
        return f"{datetime.now(UTC).toordinal() % PARTS + 1}/{PARTS}"
    if said == ALL or re.fullmatch(rf"[1-{PARTS}]/{PARTS}", said):
        return said
    raise pytest.UsageError(f"--teeth takes {ALL}, {TODAY}, or 1/{PARTS} to {PARTS}/{PARTS}")


def not_in(part: str, items: list[pytest.Item]) -> set[pytest.Item]:
    """The sabotage tests that are of another part."""
    marked = [item for item in items if item.get_closest_marker(MARK)]
    return set() if part == ALL else {item for n, item in enumerate(marked) if n % PARTS != int(part[0]) - 1}
