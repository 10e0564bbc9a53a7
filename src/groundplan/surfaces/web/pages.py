"""Render pages: templates and their headers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

from groundplan import __version__
from groundplan.catalog import OPERATIONS
from groundplan.kernel.clock import read_timestamp, system_clock
from groundplan.surfaces.http.answers import Answer, Headers
from groundplan.surfaces.web.assets import get_assets_path

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


def render_page(
    template: str, *, status: int = 200, headers: Sequence[tuple[bytes, bytes]] = (), **values: Any
) -> Answer:
    """Return a page."""
    body = _load_templates().get_template(template).render({**_get_defaults(), **values})
    return Answer(status, body.encode("utf-8", "replace"), [*PAGE_HEADERS, *headers], HTML_TYPE)


def _get_defaults() -> dict[str, Any]:
    """Return what every template needs, also where nobody is logged in."""
    return {
        "version": __version__,
        "assets": get_assets_path(),
        "theme": "",
        "organization": "",
        "make_op_id": make_op_id,
        "now": read_timestamp(system_clock),
    }


def make_op_id(operation: str) -> str:
    """Return a new op_id for a form, so that sending it twice has one effect; empty if the operation takes none."""
    takes_one = operation in OPERATIONS and "op_id" in OPERATIONS[operation].input.__struct_fields__
    return token_urlsafe(OP_ID_BYTES) if takes_one else ""


def redirect(location: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> Answer:
    """Return the answer that leads a browser to another page, which it asks for with GET."""
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
