"""Write the picture of a version as a file."""

from __future__ import annotations

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.picture.picture_model import build_plan_picture
from groundplan.purpose.picture.svg import draw


def write_svg(theory: Theory) -> str:
    """Draw a theory with the light theme."""
    return draw(build_plan_picture(theory), embeds_font=True).svg
