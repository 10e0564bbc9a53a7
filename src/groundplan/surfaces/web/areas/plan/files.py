"""The plan as a file: to keep, to send, and to print.

plan.html    one page that opens from disk; with `show` it opens in the browser, to be printed or saved as PDF
plan.svg     the picture
plan.png     the picture, for programs that cannot show SVG
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from groundplan.kernel.errors import NotFound
from groundplan.purpose.exchange.formats.png import SCALE, rasterize
from groundplan.session import Session
from groundplan.surfaces.http.answers import Answer, Headers

TYPES = {
    "plan.html": b"text/html; charset=utf-8",
    "plan.svg": b"image/svg+xml",
    "plan.png": b"image/png",
}
# What others wrote is in the file: nothing in it may run, and it loads nothing.
FILE_HEADERS: Headers = [
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; font-src data:; sandbox"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def send_file(session: Session, project: str, name: str, query: Mapping[str, str]) -> Answer:
    """Return a file of the version in the address, by default the latest published one, else the draft.

    Raises:
        NotFound: there is no such file, project or version.
        ExtraMissing: PNG support is not installed.
    """
    if name not in TYPES:
        raise NotFound("file", name)
    version = {"version": query["version"]} if query.get("version") else {}
    if name == "plan.png":
        drawn = session.call("purpose.render", project=project, theme="light", **version)
        number, body = drawn.version, rasterize(drawn, SCALE).content
    else:
        exported = session.call("purpose.export", project=project, format=name.removeprefix("plan."), **version)
        number, body = exported.version, exported.content.encode()
    headers = list(FILE_HEADERS)
    if not query.get("show"):
        kept_as = f"{_NOT_IN_NAMES.sub('-', project).strip('-') or 'plan'}-v{number}{name.removeprefix('plan')}"
        headers.append((b"content-disposition", f'attachment; filename="{kept_as}"'.encode()))
    return Answer(200, body, headers, TYPES[name])
