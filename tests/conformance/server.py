"""The server on an example, for clients that cannot send a token: one is added to each request of theirs.

Everything else is as `groundplan serve` has it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from groundplan.catalog import build_schema
from groundplan.demo import fill_database
from groundplan.kernel.store.open_store import open_store
from groundplan.session import Session
from groundplan.surfaces.cli.setup.serve import OWNER
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.http.server import open_socket, serve
from groundplan.surfaces.web.server_app import build_server_app


class TokenAdded:
    """An ASGI application around another that adds a token to requests without one."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and all(name != b"authorization" for name, _ in scope["headers"]):
            added = (b"authorization", f"Bearer {self._token}".encode())
            scope = {**scope, "headers": [*scope["headers"], added]}
        await self._app(scope, receive, send)


def main(db: str) -> None:
    """Serve until a signal, and print the port and a token first."""
    fill_database(db)
    store = open_store(db, build_schema, for_server=True)
    token = Session(store, OWNER).call("token.create", kind="person", trusted=True).secret
    with open_socket(0) as listening:
        port = listening.getsockname()[1]
        server = build_server_app(store, Exposure(port=port), requests_per_s=1_000_000)
        serve(
            TokenAdded(server.app, token),
            [listening],
            lambda _stop: print(json.dumps({"port": port, "token": token}), flush=True),
            on_stop=server.app.state.event_streams.stop,
        )
        server.close()
    store.close()


if __name__ == "__main__":
    main(str(Path(sys.argv[1])))
