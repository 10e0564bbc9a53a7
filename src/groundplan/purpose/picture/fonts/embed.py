"""Write the letters of a picture into it, so that it looks the same on machines without its font."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from html import unescape
from importlib.resources import files

from groundplan.purpose.picture.fonts.subset import cut_font

FAMILY = "Arimo"
WEIGHTS = (400, 700)
_TEXT = re.compile(r"<text([^>]*)>([^<]*)</text>")
_BOLD = 'font-weight="700"'


def build_font_rules(svg: str) -> str:
    """Return the style rules with the letters that the texts of a picture use, in each of their weights."""
    used: dict[int, set[str]] = {weight: set() for weight in WEIGHTS}
    for attributes, text in _TEXT.findall(svg):
        used[700 if _BOLD in attributes else 400].update(unescape(text))
    rules = []
    for weight, characters in used.items():
        if characters:
            data = b64encode(cut_font(read_font(weight), sorted(characters))).decode()
            rules.append(
                f"@font-face{{font-family:{FAMILY};font-weight:{weight};src:url(data:font/ttf;base64,{data})}}"
            )
    return "".join(rules)


@cache
def read_font(weight: int) -> bytes:
    """Return the shipped font in one weight."""
    return files(__package__).joinpath(f"{FAMILY.lower()}-{weight}.ttf").read_bytes()
