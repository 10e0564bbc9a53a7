"""A Miradi project as XML: pools of items, each with an Id and fields prefixed with its kind.

    ConservationProject
      StrategyPool/Strategy Id="12"              StrategyName, StrategyDetails, StrategyIndicatorIds/IndicatorId …
      DiagramFactorPool/DiagramFactor Id="40"    DiagramFactorWrappedFactorId/WrappedByDiagramFactorId/StrategyId  12
      DiagramLinkPool/DiagramLink Id="50"        DiagramLinkFromDiagramFactorId/LinkableFactorId/StrategyId        40
                                                 DiagramLinkToDiagramFactorId/LinkableFactorId/CauseId             41

Diagram factors place a factor on diagrams, and links connect diagram factors: the innermost element of a link's end is
named after the factor and holds the Id of the diagram factor. Texts are formatted with HTML elements: `div`, `br`, `b`,
`i`, `u`, `strike`, `a`, `ul`, `ol`, `li`. Names are the same from the first versions of the schema to version 248,
except for a few, which are looked up by each of their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.formats.document import ITEMS_MAX
from groundplan.purpose.exchange.readers.document_builder import UnreadableFile, too_many
from groundplan.purpose.exchange.readers.safe_xml import Element

ID_CHARS_MAX = 64  # they are numbers
LABEL_CHARS_MAX = 100
KIND_CHARS_MAX = 80
NO_REFERENCE = ("", "")
POOL_MAX = 10 * ITEMS_MAX  # a factor may be on any number of diagrams, and its links with it

_BLOCK_TAGS = frozenset({"br", "div", "ul", "ol", "li"})
_BULLET = "\n- "
_SPACE = re.compile(r"\s+")
_WORD = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class MiradiItem:
    """An item of a pool."""

    def __init__(self, element: Element) -> None:
        self.kind = element.tag
        self.id = element.attributes.get("Id", "").strip()
        if not 0 < len(self.id) <= ID_CHARS_MAX:
            raise UnreadableFile(f"it has a {quote_text(self.kind)} whose Id is {quote_text(self.id)}")
        self._fields: dict[str, Element] = {}
        for child in element.children:
            self._fields.setdefault(child.tag.removeprefix(self.kind), child)

    @cached_property
    def name(self) -> str:
        """The name, or an empty text."""
        return " ".join(self.get_text("Name").split())

    @property
    def label(self) -> str:
        """A short label for messages."""
        return self.name[:LABEL_CHARS_MAX] or f"{self.kind} {self.id}"

    def get_text(self, field: str) -> str:
        """Return a formatted text as plain text with the same lines."""
        element = self._fields.get(field)
        return "" if element is None else extract_text(element)

    def is_true(self, field: str) -> bool:
        return self.get_text(field) in ("1", "true")

    def get_ids(self, *fields: str) -> list[str]:
        """Return the Ids of the first list that exists under these names."""
        lists = (self._fields[field].children for field in fields if field in self._fields)
        return [one.text.strip() for one in next(lists, [])]

    def get_reference(self, field: str) -> tuple[str, str]:
        """Return the kind and the Id of a reference, or NO_REFERENCE."""
        element = self._fields.get(field)
        while element is not None and element.children:
            element = element.children[0]
        identifier = "" if element is None else element.text.strip()
        if element is None or not 0 < len(identifier) <= ID_CHARS_MAX:
            return NO_REFERENCE
        return element.tag.removesuffix("Id"), identifier


class MiradiProject:
    """The pools of a project."""

    def __init__(self, root: Element) -> None:
        if root.tag != "ConservationProject":
            raise UnreadableFile(f"it is not a Miradi project: its XML begins with {quote_text(root.tag)}")
        self._elements: dict[str, list[Element]] = {}
        for pool in root.children:
            kind = pool.tag.removesuffix("Pool")
            if kind != pool.tag:
                self._elements.setdefault(kind, []).extend(pool.children)
        self._pools: dict[str, dict[str, MiradiItem]] = {}

    def get_pool(self, kind: str) -> dict[str, MiradiItem]:
        """Return all items of a kind, by Id."""
        if kind not in self._pools:
            found: dict[str, MiradiItem] = {}
            for thing in self._iter_items(kind):
                if thing.id in found:
                    raise UnreadableFile(f"two of its {quote_text(kind)} have the Id {quote_text(thing.id)}")
                found[thing.id] = thing
                if len(found) > POOL_MAX:
                    raise too_many(f"items of the kind {quote_text(kind)}", POOL_MAX)
            self._pools[kind] = found
        return self._pools[kind]

    def list_unread(self) -> Iterator[tuple[str, str]]:
        """Yield kind and label of each item in the pools that were not read."""
        for kind, elements in self._elements.items():
            if kind not in self._pools:
                yield from ((kind, _label_element(one)) for one in elements)

    def _iter_items(self, kind: str) -> Iterator[MiradiItem]:
        yield from (MiradiItem(one) for one in self._elements.get(kind, ()) if one.tag == kind)


def to_words(kind: str) -> str | None:
    """Return a kind in words: `sub target`, `IUCN red list species`. None if it is not a valid name."""
    if len(kind) > KIND_CHARS_MAX or not kind.isascii() or not kind.isalpha():
        return None
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in _WORD.findall(kind))


def extract_text(formatted: Element) -> str:
    """Return the text of an element and its descendants. As in HTML, only elements break lines."""
    parts: list[str] = []
    waiting: list[str | Element] = [formatted]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            parts.append(piece)
            continue
        if piece.tag in _BLOCK_TAGS:
            parts.append(_BULLET if piece.tag == "li" else "\n")
            waiting.append("\n")
        waiting.extend(_SPACE.sub(" ", one) if isinstance(one, str) else one for one in reversed(piece.pieces))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _label_element(element: Element) -> str:
    """Return a label for an element, which may have no Id."""
    names = (extract_text(child) for child in element.children if child.tag == f"{element.tag}Name")
    name = " ".join(next(names, "").split()) or f"{element.tag} {element.attributes.get('Id', '')}".rstrip()
    return name[:LABEL_CHARS_MAX]
