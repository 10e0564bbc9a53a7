"""Cursors for lists: a short opaque text with the position of the last row and a checksum.

A cursor belongs to one query of one caller. The checksum covers the operation, the caller and the arguments, so an
altered or foreign cursor is rejected instead of silently skipping rows. It is not a signature: a position reveals
nothing that the previous page did not show.
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

CHECKSUM_BYTES = 4  # CRC-32 detects every single altered character, and a foreign cursor except 1 in 2^32
STAMP_CHARS = 24
WHOLE_MAX = 2**53  # a larger number may not fit into the number type of an engine
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

# Integers are not negative. A whole float is decoded as the equal integer.
CursorValue = int | float | str | None

# Each value starts with a number of variable length; its lowest two bits are the kind of the value.
_NUMBER, _TEXT, _MOMENT, _OTHER = range(4)
_NULL, _DOUBLE = range(2)  # kinds of _OTHER


class InvalidCursor(Invalid):
    """The cursor does not belong to this query and caller."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__(
            "cursor does not belong to these arguments; send next_cursor unchanged, with the arguments of the previous "
            "page, or omit cursor to start at the first page",
            field="cursor",
        )


def encode_cursor(tx: Transaction, operation: str, query: Any, *position: CursorValue) -> str:
    """Return the cursor after a row. `query` is everything that decides the rows and their order."""
    packed = b"".join(map(_pack, position))
    return urlsafe_b64encode(_compute_checksum(tx, operation, query, packed) + packed).rstrip(b"=").decode()


def decode_cursor(tx: Transaction, operation: str, query: Any, cursor: str) -> list[CursorValue]:
    """Return the position that a cursor encodes.

    Raises:
        InvalidCursor: it was altered, or belongs to another query or caller.
    """
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise InvalidCursor from None
    packed = raw[CHECKSUM_BYTES:]
    # Compare the text: the unused bits of the last character are lost in decoding.
    expected = urlsafe_b64encode(_compute_checksum(tx, operation, query, packed) + packed).rstrip(b"=").decode()
    if expected != cursor:
        raise InvalidCursor
    try:
        return list(_unpack(packed))
    except (ValueError, IndexError, OverflowError, struct.error):  # a checksum can be forged
        raise InvalidCursor from None


def _compute_checksum(tx: Transaction, operation: str, query: Any, packed: bytes) -> bytes:
    scope = msgspec.json.encode([operation, tx.actor.organization, tx.actor.id, query], order="deterministic")
    return crc32(packed, crc32(scope)).to_bytes(CHECKSUM_BYTES)


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
    """Return the milliseconds of a timestamp since the epoch, a quarter of its length; None for any other text."""
    if len(text) != STAMP_CHARS:
        return None
    try:
        since_epoch = (datetime.fromisoformat(text) - EPOCH) // MILLISECOND
        return since_epoch if since_epoch >= 0 and format_timestamp(EPOCH + since_epoch * MILLISECOND) == text else None
    except (ValueError, TypeError):  # not a timestamp, or one without a time zone
        return None
