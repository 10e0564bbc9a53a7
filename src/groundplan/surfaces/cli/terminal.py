"""Values as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from groundplan.surfaces.cli.screen.text import escape_control_chars

if TYPE_CHECKING:
    from msgspec import UnsetType

    from groundplan.work.nodes import Evidence

EMPTY_CELL = "-"
INDENT = "  "


def format_title(name: str, summary: str | UnsetType) -> str:
    """Return an id or name followed by the summary."""
    return f"{name}  {to_one_line(summary)}" if summary else name


def format_actor(name: str, kind: str | UnsetType) -> str:
    """Return the name of an actor, with its kind unless it is a person."""
    return f"{to_one_line(name)} ({kind})" if kind else to_one_line(name)


def pluralize(count: int, one: str) -> str:
    """Return a count with its noun in singular or plural."""
    several = "activities" if one == "activity" else f"{one}s"
    return f"{count} {one if count == 1 else several}"


def humanize(name: str) -> str:
    """Return a wire name with spaces instead of underscores."""
    return name.replace("_", " ")


def to_one_line(text: str) -> str:
    """Return a text with all whitespace collapsed, on one line."""
    return " ".join(text.split())


def format_evidence(entry: Evidence) -> str:
    """Return evidence on one line, with what a repository says about it."""
    from groundplan.work.evidence_check import format_marks

    return f"{entry.type}: {to_one_line(entry.ref)} {format_marks(entry)}".rstrip()


def format_signed_evidence(entry: Evidence) -> str:
    """Return evidence on one line with its author; a note with the event by which it can be taken back."""
    event = f", event {entry.event}" if entry.event else ""
    by = f"({entry.agent}, {format_time(entry.timestamp)}{event})" if entry.agent and entry.timestamp else ""
    return f"{format_evidence(entry)} {by}".rstrip()


def join_first(names: Sequence[str], count: int) -> str:
    """Return the first `count` names on one line, and the number of the rest."""
    more = f" and {len(names) - count:,} more" if len(names) > count else ""
    return f"{', '.join(names[:count])}{more}"


def format_time(stamp: str) -> str:
    """Return a timestamp up to the minute, in UTC as stored."""
    return escape_control_chars(stamp[:16].replace("T", " "))


def format_claim_end(until: str | None) -> str:
    """Return when a claim ends by itself."""
    return "you release it" if until is None else format_time(until)


def describe_lost(one: Any) -> str:
    """Return which dependencies of a node that is ready now were dropped, in brackets; empty if none was."""
    if not one.lost:
        return ""
    more = f" and {one.lost_total - len(one.lost)} more" if one.lost_total else ""
    return f" (dropped: {', '.join(one.lost)}{more})"


def format_value(value: Any) -> str:
    """Return a value of any kind on one line."""
    kind = type(value)
    if kind is str:
        return escape_control_chars(value)
    if value is None:
        return EMPTY_CELL
    if kind is bool:
        return "yes" if value else "no"
    if kind is int or kind is float:
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(format_value, value)) or EMPTY_CELL
    return _format_other_value(value)


def _format_other_value(value: Any) -> str:
    # Here, because most values are texts and numbers.
    from enum import Enum

    from msgspec import UNSET

    from groundplan.kernel.answers import encode

    if value is UNSET:
        return EMPTY_CELL
    if isinstance(value, Enum):
        return escape_control_chars(str(value.value))
    if isinstance(value, str):
        return escape_control_chars(value)
    if isinstance(value, int | float):
        return str(value)
    return escape_control_chars(encode(value).decode("utf-8"))
