"""JSON Pointers (RFC 6901), which say where in a plan a fact belongs."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct

from groundplan.kernel.wording import ArgumentPath, invalid_argument, quote_text

_STRAY_TILDE = re.compile(r"~(?![01])")


def validate_pointer(text: str, path: ArgumentPath) -> str:
    """Return the text if it is a JSON Pointer below the root.

    Raises:
        Invalid: the text is not a JSON Pointer.
    """
    if not text.startswith("/"):
        wrong = f"must be a JSON Pointer that begins with a slash, such as /site/location, not {quote_text(text)}"
        raise invalid_argument(path, wrong, code="invalid_pointer")
    if _STRAY_TILDE.search(text):
        wrong = f"{quote_text(text)} has a ~ that is neither ~0 (for ~) nor ~1 (for /)"
        raise invalid_argument(path, wrong, code="invalid_pointer")
    return text


def split_pointer(pointer: str) -> list[str]:
    """Return the unescaped steps of a pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


class UnplacedInput(Struct):
    """An input whose value could not be written at its pointer, and why."""

    pointer: str
    reason: str


class PointerFilter:
    """Pointers, and everything below them. `/a/` means everything below `/a`, and `/` means everything."""

    def __init__(self, pointers: Collection[str], path: ArgumentPath) -> None:
        """Raise Invalid if one of the texts is not a pointer."""
        self._pointers = frozenset(validate_pointer(text, (*path, index)) for index, text in enumerate(pointers))

    def __contains__(self, pointer: str) -> bool:
        # Walks the steps of the pointer, which are few, and not the filter's pointers, which may be many.
        if pointer in self._pointers:
            return True
        ends = [index for index, letter in enumerate(pointer) if letter == "/"]
        return any(pointer[:end] in self._pointers or pointer[: end + 1] in self._pointers for end in ends)
