"""The picture as PNG, for pages and programs that take no SVG.

The fonts are those of the machine, so the bytes are its own too. Nothing but fonts is opened: a picture names no file.
"""

from __future__ import annotations

from resvg_py import svg_to_bytes

from groundplan.kernel.errors import Unavailable
from groundplan.purpose.exchange.render import Rendered
from groundplan.purpose.picture.tokens import FONT
from groundplan.surfaces.cli.failures import UsageError

PIXELS_MAX = 64_000_000  # about 600 MB while it is made, and some fifteen seconds

# What a machine has that has none of the fonts that a picture asks for. No other would be tried, and a text for which
# no font is found is left out without a word.
FALLBACK_FONTS = (
    *("DejaVu Sans", "Noto Sans", "Open Sans", "Roboto", "Ubuntu", "Cantarell", "Adwaita Sans", "FreeSans"),
    *("Nimbus Sans", "Verdana", "Segoe UI"),
)


class NoFont(Unavailable):
    """A picture could be drawn, but nothing could be written in it."""

    code = "no_font"

    def __init__(self) -> None:
        super().__init__(
            "no font was found to write with; install one, such as Liberation Sans or DejaVu Sans, or draw with --svg"
        )


def rasterize(drawn: Rendered, scale: int) -> bytes:
    """A picture as PNG, `scale` pixels for each of its own.

    Raises:
        UsageError: it would be too large.
        NoFont: there is nothing to write with.
    """
    pixels = drawn.width * drawn.height * scale**2
    if pixels > PIXELS_MAX:
        smaller = "say --scale 1, " if scale > 1 else ""
        raise UsageError(
            f"the PNG would have {pixels // 1_000_000} megapixels, and {PIXELS_MAX // 1_000_000} are the most; "
            f"{smaller}show less with --pathway, or draw with --svg",
            pixels=pixels,
            limit_pixels=PIXELS_MAX,
        )
    return svg_to_bytes(svg_string=drawn.svg, zoom=scale, sans_serif_family=_find_fallback_font())


def _find_fallback_font() -> str | None:
    """The font that stands in for those a picture asks for; none where one of them is there.

    Raises:
        NoFont: nothing can.
    """
    empty = svg_to_bytes(svg_string=_sample(""))
    for font in (None, *FALLBACK_FONTS):
        if svg_to_bytes(svg_string=_sample("A"), sans_serif_family=font) != empty:
            return font
    raise NoFont


def _sample(text: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="{FONT}">'
        f'<text y="15" font-size="15">{text}</text></svg>'
    )
