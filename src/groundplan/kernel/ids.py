"""Names for rows: short readable ids for what people type, UUIDs for what the contracts call a uuid."""

from __future__ import annotations

import os
import uuid

# Crockford's base32 without upper case: no i, l, o or u, so an id read aloud or typed from paper is not misread.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
SHORT_ID_CHARS_MIN = 6
_LETTERS = (ALPHABET * 8).encode("ascii")  # for each of the 256 bytes; 32 letters divide them evenly
PREFIX_CHARS_MIN = 4  # a shorter prefix is more often a typing slip than an intention


def new_short_id(population: int = 0) -> str:
    """A fresh random id that gets longer as its population grows.

    The space is kept at 1,024 ids or more for each row there is, so a guess hits one in a thousand and a collision
    (which the unique key turns into another try) stays rare.
    """
    return new_short_ids(1, population)[0]


def new_short_ids(count: int, population: int = 0) -> list[str]:
    """Many of them at once."""
    chars = SHORT_ID_CHARS_MIN
    while 32**chars < population * 1024:
        chars += 1
    # What `secrets` would ask for too, without the megabytes of OpenSSL that it brings along.
    letters = os.urandom(count * chars).translate(_LETTERS).decode("ascii")
    return [letters[place : place + chars] for place in range(0, len(letters), chars)]


def new_uuid() -> str:
    """A random UUID in its canonical spelling."""
    return str(uuid.uuid4())


def parse_uuid(text: str) -> str | None:
    """The canonical spelling of a UUID given with or without dashes, or None when it is not one."""
    try:
        return str(uuid.UUID(text)) if len(text) in (32, 36) and text.isascii() else None
    except ValueError:
        return None
