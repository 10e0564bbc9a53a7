"""`groundplan serve`: serve the plan over HTTP on this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundplan.configuration import get_user_name
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.errors import Unauthenticated, Unavailable
from groundplan.surfaces.cli.failures import write_line
from groundplan.surfaces.cli.invocation import CommandResult, Invocation

if TYPE_CHECKING:
    from groundplan.kernel.actors import Actor

PORT = 8321
PORT_MAX = 65_535


class ServerMissing(Unavailable):
    """The libraries of the server, an optional dependency, are not installed."""

    code = "server_missing"

    def __init__(self) -> None:
        super().__init__("the server is not installed; run: pip install 'groundplan[server]'")


def serve(
    invocation: Invocation,
    port: Annotated[
        int, typer.Option(min=0, max=PORT_MAX, help="The port on 127.0.0.1; 0: any free one.", show_default=True)
    ] = PORT,
) -> CommandResult:
    """Serve the plan over HTTP on this machine: REST, and its description at /v1/docs."""
    try:
        from groundplan.surfaces.http.app import build_app
        from groundplan.surfaces.http.serve import HOST, open_socket
        from groundplan.surfaces.http.serve import serve as serve_app
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("groundplan", ""):
            raise
        raise ServerMissing from None
    from groundplan.catalog import OPERATIONS, build_schema
    from groundplan.kernel.store.open_store import open_store
    from groundplan.surfaces.vocabularies import HttpVocabulary

    settings = invocation.settings
    actor = settings.build_actor(get_user_name, ActorKind.PERSON)
    listening = open_socket(port)
    address = f"http://{HOST}:{listening.getsockname()[1]}"
    store = open_store(settings.db, build_schema)
    try:
        app = build_app(
            store, lambda _connection: _require(actor), preferences=settings.preferences(HttpVocabulary(OPERATIONS))
        )
        serve_app(app, listening, lambda: _announce(address, as_json=invocation.as_json))
    finally:
        store.close()
        listening.close()
    return CommandResult({"address": address}, lambda: None)


def _require(actor: Actor | None) -> Actor:
    if actor is None:
        raise Unauthenticated("no actor is given; start the server with --agent NAME")
    return actor


def _announce(address: str, *, as_json: bool) -> None:
    lines: tuple[Any, ...] = (
        f"Groundplan answers at {address}/v1; press Ctrl-C to stop.",
        f"What it can do: {address}/v1/docs",
    )
    if not as_json:
        for line in lines:
            write_line(sys.stderr, line)
