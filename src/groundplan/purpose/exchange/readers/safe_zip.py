"""Read one member of an untrusted zip archive.

    local header, data        for each member
    central directory         names, positions and sizes of the members
    end of central directory  position of the directory, and its number of members

It works on bytes and never on files, so names of members cannot traverse paths. All declared values are checked against
the data: it is inflated in chunks, and never beyond the declared size. An archive with contradictory values is
rejected, because another program would read something else in it.
"""

from __future__ import annotations

import zlib
from itertools import pairwise
from struct import Struct, unpack_from
from typing import NamedTuple

from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.readers.document_builder import UnreadableFile

MEMBER_BYTES_MAX = 64 * 2**20  # inflated size of one member
MEMBERS_MAX = 10_000
RATIO_MAX = 200  # repetitive XML reaches about 50; deflate can reach 1,000
RATIO_FREE_BYTES = 2**20  # allowed for small input, whatever the ratio
CHUNK_BYTES = 64 * 2**10

_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 0x2041  # bits 0, 6 and 13: encrypted, strongly, or with a masked directory
_HAS_DATA_DESCRIPTOR = 0x0008  # the local header was written before the sizes were known
_ZIP64_EXTRA = 0x0001
_ZIP64_MARKER = 0xFFFFFFFF  # the value is in the extra field
_COMMENT_BYTES_MAX = 0xFFFF

_LOCAL = Struct("<4s5H3I2H")
_CENTRAL = Struct("<4s6H3I5H2I")
_END = Struct("<4s4H2IH")


class _Member(NamedTuple):
    name: bytes
    flags: int
    method: int
    crc: int
    packed_bytes: int
    size_bytes: int
    start: int


def read_member(raw: bytes, name: str) -> bytes:
    """Return the content of a member.

    Raises:
        UnreadableFile: there is no such member, or the archive is damaged or not supported.
    """
    end, members = _directory(raw)
    found = [one for one in members if one.name == name.encode()]
    if not found:
        raise UnreadableFile(f"there is no {quote_text(name)} in the zip archive")
    if len(found) > 1:
        raise UnreadableFile(f"the zip archive has {len(found)} members called {quote_text(name)}")
    _refuse_overlaps(members, end)
    return _extract(raw, found[0], min((one.start for one in members if one.start > found[0].start), default=end))


def _directory(raw: bytes) -> tuple[int, list[_Member]]:
    """Return the end of the data, and the members."""
    at = _end_of_directory(raw)
    _, disk, first_disk, here, count, size, start, _ = _END.unpack_from(raw, at)
    if disk or first_disk or here != count:
        raise UnreadableFile("the zip archive is split into several parts")
    if count > MEMBERS_MAX:
        raise UnreadableFile(f"the zip archive has more than {MEMBERS_MAX} members", limit=MEMBERS_MAX)
    if start + size > at:
        raise _damaged("its directory is not at the given position")
    members = []
    place = start
    for _ in range(count):
        if place + _CENTRAL.size > start + size:
            raise _damaged("its directory is shorter than declared")
        member, place = _parse_entry(raw, place)
        members.append(member)
    if place != start + size:
        raise _damaged("its directory does not have the declared length")
    return start, members


def _end_of_directory(raw: bytes) -> int:
    """Return the position of the end record. Only a comment may follow, which can contain the signature again."""
    at = len(raw)
    while (at := raw.rfind(b"PK\5\6", max(0, len(raw) - _END.size - _COMMENT_BYTES_MAX), at)) >= 0:
        if at + _END.size <= len(raw) and at + _END.size + unpack_from("<H", raw, at + 20)[0] == len(raw):
            return at
    raise UnreadableFile("it is not a zip archive, or its end is missing")


def _parse_entry(raw: bytes, place: int) -> tuple[_Member, int]:
    """Parse a directory entry; return the member, and the position of the next entry."""
    mark, _, _, flags, method, _, _, crc, packed, size, *lengths, disk, _, _, start = _CENTRAL.unpack_from(raw, place)
    name_bytes, extra_bytes, comment_bytes = lengths
    extra_at = place + _CENTRAL.size + name_bytes
    behind = extra_at + extra_bytes + comment_bytes
    if mark != b"PK\1\2" or behind > len(raw):
        raise _damaged("its directory cannot be read")
    if disk:
        raise UnreadableFile("the zip archive is split into several parts")
    places = iter(_zip64(raw[extra_at : extra_at + extra_bytes]))
    # The extra field holds them in this order, each only if it is marked.
    size, packed, start = (next(places, value) if value == _ZIP64_MARKER else value for value in (size, packed, start))
    return _Member(raw[extra_at - name_bytes : extra_at], flags, method, crc, packed, size, start), behind


def _zip64(extra: bytes) -> list[int]:
    """Return the ZIP64 numbers of a member. Some programs write them for small members too."""
    at = 0
    while at + 4 <= len(extra):
        sort, length = unpack_from("<2H", extra, at)
        if sort == _ZIP64_EXTRA:
            field = extra[at + 4 : at + 4 + length]
            return list(unpack_from(f"<{len(field) // 8}Q", field))
        at += 4 + length
    return []


def _refuse_overlaps(members: list[_Member], end: int) -> None:
    places = sorted((one.start, one.start + _LOCAL.size + len(one.name) + one.packed_bytes) for one in members)
    if any(behind > start for (_, behind), (start, _) in pairwise([*places, (end, end)])):
        raise _damaged("its members overlap")


def _extract(raw: bytes, member: _Member, next_start: int) -> bytes:
    if member.flags & _ENCRYPTED:
        raise UnreadableFile("the zip archive is encrypted; save it without a password")
    if member.size_bytes > MEMBER_BYTES_MAX:
        raise _too_large()
    start = _data_start(raw, member)
    if start + member.packed_bytes > next_start:
        raise _damaged("a member is truncated")
    packed = memoryview(raw)[start : start + member.packed_bytes]
    if member.method == _STORED:
        content = bytes(packed)
    elif member.method == _DEFLATED:
        content = _inflate(packed, member.size_bytes)
    else:
        raise UnreadableFile(f"the zip archive uses an unsupported compression method ({member.method})")
    if len(content) != member.size_bytes or zlib.crc32(content) != member.crc:
        raise _damaged("the content does not match its size or checksum")
    return content


def _data_start(raw: bytes, member: _Member) -> int:
    """Return the start of the data, after a local header that matches the directory entry."""
    mark, _, flags, method, _, _, crc, packed, size, name_bytes, extra_bytes = _LOCAL.unpack_from(raw, member.start)
    name_at = member.start + _LOCAL.size
    header = (mark, raw[name_at : name_at + name_bytes], method, flags & _ENCRYPTED)
    if header != (b"PK\3\4", member.name, member.method, 0):
        raise _damaged("a member does not match its directory entry")
    are_sizes_here = not flags & _HAS_DATA_DESCRIPTOR and _ZIP64_MARKER not in (packed, size)
    if are_sizes_here and (crc, packed, size) != (member.crc, member.packed_bytes, member.size_bytes):
        raise _damaged("a member does not have the length in its directory entry")
    start: int = name_at + name_bytes + extra_bytes
    return start


def _inflate(packed: memoryview, announced_bytes: int) -> bytes:
    allowed_bytes = max(RATIO_FREE_BYTES, RATIO_MAX * len(packed))
    inflater = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    pieces = []
    inflated_bytes = 0
    try:
        for at in range(0, len(packed), CHUNK_BYTES):
            waiting: bytes | memoryview = packed[at : at + CHUNK_BYTES]
            is_full = True
            # After a full chunk more output may be pending, even if all input is consumed.
            while not inflater.eof and (waiting or is_full):
                piece = inflater.decompress(waiting, CHUNK_BYTES)
                pieces.append(piece)
                inflated_bytes += len(piece)
                if inflated_bytes > announced_bytes:
                    raise _damaged("a member is longer than declared")
                if inflated_bytes > allowed_bytes:
                    raise _too_large()
                waiting = inflater.unconsumed_tail
                is_full = len(piece) == CHUNK_BYTES
            if inflater.eof and (inflater.unused_data or at + CHUNK_BYTES < len(packed)):
                raise _damaged("there is extra data after a member")
    except zlib.error:
        raise _damaged("its data cannot be inflated") from None
    if not inflater.eof:
        raise _damaged("a member is truncated")
    return b"".join(pieces)


def _damaged(why: str) -> UnreadableFile:
    return UnreadableFile(f"the zip archive is damaged: {why}; export or download it again")


def _too_large() -> UnreadableFile:
    return UnreadableFile(
        f"the zip archive would inflate to more than {MEMBER_BYTES_MAX // 2**20} MB, or is compressed too strongly",
        limit_bytes=MEMBER_BYTES_MAX,
    )
