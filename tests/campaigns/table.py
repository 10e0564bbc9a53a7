"""The table of campaigns at the end of a run: how many rounds, how many violations, and the bound for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

PROPERTY = "campaign"


class CampaignRow(NamedTuple):
    """One line of the table."""

    campaign: str
    rounds: int
    rounds_min: int
    violations: int
    figure: str = ""  # what else was measured

    @property
    def is_met(self) -> bool:
        """Whether the campaign ran long enough and found nothing."""
        return self.rounds >= self.rounds_min and not self.violations

    def format_cells(self) -> tuple[str, ...]:
        """Return the cells of the line."""
        bound = f"≥ {self.rounds_min:,} rounds, 0 violations"
        return (
            self.campaign,
            f"{self.rounds:,}",
            f"{self.violations:,}",
            bound,
            "met" if self.is_met else "MISSED",
            self.figure,
        )


def report_campaign(record_property: Callable[[str, Any], None], row: CampaignRow) -> None:
    """Put a campaign into the table, and fail if it misses its bound."""
    record_property(PROPERTY, list(row))
    assert row.is_met, " ".join(row.format_cells())


def format_table(rows: list[CampaignRow]) -> list[str]:
    """Return the lines of the table."""
    cells = [("campaign", "rounds", "violations", "bound", "", ""), *(row.format_cells() for row in sorted(rows))]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def print_table(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the campaigns of this run, also those that other processes of it ran."""
    reports = [
        report for found in terminalreporter.stats.values() for report in found if hasattr(report, "user_properties")
    ]
    rows = {CampaignRow(*value) for report in reports for name, value in report.user_properties if name == PROPERTY}
    if rows:
        terminalreporter.section("campaigns")
        for line in format_table(list(rows)):
            terminalreporter.line(line)
