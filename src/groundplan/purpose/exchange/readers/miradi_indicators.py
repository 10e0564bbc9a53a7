"""The indicators of a Miradi project: unit, methods, the future status as target, and measurements.

    Indicator    IndicatorMethodIds/MethodId …  IndicatorFutureStatusIds/FutureStatusId …  IndicatorMeasurementIds/…
    Method       MethodName, MethodDetails
    FutureStatus FutureStatusDate, FutureStatusSummary        in older schemas fields of the indicator itself
    Measurement  MeasurementDate, MeasurementMeasurementValue, in older schemas MeasurementSummary

Miradi keeps values as text. A text that is one number, with or without a unit, is a value here; the date of a future
status, and one that is not a number, are added to the method, so that nothing is lost.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from groundplan.purpose.dates import is_day
from groundplan.purpose.exchange.readers.document_builder import DocumentBuilder
from groundplan.purpose.exchange.readers.miradi_project import MiradiItem, MiradiProject

# One number: digits with points or groups of three, a sign, and after it no other digit.
_NUMBER = re.compile(r"[^\d.+-]{0,3}([+-]?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|[+-]?\d{1,15}(?:\.\d{1,15})?)([^\d]{0,40})\Z")
_DAY_CHARS = len("2026-11-15")


class FutureStatus(NamedTuple):
    """What an indicator should reach: the day, and the text of the value."""

    day: str
    text: str


class MiradiIndicators:
    """Adds indicators with what belongs to them."""

    def __init__(self, project: MiradiProject, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._methods = project.get_pool("Method")
        self._statuses = project.get_pool("FutureStatus")
        self._measurements = dict(project.get_pool("Measurement"))

    def add(self, ref: str, node: str, indicator: MiradiItem) -> None:
        """Add an indicator on a node, and its measurements."""
        status = self._find_future_status(indicator)
        target = None if status is None else parse_number(status.text)
        lines = [self._describe_method(one) for one in indicator.get_ids("MethodIds") if one in self._methods]
        if status is not None and (status.day or target is None):
            lines.append(f"Future status{f' by {status.day}' if status.day else ''}: {status.text}")
        self._builder.add_indicator(
            ref, node, indicator.name, unit=indicator.get_text("Unit"), target=target, method="\n".join(lines)
        )
        for identifier in indicator.get_ids("MeasurementIds"):
            measurement = self._measurements.pop(identifier, None)
            if measurement is not None:
                self._add_measurement(ref, indicator, measurement)

    def skip_others(self) -> None:
        """Report the measurements that no imported indicator lists."""
        for one in self._measurements.values():
            self._builder.skip("measurement", "its indicator was not imported", one.label)

    def _find_future_status(self, indicator: MiradiItem) -> FutureStatus | None:
        """Return the last future status of an indicator that says something."""
        items = [self._statuses[one] for one in indicator.get_ids("FutureStatusIds") if one in self._statuses]
        found = [FutureStatus(_get_day(one, "Date"), one.get_text("Summary")) for one in items]
        found.append(FutureStatus(_get_day(indicator, "FutureStatusDate"), indicator.get_text("FutureStatusSummary")))
        return max((one for one in found if one.text), default=None)

    def _describe_method(self, identifier: str) -> str:
        method = self._methods[identifier]
        return ": ".join(filter(None, (method.name, method.get_text("Details"))))

    def _add_measurement(self, ref: str, indicator: MiradiItem, measurement: MiradiItem) -> None:
        text = measurement.get_text("MeasurementValue") or measurement.get_text("Summary")
        value, day = parse_number(text), _get_day(measurement, "Date")
        if value is None:
            why = "its value is not a number" if text else "it has no value"
            self._builder.skip("measurement", why, f"{indicator.label}: {text}")
        elif not day:
            self._builder.skip("measurement", "it has no date", f"{indicator.label}: {text}")
        else:
            note = measurement.get_text("Details") or measurement.get_text("Detail") or measurement.get_text("Comments")
            self._builder.add_measurement(ref, value, day, note=note)


def parse_number(text: str) -> float | None:
    """Return the number that a text is, such as `45`, `45 %` or `1,200 boats`; None if it has none or several."""
    found = _NUMBER.match(text.strip())
    return None if found is None else float(re.sub("[, ]", "", found[1]))


def _get_day(item: MiradiItem, field: str) -> str:
    day = item.get_text(field)[:_DAY_CHARS]
    return day if is_day(day) else ""
