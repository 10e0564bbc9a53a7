"""The table of colours keeps its promises: contrast and distinct hues."""

from __future__ import annotations

import re
from colorsys import rgb_to_hls
from itertools import pairwise

import pytest

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.tokens import COLOURS, Theme

TEXT_CONTRAST, SHAPE_CONTRAST = 4.5, 3.0
THEMES = ("light", "dark")

# Pairs of foreground and background, of which the contrast is checked.
TEXT_ON = {
    "heading": ("page", "band"),
    "text": ("activity-fill", "output-fill", "outcome-fill", "muted-fill", "page"),
    "subtext": ("page", "band", "activity-fill", "output-fill", "outcome-fill", "muted-fill", "goal-badge"),
    "muted-text": ("muted-fill", "band", "page"),
    "goal-text": ("goal-fill",),
    "goal-subtext": ("goal-fill",),
    "risk-sign": ("risk-high", "risk-medium", "risk-low", "risk-unsaid"),
    "change-sign": ("added", "removed", "changed"),
}
SHAPE_ON = {
    "line": ("page", "band"),
    "line-strong": ("page", "band"),
    "muted-line": ("page", "band", "muted-fill"),
    "activity-line": ("page", "band", "activity-fill"),
    "output-line": ("page", "band", "output-fill"),
    "outcome-line": ("page", "band", "outcome-fill"),
    "goal-line": ("page", "band"),
    "risk-high": ("page", "band", "activity-fill", "output-fill", "outcome-fill", "muted-fill", "goal-badge"),
    "risk-medium": ("page", "band", "activity-fill", "output-fill", "outcome-fill", "muted-fill", "goal-badge"),
    "risk-low": ("page", "band", "activity-fill", "output-fill", "outcome-fill", "muted-fill", "goal-badge"),
    "risk-unsaid": ("page", "band", "activity-fill", "output-fill", "outcome-fill", "muted-fill", "goal-badge"),
    "added": ("page", "band", "activity-fill", "output-fill", "outcome-fill", "goal-badge"),
    "removed": ("page", "band", "muted-fill"),
    "changed": ("page", "band", "activity-fill", "output-fill", "outcome-fill", "goal-badge"),
}


def channels(colour: str) -> tuple[float, float, float]:
    assert re.fullmatch(r"#[0-9a-f]{6}", colour)
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    linear = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels(colour))
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def hue(colour: str) -> float:
    return rgb_to_hls(*channels(colour))[0] * 360


def pairs(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str, str]]:
    return [(theme, on_top, below) for theme in THEMES for on_top, several in table.items() for below in several]


def test_contrast_is_measured_as_everybody_measures_it() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize(("theme", "text", "ground"), pairs(TEXT_ON))
def test_text_can_be_read_on_what_it_stands_on(theme: str, text: str, ground: str) -> None:
    assert contrast(getattr(COLOURS[text], theme), getattr(COLOURS[ground], theme)) >= TEXT_CONTRAST


@pytest.mark.parametrize(("theme", "shape", "ground"), pairs(SHAPE_ON))
def test_shapes_stand_out_from_what_is_behind_them(theme: str, shape: str, ground: str) -> None:
    assert contrast(getattr(COLOURS[shape], theme), getattr(COLOURS[ground], theme)) >= SHAPE_CONTRAST


def test_every_colour_is_held_to_a_contrast_or_is_a_ground() -> None:
    grounds = {ground for table in (TEXT_ON, SHAPE_ON) for several in table.values() for ground in several}

    assert COLOURS.keys() == TEXT_ON.keys() | SHAPE_ON.keys() | grounds


@pytest.mark.parametrize("theme", THEMES)
def test_types_and_changes_keep_clear_of_green_amber_and_red(theme: str) -> None:
    types = [name for name in COLOURS if name.split("-")[0] in tokens.TYPE_HUES.values() and name.endswith("-line")]
    for name in [*types, "goal-fill", "added", "changed"]:
        assert 185 <= hue(getattr(COLOURS[name], theme)) <= 315, name


@pytest.mark.parametrize("theme", THEMES)
def test_risks_are_green_amber_and_red(theme: str) -> None:
    assert 90 <= hue(getattr(COLOURS["risk-low"], theme)) <= 160
    assert 20 <= hue(getattr(COLOURS["risk-medium"], theme)) <= 50
    assert min(abs(hue(getattr(COLOURS["risk-high"], theme)) - red) for red in (0, 360)) <= 15


@pytest.mark.parametrize("theme", THEMES)
def test_types_can_be_told_apart_by_their_hues_too(theme: str) -> None:
    hues = sorted(hue(getattr(COLOURS[f"{name}-line"], theme)) for name in tokens.TYPE_HUES.values())

    assert all(higher - lower >= 15 for lower, higher in pairwise(hues))


def test_a_page_gets_as_variables_what_a_file_gets_resolved() -> None:
    css = tokens.build_css_variables()
    light, dark = tokens.make_paint(Theme.LIGHT), tokens.make_paint(Theme.DARK)
    for name in COLOURS:
        assert f"{name}:{light(name)};" in css
        assert f"{name}:{dark(name)};" in css
    shades = [tokens.make_paint(Theme.AUTO)(name) for name in COLOURS]
    assert len(set(shades)) == len(COLOURS)
    assert all(f":var(--gp-{name})}}" in tokens.build_css_rules() for name in COLOURS)
