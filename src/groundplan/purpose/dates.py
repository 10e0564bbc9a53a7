"""Parse the dates and instants that callers give."""

from __future__ import annotations

from datetime import date, datetime

from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text

DAY_CHARS = len("2026-11-15")
END_OF_DAY = "T23:59:59.999Z"


def is_day(text: str) -> bool:
    """Return True if a text is a calendar day, such as `2026-11-15`."""
    try:
        return date.fromisoformat(text).isoformat() == text  # rejects ISO week dates, which have the same length
    except ValueError:
        return False


def parse_day(text: str, path: ArgumentPath) -> str:
    """Parse a calendar day, `2026-11-15`."""
    if is_day(text):
        return text
    raise invalid_argument(path, f"must be a date such as 2026-11-15, not {quote_text(text)}", code="invalid_date")


def parse_moment(text: str, path: ArgumentPath) -> str:
    """Parse a calendar day, or an instant with a time zone; an instant is converted to UTC."""
    if len(text) <= DAY_CHARS:
        return parse_day(text, path)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return format_timestamp(moment)
    except (ValueError, OverflowError):
        pass
    wanted = "a date such as 2026-11-15, or an instant such as 2026-11-15T09:30:00Z"
    raise invalid_argument(path, f"must be {wanted}, not {quote_text(text)}", code="invalid_date")


def to_last_instant(moment: str) -> str:
    """Return the last instant of a day. An instant is returned unchanged."""
    return moment + END_OF_DAY if len(moment) == DAY_CHARS else moment


def get_day(moment: str) -> str:
    """Return the day of an instant."""
    return moment[:DAY_CHARS]
