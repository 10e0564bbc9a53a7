"""Coverage: the files of the last check and the atoms that cover them, as a treemap or a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.surfaces.web.visit import REFUSALS, Visit

GAP = 2.0
HEADER = 20.0
HEADER_WIDTH_MIN = 54.0
INNER_SIDE_MIN = 14.0
CHAR_WIDTH = 7.4  # of the label, in units of the picture
LABEL_CHARS_MIN = 3
STATES = {
    "covered": "covered by one atom",
    "overlapping": "covered, some by several atoms",
    "partly": "partly covered",
    "uncovered": "not covered",
}


class Rectangle(NamedTuple):
    """A rectangle of the picture."""

    x: float
    y: float
    width: float
    height: float

    def shrink(self, *, margin: float, top: float = 0.0) -> Rectangle:
        """Return the rectangle inside of a margin on all sides and a strip at the top. Its sides are never negative."""
        width = max(self.width - 2 * margin, 0.0)
        height = max(self.height - 2 * margin - top, 0.0)
        return Rectangle(self.x + margin, self.y + margin + top, width, height)


def lay_out(sizes: Sequence[float], within: Rectangle) -> list[Rectangle]:
    """Return a rectangle for each size, in order. The sizes must be positive, and the largest must come first.

    Sizes are taken into a strip along the shorter side as long as this makes its rectangles more square; then the rest
    of the area is divided in the same way.
    """
    total = sum(sizes)
    if not total or not within.width or not within.height:
        return [Rectangle(within.x, within.y, 0.0, 0.0) for _ in sizes]
    areas = [size / total * within.width * within.height for size in sizes]
    placed: list[Rectangle] = []
    rest, first = within, 0
    while first < len(areas):
        side = min(rest.width, rest.height)
        last = first + 1
        while last < len(areas) and _get_worst(areas[first : last + 1], side) <= _get_worst(areas[first:last], side):
            last += 1
        strip, rest = _place_strip(areas[first:last], rest, is_last=last == len(areas))
        placed += strip
        first = last
    return placed


def _get_worst(areas: Sequence[float], side: float) -> float:
    """Return the largest aspect ratio of the rectangles in a strip along a side. The areas must be sorted."""
    thickness = sum(areas) / side
    if not thickness:
        return 0.0
    return max(max(area / thickness**2, thickness**2 / area) for area in (areas[0], areas[-1]))


def _place_strip(areas: Sequence[float], rest: Rectangle, *, is_last: bool) -> tuple[list[Rectangle], Rectangle]:
    """Return the rectangles of a strip along the shorter side, and the rest of the area."""
    is_column = rest.width >= rest.height
    side, depth = (rest.height, rest.width) if is_column else (rest.width, rest.height)
    # The last strip takes what is left, so that rounding leaves no gap.
    thickness = depth if is_last else min(sum(areas) / side, depth)
    placed, at = [], 0.0
    for area in areas:
        length = area / sum(areas) * side
        if is_column:
            placed.append(Rectangle(rest.x, rest.y + at, thickness, length))
        else:
            placed.append(Rectangle(rest.x + at, rest.y, length, thickness))
        at += length
    if is_column:
        return placed, Rectangle(rest.x + thickness, rest.y, rest.width - thickness, rest.height)
    return placed, Rectangle(rest.x, rest.y + thickness, rest.width, rest.height - thickness)


class CellPart(NamedTuple):
    """A rectangle inside of a cell, for a part of its folder."""

    place: Rectangle
    state: str
    label: str  # as that of a cell


class Cell(NamedTuple):
    """A rectangle of the treemap, for a folder or a file in the shown folder."""

    place: Rectangle
    path: str
    label: str  # shortened to fit; empty if nothing fits
    words: str  # what it says to a reader who does not see it
    state: str
    address: str  # of the folder; empty for a file
    parts: Sequence[CellPart]


class UncoveredRow(NamedTuple):
    """A folder with files that no atom covers, and those of its files that recent work names."""

    path: str
    files: int
    recent: Sequence[str]
    pattern: str  # that would cover the folder


def read_coverage(visit: Visit) -> Mapping[str, Any]:
    """Return the folder in the address as a picture and as a list."""
    shown: dict[str, Any] = {"coverage": None, "cells": [], "states": STATES, "picture": PICTURE, "problem": ""}
    try:
        coverage = visit.session.call(
            "knowledge.coverage", projectId=visit.project.name, folder=visit.query.get("folder", "")
        )
    except REFUSALS as error:
        return {**shown, "problem": error.message}
    is_list = visit.query.get("show") == "list"
    shown |= {
        "coverage": coverage,
        "is_list": is_list,
        "trail": _list_trail(coverage.folder),
        "state_of": get_state,
        "sample": -(-coverage.total // coverage.kept) if coverage.kept else 1,
    }
    if is_list:
        return {**shown, "uncovered": _sort_by_work(visit, coverage)}
    return {**shown, "cells": draw_cells(visit, coverage.entries)}


def get_state(entry: Any) -> str:
    """Return the coverage of a folder or a file: uncovered, partly, covered or overlapping."""
    if not entry.covered:
        return "uncovered"
    if entry.covered < entry.files:
        return "partly"
    return "overlapping" if entry.overlapping else "covered"


def draw_cells(visit: Visit, entries: Sequence[Any]) -> list[Cell]:
    """Return the rectangles of the entries of a folder."""
    places = lay_out([entry.files for entry in entries], PICTURE)
    return [_draw_cell(visit, entry, place) for entry, place in zip(entries, places, strict=True)]


def _draw_cell(visit: Visit, entry: Any, place: Rectangle) -> Cell:
    inside = place.shrink(margin=GAP / 2)
    name = _name(entry)
    state = get_state(entry)
    has_header = inside.height >= HEADER and inside.width >= HEADER_WIDTH_MIN
    return Cell(
        inside,
        entry.path,
        _fit(name, inside.width) if has_header else "",
        f"{name} {_count(entry)}",
        state,
        visit.link(folder=entry.path, show=None) if entry.is_folder else "",
        _draw_parts(entry, inside.shrink(margin=3, top=HEADER if has_header else 0)) if entry.is_folder else (),
    )


def _draw_parts(entry: Any, inside: Rectangle) -> list[CellPart]:
    if min(inside.width, inside.height) < INNER_SIDE_MIN:
        return []
    parts = list(entry.entries or ())
    sizes, states, names = [part.files for part in parts], [get_state(part) for part in parts], [*map(_name, parts)]
    left = entry.files - sum(sizes)
    if left:  # the smallest entries, which the answer leaves out, are one part
        covered = entry.covered - sum(part.covered for part in parts)
        sizes.append(left)
        states.append("covered" if covered == left else "partly" if covered else "uncovered")
        names.append("others")
    order = sorted(range(len(sizes)), key=lambda n: -sizes[n])
    places = lay_out([sizes[n] for n in order], inside)
    return [
        CellPart(place.shrink(margin=0.75), states[n], _fit(names[n], place.width) if place.height >= HEADER else "")
        for n, place in zip(order, places, strict=True)
    ]


def _name(entry: Any) -> str:
    name: str = entry.path.rpartition("/")[2]
    return f"{name}/" if entry.is_folder else name


def _fit(name: str, width: float) -> str:
    chars = int((width - 10) / CHAR_WIDTH)
    if len(name) <= chars:
        return name
    return f"{name[: chars - 1]}…" if chars > LABEL_CHARS_MIN else ""


def _count(entry: Any) -> str:
    if not entry.is_folder:
        return STATES[get_state(entry)].replace(", some", "") if entry.covered else "not covered"
    several = f", {entry.overlapping} by several atoms" if entry.overlapping else ""
    return f"{entry.covered} of {entry.files} files covered{several}"


def _list_trail(folder: str) -> list[tuple[str, str]]:
    """Return the folders above a folder, each with its path."""
    names = folder.split("/") if folder else []
    return [(name, "/".join(names[: depth + 1])) for depth, name in enumerate(names)]


def _sort_by_work(visit: Visit, coverage: Any) -> list[UncoveredRow]:
    """Return the folders without knowledge: first those in recent work, then those with most files."""
    recent = visit.call("briefing.coverage").uncovered_files
    by_folder: dict[str, list[str]] = {}
    for path in recent:
        by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    rank = {folder: number for number, folder in enumerate(by_folder)}
    rows = sorted(coverage.uncovered, key=lambda row: rank.get(row.path, len(rank)))  # stable: most files first
    return [
        UncoveredRow(row.path, row.files, by_folder.get(row.path, ()), f"{row.path}/**" if row.path else "*")
        for row in rows
    ]


PICTURE = Rectangle(0, 0, 1000, 470)
