"""Timestamps have one width and one zone, so text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.clock import format_timestamp, subtract_time, system_clock


def as_minutes(count: int) -> timedelta:
    return timedelta(minutes=count)


def round_to_ms(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


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


@given(moments, st.timedeltas(timedelta(minutes=-90), timedelta(minutes=90)) | st.integers(-90, 90).map(as_minutes))
def test_whole_minutes_are_subtracted_like_any_other_time(moment: datetime, delta: timedelta) -> None:
    moment, delta = round_to_ms(moment), timedelta(milliseconds=delta // timedelta(milliseconds=1))
    for _ in range(2):  # the second time it is remembered
        assert subtract_time(format_timestamp(moment), delta) == format_timestamp(moment - delta)


def test_the_system_clock_knows_its_zone() -> None:
    assert system_clock().tzinfo is UTC
