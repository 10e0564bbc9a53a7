"""Ids of rows: short readable ids that people type, and UUIDs where a contract asks for a uuid."""

from __future__ import annotations

import os
import uuid

# Crockford's base32 without upper case: no i, l, o or u, so an id read aloud or typed from paper is not misread.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
SHORT_ID_CHARS_MIN = 6
_LETTERS = (ALPHABET * 8).encode("ascii")  # for each byte value; 32 divides 256, so letters are equally likely
PREFIX_CHARS_MIN = 4  # a shorter prefix is more often a typing error than intended


def new_short_id(population: int = 0) -> str:
    """Return a new random id, which is longer in a larger population.

    There are at least 1,024 possible ids for each existing row, so one guess in a thousand hits a row and a collision
    (which the unique key turns into another try) is rare.
    """
    return new_short_ids(1, population)[0]


def new_short_ids(count: int, population: int = 0) -> list[str]:
    """Return several new ids from one call for random bytes."""
    chars = SHORT_ID_CHARS_MIN
    while 32**chars < population * 1024:
        chars += 1
    letters = make_random_letters(count * chars)
    return [letters[start : start + chars] for start in range(0, len(letters), chars)]


def make_random_letters(count: int) -> str:
    """Return random letters of the alphabet, each with 5 bits of randomness."""
    # The source that `secrets` uses, without importing OpenSSL, which takes megabytes.
    return os.urandom(count).translate(_LETTERS).decode("ascii")


def new_uuid() -> str:
    """Return a random UUID in canonical form."""
    return str(uuid.uuid4())


def parse_uuid(text: str) -> str | None:
    """Return the canonical form of a UUID, given with or without dashes; None if the text is not a UUID."""
    try:
        return str(uuid.UUID(text)) if len(text) in (32, 36) and text.isascii() else None
    except ValueError:
        return None
