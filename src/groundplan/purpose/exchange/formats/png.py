"""Convert a picture to PNG, for pages and programs that cannot show SVG.

The fonts are those of the machine, so the bytes differ between machines. No files but fonts are opened: a picture
references no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from groundplan.kernel.errors import Invalid, Unavailable
from groundplan.purpose.exchange.extras import require_extra

if TYPE_CHECKING:
    from groundplan.purpose.exchange.render import Rendered

SCALE = 2  # sharp on most screens
SCALE_MAX = 4
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
        super().__init__("no font was found; install one, such as Liberation Sans or DejaVu Sans, or draw SVG")


class PngTooLarge(Invalid):
    """A PNG would have too many pixels."""

    code = "png_too_large"

    def __init__(self, pixels: int) -> None:
        super().__init__(
            f"the PNG would have {pixels // 1_000_000} megapixels; the limit is {PIXELS_MAX // 1_000_000}",
            pixels=pixels,
            limit_pixels=PIXELS_MAX,
        )


class Png(NamedTuple):
    """The file, and its size in pixels."""

    content: bytes
    width: int
    height: int


def choose_theme(theme: Literal["light", "dark", "auto"]) -> Literal["light", "dark"]:
    """Return the theme of a PNG: pixels cannot follow the reader's screen."""
    return "light" if theme == "auto" else theme


def rasterize(drawn: Rendered, scale: int) -> Png:
    """Return a picture as PNG, with `scale` pixels for each of its own.

    Raises:
        PngTooLarge: the PNG would have too many pixels.
        NoFont: the machine has no usable font.
        ExtraMissing: PNG support is not installed.
    """
    require_extra("png")
    from resvg_py import svg_to_bytes

    width, height = drawn.width * scale, drawn.height * scale
    if width * height > PIXELS_MAX:
        raise PngTooLarge(width * height)
    return Png(svg_to_bytes(svg_string=drawn.svg, zoom=scale, sans_serif_family=_find_fallback_font()), width, height)


def _find_fallback_font() -> str | None:
    """Return the font to use instead of those that a picture names, or None if one of them is installed.

    Raises:
        NoFont: no fallback font is installed either.
    """
    from resvg_py import svg_to_bytes

    empty = svg_to_bytes(svg_string=_sample_text(""))
    for font in (None, *FALLBACK_FONTS):
        if svg_to_bytes(svg_string=_sample_text("A"), sans_serif_family=font) != empty:
            return font
    raise NoFont


def _sample_text(text: str) -> str:
    from groundplan.purpose.picture.tokens import FONT

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="{FONT}">'
        f'<text y="15" font-size="15">{text}</text></svg>'
    )
