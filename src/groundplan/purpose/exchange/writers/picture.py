"""Write the picture of a version as SVG, or convert it to PNG.

The font of a PNG is the shipped one, so text is as wide as it was measured. Letters that it does not have come from the
fonts of the machine. No files but fonts are opened: a picture references no file.
"""

from __future__ import annotations

from importlib.resources import as_file
from typing import Literal, NamedTuple

from groundplan.kernel.errors import Invalid
from groundplan.purpose.exchange.formats import require_extra
from groundplan.purpose.exchange.render import Rendered
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.picture.font import FAMILY, FONTS, WEIGHTS
from groundplan.purpose.picture.subjects import build_plan_picture
from groundplan.purpose.picture.svg import draw

SCALE = 2  # sharp on most screens
SCALE_MAX = 4
PIXELS_MAX = 64_000_000  # takes about 600 MB of memory and fifteen seconds


def write_svg(theory: Theory) -> str:
    """Draw a theory with the light theme."""
    return draw(build_plan_picture(theory), embeds_font=True).svg


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
    """Return the theme of a PNG. It is `light` instead of `auto`, because a PNG cannot adapt to the screen."""
    return "light" if theme == "auto" else theme


def rasterize(drawn: Rendered, scale: int) -> Png:
    """Return a picture as PNG, with `scale` pixels for each pixel of the picture."""
    require_extra("png")
    from resvg_py import svg_to_bytes

    width, height = drawn.width * scale, drawn.height * scale
    if width * height > PIXELS_MAX:
        raise PngTooLarge(width * height)
    with as_file(FONTS) as folder:
        paths = [str(folder / f"arimo-{weight}.ttf") for weight in WEIGHTS]
        content = svg_to_bytes(svg_string=drawn.svg, zoom=scale, sans_serif_family=FAMILY, font_files=paths)
    return Png(content, width, height)
