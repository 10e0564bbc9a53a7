"""What was measured, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

COLUMNS = ("part", "what", "measured", "compared with", "ratio", "bar", "")
TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table."""

    part: str
    what: str
    value: float
    unit: str
    baseline: float | None = None  # in the same unit
    against: str = ""
    bar: float | None = None  # on the ratio when there is a baseline, else on the value
    at_least: bool = False  # the bar is a least value, not a greatest

    @property
    def ratio(self) -> float | None:
        return self.value / self.baseline if self.baseline else None

    @property
    def judged(self) -> float:
        return self.value if self.ratio is None else self.ratio

    @property
    def is_met(self) -> bool | None:
        if self.bar is None:
            return None
        return self.judged >= self.bar if self.at_least else self.judged <= self.bar

    def as_data(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio, "is_met": self.is_met}

    def cells(self) -> tuple[str, ...]:
        against = f"{_number(self.baseline)} {self.unit} ({self.against})" if self.baseline else self.against
        sign = "≥" if self.at_least else "≤"
        unit = TIMES if self.ratio is not None else f" {self.unit}".rstrip()
        return (
            self.part,
            self.what,
            f"{_number(self.value)} {self.unit}".rstrip(),
            against,
            "" if self.ratio is None else f"{self.ratio:.2f}{TIMES}",
            "" if self.bar is None else f"{sign} {_number(self.bar)}{unit}",
            {None: "", True: "met", False: "MISSED"}[self.is_met],
        )


def table(results: Iterable[Result]) -> str:
    """All lines, aligned."""
    rows = [COLUMNS, *(result.cells() for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    rows.insert(1, tuple("-" * width for width in widths))
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _number(value: float) -> str:
    if value == int(value) and abs(value) >= 1:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
