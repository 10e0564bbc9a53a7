"""What is wrong with a layout, measured on the lines as they are drawn: overlaps, lines over cards, crossings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from groundplan.purpose.model import EdgeName
from groundplan.purpose.picture.layout import Box, Layout
from groundplan.purpose.picture.routes import EdgeRoute, Point

CURVE_STEPS = 12
A_HAIR = 0.11  # coordinates have one decimal
CELL_PX = 64.0

Segment = tuple[Point, Point]


def find_overlaps(layout: Layout) -> list[tuple[str, str]]:
    """Return the pairs of cards that overlap."""
    return [
        (one, other)
        for (one, a), (other, b) in combinations(layout.boxes.items(), 2)
        if a.x + a.width > b.x + A_HAIR
        and b.x + b.width > a.x + A_HAIR
        and a.y + a.height > b.y + A_HAIR
        and b.y + b.height > a.y + A_HAIR
    ]


def find_lines_over_cards(layout: Layout) -> list[tuple[EdgeName, str]]:
    """Return the edges that run over a card, with the card. Pieces of a line are straight, or so short as to be."""
    cells: dict[tuple[int, int], list[str]] = {}
    for key, (x, y, width, height) in layout.boxes.items():
        for cell in _list_cells(((x, y), (x + width, y + height))):
            cells.setdefault(cell, []).append(key)
    found: dict[tuple[EdgeName, str], None] = {}
    for name, route in layout.routes.items():
        for piece in pairwise(trace_points(route)):
            near = {key for cell in _list_cells(piece) for key in cells.get(cell, ())}
            found.update({(name, key): None for key in near if _is_over(piece, layout.boxes[key])})
    return list(found)


def _is_over(piece: Segment, box: Box) -> bool:
    (x1, y1), (x2, y2) = piece
    is_level = max(x1, x2) > box.x + A_HAIR and min(x1, x2) < box.x + box.width - A_HAIR
    return is_level and max(y1, y2) > box.y + A_HAIR and min(y1, y2) < box.y + box.height - A_HAIR


def count_crossings(layout: Layout) -> int:
    """Return the number of places at which two lines cross. Lines that run together count once."""
    segments = {name: list(pairwise(trace_points(route))) for name, route in layout.routes.items()}
    cells: dict[tuple[int, int], list[tuple[EdgeName, Segment]]] = {}
    for name, pieces in segments.items():
        for piece in pieces:
            for cell in _list_cells(piece):
                cells.setdefault(cell, []).append((name, piece))
    places: set[tuple[int, int]] = set()
    for near in cells.values():
        for (one, a), (other, b) in combinations(near, 2):
            if one != other and _is_near(a, b) and (point := _find_crossing(a, b)) is not None:
                places.add((round(point[0]), round(point[1])))
    return len(places)


def trace_points(route: EdgeRoute) -> list[Point]:
    """Return close points along an edge, as the renderer draws it."""
    found = [route.points[0]]
    for (x1, y1), (x2, y2) in pairwise(route.points):
        if route.is_back or y1 == y2:
            found.append((x2, y2))
            continue
        middle = (x1 + x2) / 2
        for step in range(1, CURVE_STEPS + 1):
            share = step / CURVE_STEPS
            rest = 1 - share
            x = rest**3 * x1 + 3 * rest * share * middle + share**3 * x2
            y = (rest**3 + 3 * rest**2 * share) * y1 + (3 * rest * share**2 + share**3) * y2
            found.append((x, y))
    return found


def _list_cells(piece: Segment) -> Iterator[tuple[int, int]]:
    (x1, y1), (x2, y2) = piece
    for column in range(int(min(x1, x2) // CELL_PX), int(max(x1, x2) // CELL_PX) + 1):
        for row in range(int(min(y1, y2) // CELL_PX), int(max(y1, y2) // CELL_PX) + 1):
            yield column, row


def _is_near(one: Segment, other: Segment) -> bool:
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    if (ax if ax > bx else bx) < (cx if cx < dx else dx) or (cx if cx > dx else dx) < (ax if ax < bx else bx):
        return False
    return (ay if ay > by else by) >= (cy if cy < dy else dy) and (cy if cy > dy else dy) >= (ay if ay < by else by)


def _find_crossing(one: Segment, other: Segment) -> Point | None:
    """Return where two segments cross, unless they only touch or run along each other."""
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    across = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if abs(across) < 1e-9:
        return None
    share = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / across
    other_share = ((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) / across
    if 1e-6 < share < 1 - 1e-6 and 1e-6 < other_share < 1 - 1e-6:
        return ax + share * (bx - ax), ay + share * (by - ay)
    return None
