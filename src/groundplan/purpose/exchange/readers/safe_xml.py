"""Parse untrusted XML into a small tree.

Any document type is rejected, which excludes entity expansion and external entities. Prefixes and namespaces are
dropped, so versions of a schema look alike. Depth, element count and text size are limited, and so is the length of a
single tag, because the parser rescans an open tag with every chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.parsers import expat

from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.readers.document_builder import UnreadableFile

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
        """The text of the element, without that of its children."""
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
    """Builds the tree with a stack of open elements, so depth needs no recursion."""

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
        found: dict[str, str] = {}
        for name, value in zip(listed[::2], listed[1::2], strict=True):
            prefix, colon, local = name.rpartition(":")
            if colon and prefix != "xmlns":
                found.setdefault(local, value)
            elif not colon:
                found[name] = value
        return found

    def _count(self, chars: int) -> None:
        self._chars += chars
        if self._chars > TEXT_CHARS_MAX:
            raise UnreadableFile(f"its XML holds more than {TEXT_CHARS_MAX} characters of text", limit=TEXT_CHARS_MAX)


def _strip_prefix(name: str) -> str:
    return name.rpartition(":")[2]
