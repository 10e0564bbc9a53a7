"""Where a list goes on, as a short opaque text: the position of the last row, and a check that it belongs here.

A cursor is of one query of one caller. The check covers the operation, who asks and what they ask for, so a cursor
that was altered or that came from elsewhere is refused instead of silently skipping rows. It is no signature: a
position tells its caller nothing that the page before did not.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import crc32
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.errors import Invalid
from groundplan.kernel.store.transaction import Transaction

CHECKSUM_BYTES = 4  # CRC-32 notices every single altered character for certain, and a foreign cursor but for 1 in 2^32
STAMP_CHARS = 24
WHOLE_MAX = 2**53  # beyond it a number need not fit into what an engine takes for one
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

# Numbers are not negative. A float that is whole comes back as an integer, which is equal to it.
CursorValue = int | float | str | None

# A value is one number of variable length, of which the lowest two bits say what the others are.
_NUMBER, _TEXT, _MOMENT, _OTHER = range(4)
_NULL, _DOUBLE = range(2)  # of _OTHER


class InvalidCursor(Invalid):
    """The cursor is not one that this query gave to this caller."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__(
            "cursor is none that you were given for these arguments; send next_cursor as it came, with the arguments "
            "of the page before, or leave cursor out to begin anew",
            field="cursor",
        )


def encode_cursor(tx: Transaction, operation: str, query: Any, *position: CursorValue) -> str:
    """The cursor behind a row. `query` is everything that decides which rows come in which order."""
    packed = b"".join(map(_pack, position))
    return urlsafe_b64encode(_compute_checksum(tx, operation, query, packed) + packed).rstrip(b"=").decode()


def decode_cursor(tx: Transaction, operation: str, query: Any, cursor: str) -> list[CursorValue]:
    """The position that a cursor stands for.

    Raises:
        InvalidCursor: it was altered, or is of another query or another caller.
    """
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise InvalidCursor from None
    packed = raw[CHECKSUM_BYTES:]
    # Compared as text: bits of the last character that no byte needs could be altered unnoticed.
    same = urlsafe_b64encode(_compute_checksum(tx, operation, query, packed) + packed).rstrip(b"=").decode()
    if same != cursor:
        raise InvalidCursor
    try:
        return list(_unpack(packed))
    except (ValueError, IndexError, OverflowError, struct.error):  # the check can be forged
        raise InvalidCursor from None


def _compute_checksum(tx: Transaction, operation: str, query: Any, packed: bytes) -> bytes:
    belongs_to = msgspec.json.encode([operation, tx.actor.organization, tx.actor.id, query], order="deterministic")
    return crc32(packed, crc32(belongs_to)).to_bytes(CHECKSUM_BYTES)


def _pack(value: CursorValue) -> bytes:
    match value:
        case None:
            return _pack_head(_OTHER, _NULL)
        case int():
            return _pack_head(_NUMBER, value)
        case float() if 0 <= value <= WHOLE_MAX and value.is_integer():
            return _pack_head(_NUMBER, int(value))
        case float():
            return _pack_head(_OTHER, _DOUBLE) + struct.pack(">d", value)
    since_epoch = _parse_milliseconds(value)
    if since_epoch is not None:
        return _pack_head(_MOMENT, since_epoch)
    text = value.encode()
    return _pack_head(_TEXT, len(text)) + text


def _unpack(packed: bytes) -> Iterator[CursorValue]:
    at = 0
    while at < len(packed):
        head = shift = 0
        more = True
        while more:
            head |= (packed[at] & 0x7F) << shift
            more = packed[at] >= 0x80
            shift += 7
            at += 1
        kind, number = head & 3, head >> 2
        if kind == _NUMBER:
            yield number
        elif kind == _MOMENT:
            yield format_timestamp(EPOCH + number * MILLISECOND)
        elif kind == _TEXT:
            yield packed[at : at + number].decode()
            at += number
        elif number == _NULL:
            yield None
        else:
            yield struct.unpack_from(">d", packed, at)[0]
            at += 8


def _pack_head(kind: int, number: int) -> bytes:
    rest = number << 2 | kind
    head = bytearray()
    while rest >= 0x80:
        head.append(rest & 0x7F | 0x80)
        rest >>= 7
    head.append(rest)
    return bytes(head)


def _parse_milliseconds(text: str) -> int | None:
    """How long after the epoch a stamp is, which takes a quarter of its text; None for any other text."""
    if len(text) != STAMP_CHARS:
        return None
    try:
        since_epoch = (datetime.fromisoformat(text) - EPOCH) // MILLISECOND
        return since_epoch if since_epoch >= 0 and format_timestamp(EPOCH + since_epoch * MILLISECOND) == text else None
    except (ValueError, TypeError):  # no moment, or one without a time zone
        return None
