"""Send the files of the page. They are the same for everybody, so they need no login."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.kernel.errors import NotFound
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.web.assets import get_assets_path, load_assets
from groundplan.surfaces.web.page_routes import Form, make_page_route

KEPT = (b"cache-control", b"public, max-age=31536000, immutable")


def list_asset_routes(pool: OperationPool) -> list[BaseRoute]:
    """Return the route of the files."""
    return [make_page_route(pool, "/static/{digest}/{name:path}", {"GET": _send_asset})]


def _send_asset(request: Request, _form: Form) -> Answer:
    asset = load_assets().get(request.path_params["name"])
    if asset is None:
        raise NotFound("file", request.path_params["name"])
    # A page of another version of the program may ask for a name that exists; it must not keep the answer.
    is_current = request.url.path.startswith(get_assets_path() + "/")
    headers = [KEPT] if is_current else []
    if "gzip" in request.headers.get("accept-encoding", "") and len(asset.compressed) < len(asset.body):
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
        return Answer(200, asset.compressed, headers, asset.content_type)
    return Answer(200, asset.body, headers, asset.content_type)
