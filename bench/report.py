"""The results of a run, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

COLUMNS = ("part", "measurement", "value", "compared with", "ratio", "limit", "")
TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the table."""

    part: str
    what: str
    value: float
    unit: str
    baseline: float | None = None  # in the same unit
    against: str = ""
    bar: float | None = None  # a limit on the ratio if there is a baseline, else on the value
    at_least: bool = False  # the bar is a minimum, not a maximum

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

    def to_data(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio, "is_met": self.is_met}

    def format_cells(self) -> tuple[str, ...]:
        against = f"{_format_number(self.baseline)} {self.unit} ({self.against})" if self.baseline else self.against
        sign = "≥" if self.at_least else "≤"
        unit = TIMES if self.ratio is not None else f" {self.unit}".rstrip()
        return (
            self.part,
            self.what,
            f"{_format_number(self.value)} {self.unit}".rstrip(),
            against,
            "" if self.ratio is None else f"{self.ratio:.2f}{TIMES}",
            "" if self.bar is None else f"{sign} {_format_number(self.bar)}{unit}",
            {None: "", True: "met", False: "MISSED"}[self.is_met],
        )


def format_table(results: Iterable[Result]) -> str:
    """Return the results as an aligned table."""
    rows = [COLUMNS, *(result.format_cells() for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    rows.insert(1, tuple("-" * width for width in widths))
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _format_number(value: float) -> str:
    if value == int(value) and abs(value) >= 1:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
