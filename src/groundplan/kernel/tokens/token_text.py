"""The text of a token: `gpt_`, its id, a secret, and a checksum.

    gpt_ 2x8kq0wz5m 7f…52 letters…q1 9c4tze
         id         secret           checksum

The prefix lets scanners find tokens that were pasted somewhere. The checksum tells a misspelled token from an unknown
one without a look-up. The store keeps a SHA-256 digest of the id and the secret: a slow hash protects passwords, which
can be guessed, and a secret of 260 random bits cannot.
"""

from __future__ import annotations

import re
from binascii import crc32
from typing import NamedTuple

from groundplan.kernel.ids import ALPHABET, make_random_letters

PREFIX = "gpt_"
ID_CHARS = 10
SECRET_CHARS = 52  # 260 bits
CHECKSUM_CHARS = 6
TEXT_CHARS = len(PREFIX) + ID_CHARS + SECRET_CHARS + CHECKSUM_CHARS

_TEXT = re.compile(rf"{PREFIX}[{ALPHABET}]{{{TEXT_CHARS - len(PREFIX)}}}")


class NewSecret(NamedTuple):
    """A new token: its text, which is shown once, and the id and digest, which are stored."""

    text: str
    id: str
    digest: str


def make_secret() -> NewSecret:
    """Return a new random token."""
    body = PREFIX + make_random_letters(ID_CHARS + SECRET_CHARS)
    return NewSecret(body + _compute_checksum(body), body[len(PREFIX) :][:ID_CHARS], _compute_digest(body))


def compute_digest(text: str) -> str | None:
    """Return the stored digest of a token; None if the text is not a token or is misspelled."""
    if len(text) != TEXT_CHARS or not _TEXT.fullmatch(text):
        return None
    body, checksum = text[:-CHECKSUM_CHARS], text[-CHECKSUM_CHARS:]
    return _compute_digest(body) if checksum == _compute_checksum(body) else None


def _compute_digest(body: str) -> str:
    from hashlib import sha256  # here, because most programs verify no token, and OpenSSL takes megabytes

    return sha256(body.encode("ascii")).hexdigest()


def _compute_checksum(body: str) -> str:
    number = crc32(body.encode("ascii"))
    return "".join(ALPHABET[number >> shift & 31] for shift in range(0, CHECKSUM_CHARS * 5, 5))
