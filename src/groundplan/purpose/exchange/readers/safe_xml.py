"""XML that nobody vouches for, as a light tree.

A document type is refused, whatever is in it: with it go entities, those that grow and those that fetch. Prefixes and
namespaces are dropped, so versions of a schema look alike. How deep, how many and how much is limited, and so is the
length of a single tag, which the parser below reads over again with every piece that comes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.parsers import expat

from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.readers.document_builder import UnreadableFile

DEPTH_MAX = 200
ELEMENTS_MAX = 1_000_000  # a large project has some 100,000
TEXT_CHARS_MAX = 16_000_000  # text and attributes together
TAG_BYTES_MAX = 2**20
CHUNK_BYTES = 64 * 2**10

# What the parser knows by itself. Others it would look up among codecs, and some of those are no encodings of text.
ENCODINGS = frozenset({"utf-8", "utf-16", "utf-16be", "utf-16le", "iso-8859-1", "us-ascii"})

_NO_ATTRIBUTES: dict[str, str] = {}


class Element:
    """An element by its local name, with texts and elements in the order in which they stand in it."""

    __slots__ = ("attributes", "pieces", "tag")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.pieces: Sequence[str | Element] = ()

    @property
    def children(self) -> list[Element]:
        """The elements in it."""
        return [piece for piece in self.pieces if isinstance(piece, Element)]

    @property
    def text(self) -> str:
        """The text in it, without that of its elements."""
        return "".join(piece for piece in self.pieces if isinstance(piece, str))


def read_xml(raw: bytes) -> Element:
    """The root of a document.

    Raises:
        UnreadableFile: it is no XML, or XML that is not read here.
    """
    tree = _Tree()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.XmlDeclHandler = tree.on_declaration
    parser.StartDoctypeDeclHandler = tree.on_doctype
    parser.StartElementHandler = tree.opened
    parser.EndElementHandler = tree.closed
    parser.CharacterDataHandler = tree.on_text
    try:
        for at in range(0, len(raw), CHUNK_BYTES):
            parser.Parse(raw[at : at + CHUNK_BYTES], False)
            if at - parser.CurrentByteIndex > TAG_BYTES_MAX:  # it stays where a tag begins until the tag ends
                raise UnreadableFile(f"a tag or comment of its XML is longer than {TAG_BYTES_MAX} bytes")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        where, why = f"line {error.lineno}, column {error.offset}", expat.ErrorString(error.code)
        raise UnreadableFile(f"its XML is broken in {where}: {why}", line=error.lineno) from None
    return tree.root


class _Tree:
    """What has been read: the elements that are still open are on a stack, so depth costs no recursion."""

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
            raise UnreadableFile(f"its XML is encoded in {quote_text(encoding)}, which is not read; save it as UTF-8")

    def on_doctype(self, name: str, _system: str | None, _public: str | None, _has_subset: int) -> None:
        raise UnreadableFile(f"its XML has a document type ({quote_text(name)}), which is not read; save it without")

    def opened(self, name: str, listed: list[str]) -> None:
        self._elements += 1
        if self._elements > ELEMENTS_MAX:
            raise UnreadableFile(f"its XML has more than {ELEMENTS_MAX} elements", limit=ELEMENTS_MAX)
        if len(self._open) >= DEPTH_MAX:
            raise UnreadableFile(f"its XML is nested deeper than {DEPTH_MAX} elements", limit=DEPTH_MAX)
        element = Element(_local(name), self._attributes(listed) if listed else _NO_ATTRIBUTES)
        self._pieces[-1].append(element)
        self._open.append(element)
        self._pieces.append([])

    def closed(self, _name: str) -> None:
        pieces = self._pieces.pop()
        element = self._open.pop()
        if pieces:
            element.pieces = pieces

    def on_text(self, text: str) -> None:
        self._count(len(text))
        self._pieces[-1].append(text)

    def _attributes(self, listed: list[str]) -> dict[str, str]:
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


def _local(name: str) -> str:
    return name.rpartition(":")[2]
