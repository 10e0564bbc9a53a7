"""The design tokens of the page: its colours beside those of the picture, type sizes and spacing.

The colours of types and risks are those of the picture, so that a card on a canvas and a chip in a list agree. State
is never shown by colour alone: each chip also has a word and a shape.
"""

from __future__ import annotations

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.tokens import Colour

PREFIX = tokens.PREFIX

COLOURS = {
    "ground": Colour("#f7f6f2", "#0b0f18"),  # behind cards and canvases
    "surface": Colour("#ffffff", "#141b29"),  # bars, cards, forms
    "raised": Colour("#f1f3f6", "#1c2536"),  # rows under the pointer, headers of tables
    "edge": Colour("#d9dde3", "#2c374b"),  # borders that only divide
    "control": Colour("#6c7686", "#8b97aa"),  # borders of what can be pressed or typed into
    "ink": Colour("#16191f", "#eef1f6"),
    "quiet": Colour("#545e6d", "#a9b4c5"),
    "accent": Colour("#1d4fc4", "#8fb1ff"),  # links, focus, what is selected
    "accent-soft": Colour("#e7eefc", "#1b2a4d"),
    "on-accent": Colour("#ffffff", "#0b0f18"),
    "strong": Colour("#16191f", "#eef1f6"),  # the one main button of a screen
    "on-strong": Colour("#ffffff", "#0b0f18"),
    "good": Colour("#156b36", "#6adb96"),
    "good-soft": Colour("#e3f4e9", "#12301f"),
    "caution": Colour("#8a4500", "#f5b95c"),
    "caution-soft": Colour("#fdf0dc", "#38270c"),
    "bad": Colour("#a8141a", "#ff9090"),
    "bad-soft": Colour("#fce8e8", "#3d1618"),
    "agent": Colour("#6b2bd6", "#bca4ff"),
    "agent-soft": Colour("#f0eafd", "#271b4d"),
}

# Pairs of text and background; a test checks the contrast of every pair.
TEXT_ON = {
    "ink": ("ground", "surface", "raised", "accent-soft"),
    "quiet": ("ground", "surface", "raised", "accent-soft"),
    "accent": ("ground", "surface", "raised", "accent-soft"),
    "on-accent": ("accent",),
    "on-strong": ("strong",),
    "good": ("surface", "good-soft"),
    "caution": ("surface", "caution-soft"),
    "bad": ("surface", "bad-soft"),
    "agent": ("surface", "agent-soft"),
}
SHAPE_ON = {"control": ("surface", "ground"), "accent": ("surface", "ground")}

SIZES = {
    "bar": "48px",
    "rail": "168px",
    "inspector": "368px",
    "corner": "8px",
    "corner-small": "5px",
    "text-normal": "15px",
    "text-small": "13px",
    "text-large": "19px",
    "title": "24px",
    "gap-1": "4px",
    "gap-2": "8px",
    "gap-3": "12px",
    "gap-4": "16px",
    "gap-5": "24px",
    "gap-6": "40px",
}


def build_variables() -> str:
    """Return all tokens as CSS variables: light, dark by preference of the reader, or as the page sets."""
    sizes = "".join(f"{PREFIX}{name}:{value};" for name, value in SIZES.items())
    light, dark = (
        "".join(f"{PREFIX}{name}:{getattr(colour, theme)};" for name, colour in COLOURS.items())
        for theme in ("light", "dark")
    )
    return (
        f"{tokens.build_css_rules()}:root{{{sizes}{light}color-scheme:light dark}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f"[data-theme=light]{{{light}color-scheme:light}}"
        f"[data-theme=dark]{{{dark}color-scheme:dark}}"
    )
