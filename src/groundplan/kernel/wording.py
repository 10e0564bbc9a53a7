"""The words of a refused request: where the mistake is, what stands there, what was probably meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundplan.kernel.errors import Invalid, Steps

SIMILARITY_MIN = 0.7  # of difflib: at its own 0.6, userId is near scopeId
QUOTED_CHARS_MAX = 60  # of a caller's own text in an error sentence

ArgumentPath = tuple[str | int, ...]


def invalid_argument(
    path: ArgumentPath, wrong: str, *, code: str = "invalid_argument", next_steps: Steps = (), **details: Any
) -> Invalid:
    """An error about one argument: the sentence starts with its path, the details carry it."""
    field = format_argument_path(path)
    return Invalid(f"{field} {wrong}", code=code, next_steps=next_steps, field=field, **details)


def format_argument_path(path: ArgumentPath) -> str:
    """A path as people write it: `nodes[2].summary`; the whole request is called `arguments`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{quote_text(step)[1:-1]}" for step in path)
    return "".join(steps).removeprefix(".") or "arguments"


def quote_text(text: str) -> str:
    """A caller's text for an error sentence: short, on one line, nothing unprintable left raw."""
    shown = repr(text[:QUOTED_CHARS_MAX])
    return shown if len(text) <= QUOTED_CHARS_MAX else f"{shown[:-1]}…{shown[-1]}"


def find_nearest(text: str, names: Sequence[str]) -> str | None:
    """The name that was most likely meant, if any comes near."""
    squashed = _fold_name(text)
    by_squashed = {_fold_name(name): name for name in names}
    if squashed in by_squashed:
        return by_squashed[squashed]
    import difflib  # only a request that is about to be refused pays for it

    found = difflib.get_close_matches(squashed, by_squashed, n=1, cutoff=SIMILARITY_MIN)
    return by_squashed[found[0]] if found else None


def _fold_name(name: str) -> str:
    return name[:64].casefold().replace("_", "").replace("-", "")


def join_alternatives(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def describe_value(value: Any) -> str:
    """A value for an error sentence: scalars themselves, containers by their kind."""
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
    """A scalar as JSON spells it."""
    if scalar is None:
        return "null"
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    return quote_text(scalar) if isinstance(scalar, str) else repr(scalar)
