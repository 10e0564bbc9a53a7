"""Write a drawn canvas completely, or only the elements that differ from those on the page.

A page names the canvas that it shows by its digest. If that one is still known here, a group of the same elements is
written with `data-patch` and only what differs in it; if something was added or went, with `data-same` instead of the
content of each element that both have. So an answer to an edit is as long as the edit, and not as the plan.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import NamedTuple

CANVASES_KEPT = 32  # the last ones of this process
PARTS_KEPT = 32_768  # in all of them, about 20 MB: six canvases of 2,000 cards
DIGEST_BYTES = 12


class CanvasElement(NamedTuple):
    """A card or a link: the name of its element on the page, and its SVG."""

    name: str  # as in `data-id`, escaped
    svg: str
    tag: str = "a"


ElementGroup = Mapping[str, CanvasElement]  # by name, in the order in which they are drawn


class CanvasDrawing(NamedTuple):
    """A drawn canvas: its background, its groups of elements by name, and its size."""

    ground: str
    groups: Mapping[str, ElementGroup]
    width: int
    height: int

    @property
    def svg(self) -> str:
        """The whole canvas."""
        return self._write(compute_digest(self), None)

    def write(self, shown: str = "") -> str:
        """Return the canvas for a page that has the canvas with the digest `shown`."""
        digest = compute_digest(self)
        before = _kept.find(shown)
        _kept.keep(digest, self)
        return self._write(digest, before, shown)

    def _write(self, digest: str, before: CanvasDrawing | None, shown: str = "") -> str:
        origin = "" if before is None else f' data-from="{shown}"'
        groups = (_write_group(name, self.groups[name], before) for name in self.groups)
        return (
            f'<svg class="plan-svg" xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" data-drawn="{digest}"{origin}>'
            f"{self.ground}{''.join(groups)}</g></svg>"
        )


def compute_digest(drawn: CanvasDrawing) -> str:
    """Return a digest of the content of a canvas."""
    digest = blake2b(drawn.ground.encode("utf-8", "replace"), digest_size=DIGEST_BYTES)
    for group in drawn.groups.values():
        digest.update("".join(part.svg for part in group.values()).encode("utf-8", "replace"))
    return digest.hexdigest()


def _write_group(name: str, group: ElementGroup, before: CanvasDrawing | None) -> str:
    shown = before.groups[name] if before is not None else {}
    if shown and [*shown] == [*group]:
        changed = "".join(part.svg for part in group.values() if part.svg != shown[part.name].svg)
        return f'<g data-id="{name}" data-patch>{changed}</g>'
    return f'<g data-id="{name}">{"".join(_write_part(part, shown) for part in group.values())}</g>'


def _write_part(part: CanvasElement, shown: ElementGroup) -> str:
    before = shown.get(part.name)
    if before is not None and before.svg == part.svg:
        return f'<{part.tag} data-id="{part.name}" data-same></{part.tag}>'
    return part.svg


class _KeptCanvases:
    """The canvases that were written last, by digest."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, CanvasDrawing] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, digest: str) -> CanvasDrawing | None:
        with self._lock:
            return self._kept.get(digest)

    def keep(self, digest: str, drawn: CanvasDrawing) -> None:
        with self._lock:
            self._kept[digest] = drawn
            self._kept.move_to_end(digest)
            while len(self._kept) > 1 and (len(self._kept) > CANVASES_KEPT or self._count_parts() > PARTS_KEPT):
                self._kept.popitem(last=False)

    def _count_parts(self) -> int:
        return sum(len(group) for drawn in self._kept.values() for group in drawn.groups.values())


_kept = _KeptCanvases()
