"""Convert a picture to PNG, for pages and programs that cannot show SVG.

The fonts are those of the machine, so the bytes differ between machines. No files but fonts are opened: a picture
references no file.
"""

from __future__ import annotations

from resvg_py import svg_to_bytes

from groundplan.kernel.errors import Unavailable
from groundplan.purpose.exchange.render import Rendered
from groundplan.purpose.picture.tokens import FONT
from groundplan.surfaces.cli.failures import UsageError

PIXELS_MAX = 64_000_000  # takes about 600 MB of memory and fifteen seconds

# Fonts to try on machines without the fonts that a picture names. The library tries no others itself, and silently
# omits a text without a font.
FALLBACK_FONTS = (
    *("DejaVu Sans", "Noto Sans", "Open Sans", "Roboto", "Ubuntu", "Cantarell", "Adwaita Sans", "FreeSans"),
    *("Nimbus Sans", "Verdana", "Segoe UI"),
)


class NoFont(Unavailable):
    """No font was found for the text of a picture."""

    code = "no_font"

    def __init__(self) -> None:
        super().__init__("no font was found; install one, such as Liberation Sans or DejaVu Sans, or use --svg")


def rasterize(drawn: Rendered, scale: int) -> bytes:
    """Return a picture as PNG, with `scale` pixels for each of its own.

    Raises:
        UsageError: the PNG would be too large.
        NoFont: the machine has no usable font.
    """
    pixels = drawn.width * drawn.height * scale**2
    if pixels > PIXELS_MAX:
        smaller = "use --scale 1, " if scale > 1 else ""
        raise UsageError(
            f"the PNG would have {pixels // 1_000_000} megapixels; the limit is {PIXELS_MAX // 1_000_000}; "
            f"{smaller}show less with --pathway, or use --svg",
            pixels=pixels,
            limit_pixels=PIXELS_MAX,
        )
    return svg_to_bytes(svg_string=drawn.svg, zoom=scale, sans_serif_family=_find_fallback_font())


def _find_fallback_font() -> str | None:
    """Return the font to use instead of those that a picture names, or None if one of them is installed.

    Raises:
        NoFont: no fallback font is installed either.
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
