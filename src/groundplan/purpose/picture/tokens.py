"""The design tokens of the picture: types of cards, colours, type sizes, spacing.

A page uses the colours as CSS variables and can switch between light and dark; a file uses resolved values. Green,
amber and red are reserved for risk, so types and changes use blue to magenta. Colour is never the only cue: types
and risks also differ in shape, review status in sign, changes in sign and outline.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from groundplan.purpose.model import LEVELS, AssumptionStatus, Confidence, EdgeType, NodeType, RiskLevel


class WorkType(StrEnum):
    """The type of cards for work."""

    WORK = "WORK"


CardType = NodeType | WorkType

# From left to right: work, then causes before effects.
BANDS: tuple[CardType, ...] = (WorkType.WORK, *sorted(LEVELS, key=LEVELS.__getitem__))

PREFIX = "--gp-"


class Theme(StrEnum):
    """The theme of a picture. With `auto` it follows the setting of the viewer."""

    LIGHT = "light"
    DARK = "dark"
    AUTO = "auto"


class Colour(NamedTuple):
    """A colour for light and for dark pages."""

    light: str
    dark: str


COLOURS = {
    "page": Colour("#ffffff", "#0f1420"),
    "band": Colour("#f5f7fa", "#161d2c"),
    "heading": Colour("#111827", "#f3f4f6"),
    "text": Colour("#111827", "#f3f4f6"),
    "subtext": Colour("#4b5563", "#b6bfcc"),
    "line": Colour("#51617a", "#93a3ba"),
    "line-strong": Colour("#1e3a8a", "#a9c6ff"),
    "muted-line": Colour("#7f8a9b", "#66748b"),
    "muted-fill": Colour("#ffffff", "#141b29"),
    "muted-text": Colour("#5d6878", "#9ba7b9"),
    "activity-fill": Colour("#e6f4fb", "#0c2a3b"),
    "activity-line": Colour("#0a6c99", "#4cb9ee"),
    "output-fill": Colour("#e8effe", "#15254d"),
    "output-line": Colour("#1f4fd0", "#86a8ff"),
    "outcome-fill": Colour("#f0eafd", "#271b4d"),
    "outcome-line": Colour("#6b2bd6", "#b296ff"),
    "goal-fill": Colour("#7a1788", "#7d2a8c"),
    "goal-line": Colour("#4f0b59", "#e99bf5"),
    "goal-text": Colour("#ffffff", "#ffffff"),
    "goal-subtext": Colour("#f3dcf7", "#f3dcf7"),
    "risk-high": Colour("#b3161b", "#ff8080"),
    "risk-medium": Colour("#a65200", "#f5b042"),
    "risk-low": Colour("#1a7a3c", "#5fd68b"),
    "risk-unsaid": Colour("#566175", "#a8b3c4"),
    "risk-sign": Colour("#ffffff", "#0f1420"),
    "added": Colour("#1f4fd0", "#86a8ff"),
    "removed": Colour("#5d6878", "#9ba7b9"),
    "changed": Colour("#a1189f", "#f08cf5"),
    "change-sign": Colour("#ffffff", "#0f1420"),
}

# A goal is dark, so badges and signs on it have a plate.
COLOURS["goal-badge"] = Colour("#ffffff", "#0f1420")

TYPE_HUES = {
    NodeType.ACTIVITY: "activity",
    NodeType.OUTPUT: "output",
    NodeType.OUTCOME: "outcome",
    NodeType.GOAL: "goal",
}
RISK_COLOURS: dict[RiskLevel | None, str] = {
    RiskLevel.HIGH: "risk-high",
    RiskLevel.MEDIUM: "risk-medium",
    RiskLevel.LOW: "risk-low",
    None: "risk-unsaid",
}
RISK_NAMES: dict[RiskLevel | None, str] = {
    RiskLevel.HIGH: "high risk",
    RiskLevel.MEDIUM: "medium risk",
    RiskLevel.LOW: "low risk",
    None: "risk not said",
}
STATUS_NAMES = {
    AssumptionStatus.UNTESTED: "untested",
    AssumptionStatus.HOLDING: "holding",
    AssumptionStatus.AT_RISK: "at risk",
    AssumptionStatus.REFUTED: "refuted",
}
BAND_NAMES = {
    NodeType.ACTIVITY: "Activities",
    NodeType.OUTPUT: "Outputs",
    NodeType.OUTCOME: "Outcomes",
    NodeType.GOAL: "Goals",
}
TRAY_NAME = "Not linked"
# The relation of a cause to its effect. An edge is drawn this way, also if its source is the effect.
RELATION_NAMES = {
    EdgeType.CONTRIBUTES_TO: "contributes to",
    EdgeType.CAUSES: "causes",
    EdgeType.DEPENDS_ON: "is needed by",
    EdgeType.FEEDBACK: "feedback",
}

SINGULAR_NAMES = {
    NodeType.ACTIVITY: "activity",
    NodeType.OUTPUT: "output",
    NodeType.OUTCOME: "outcome",
    NodeType.GOAL: "goal",
}

# Work has no hue, so that it does not look like a cause of its own.
CARD_HUES: dict[CardType, str] = dict([(WorkType.WORK, "muted"), *TYPE_HUES.items()])
CARD_BAND_NAMES: dict[CardType, str] = dict([(WorkType.WORK, "Work"), *BAND_NAMES.items()])

FONT = "Arimo, Arial, Helvetica, 'Liberation Sans', sans-serif"
TITLE_PX = 21
SUBTITLE_PX = 13
BAND_PX = 13
KEY_PX = 12
BADGE_KEY_PX = 11
LEGEND_PX = 12


class CardStyle(NamedTuple):
    """The dimensions of a card of one type, in pixels."""

    width: int
    title_px: int
    line_height: int
    lines_max: int
    inset: int  # of text from both sides, including what the shape takes
    outline: float


CARD = CardStyle(width=190, title_px=15, line_height=18, lines_max=6, inset=13, outline=1.5)
CARDS: dict[CardType, CardStyle] = {
    WorkType.WORK: CARD,
    NodeType.ACTIVITY: CARD,
    NodeType.OUTPUT: CARD,
    NodeType.OUTCOME: CARD,
    NodeType.GOAL: CardStyle(width=224, title_px=18, line_height=22, lines_max=8, inset=20, outline=3.0),
}
CARD_PAD = 8
META_HEIGHT = 16  # the line with the key and the owner
FOOT_HEIGHT = 21  # the line with badges
CARD_GAP = 12
STACK_OFFSET = 5  # of the card behind that of a group
CORNER = 13  # size of cut or rounded corners

LANE_HEIGHT = 10  # height of a lane for a passing edge
LANE_GAP = 9
GUTTER = 46  # between columns of a band
GUTTER_BETWEEN_BANDS = 62
GUTTER_PER_EDGE = 1.2
GUTTER_MORE_MAX = 40
BAND_PAD = 12
TRAY_GAP = 16  # between cards of the tray
TRAY_DISTANCE = 16  # of the tray from what is above it
BACK_LANE = 11  # between trunks of edges that lead back
TRACK = 9  # between tracks of edges that lead back
TRACK_DISTANCE = 14  # of a track or trunk from the edge of a band
TRACK_DISTANCE_INSIDE = 16  # of a track from the cards of a column inside a band
TRACKS_APART = 24  # between the tracks of two columns
MARGIN = 20
HEADER_HEIGHT = 56
AROUND_HEIGHT = 230  # approximate height of header, legend and margins
BAND_HEADER_HEIGHT = 34
TEXT_SCALE_MAX = 6.0  # of titles and legend in a picture that is larger than a page

BADGE = 15
SIGN = 16  # of a change
ARROW = 7

LINE_WIDTHS: dict[Confidence | None, float] = {
    Confidence.HIGH: 3.0,
    Confidence.MEDIUM: 1.9,
    Confidence.LOW: 1.4,
    None: 1.0,
}
LOW_DASH = "2 3"
FEEDBACK_DASH = "8 5"
REMOVED_DASH = "5 4"

# The page on which forty nodes must be readable in full.
PAGE_WIDTH, PAGE_HEIGHT = 1600, 900

Paint = Callable[[str], str]  # maps a colour name to its SVG value


def make_paint(theme: Theme) -> Paint:
    """Return the function that maps colours to SVG. With `auto` the colours are variables from `build_css_rules`."""
    if theme is Theme.AUTO:
        return _assign_unique_shades().__getitem__
    return {name: colour.light if theme is Theme.LIGHT else colour.dark for name, colour in COLOURS.items()}.__getitem__


def _assign_unique_shades() -> dict[str, str]:
    """Return the light colours, slightly changed where needed, so that a style sheet can select each of them."""
    shades: dict[str, str] = {}
    for name, colour in COLOURS.items():
        shade = int(colour.light[1:], 16)
        while f"#{shade:06x}" in shades.values():
            shade -= 1
        shades[name] = f"#{shade:06x}"
    return shades


def build_css_rules() -> str:
    """Return the style sheet for `auto`: variables for every colour in the picture.

    Viewers without CSS variables use the plain colours, which are the light ones.
    """
    rules = (
        f'[{where}="{shade}"]{{{where}:var({PREFIX}{name})}}'
        for name, shade in _assign_unique_shades().items()
        for where in ("fill", "stroke")
    )
    return build_css_variables() + "".join(rules)


def build_css_variables() -> str:
    """Return the colours as CSS for light and dark, by the preference of the reader or by the setting of the page."""
    light, dark = (
        "".join(f"{PREFIX}{name}:{getattr(colour, theme)};" for name, colour in COLOURS.items())
        for theme in ("light", "dark")
    )
    return (
        f":root{{{light}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f":root[data-theme=light]{{{light}}}"
        f":root[data-theme=dark]{{{dark}}}"
    )
