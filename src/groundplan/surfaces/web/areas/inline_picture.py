"""Put a picture of the plan into a page, so that its cards can be found, marked and scrolled to."""

from __future__ import annotations

import re

from groundplan.purpose.picture.wording import escape_markup

_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_OPENING = '<svg xmlns="http://www.w3.org/2000/svg"'


def inline_picture(svg: str, label: str, selected: str = "") -> str:
    """Return a picture drawn with the theme `auto` as part of a page: its colours are those of the page's style sheet.

    A picture from `purpose.render` is safe: every text in it is escaped.
    """
    found = _STYLE.sub("", svg, count=1)
    found = found.replace(_OPENING, f'<svg aria-label="{escape_markup(label)}"', 1)
    # On a page `data-key` is a key that presses an element.
    found = found.replace('class="gp-card" data-key="', 'class="gp-card" data-card="')
    for name in ("data-card", "data-edge"):
        mark = f' {name}="{escape_markup(selected)}"'
        if selected and mark in found:
            group = "gp-card" if name == "data-card" else "gp-edge"
            found = found.replace(f'class="{group}"{mark}', f'class="{group} selected"{mark}')
    return found
