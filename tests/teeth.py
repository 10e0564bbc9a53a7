"""Selects the sabotage tests to run: all in a proof, a fifth in `make test`.

A sabotage test switches a guard off and expects a machine to notice, so it tests the tests. The part depends on the
date and is the same for everybody; `--teeth 3/5` runs the third part.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

PARTS = 5
ALL = "all"
TODAY = "today"
MARK = "teeth"


def resolve_part(option: str) -> str:
    """Return the part that an option names, as `3/5` or `all`."""
    if option == TODAY:
        return f"{datetime.now(UTC).toordinal() % PARTS + 1}/{PARTS}"
    if option == ALL or option in {f"{part}/{PARTS}" for part in range(1, PARTS + 1)}:
        return option
    raise pytest.UsageError(f"--teeth takes {ALL}, {TODAY}, or 1/{PARTS} to {PARTS}/{PARTS}")


def tests_of_other_parts(part: str, items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the sabotage tests of other parts."""
    marked = [item for item in items if item.get_closest_marker(MARK)]
    if part == ALL:
        return set()
    chosen = int(part.partition("/")[0]) - 1
    return {item for n, item in enumerate(marked) if n % PARTS != chosen}
