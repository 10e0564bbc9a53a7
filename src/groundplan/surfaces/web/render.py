"""Render pages: templates with headers, the design tokens, and the static files.

The address of the files contains a digest of all of them, so a browser keeps them for ever and never mixes two
versions. The colours of types and risks are those of the picture of a plan, so that a card on a canvas and a chip in a
list agree. State is never shown by colour alone: each chip also has a word and a shape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, NamedTuple

from groundplan import __version__
from groundplan.catalog import OPERATIONS
from groundplan.kernel.clock import read_timestamp, system_clock
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.text import escape_markup
from groundplan.purpose.picture.tokens import Colour
from groundplan.surfaces.http.answers import Answer, Headers, compress
from groundplan.surfaces.web.join_scripts import join_scripts

if TYPE_CHECKING:
    from jinja2 import Environment

OP_ID_BYTES = 12
FOLDER = Path(__file__).parent
HTML_TYPE = b"text/html; charset=utf-8"
CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; script-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
PAGE_HEADERS: Headers = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    # Not `no-referrer`: with it browsers send `Origin: null` with a form, which is refused as a foreign origin.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
STATIC = FOLDER / "static"
FIRST_STYLES = ("layout.css", "components.css", "areas.css")  # in this order, before the others
STYLE_NAME = "page.css"
TYPES = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".woff2": b"font/woff2",
    ".txt": b"text/plain; charset=utf-8",
}
DIGEST_CHARS = 12
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_OPENING = '<svg xmlns="http://www.w3.org/2000/svg"'
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


def render_page(
    template: str, *, status: int = 200, headers: Sequence[tuple[bytes, bytes]] = (), **values: Any
) -> Answer:
    """Return a page."""
    body = _load_templates().get_template(template).render({**_get_defaults(), **values})
    return Answer(status, body.encode("utf-8", "replace"), [*PAGE_HEADERS, *headers], HTML_TYPE)


def _get_defaults() -> dict[str, Any]:
    """Return the values that all templates need, even without a login."""
    return {
        "version": __version__,
        "assets": get_assets_path(),
        "theme": "",
        "organization": "",
        "make_op_id": make_op_id,
        "now": read_timestamp(system_clock),
    }


def make_op_id(operation: str) -> str:
    """Return a new op_id, so that a repeated form has no second effect; empty if the operation has no op_id."""
    takes_one = operation in OPERATIONS and "op_id" in OPERATIONS[operation].input.__struct_fields__
    return token_urlsafe(OP_ID_BYTES) if takes_one else ""


def redirect(location: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> Answer:
    """Return the answer that redirects a browser to another page, which it requests with GET."""
    return Answer(303, b"", [(b"location", location.encode("ascii")), *PAGE_HEADERS, *headers], b"text/plain")


@cache
def _load_templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # here, because it slows down the start

    return Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # else every page asks the file system whether a template has changed
    )


class Asset(NamedTuple):
    """A static file, and its gzip form if that is shorter."""

    body: bytes
    compressed: bytes
    content_type: bytes


@cache
def load_assets() -> dict[str, Asset]:
    """Return all static files by name. The style sheet begins with the tokens."""
    files = {STYLE_NAME: _join_styles().encode()}
    modules = {path.name: path.read_text(encoding="utf-8") for path in sorted(STATIC.glob("*.js"))}
    files |= {name: script.encode() for name, script in join_scripts(modules).items()}
    for path in sorted(STATIC.rglob("*")):
        if path.suffix in TYPES and path.suffix not in (".css", ".js"):
            files[path.relative_to(STATIC).as_posix()] = path.read_bytes()
    return {name: Asset(body, compress(body), TYPES[Path(name).suffix]) for name, body in files.items()}


def _join_styles() -> str:
    """Return one style sheet: the tokens, the general styles, and the styles of areas."""
    names = [*FIRST_STYLES, *sorted({path.name for path in STATIC.glob("*.css")} - set(FIRST_STYLES))]
    return build_variables() + "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


@cache
def get_assets_path() -> str:
    """Return the path of the static files, which contains their digest."""
    digest = sha256()
    for name, asset in load_assets().items():
        digest.update(name.encode() + b"\0" + asset.body)
    return f"/static/{digest.hexdigest()[:DIGEST_CHARS]}"


def inline_picture(svg: str, label: str, selected: str = "") -> str:
    """Return a picture with the theme `auto` as part of a page. The style sheet of the page has its colours.

    A picture from `purpose.render` is safe: every text in it is escaped.
    """
    picture = _STYLE.sub("", svg, count=1)
    picture = picture.replace(_OPENING, f'<svg aria-label="{escape_markup(label)}"', 1)
    # On a page `data-key` is a key that presses an element.
    picture = picture.replace('class="gp-card" data-key="', 'class="gp-card" data-card="')
    for name in ("data-card", "data-edge"):
        mark = f' {name}="{escape_markup(selected)}"'
        if selected and mark in picture:
            group = "gp-card" if name == "data-card" else "gp-edge"
            picture = picture.replace(f'class="{group}"{mark}', f'class="{group} selected"{mark}')
    return picture


def build_variables() -> str:
    """Return all tokens as CSS variables for light and dark, by the reader's preference or the page's setting."""
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
