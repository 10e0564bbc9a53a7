"""The tray below the bands: rows of cards that nothing links, by type, so that they do not stretch the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.card_types import BANDS
from groundplan.purpose.picture.layout_steps.columns import Sizes

WIDTH_SHARE_MAX = 0.98  # of the page, if the bands are narrower than the tray could be


class TrayRows(NamedTuple):
    """The left and upper corner of every card in the tray, by number, and the size of the tray."""

    corners: dict[int, tuple[float, float]]
    width: float
    height: float


def place_in_tray(cards: Sequence[int], sizes: Sizes, width: float) -> TrayRows:
    """Place cards in rows from left to right, those of the first band first. The first row begins at 0."""
    step = max((sizes.widths[one] for one in cards), default=0.0) + tokens.TRAY_GAP
    wanted = len(cards) * step - tokens.TRAY_GAP + 2 * tokens.BAND_PAD
    width = max(width, min(wanted, tokens.PAGE_WIDTH * WIDTH_SHARE_MAX - 2 * tokens.MARGIN))
    columns = max(1, int((width - 2 * tokens.BAND_PAD + tokens.TRAY_GAP) // step))
    # Cards of similar height stand in one row, so that rows have no holes.
    ordered = sorted(cards, key=lambda one: (BANDS.index(sizes.types[one]), sizes.heights[one], one))
    corners: dict[int, tuple[float, float]] = {}
    y = 0.0
    for start in range(0, len(ordered), columns):
        row = ordered[start : start + columns]
        for place, one in enumerate(row):
            corners[one] = (round(tokens.BAND_PAD + place * step, 1), round(y, 1))
        y += max(sizes.heights[one] for one in row) + tokens.CARD_GAP
    return TrayRows(corners, round(width, 1), round(max(y - tokens.CARD_GAP, 0.0), 1))
