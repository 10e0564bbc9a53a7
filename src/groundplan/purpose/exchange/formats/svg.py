"""The picture of a version as a file."""

from __future__ import annotations

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.picture.subject import plan
from groundplan.purpose.picture.svg import draw


def svg(theory: Theory) -> str:
    """A theory as a picture, on a light page."""
    return draw(plan(theory)).svg
