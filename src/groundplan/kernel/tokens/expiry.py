"""When a token expires: a duration such as `30d`, or `never`."""

from __future__ import annotations

import re
from datetime import timedelta

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.wording import ArgumentPath, invalid_argument

NEVER = "never"
# A person's own token can do most, and a person can make another one; an agent runs unattended.
LIFETIMES = {
    ActorKind.PERSON: timedelta(days=30),
    ActorKind.AGENT: timedelta(days=90),
    ActorKind.SERVICE: timedelta(days=90),
}
DAYS_MAX = 3650

_DURATION = re.compile(r"([1-9]\d{0,4})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def compute_expiry(text: str | None, kind: ActorKind, now: str) -> str | None:
    """Return when a token expires; None if never. Without a text it is the default of the kind.

    Raises:
        Invalid: the text is no duration, or a very long one.
    """
    if text == NEVER:
        return None
    lifetime = LIFETIMES[kind] if text is None else _parse_duration(text)
    return subtract_time(now, -lifetime)


def _parse_duration(text: str) -> timedelta:
    path: ArgumentPath = ("expires",)
    match = _DURATION.fullmatch(text)
    if match is None:
        raise invalid_argument(path, f"must be a number of hours, days or weeks, such as 12h, 30d or 8w, or {NEVER}")
    lifetime = int(match[1]) * _UNITS[match[2]]
    if lifetime > timedelta(days=DAYS_MAX):
        raise invalid_argument(path, f"is more than {DAYS_MAX} days; write {NEVER} for a token that does not expire")
    return lifetime
