"""Days as callers write them, and the moments they stand for."""

from __future__ import annotations

from datetime import date, datetime

from groundplan.kernel.clock import stamp
from groundplan.kernel.wording import Path, quoted, refusal

DAY_CHARS = len("2026-11-15")
END_OF_DAY = "T23:59:59.999Z"


def checked_day(text: str, path: Path) -> str:
    """A calendar day, `2026-11-15`.

    Raises:
        Invalid: it is none.
    """
    try:
        if date.fromisoformat(text).isoformat() == text:  # a week can be written with as many letters
            return text
    except ValueError:
        pass
    raise refusal(path, f"must be a date such as 2026-11-15, not {quoted(text)}", code="invalid_date")


def checked_moment(text: str, path: Path) -> str:
    """A calendar day, or an instant with its time zone, which is kept in UTC.

    Raises:
        Invalid: it is neither.
    """
    if len(text) <= DAY_CHARS:
        return checked_day(text, path)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return stamp(moment)
    except (ValueError, OverflowError):
        pass
    wanted = "a date such as 2026-11-15, or an instant such as 2026-11-15T09:30:00Z"
    raise refusal(path, f"must be {wanted}, not {quoted(text)}", code="invalid_date")


def until(moment: str) -> str:
    """The last instant that a day, or an instant, includes."""
    return moment + END_OF_DAY if len(moment) == DAY_CHARS else moment


def day_of(moment: str) -> str:
    """The day of an instant."""
    return moment[:DAY_CHARS]
