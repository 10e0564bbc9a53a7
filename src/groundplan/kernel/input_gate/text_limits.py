"""Markers for text types: a limit in bytes, a normalized name, and text that is not blank."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from msgspec import Struct

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import ArgumentPath, invalid_argument

NAME_CHARS_MAX = 255


class MaxBytes(Struct, frozen=True):
    """A limit on the UTF-8 length of a text: `Annotated[str, MaxBytes(4096)]`."""

    limit_bytes: int


class NormalizedName(Struct, frozen=True):
    """A text that is normalized to NFC and trimmed; it must be one line, not empty and not too long."""

    chars_max: int = NAME_CHARS_MAX
    # The error codes for an empty text and for one that is too long; a contract may have its own.
    empty_code: str = "invalid_argument"
    long_code: str = "too_long"


class NotBlank(Struct, frozen=True):
    """A text that is not only white space."""


Name = Annotated[str, NormalizedName()]

Marker = MaxBytes | NormalizedName | NotBlank


def apply_marker(marker: Marker, text: str, path: ArgumentPath) -> str:
    """Return the text in the form that the marker requires, or raise an error."""
    if isinstance(marker, MaxBytes):
        _check_bytes(text, marker.limit_bytes, path)
        return text
    if isinstance(marker, NotBlank):
        if not text.strip():
            raise invalid_argument(path, "must not be blank")
        return text
    return _normalize_name(text, marker, path)


def too_many_characters(path: ArgumentPath, limit: int, actual: int, *, code: str = "too_long") -> Invalid:
    """Return the error for a text with too many code points."""
    return invalid_argument(
        path,
        f"has {actual} characters, the limit is {limit}; shorten it",
        code=code,
        limit_chars=limit,
        actual_chars=actual,
    )


def _check_bytes(text: str, limit_bytes: int, path: ArgumentPath) -> None:
    if len(text) * 4 <= limit_bytes:  # no character takes more than four bytes
        return
    actual_bytes = len(text.encode("utf-8", "surrogatepass"))
    if actual_bytes > limit_bytes:
        raise invalid_argument(
            path,
            f"has {actual_bytes} bytes of UTF-8, the limit is {limit_bytes}; shorten it",
            code="too_long",
            limit_bytes=limit_bytes,
            actual_bytes=actual_bytes,
        )


def _normalize_name(text: str, marker: NormalizedName, path: ArgumentPath) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    name = text.strip()
    if not name:
        raise invalid_argument(path, "must not be empty", code=marker.empty_code)
    if len(name) > marker.chars_max:
        raise too_many_characters(path, marker.chars_max, len(name), code=marker.long_code)
    if len(name.splitlines()) > 1:
        raise invalid_argument(path, "must be on one line; remove the line breaks")
    return name
