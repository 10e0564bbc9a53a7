"""Cursors: a short opaque text with the position of the last row of a page, and a signature.

A cursor belongs to one query of one caller in one project. The signature (HMAC-SHA-256 with the key of the
organization) covers all of them, so an altered, foreign or invented cursor is rejected and never selects other rows.
The same position has the same cursor, on every server of the store.

A position is made of values that fit into a cursor. In a list that is sorted by text, a text is compared by its first
`START_BYTES_MAX` bytes, because long text does not fit. Longer texts that begin alike are in the order of their
tie-breakers, which a cursor carries whole. So a position stays valid when its row is removed or renamed, and a row that
is there throughout is on exactly one page.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.errors import Invalid
from groundplan.kernel.store.transaction import Transaction

CURSOR_CHARS_MAX = 512
TAG_BYTES = 12  # 96 bits of the signature; a cursor is tried in an online request, so nobody gets near 2^96 tries
STAMP_CHARS = 24
UUID_CHARS = 36
UUID_DASHES = (8, 13, 18, 23)
WHOLE_MAX = 2**53  # a larger number may not fit into the number type of an engine
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

# An argument. An empty one counts as not given.
Cursor = Annotated[str, Meta(min_length=1)] | None

# Integers are not negative. A whole float is decoded as the equal integer.
CursorValue = int | float | str | bytes | None

# Each value starts with a number of variable length; its lowest two bits are the kind of the value.
_NUMBER, _TEXT, _MOMENT, _OTHER = range(4)
_NULL, _DOUBLE, _UUID, _BYTES = range(4)  # kinds of _OTHER; the length of bytes is added to the last


class InvalidCursor(Invalid):
    """The cursor belongs to another query or another caller, or is malformed."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__(
            "cursor does not belong to these arguments; send next_cursor unchanged, with the arguments of the previous "
            "page, or omit cursor to start at the first page",
            field="cursor",
        )


def encode_cursor(tx: Transaction, operation: str, query: Any, *position: CursorValue) -> str:
    """Return the cursor after a row. `query` has every value that determines the rows and their order."""
    packed = b"".join(map(_pack, position))
    cursor = urlsafe_b64encode(_sign(tx, operation, query, packed) + packed).rstrip(b"=").decode()
    if len(cursor) > CURSOR_CHARS_MAX:
        raise ValueError(f"the position of {operation} needs a cursor of {len(cursor)} characters")
    return cursor


def decode_cursor(tx: Transaction, operation: str, query: Any, cursor: str) -> list[CursorValue]:
    """Return the position that a cursor encodes."""
    from hmac import compare_digest  # as in `_sign`

    if len(cursor) > CURSOR_CHARS_MAX or not cursor.isascii():  # first, so that a long text costs nothing
        raise InvalidCursor
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise InvalidCursor from None
    packed = raw[TAG_BYTES:]
    # Compare the text: the unused bits of the last character are lost in decoding.
    expected = urlsafe_b64encode(_sign(tx, operation, query, packed) + packed).rstrip(b"=")
    if not compare_digest(expected, cursor.encode()):
        raise InvalidCursor
    try:
        return list(_unpack(packed))
    except (ValueError, IndexError, OverflowError, struct.error):  # signed by another version of Groundplan
        raise InvalidCursor from None


def join_positions(positions: Iterable[Sequence[Any] | None]) -> list[CursorValue]:
    """Return the positions in several lists as the values of one cursor. None is a list that has ended."""
    return [value for position in positions for value in (len(position or ()), *(position or ()))]


def split_positions(values: Sequence[CursorValue]) -> list[Sequence[Any] | None]:
    """Return the positions in several lists that a cursor has. Raises InvalidCursor if it is none of several lists."""
    positions: list[Sequence[Any] | None] = []
    at = 0
    while at < len(values):
        length = values[at]
        if not isinstance(length, int) or at + length >= len(values):
            raise InvalidCursor
        positions.append(values[at + 1 : at + 1 + length] or None)
        at += 1 + length
    return positions


def _sign(tx: Transaction, operation: str, query: Any, packed: bytes) -> bytes:
    from hmac import digest  # here, because OpenSSL takes megabytes that requests without a cursor do not need

    project = tx.project.id if tx.has_project else None
    scope = msgspec.json.encode([operation, tx.actor.organization, project, tx.actor.id, query], order="deterministic")
    # With its length, so that no byte can move from the scope to the position.
    return digest(tx.cursor_key, len(scope).to_bytes(4) + scope + packed, "sha256")[:TAG_BYTES]


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
        case bytes():
            return _pack_head(_OTHER, _BYTES + len(value)) + value
    since_epoch = _parse_milliseconds(value)
    if since_epoch is not None:
        return _pack_head(_MOMENT, since_epoch)
    if (uuid := _parse_uuid(value)) is not None:
        return _pack_head(_OTHER, _UUID) + uuid
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
        elif number == _DOUBLE:
            yield struct.unpack_from(">d", packed, at)[0]
            at += 8
        elif number == _UUID:
            yield _format_uuid(packed[at : at + 16])
            at += 16
        else:
            yield packed[at : at + number - _BYTES]
            at += number - _BYTES


def _pack_head(kind: int, number: int) -> bytes:
    rest = number << 2 | kind
    head = bytearray()
    while rest >= 0x80:
        head.append(rest & 0x7F | 0x80)
        rest >>= 7
    head.append(rest)
    return bytes(head)


def _parse_milliseconds(text: str) -> int | None:
    """Return the milliseconds since the epoch of a timestamp, which are shorter; None for any other text."""
    if len(text) != STAMP_CHARS:
        return None
    try:
        since_epoch = (datetime.fromisoformat(text) - EPOCH) // MILLISECOND
        return since_epoch if since_epoch >= 0 and format_timestamp(EPOCH + since_epoch * MILLISECOND) == text else None
    except (ValueError, TypeError):  # not a timestamp, or one without a time zone
        return None


def _parse_uuid(text: str) -> bytes | None:
    """Return the bytes of a UUID, which are shorter; None for any other text."""
    if len(text) != UUID_CHARS:
        return None
    try:
        octets = bytes.fromhex(text.replace("-", ""))
    except ValueError:
        return None
    return octets if len(octets) == 16 and _format_uuid(octets) == text else None


def _format_uuid(octets: bytes) -> str:
    text = octets.hex()
    for index in UUID_DASHES:
        text = f"{text[:index]}-{text[index:]}"
    return text


R = TypeVar("R")

START_BYTES_MAX = 255  # a name in ASCII is never cut
NO_LIMIT = 2**31 - 1


class TextPosition(NamedTuple):
    """The first bytes of a text, whether the text is longer, and a value that distinguishes rows with this text."""

    start: bytes
    is_cut: bool
    tie_breaker: str

    @property
    def lower_bound(self) -> str:
        """The first bytes as text. No text at this or a later position sorts before it."""
        return self.start.decode(errors="ignore")  # the last character may be cut


BEFORE_ALL = TextPosition(b"", False, "")


def locate_text(text: str, tie_breaker: str) -> TextPosition:
    """Return the position of a row with this text."""
    encoded = text.encode()
    return TextPosition(encoded[:START_BYTES_MAX], len(encoded) > START_BYTES_MAX, tie_breaker)


def parse_text_position(values: Sequence[CursorValue]) -> TextPosition:
    """Return the text position in the values of a cursor. Raises InvalidCursor if they are malformed."""
    match values:
        case [bytes() as start, (0 | 1) as is_cut, str() as tie_breaker]:
            return TextPosition(start, bool(is_cut), tie_breaker)
    raise InvalidCursor


def read_after(
    after: TextPosition, read: Callable[[int], list[R]], locate: Callable[[R], TextPosition], *, at_most: int
) -> list[R]:
    """Return the first rows after a position.

    `read` returns rows from the lower bound of the position on, sorted by their whole text, and takes their number.
    """
    rows = read(at_most)
    if not after.is_cut and not any(locate(row).is_cut for row in rows):
        return rows
    # Here the order of the database differs. Such texts are rare, so all rows are sorted here instead of by an index.
    return sorted((row for row in read(NO_LIMIT) if locate(row) > after), key=locate)[:at_most]


def read_name_page(
    tx: Transaction,
    operation: str,
    cursor: str | None,
    read: Callable[[str, int], list[R]],
    get_name: Callable[[R], str],
    *,
    limit: int | None,
) -> tuple[list[R], str | UnsetType]:
    """Return one page, and the cursor of the next one if there are more rows.

    `read` takes a name and a number, and returns that many rows with names after it, sorted by name.
    """
    after = BEFORE_ALL if cursor is None else parse_text_position(decode_cursor(tx, operation, None, cursor))

    def locate(row: R) -> TextPosition:
        return _locate_name(get_name(row))

    # One row more than the limit shows whether there is another page.
    at_most = limit + 1 if limit else NO_LIMIT
    rows = read_after(after, lambda number: read(after.lower_bound, number), locate, at_most=at_most)
    page = rows[:limit]
    return page, encode_cursor(tx, operation, None, *locate(page[-1])) if len(rows) > len(page) else UNSET


def _locate_name(name: str) -> TextPosition:
    position = locate_text(name, "")
    if not position.is_cut:
        return position
    from hashlib import sha256  # here, because names are rarely that long

    return position._replace(tie_breaker=sha256(name.encode()).hexdigest())
