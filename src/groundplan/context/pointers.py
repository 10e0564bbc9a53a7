"""JSON Pointers (RFC 6901): where in a plan a fact belongs."""

from __future__ import annotations

import re
from collections.abc import Collection

from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text

_STRAY_TILDE = re.compile(r"~(?![01])")


def validate_pointer(text: str, path: ArgumentPath) -> str:
    """A pointer to some place below the root.

    Raises:
        Invalid: it is none; the sentence says what one looks like.
    """
    if not text.startswith("/"):
        wrong = f"must be a JSON Pointer, which begins with a slash, not {quote_text(text)}; such as /site/location"
        raise invalid_argument(path, wrong, code="invalid_pointer")
    if _STRAY_TILDE.search(text):
        wrong = f"{quote_text(text)} has a ~ that is neither ~0 (for ~) nor ~1 (for /)"
        raise invalid_argument(path, wrong, code="invalid_pointer")
    return text


def split_pointer(pointer: str) -> list[str]:
    """The names on the way, as the plan spells them."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


class PointerFilter:
    """Some places in a plan, and everything below them. `/a/` is what lies below `/a`, and `/` all there is."""

    def __init__(self, pointers: Collection[str], path: ArgumentPath) -> None:
        """Raises Invalid where one is no pointer."""
        self._pointers = frozenset(validate_pointer(one, (*path, place)) for place, one in enumerate(pointers))

    def __contains__(self, pointer: str) -> bool:
        # By the pointer's own steps, of which there are few, and not by the places, of which there may be many.
        if pointer in self._pointers:
            return True
        ends = [place for place, letter in enumerate(pointer) if letter == "/"]
        return any(pointer[:end] in self._pointers or pointer[: end + 1] in self._pointers for end in ends)
