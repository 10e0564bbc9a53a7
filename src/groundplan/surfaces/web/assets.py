"""The files of the page: one style sheet, own modules of script, and the font.

Their address contains a digest of all of them, so a browser keeps them for ever and never mixes two versions.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from groundplan.surfaces.http.answers import compress
from groundplan.surfaces.web.page_tokens import build_variables

FOLDER = Path(__file__).parent / "static"
STYLES = ("layout.css", "components.css", "areas.css", "canvas.css")  # in this order
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
    style = build_variables() + "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in STYLES)
    files = {STYLE_NAME: style.encode()}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in TYPES and path.suffix != ".css":
            files[path.relative_to(FOLDER).as_posix()] = path.read_bytes()
    return {name: Asset(body, compress(body), TYPES[Path(name).suffix]) for name, body in files.items()}


@cache
def get_assets_path() -> str:
    """Return the path below which the files are, with the digest."""
    digest = sha256()
    for name, asset in load_assets().items():
        digest.update(name.encode() + b"\0" + asset.body)
    return f"/static/{digest.hexdigest()[:DIGEST_CHARS]}"
