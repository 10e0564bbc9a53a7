"""Timestamps have one width and one zone, so text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.clock import format_timestamp, subtract_time, system_clock

moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))


def test_a_stamp_is_iso_8601_in_utc_with_milliseconds() -> None:
    there = timezone(timedelta(hours=2))
    assert format_timestamp(datetime(2026, 3, 1, 12, 30, 5, 7_999, there)) == "2026-03-01T10:30:05.007Z"


@given(moments, moments)
def test_stamps_sort_as_the_moments_they_name(one: datetime, other: datetime) -> None:
    if one <= other:
        assert format_timestamp(one) <= format_timestamp(other)
    assert len(format_timestamp(one)) == 24


def test_earlier_counts_back() -> None:
    assert subtract_time("2026-03-01T00:00:00.500Z", timedelta(days=1)) == "2026-02-28T00:00:00.500Z"


def test_the_system_clock_knows_its_zone() -> None:
    assert system_clock().tzinfo is UTC
