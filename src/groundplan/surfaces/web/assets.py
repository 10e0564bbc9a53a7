"""The files of the page: one style sheet, one script from our own modules, and the font.

Their address contains a digest of all of them, so a browser keeps them for ever and never mixes two versions.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from groundplan.surfaces.http.answers import compress
from groundplan.surfaces.web.join_scripts import join_scripts
from groundplan.surfaces.web.page_tokens import build_variables

STATIC = Path(__file__).parent / "static"
FIRST_STYLES = ("layout.css", "components.css", "areas.css")  # in this order, before the others
STYLE_NAME = "page.css"
TYPES = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".woff2": b"font/woff2",
    ".txt": b"text/plain; charset=utf-8",
}
DIGEST_CHARS = 12


class Asset(NamedTuple):
    """A file, and the same in gzip if that is shorter."""

    body: bytes
    compressed: bytes
    content_type: bytes


@cache
def load_assets() -> dict[str, Asset]:
    """Return all files by name; the style sheet begins with the tokens."""
    files = {STYLE_NAME: _join_styles().encode()}
    modules = {path.name: path.read_text(encoding="utf-8") for path in sorted(STATIC.glob("*.js"))}
    files |= {name: script.encode() for name, script in join_scripts(modules).items()}
    for path in sorted(STATIC.rglob("*")):
        if path.suffix in TYPES and path.suffix not in (".css", ".js"):
            files[path.relative_to(STATIC).as_posix()] = path.read_bytes()
    return {name: Asset(body, compress(body), TYPES[Path(name).suffix]) for name, body in files.items()}


def _join_styles() -> str:
    """Return one style sheet: the tokens, then the general styles, then those of single areas."""
    names = [*FIRST_STYLES, *sorted({path.name for path in STATIC.glob("*.css")} - set(FIRST_STYLES))]
    return build_variables() + "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


@cache
def get_assets_path() -> str:
    """Return the path below which the files are, with the digest."""
    digest = sha256()
    for name, asset in load_assets().items():
        digest.update(name.encode() + b"\0" + asset.body)
    return f"/static/{digest.hexdigest()[:DIGEST_CHARS]}"
