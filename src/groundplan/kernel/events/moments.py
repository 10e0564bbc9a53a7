"""Where in the history a caller wants to begin or end: at a position, `rev.n`, or at a time.

Order is the revision, so a time is converted to a position, by halving. Time goes back with the revision only where the
clock of a writer was wrong; there it finds one of the places at which the time is reached.
"""

from __future__ import annotations

from datetime import date, datetime

from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.errors import Invalid
from groundplan.kernel.events.follow import EventPosition, parse_position
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument, quote_text

START_OF_DAY = "T00:00:00.000Z"
END_OF_DAY = "T23:59:59.999Z"
BEFORE_ALL_EVENTS = EventPosition(0, 0)
BEHIND_REV = 2**62  # larger than every `n` in a write

sql = load_queries(__file__)


def find_start(tx: Transaction, text: str) -> EventPosition:
    """Return the position after which to begin: the one given, or the last before a time.

    Raises:
        Invalid: the text is neither a position nor a time.
    """
    position = parse_position(text)
    return position or _find_position_before(tx, _parse_time(text, "since", START_OF_DAY))


def find_end(tx: Transaction, text: str) -> EventPosition:
    """Return the last position that counts: the one given, or the last that is not after a time.

    Raises:
        Invalid: the text is neither a position nor a time.
    """
    position = parse_position(text)
    # "~" sorts after every timestamp that begins alike, so what happened at that very time counts.
    return position or _find_position_before(tx, _parse_time(text, "until", END_OF_DAY) + "~")


def _find_position_before(tx: Transaction, moment: str) -> EventPosition:
    """Return the last position of the last write before a moment, with as many lookups as a rev has bits."""
    first, behind = 1, tx.project.rev + 1  # the first write that is not before the moment is in first..behind
    while first < behind:
        middle = (first + behind) // 2
        row = tx.one_or_none(sql.first_event_from, project_id=tx.project.id, rev=middle)
        if row is None or row[1] >= moment:
            behind = middle
        else:
            first = row[0] + 1
    return EventPosition(first - 1, BEHIND_REV)


def _parse_time(text: str, name: str, time_of_day: str) -> str:
    try:
        if date.fromisoformat(text).isoformat() == text:
            return text + time_of_day
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return format_timestamp(moment)
    except (ValueError, OverflowError):
        pass
    raise _invalid_moment(text, name)


def _invalid_moment(text: str, name: str) -> Invalid:
    wanted = "the id of an event such as 42.0, a date such as 2026-11-15, or an instant such as 2026-11-15T09:30:00Z"
    return invalid_argument((name,), f"must be {wanted}, not {quote_text(text)}", code="invalid_position")
