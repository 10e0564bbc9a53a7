"""Parts of error messages: argument paths, quoted values, and suggestions for misspelled names."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from groundplan.kernel.errors import Invalid, Steps

PROGRAM = "groundplan"  # in commands that messages name
SHORT_NAME = "pl"  # installed with it
SIMILARITY_MIN = 0.7  # for difflib; its default of 0.6 takes userId for scopeId
QUOTED_CHARS_MAX = 60  # characters of the caller's text that an error message shows

ArgumentPath = tuple[str | int, ...]


def invalid_argument(
    path: ArgumentPath, problem: str, *, code: str = "invalid_argument", next_steps: Steps = (), **details: Any
) -> Invalid:
    """Return an error about one argument. Its path begins the message and is in `details.field`."""
    field = format_argument_path(path)
    return Invalid(f"{field} {problem}", code=code, next_steps=next_steps, field=field, **details)


def format_argument_path(path: ArgumentPath) -> str:
    """Return a path as text: `nodes[2].summary`; the empty path is `arguments`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{quote_text(step)[1:-1]}" for step in path)
    return "".join(steps).removeprefix(".") or "arguments"


def quote_text(text: str) -> str:
    """Return text in quotes for an error message: shortened, on one line, and with unprintable characters escaped."""
    quoted = repr(text[:QUOTED_CHARS_MAX])
    return quoted if len(text) <= QUOTED_CHARS_MAX else f"{quoted[:-1]}…{quoted[-1]}"


def find_nearest(text: str, names: Sequence[str]) -> str | None:
    """Return the name most similar to `text`; None if none is similar enough."""
    folded = _fold_name(text)
    by_folded = {_fold_name(name): name for name in names}
    if folded in by_folded:
        return by_folded[folded]

    matches = difflib.get_close_matches(folded, by_folded, n=1, cutoff=SIMILARITY_MIN)
    return by_folded[matches[0]] if matches else None


def _fold_name(name: str) -> str:
    return name[:64].casefold().replace("_", "").replace("-", "")


def join_alternatives(names: Sequence[str]) -> str:
    """Return `a`, `a or b`, or `a, b or c`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def describe_value(value: Any) -> str:
    """Return a value for an error message: a scalar in JSON, or the kind of a container."""
    match value:
        case str():
            return f"the string {quote_text(value)}"
        case list() | tuple():
            return "an array"
        case dict():
            return "an object"
        case None | bool() | float():
            return format_scalar(value)
        case int() if value.bit_length() < 64:
            return str(value)
    return f"a value of type {type(value).__name__}"


def format_scalar(scalar: Any) -> str:
    """Return a scalar in JSON notation."""
    if scalar is None:
        return "null"
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    return quote_text(scalar) if isinstance(scalar, str) else repr(scalar)
