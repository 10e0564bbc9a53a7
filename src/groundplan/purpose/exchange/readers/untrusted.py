"""Read an untrusted zip archive and untrusted XML. Limits hold before anything large is built.

Zip: one member is read.

    local header, data        for each member
    central directory         names, positions and sizes of the members
    end of central directory  position of the directory, and its number of members

It works on bytes and never on files, so names of members cannot traverse paths. `zipfile` parses the directory. The end
record, the local header and the data are read here, because `zipfile` tolerates what other programs would read
differently: bytes after the archive, an end record inside its comment, a local header with another method, size or
checksum than the directory, members that overlap (before Python 3.11.8), and data that goes on after its end or has
none. All declared values are checked against the data, which is never inflated beyond the declared size.

XML becomes a small tree. Any document type is rejected, which excludes entity expansion and external entities. Prefixes
and namespaces are dropped, so versions of a schema look alike. Depth, number of elements and size of the text are
limited, and so is the length of a single tag, because the parser rescans an open tag with every chunk.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from struct import Struct, error, unpack_from
from xml.parsers import expat
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.readers.builder import UnreadableFile

MEMBER_BYTES_MAX = 64 * 2**20  # inflated size of one member
MEMBERS_MAX = 10_000
RATIO_MAX = 200  # repetitive XML reaches about 50; deflate can reach 1,000
RATIO_FREE_BYTES = 2**20  # allowed for small input, whatever the ratio

_ENCRYPTED = 0x2041  # bits 0, 6 and 13: encrypted, strongly, or with a masked directory
_HAS_DATA_DESCRIPTOR = 0x0008  # the local header was written before the sizes were known
_HAS_UTF8_NAME = 0x0800
_ZIP64_MARKER = 0xFFFFFFFF  # the value is in the extra field
_COMMENT_BYTES_MAX = 0xFFFF
_ENTRY_MARK = b"PK\1\2"
_END_MARK = b"PK\5\6"

_LOCAL = Struct("<4s5H3I2H")
_END = Struct("<4s4H2IH")


def read_member(raw: bytes, name: str) -> bytes:
    """Return the content of a member of the archive."""
    end, members = _read_directory(raw)
    matches = [member for member in members if member.orig_filename == name]
    if not matches:
        raise UnreadableFile(f"there is no {quote_text(name)} in the zip archive")
    if len(matches) > 1:
        raise UnreadableFile(f"the zip archive has {len(matches)} members called {quote_text(name)}")
    _refuse_overlaps(members, end)
    behind = [member.header_offset for member in members if member.header_offset > matches[0].header_offset]
    return _extract(raw, matches[0], min(behind, default=end))


def _read_directory(raw: bytes) -> tuple[int, list[ZipInfo]]:
    """Return the end of the data, and the members."""
    at = _find_end_of_directory(raw)
    _, disk, first_disk, here, count, size, start, _ = _END.unpack_from(raw, at)
    if disk or first_disk or here != count:
        raise _split()
    if start + size > at:
        raise _damaged("its directory is not at the given position")
    # `zipfile` ignores the declared number and makes an object of every entry.
    if max(count, raw.count(_ENTRY_MARK, start, start + size)) > MEMBERS_MAX:
        raise UnreadableFile(f"the zip archive has more than {MEMBERS_MAX} members", limit=MEMBERS_MAX)
    # The directory alone, as an archive that begins with it: nothing outside of it can be taken for a part of it.
    directory = raw[start : start + size] + _END.pack(_END_MARK, 0, 0, count, count, size, 0, 0)
    try:
        with ZipFile(BytesIO(directory)) as archive:
            members, is_whole = archive.infolist(), archive.start_dir == 0
    except (BadZipFile, NotImplementedError, ValueError, error):
        raise _damaged("its directory cannot be read") from None
    if not is_whole or len(members) != count:
        raise _damaged("its directory does not have the declared length")
    if any(member.volume for member in members):
        raise _split()
    return start, members


def _find_end_of_directory(raw: bytes) -> int:
    """Return the position of the end record. A comment may follow it, and can contain the same signature."""
    at = len(raw)
    while (at := raw.rfind(_END_MARK, max(0, len(raw) - _END.size - _COMMENT_BYTES_MAX), at)) >= 0:
        if at + _END.size <= len(raw) and at + _END.size + unpack_from("<H", raw, at + 20)[0] == len(raw):
            return at
    raise UnreadableFile("it is not a zip archive, or its end is missing")


def _refuse_overlaps(members: list[ZipInfo], end: int) -> None:
    places = sorted(
        (member.header_offset, member.header_offset + _LOCAL.size + len(_encode_name(member)) + member.compress_size)
        for member in members
    )
    if any(behind > start for (_, behind), (start, _) in pairwise([*places, (end, end)])):
        raise _damaged("its members overlap")


def _encode_name(member: ZipInfo) -> bytes:
    """Return the name in the encoding of the archive."""
    return member.orig_filename.encode("utf-8" if member.flag_bits & _HAS_UTF8_NAME else "cp437")


def _extract(raw: bytes, member: ZipInfo, next_start: int) -> bytes:
    if member.flag_bits & _ENCRYPTED:
        raise UnreadableFile("the zip archive is encrypted; save it without a password")
    start = _find_data_start(raw, member)
    if start + member.compress_size > next_start:
        raise _damaged("a member is truncated")
    packed = memoryview(raw)[start : start + member.compress_size]
    if member.file_size > min(MEMBER_BYTES_MAX, max(RATIO_FREE_BYTES, RATIO_MAX * len(packed))):
        raise _too_large()
    if member.compress_type == ZIP_STORED:
        content = bytes(packed)
    elif member.compress_type == ZIP_DEFLATED:
        content = _inflate(packed, member.file_size)
    else:
        raise UnreadableFile(f"the zip archive uses an unsupported compression method ({member.compress_type})")
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise _damaged("the content does not match its size or checksum")
    return content


def _find_data_start(raw: bytes, member: ZipInfo) -> int:
    """Return the position of the data, which follows a local header that matches the directory entry."""
    place = member.header_offset
    mark, _, flags, method, _, _, crc, packed, size, name_bytes, extra_bytes = _LOCAL.unpack_from(raw, place)
    name_at = place + _LOCAL.size
    header = (mark, raw[name_at : name_at + name_bytes], method, flags & _ENCRYPTED)
    if header != (b"PK\3\4", _encode_name(member), member.compress_type, 0):
        raise _damaged("a member does not match its directory entry")
    are_sizes_here = not flags & _HAS_DATA_DESCRIPTOR and _ZIP64_MARKER not in (packed, size)
    if are_sizes_here and (crc, packed, size) != (member.CRC, member.compress_size, member.file_size):
        raise _damaged("a member does not have the length in its directory entry")
    start: int = name_at + name_bytes + extra_bytes
    return start


def _inflate(packed: memoryview, declared_bytes: int) -> bytes:
    inflater = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(packed, declared_bytes + 1)
    except zlib.error:
        raise _damaged("its data cannot be inflated") from None
    if len(content) > declared_bytes:
        raise _damaged("a member is longer than declared")
    if not inflater.eof:
        raise _damaged("a member is truncated")
    if inflater.unused_data:
        raise _damaged("there is extra data after a member")
    return content


def _damaged(why: str) -> UnreadableFile:
    return UnreadableFile(f"the zip archive is damaged: {why}; export or download it again")


def _split() -> UnreadableFile:
    return UnreadableFile("the zip archive is split into several parts")


def _too_large() -> UnreadableFile:
    return UnreadableFile(
        f"the zip archive would inflate to more than {MEMBER_BYTES_MAX // 2**20} MB, or is compressed too strongly",
        limit_bytes=MEMBER_BYTES_MAX,
    )


DEPTH_MAX = 200
ELEMENTS_MAX = 1_000_000  # a large project has about 100,000
TEXT_CHARS_MAX = 16_000_000  # text and attributes together
TAG_BYTES_MAX = 2**20
CHUNK_BYTES = 64 * 2**10

# Encodings built into the parser. It looks up others among Python codecs, and some of those are not text encodings.
ENCODINGS = frozenset({"utf-8", "utf-16", "utf-16be", "utf-16le", "iso-8859-1", "us-ascii"})

_NO_ATTRIBUTES: dict[str, str] = {}


class Element:
    """An element with its local name, and its texts and child elements in document order."""

    __slots__ = ("attributes", "pieces", "tag")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.pieces: Sequence[str | Element] = ()

    @property
    def children(self) -> list[Element]:
        """The child elements."""
        return [piece for piece in self.pieces if isinstance(piece, Element)]

    @property
    def text(self) -> str:
        """The text of the element, without the text of its children."""
        return "".join(piece for piece in self.pieces if isinstance(piece, str))


def read_xml(raw: bytes) -> Element:
    """Parse a document and return its root."""
    tree = _TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.XmlDeclHandler = tree.on_declaration
    parser.StartDoctypeDeclHandler = tree.on_doctype
    parser.StartElementHandler = tree.on_start
    parser.EndElementHandler = tree.on_end
    parser.CharacterDataHandler = tree.on_text
    try:
        for at in range(0, len(raw), CHUNK_BYTES):
            parser.Parse(raw[at : at + CHUNK_BYTES], False)
            if at - parser.CurrentByteIndex > TAG_BYTES_MAX:  # the index stays at the start of an unfinished tag
                raise UnreadableFile(f"a tag or comment of its XML is longer than {TAG_BYTES_MAX} bytes")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        where, why = f"line {error.lineno}, column {error.offset}", expat.ErrorString(error.code)
        raise UnreadableFile(f"its XML is malformed in {where}: {why}", line=error.lineno) from None
    return tree.root


class _TreeBuilder:
    """A builder of the tree. It keeps a stack of open elements, so that deep XML needs no recursion."""

    def __init__(self) -> None:
        self._open: list[Element] = []
        self._pieces: list[list[str | Element]] = [[]]
        self._elements = 0
        self._chars = 0

    @property
    def root(self) -> Element:
        (root,) = (piece for piece in self._pieces[0] if isinstance(piece, Element))
        return root

    def on_declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            raise UnreadableFile(
                f"its XML is encoded in {quote_text(encoding)}, which is not supported; save it as UTF-8"
            )

    def on_doctype(self, name: str, _system: str | None, _public: str | None, _has_subset: int) -> None:
        raise UnreadableFile(
            f"its XML has a document type ({quote_text(name)}), which is not supported; save it without one"
        )

    def on_start(self, name: str, listed: list[str]) -> None:
        self._elements += 1
        if self._elements > ELEMENTS_MAX:
            raise UnreadableFile(f"its XML has more than {ELEMENTS_MAX} elements", limit=ELEMENTS_MAX)
        if len(self._open) >= DEPTH_MAX:
            raise UnreadableFile(f"its XML is nested deeper than {DEPTH_MAX} elements", limit=DEPTH_MAX)
        element = Element(_strip_prefix(name), self._parse_attributes(listed) if listed else _NO_ATTRIBUTES)
        self._pieces[-1].append(element)
        self._open.append(element)
        self._pieces.append([])

    def on_end(self, _name: str) -> None:
        pieces = self._pieces.pop()
        element = self._open.pop()
        if pieces:
            element.pieces = pieces

    def on_text(self, text: str) -> None:
        self._count(len(text))
        self._pieces[-1].append(text)

    def _parse_attributes(self, listed: list[str]) -> dict[str, str]:
        self._count(sum(map(len, listed)))
        attributes: dict[str, str] = {}
        for name, value in zip(listed[::2], listed[1::2], strict=True):
            prefix, colon, local = name.rpartition(":")
            if colon and prefix != "xmlns":
                attributes.setdefault(local, value)
            elif not colon:
                attributes[name] = value
        return attributes

    def _count(self, chars: int) -> None:
        self._chars += chars
        if self._chars > TEXT_CHARS_MAX:
            raise UnreadableFile(f"its XML holds more than {TEXT_CHARS_MAX} characters of text", limit=TEXT_CHARS_MAX)


def _strip_prefix(name: str) -> str:
    return name.rpartition(":")[2]
